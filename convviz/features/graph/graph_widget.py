"""The interactive view of a graph: what a notebook shows for the value of ``convviz.graph(...)``."""

import contextlib
from typing import Any

import anywidget
import traitlets

from convviz.app.validate_request import RequestError
from convviz.features.graph.autograd_graph import Graph
from convviz.features.graph.graph_data import page, reply_to
from convviz.views.theme import COLORSCALES
from convviz.web.bundle import bundle
from convviz.web.widget_assets import HERE, pane_styles, tab_file


class GraphView(anywidget.AnyWidget):
    """A graph to walk through: pan, zoom, step backwards, open a box."""

    _css = pane_styles("graph")

    data = traitlets.Dict().tag(sync=True)
    theme = traitlets.Enum(("auto", "light", "dark"), default_value="auto").tag(sync=True)
    colorscales = traitlets.Dict(COLORSCALES).tag(sync=True)

    def __init__(self, graph: Graph, *, theme: str = "auto") -> None:
        self._esm = bundle(HERE, tab_file("graph"))  # here: in the language that is spoken now
        super().__init__(data=page(graph) | {"panels": {}, "step": 1}, theme=theme)
        self.graph = graph
        self.on_msg(self._answer)

    def __repr__(self) -> str:
        """Return a line: a notebook keeps it beside the view."""
        return f"GraphView({self.graph!r})"

    def close(self) -> None:
        self.layout.close()
        super().close()

    def _answer(self, _: object, message: Any, buffers: list[bytes]) -> None:
        with contextlib.suppress(RequestError):  # from a page of another version, or not ours
            reply = reply_to(message, self.graph)
            self.send(reply.content, reply.buffers)
