"""The widget that carries the app's script and sheet: one a kernel, however many apps there are."""

from __future__ import annotations

import hashlib
from typing import ClassVar

import anywidget
import traitlets

from convviz.board.module import app_styles, carrier_script


class Script(anywidget.AnyWidget):
    """Half a megabyte that every app needs and none shows. An app's own script waits for it in the page, by its key.

    Attributes:
        key: which script it is; a page may show apps of several kernels, and these may have other versions.
    """

    # Text, not a Path: anywidget watches a Path for changes and so keeps every closed widget alive.
    _esm = carrier_script()
    _css = app_styles()

    key = traitlets.Unicode(hashlib.sha256(_esm.encode()).hexdigest()[:12]).tag(sync=True)

    _shared: ClassVar[Script | None] = None  # the one of this process, as its comm is

    @classmethod
    def taken(cls) -> Script:
        """Return the one that all apps share; whoever takes it lets go of it once."""
        if cls._shared is None or cls._shared.comm is None:  # somebody may have closed all widgets
            cls._shared = cls()
        cls._shared._apps += 1
        return cls._shared

    def __init__(self) -> None:
        super().__init__()
        self._apps = 0

    def let_go(self) -> None:
        """Close it with the last of its apps."""
        self._apps -= 1
        if self._apps == 0:
            self.layout.close()
            self.close()
