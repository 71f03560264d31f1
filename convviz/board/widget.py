"""The widget that carries the board into Jupyter and Voilà."""

from __future__ import annotations

import functools
import gzip
import time
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import anywidget
import traitlets

from convviz.board.bundle import bundle

HERE = files("convviz.board")
# Seconds in which one answer serves every page: a kernel's messages go to all that are connected. A page that came too
# late for it asks again.
BETWEEN_BUNDLES = 1.0


@functools.cache
def packed_plotly() -> bytes:
    """Return the vendored plotly bundle, gzipped once a process."""
    # The fastest level: the page waits for it, and a third of the bytes are saved all the same.
    return gzip.compress(HERE.joinpath("vendor", "plotly-cartesian.min.js").read_bytes(), 1)


class Board(anywidget.AnyWidget):
    """Draws linked heatmaps and reports what is done to them.

    Attributes:
        structure: panels, their order, names, shapes and roles; see ``payload.structure``.
        values: the numbers of one step, and the lines of text that change with them; see ``payload.values``.
        selected: ``{"panel", "row", "column"}`` or None.
        theme: ``"auto"``, ``"light"`` or ``"dark"``.
        state: the app's settings, kept by the page when its kernel is lost.
        sources: the larger part of them, apart because it changes rarely.
    """

    # Text, not a Path: anywidget watches a Path for changes and so keeps every closed widget alive.
    _esm = bundle(HERE.joinpath("js"), "board/board.js")
    _css = HERE.joinpath("board.css").read_text(encoding="utf-8")

    structure = traitlets.Dict().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)
    selected = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    theme = traitlets.Enum(("auto", "light", "dark"), default_value="auto").tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    sources = traitlets.Dict().tag(sync=True)

    def __init__(self, on_action: Callable[[dict[str, Any]], None] | None = None) -> None:
        """Make a board.

        Args:
            on_action: called for everything that a person does on the board with ``{"type": ..., ...}``: select,
                release, edit, plane, axis, view, size, undo, redo, restore or open.
        """
        super().__init__()
        self._on_action = on_action
        self._bundle_sent = -BETWEEN_BUNDLES
        self.on_msg(self._receive)

    def _receive(self, _: object, message: Any, buffers: list[bytes]) -> None:
        if isinstance(message, dict) and message.get("type") == "plotly":
            now = time.monotonic()
            if now - self._bundle_sent >= BETWEEN_BUNDLES:  # what nobody reads piles up in the server
                self._bundle_sent = now
                self.send({"type": "plotly"}, buffers=[packed_plotly()])
        elif self._on_action is not None:
            self._on_action(message)

    def close(self) -> None:
        """Close the widget and let go of everybody who listens."""
        self._on_action = None
        super().close()
