"""The button that hands the settings on: as a link, or as Python."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import anywidget

from convviz.board.bundle import bundle


class Share(anywidget.AnyWidget):
    """Copies the app's settings as a link, which the page writes by itself, or as Python, which it asks for."""

    _esm = bundle(files("convviz.board").joinpath("js"), "share.js")

    def __init__(self, python: Callable[[], str]) -> None:
        """Make the button.

        Args:
            python: returns the settings as Python.
        """
        super().__init__()
        self._python: Callable[[], str] | None = python
        self.on_msg(self._receive)

    def _receive(self, _: object, message: dict[str, Any], buffers: list[bytes]) -> None:
        if message.get("type") == "python" and self._python is not None:
            self.send({"type": "python", "text": self._python()})

    def close(self) -> None:
        """Close the widget and let go of the settings."""
        self._python = None
        super().close()
