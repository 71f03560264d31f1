"""Widgets that share convviz's sheet, and a feature's pane that stands alone in a notebook."""

from typing import Any

import anywidget
import traitlets

from convviz.views.theme import COLORSCALES
from convviz.web.bundle import bundle_several
from convviz.web.widget_assets import HERE, app_styles, tab_sheet

SHEET = "convviz.sheet"


class StyledWidget(anywidget.AnyWidget):
    """A widget with the sheet of all of convviz, which a document then has once, in one order.

    The front end keeps a sheet by this id, which anywidget makes of the class: with an id of each class a document
    would have the same rules several times, and those of the board after what is to win over them.
    """

    _css = app_styles()

    def __init__(self, **values: Any) -> None:
        super().__init__(_anywidget_id=SHEET, **values)


class PaneWidget(StyledWidget):
    """A feature's pane alone in a notebook; as in a tab its own sheet stands beside it."""

    data = traitlets.Dict().tag(sync=True)
    theme = traitlets.Enum(("auto", "light", "dark"), default_value="auto").tag(sync=True)
    colorscales = traitlets.Dict(COLORSCALES).tag(sync=True)
    _sheet = traitlets.Unicode().tag(sync=True)

    def __init__(self, feature: str, script: str, data: dict[str, Any], *, theme: str) -> None:
        """Make it of a feature's ``script``, which exports a tab, in the language that is spoken now."""
        modules = bundle_several(HERE, {"tab": f"../features/{feature}/{script}", "pane": "tabs/pane_alone.js"})
        self._esm = f"{modules}\nexport default pane.alone(tab);\n"
        super().__init__(data=data, theme=theme, _sheet=tab_sheet(feature))
