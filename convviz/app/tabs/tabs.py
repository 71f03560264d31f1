"""The tabs of one app. A tab is made when it is first opened, and kept."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from convviz.app.session import Session
from convviz.app.tabs.base import Send, Tab
from convviz.facts.words import sentences

say = sentences("app")
# The module has the tab's name.
CLASSES = {
    "matrix": "MatrixTab",
    "graph": "GraphTab",
    "code": "CodeTab",
    "pytorch": "PyTorchTab",
    "check": "CheckTab",
    "quantised": "QuantisedTab",
    "linear": "LinearTab",
    "race": "RaceTab",
    "yours": "YoursTab",
    "mistakes": "MistakesTab",
    "stack": "StackTab",
    "double": "DoubleTab",
}


class Tabs:
    """The tabs of one app.

    Attributes:
        made: the tabs that were opened so far, by name.
    """

    def __init__(self, session: Session, send: Callable[..., None]) -> None:
        """Open nothing yet.

        Args:
            session: what the tabs are about.
            send: sends a message to the page, with bytes beside it.
        """
        self._session = session
        self._send: Callable[..., None] | None = send
        self.made: dict[str, Tab] = {}

    def show(self) -> None:
        """Show the tab that the settings name, as the session now is."""
        name = self._session.settings.tab
        for other, tab in self.made.items():
            if other != name:
                tab.leave()
        if not name:
            return
        if name in self.made:
            self.made[name].follow()
        else:
            self.made[name] = _make(name, self._session, functools.partial(self._send_from, name))

    def receive(self, name: str, message: Any) -> None:
        """Do what a pane asks for.

        Args:
            name: of its tab.
            message: as it came from the page.

        Raises:
            ValueError: no such tab was opened, or what the pane asks for is not possible.
        """
        if name not in self.made:
            raise ValueError(say("message.tab", known=", ".join(self.made), got=f"{name!r:.40}"))
        self.made[name].receive(message)

    def close(self) -> None:
        """Close every tab that was made."""
        for tab in self.made.values():
            tab.close()
        self.made.clear()
        self._send = None

    def _send_from(self, name: str, message: dict[str, Any], buffers: list[bytes]) -> None:
        if self._send is not None:
            self._send({"type": "tab", "tab": name, **message}, buffers=buffers)


def _make(name: str, session: Session, send: Send) -> Tab:
    tab: type[Tab] = getattr(importlib.import_module(f"convviz.app.tabs.{name}"), CLASSES[name])
    return tab(session, send)
