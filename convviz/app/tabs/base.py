"""What every tab is: data that follow from the session, drawn by a pane in the page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from convviz.app.session import Session, asked, what_failed
from convviz.facts.words import sentences

say = sentences("app")
log = logging.getLogger(__name__)

Send = Callable[[dict[str, Any], list[bytes]], None]


class Tab:
    """A tab of the app. A subclass makes its data; ``board/js/tabs/tab_<name>.js`` draws them.

    Attributes:
        slow: whether its data always take longer than a slider may wait: they are then made when the sliders rest.
        shown: what the pane draws; ``{"error": sentence}`` keeps the last picture and shows the sentence.
        wanted: counted up when new data would be made; the page asks for them when the sliders rest.
    """

    slow: ClassVar[bool] = False

    def __init__(self, session: Session, send: Send) -> None:
        """Make the first data.

        Args:
            session: what the tab is about.
            send: sends a message to the pane, with bytes beside it.
        """
        self.session = session
        self.shown: dict[str, Any] = {}
        self.wanted = 0
        self._send_message = send
        self._step = 0
        self.refresh()

    def data(self) -> dict[str, Any]:
        """Return what the pane draws, as plain data.

        Raises:
            ValueError: these settings cannot be shown in this tab; the sentence is shown instead.
        """
        raise NotImplementedError(f"{type(self).__name__} must say what it shows")

    def is_slow(self) -> bool:
        """Return whether these settings' data take longer than a slider may wait."""
        return self.slow

    def act(self, message: Mapping[str, Any]) -> None:
        """Do what a person asked for in the pane."""

    def follow(self) -> None:
        """The session moved: show it now, or ask the page to call when it has time."""
        if self.is_slow():
            self.wanted += 1
            self._send_message({"wanted": self.wanted}, [])
        else:
            self.refresh()

    def leave(self) -> None:
        """The tab is no longer the open one; its pane has gone from the page."""

    def refresh(self) -> None:
        """Make the data anew and send them."""
        self._step += 1
        try:
            made = self.data()
        except ValueError as error:
            made = {"error": str(error)}
        except Exception as error:  # the board must live on; the log keeps what a developer needs
            log.exception("the tab %s failed", type(self).__name__)
            made = {"error": f"{what_failed('tab.failed', error)} {say('tab.kept')}"}
        self.shown = made | {"step": self._step, "wanted": self.wanted}
        self._send_message({"data": self.shown}, [])

    def reply(self, content: dict[str, Any], buffers: list[bytes] | None = None) -> None:
        """Answer the pane with something that is no new picture.

        Args:
            content: the message.
            buffers: the bytes beside it.
        """
        self._send_message({"reply": content}, buffers or [])

    def receive(self, message: Any) -> None:
        """Do what the pane asks for.

        Args:
            message: as it came from the page.

        Raises:
            ValueError: it is no message, or what it asks for is not possible.
        """
        if asked(message) == "refresh":
            self.refresh()
        else:
            self.act(message)

    def close(self) -> None:
        """Send nothing any more."""
        self._send_message = lambda message, buffers: None


class PageTab(Tab):
    """A tab that the page computes by itself: it says once that it is there, also where a kernel is."""

    def data(self) -> dict[str, Any]:
        """Return that nothing is awaited."""
        return {"state": "alone"}

    def follow(self) -> None:
        """Leave it to the page, which has the numbers."""
