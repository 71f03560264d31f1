"""The tab with the autograd graph of the current computation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from convviz.app.graph_page import Reply, inside_reply, node_reply, page
from convviz.app.tabs.base import Tab
from convviz.explanation.graph.computation import graph_of_stages
from convviz.explanation.graph.data import Graph
from convviz.explanation.graph.parts import Node
from convviz.views.panels import Panel, equations

# Where several panels show the same numbers, as grad_output does that is all ones: which is meant.
VALUES = ("weight", "bias", "output", "padded_input", "grad_input", "input", "grad_output")
GRADIENTS = ("grad_weight", "grad_bias", "grad_output", "grad_padded_input", "grad_input")
VALUES_TRANSPOSED = ("weight", "bias", "grad_input", "grad_output", "padded_grad_output")
GRADIENTS_TRANSPOSED = ("grad_weight", "grad_bias", "input", "padded_input", "output")


class GraphTab(Tab):
    """The graph from input, weight and bias to the loss, with the numbers of this moment."""

    slow = True
    _graph: Graph | None = None  # of the last data; None until the first could be made

    def data(self) -> dict[str, Any]:
        """Return the drawing; the numbers of a box follow when it is asked for."""
        settings, result = self.session.settings, self.session.result
        self._graph = graph = graph_of_stages(result)
        rows = equations(result, settings.plane, settings.input_view)
        self._panels = {panel.name: panel for row in rows for panel in row.panels}
        return page(graph) | {"panels": {node.id: self._shown(node) for node in graph.nodes}}

    def act(self, message: Mapping[str, Any]) -> None:
        """Send what a box holds, or what stands inside it."""
        id, graph = str(message.get("id")), self._graph
        if graph is None or id not in {node.id for node in graph.nodes}:
            return  # the page asked before it had the new graph, in which this box is gone
        if message.get("type") == "node":
            chosen = message.get("planes")
            reply = node_reply(graph, id, chosen if isinstance(chosen, Mapping) else {}, self._find)
            self._send(reply)
        elif message.get("type") == "inside":
            self._send(inside_reply(graph, id, self.session.settings.plane, self._find))

    def _send(self, reply: Reply) -> None:
        self.reply(reply.content, reply.buffers)

    def _shown(self, node: Node) -> list[str]:
        """Return the panels that show a node's value and gradient."""
        slots = node.slots
        pairs = [(slot.value, "value") for slot in slots] + [(slot.gradient, "gradient") for slot in slots]
        places = [self._find(found.tensor, kind) for found, kind in pairs if found and found.tensor is not None]
        return list(dict.fromkeys(place[0] for place in places if place))

    def _find(self, tensor: torch.Tensor, kind: str) -> tuple[str, tuple[int, ...]] | None:
        """Return the panel that shows this tensor, and which of its planes; see ``FindPanel``."""
        transposed = self.session.result.transposed
        names = {
            "value": VALUES_TRANSPOSED if transposed else VALUES,
            "gradient": GRADIENTS_TRANSPOSED if transposed else GRADIENTS,
        }.get(kind, (kind, "grad_padded_input") if kind == "grad_input" else (kind,))
        for name in names:
            panel = self._panels.get(name)
            if panel is not None and _is_same(panel, self.session.result, tensor):
                return name, () if tensor.dim() == 1 else panel.at
        return None


def _is_same(panel: Panel, result: Any, tensor: torch.Tensor) -> bool:
    shown: torch.Tensor = getattr(result, panel.name)
    if shown.shape != tensor.shape or shown.dtype != tensor.dtype:
        return False
    # Another way of adding the same products up: what differs is rounding.
    size = float(shown.abs().max())
    close = 0.05 if shown.dtype is torch.bfloat16 else 1e-3
    return torch.allclose(shown.detach().cpu(), tensor, rtol=close, atol=close * size)
