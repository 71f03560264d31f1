"""A row of tabs as one widget: at most one is open, and the open one closes when it is chosen again."""

from __future__ import annotations

from importlib.resources import files

import anywidget
import traitlets

from convviz.board.bundle import bundle


class TabBar(anywidget.AnyWidget):
    """The tabs by name.

    Attributes:
        tabs: pairs (name, title) in reading order.
        chosen: name of the open tab; empty when none is.
    """

    _esm = bundle(files("convviz.board").joinpath("js"), "tabs/tabbar.js")
    tabs = traitlets.List(traitlets.Tuple(traitlets.Unicode(), traitlets.Unicode())).tag(sync=True)
    chosen = traitlets.Unicode().tag(sync=True)
