"""The interactive view of a graph: what a notebook shows for the value of ``convviz.graph(...)``."""

from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets

from convviz.app.graph_data import inside_reply, node_reply, page
from convviz.explanation.graph.autograd_graph import Graph
from convviz.views.theme import COLORSCALES
from convviz.web.bundle import bundle
from convviz.web.widget_assets import HERE, pane_styles


class GraphView(anywidget.AnyWidget):
    """A graph to walk through: pan, zoom, step backwards, open a box."""

    _css = pane_styles("graph")

    data = traitlets.Dict().tag(sync=True)
    theme = traitlets.Enum(("auto", "light", "dark"), default_value="auto").tag(sync=True)
    colorscales = traitlets.Dict(COLORSCALES).tag(sync=True)

    def __init__(self, graph: Graph, *, theme: str = "auto") -> None:
        self._esm = bundle(HERE, "tabs/graph/tab.js")  # here: in the language that is spoken now
        super().__init__(data=page(graph) | {"panels": {}, "step": 1}, theme=theme)
        self.graph = graph
        self.on_msg(self._answer)

    def __repr__(self) -> str:
        """Return a line: a notebook keeps it beside the view."""
        return f"GraphView({self.graph!r})"

    def close(self) -> None:
        self.layout.close()
        super().close()

    def _answer(self, _: object, message: Mapping[str, Any], buffers: list[bytes]) -> None:
        id = str(message.get("id"))
        if id not in {node.id for node in self.graph.nodes}:
            return  # from a page of another version, or not ours
        if message.get("type") == "node":
            chosen = message.get("planes")
            reply = node_reply(self.graph, id, chosen if isinstance(chosen, Mapping) else {})
        elif message.get("type") == "inside":
            reply = inside_reply(self.graph, id, message.get("plane"))
        else:
            return
        self.send(reply.content, reply.buffers)
