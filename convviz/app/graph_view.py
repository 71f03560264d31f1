"""The interactive view of a graph: what a notebook shows for the value of ``convviz.graph(...)``."""

from collections.abc import Mapping
from typing import Any

from convviz.app.graph_page import inside_reply, node_reply, page
from convviz.explanation.graph.data import Graph
from convviz.web.tab_pane import Pane


class GraphView(Pane):
    """A graph to walk through: pan, zoom, step backwards, open a box."""

    def __init__(self, graph: Graph, *, theme: str = "auto") -> None:
        super().__init__("tabs/graph/tab.js", self._answer)
        self.graph = graph
        self.theme = theme
        self.data = page(graph) | {"panels": {}, "step": 1}

    def __repr__(self) -> str:
        """Return a line: a notebook keeps it beside the view."""
        return f"GraphView({self.graph!r})"

    def _answer(self, message: Mapping[str, Any]) -> None:
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
