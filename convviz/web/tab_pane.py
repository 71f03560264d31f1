"""The widget that carries a pane: what stands in a tab beside the board."""

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import anywidget
import traitlets

from convviz.facts import facts
from convviz.views.theme import COLORSCALES
from convviz.web.bundle import bundle
from convviz.web.module import pane_styles

HERE = files("convviz.web")


class Pane(anywidget.AnyWidget):
    """Draws plain data with JavaScript of its own.

    Attributes:
        data: what to draw; ``{"error": sentence}`` keeps the last picture and shows the sentence.
        tab: name of the tab of which it is the panel; empty where there are no tabs.
        theme: ``"auto"``, ``"light"`` or ``"dark"``.
        colorscales: the two colour scales.
    """

    # The board's numbers and frames look the same in a pane. One sheet for all panes: anywidget keeps one a class on
    # the page, and a pane that is opened would take the sheet of the others away.
    _css = pane_styles(*facts("names")["tabs"])

    data = traitlets.Dict().tag(sync=True)
    tab = traitlets.Unicode().tag(sync=True)
    theme = traitlets.Enum(("auto", "light", "dark"), default_value="auto").tag(sync=True)
    colorscales = traitlets.Dict(COLORSCALES).tag(sync=True)

    def __init__(self, script: str, on_action: Callable[[dict[str, Any]], None] | None = None) -> None:
        """Make a pane that a file in ``convviz/web`` draws; ``on_action`` hears what a person does in it."""
        self._esm = bundle(HERE, script)
        super().__init__()
        self._on_action = on_action
        self.on_msg(self._receive)

    def _receive(self, _: object, message: dict[str, Any], buffers: list[bytes]) -> None:
        if self._on_action is not None:
            self._on_action(message)

    def close(self) -> None:
        """Close the widget with its layout, and let go of everybody who listens."""
        self._on_action = None
        self.layout.close()
        super().close()
