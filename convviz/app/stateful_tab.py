"""What a tab with a state of its own is, as a race is. All others are functions of plain data."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from convviz.app.validate_request import asked, shown
from convviz.facts.features import FEATURES, code_of
from convviz.facts.i18n.current_language import language, use_locale

Send = Callable[[dict[str, Any], list[bytes]], None]


class Tab:
    """A tab with a state, which speaks the language in which its page asked last.

    A subclass, named in its feature's ``feature.json``, makes its data; ``tab.js`` beside it draws them.
    """

    name: ClassVar[str]

    def __init__(self, send: Send, device: Callable[[], str]) -> None:
        self._send_message, self._device, self._language = send, device, language()

    def data(self) -> dict[str, Any]:
        """Return what the pane draws; the sentence of a ValueError is shown instead."""
        raise NotImplementedError(f"{type(self).__name__} must say what it shows")

    def act(self, message: Mapping[str, Any]) -> None:
        """Do what a person asked for in the pane."""

    def leave(self) -> None:
        """The tab is no longer the open one; its pane has gone from the page."""

    def refresh(self) -> None:
        with use_locale(self._language):
            self._send_message({"type": "tab", "tab": self.name, "data": shown(self.data)}, [])

    def reply(self, content: dict[str, Any]) -> None:
        self._send_message({"type": "tab", "tab": self.name, "reply": content}, [])

    def receive(self, message: Any) -> None:
        self._language, kind = language(), asked(message)
        if kind == "refresh":
            self.refresh()
        elif kind == "leave":
            self.leave()
        else:
            self.act(message)

    def close(self) -> None:
        self._send_message = lambda message, buffers: None


def tab_with_state(name: str, send: Send, device: Callable[[], str]) -> Tab:
    made: type[Tab] = getattr(code_of(name), FEATURES[name]["state"])
    return made(send, device)
