"""What the tabs with a state of their own are: a race, and somebody's code. All others are functions of plain data."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from convviz.app.validate_request import asked, shown

Send = Callable[[dict[str, Any], list[bytes]], None]


class Tab:
    """A tab with a state. A subclass makes its data; ``web/tabs/<name>/tab.js`` draws them."""

    name: ClassVar[str]

    def __init__(self, send: Send, device: Callable[[], str]) -> None:
        self._send_message, self._device = send, device

    def data(self) -> dict[str, Any]:
        """Return what the pane draws; the sentence of a ValueError is shown instead."""
        raise NotImplementedError(f"{type(self).__name__} must say what it shows")

    def act(self, message: Mapping[str, Any]) -> None:
        """Do what a person asked for in the pane."""

    def leave(self) -> None:
        """The tab is no longer the open one; its pane has gone from the page."""

    def refresh(self) -> None:
        self._send_message({"type": "tab", "tab": self.name, "data": shown(self.data)}, [])

    def reply(self, content: dict[str, Any]) -> None:
        self._send_message({"type": "tab", "tab": self.name, "reply": content}, [])

    def receive(self, message: Any) -> None:
        if asked(message) == "refresh":
            self.refresh()
        else:
            self.act(message)

    def close(self) -> None:
        self._send_message = lambda message, buffers: None
