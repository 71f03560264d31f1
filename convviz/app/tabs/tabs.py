"""The row of tabs, and the pane of the open one. A tab is made when it is first opened, and kept."""

from __future__ import annotations

import importlib
from typing import Any

import ipywidgets as widgets

from convviz.app.model import Model
from convviz.app.tabs.base import Tab
from convviz.board.tabbar import TabBar
from convviz.facts import facts

TABS: dict[str, str] = facts("names")["tabs"]  # name, as in Settings.tab → title
# The module has the tab's name.
CLASSES = {
    "matrix": "MatrixTab",
    "graph": "GraphTab",
    "code": "CodeTab",
    "pytorch": "PyTorchTab",
    "check": "CheckTab",
    "quantised": "QuantisedTab",
    "linear": "LinearTab",
}


class Tabs:
    """The tabs of one app.

    Attributes:
        bar: the row of tabs.
        slot: the box in which the open tab's pane stands.
    """

    def __init__(self, model: Model) -> None:
        """Make the row; a tab that the settings name is opened at once."""
        self._model = model
        self._made: dict[str, Tab] = {}
        self.bar = TabBar(tabs=list(TABS.items()))
        self.slot = widgets.Box()
        self.slot.add_class("cv-slot")
        self.bar.observe(self._on_bar, names="chosen")
        self.show()

    def show(self) -> None:
        """Show the tab that the settings name, as the model now is."""
        name = self._model.settings.tab
        if self.bar.chosen != name:
            self.bar.chosen = name
        if not name:
            self.slot.children = ()
            return
        if name in self._made:
            self._made[name].follow()
        else:
            self._made[name] = _make(name, self._model)
            self._made[name].pane.tab = name
        if self.slot.children != (self._made[name].pane,):
            self.slot.children = (self._made[name].pane,)

    def close(self) -> None:
        """Close every tab that was made."""
        for tab in self._made.values():
            tab.close()
        self._made.clear()

    def _on_bar(self, event: dict[str, Any]) -> None:
        if event["new"] != self._model.settings.tab:
            self._model.attempt(lambda: self._model.apply(self._model.settings.replace(tab=event["new"])))


def _make(name: str, model: Model) -> Tab:
    tab: type[Tab] = getattr(importlib.import_module(f"convviz.app.tabs.{name}"), CLASSES[name])
    return tab(model)
