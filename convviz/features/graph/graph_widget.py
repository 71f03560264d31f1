"""The interactive view of a graph: what a notebook shows for the value of ``convviz.graph(...)``."""

import contextlib
from typing import Any

from convviz.app.styled_widget import PaneWidget
from convviz.app.validate_request import RequestError
from convviz.features.graph.autograd_graph import Graph
from convviz.features.graph.graph_data import page, reply_to


class GraphView(PaneWidget):
    """A graph to walk through: pan, zoom, step backwards, open a box."""

    def __init__(self, graph: Graph, *, theme: str = "auto") -> None:
        super().__init__("graph", "tab.js", page(graph) | {"panels": {}, "step": 1}, theme=theme)
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
