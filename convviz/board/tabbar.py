"""A row of tabs as one widget: at most one is open, and the open one closes when it is chosen again."""

from __future__ import annotations

from importlib.resources import files
from typing import Any
from uuid import uuid4

import anywidget
import traitlets

from convviz.board.bundle import bundle


class TabBar(anywidget.AnyWidget):
    """The tabs by name.

    Attributes:
        tabs: pairs (name, title) in reading order.
        chosen: name of the open tab; empty when none is.
        uid: sets the ids of its tabs apart from those of another app in the page.
    """

    _esm = bundle(files("convviz.board").joinpath("js"), "tabs/tabbar.js")
    tabs = traitlets.List(traitlets.Tuple(traitlets.Unicode(), traitlets.Unicode())).tag(sync=True)
    chosen = traitlets.Unicode().tag(sync=True)
    uid = traitlets.Unicode().tag(sync=True)

    def __init__(self, **values: Any) -> None:
        """Make the row.

        Args:
            values: ``tabs`` and ``chosen``.
        """
        super().__init__(**values, uid=uuid4().hex[:8])

    def of(self, name: str) -> str:
        """Return what the pane of a tab is told, so that a screen reader finds from one to the other."""
        return f"{self.uid}-{name}"
