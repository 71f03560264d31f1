"""The button that hands the settings on: as a link, as Python, or as a page."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import anywidget
import traitlets

from convviz.board.bundle import bundle

PAGE = "convolution.html"  # what the saved page is called


class Share(anywidget.AnyWidget):
    """Copies the app's settings as a link, which the page writes by itself, or as Python; saves them as a page.

    Attributes:
        makes_pages: whether they can be saved as a page.
    """

    _esm = bundle(files("convviz.board").joinpath("js"), "controls/share.js")
    makes_pages = traitlets.Bool(False).tag(sync=True)

    def __init__(self, python: Callable[[], str], page: Callable[[], bytes | None] | None = None) -> None:
        """Make the button.

        Args:
            python: returns the settings as Python.
            page: returns them as a page; None, when they cannot be one, which is then said elsewhere.
        """
        super().__init__(makes_pages=page is not None)
        self._python: Callable[[], str] | None = python
        self._page = page
        self.on_msg(self._receive)

    def _receive(self, _: object, message: Any, buffers: list[bytes]) -> None:
        if not isinstance(message, dict):
            return  # of no page of ours; what would answer is not there
        if message.get("type") == "python" and self._python is not None:
            self.send({"type": "python", "text": self._python()})
        elif message.get("type") == "page" and self._page is not None:
            page = self._page()
            # Bytes beside the message, once, and not a part of the widget: a megabyte that nobody else wants.
            self.send({"type": "page", "name": PAGE}, buffers=[] if page is None else [page])

    def close(self) -> None:
        """Close the widget and let go of the settings."""
        self._python = self._page = None
        super().close()
