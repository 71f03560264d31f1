"""The tab with the autograd graph of the current computation."""

from collections.abc import Mapping
from typing import Any

import torch

from convviz.features.graph.autograd_graph_of_app import graph_of_stages
from convviz.features.graph.graph_data import page, reply_to
from convviz.features.graph.nodes_and_edges import Node
from convviz.ops.stages import Stages
from convviz.settings.state import Settings
from convviz.views.panels import Panel, equations

# Where several panels show the same numbers, as grad_output does that is all ones: which is meant.
VALUES = ("weight", "bias", "output", "padded_input", "grad_input", "input", "grad_output")
GRADIENTS = ("grad_weight", "grad_bias", "grad_output", "grad_padded_input", "grad_input")
VALUES_TRANSPOSED = ("weight", "bias", "grad_input", "grad_output", "padded_grad_output")
GRADIENTS_TRANSPOSED = ("grad_weight", "grad_bias", "input", "padded_input", "output")


def data(settings: Settings, stages: Stages, choices: Mapping[str, Any]) -> dict[str, Any]:
    graph, board = graph_of_stages(stages), _Board(settings, stages)
    return page(graph) | {"panels": {node.id: board.showing(node) for node in graph.nodes}}


def reply(
    settings: Settings, stages: Stages, choices: Mapping[str, Any], ask: Any
) -> tuple[dict[str, Any], list[bytes]]:
    made = reply_to(ask, graph_of_stages(stages), settings.plane, _Board(settings, stages).find)
    return made.content, made.buffers


class _Board:
    def __init__(self, settings: Settings, stages: Stages) -> None:
        rows = equations(stages, settings.plane, settings.input_view)
        self._stages = stages
        self._panels = {panel.name: panel for row in rows for panel in row.panels}

    def showing(self, node: Node) -> list[str]:
        slots = node.slots
        pairs = [(slot.value, "value") for slot in slots] + [(slot.gradient, "gradient") for slot in slots]
        places = [self.find(found.tensor, kind) for found, kind in pairs if found and found.tensor is not None]
        return list(dict.fromkeys(place[0] for place in places if place))

    def find(self, tensor: torch.Tensor, kind: str) -> tuple[str, tuple[int, ...]] | None:
        transposed = self._stages.transposed
        names = {
            "value": VALUES_TRANSPOSED if transposed else VALUES,
            "gradient": GRADIENTS_TRANSPOSED if transposed else GRADIENTS,
        }.get(kind, (kind, "grad_padded_input") if kind == "grad_input" else (kind,))
        for name in names:
            panel = self._panels.get(name)
            if panel is not None and _is_same(panel, self._stages, tensor):
                return name, () if tensor.dim() == 1 else panel.at
        return None


def _is_same(panel: Panel, stages: Stages, tensor: torch.Tensor) -> bool:
    shown: torch.Tensor = getattr(stages, panel.name)
    if shown.shape != tensor.shape or shown.dtype != tensor.dtype:
        return False
    # Another way of adding the same products up: what differs is rounding.
    size = float(shown.abs().max())
    close = 0.05 if shown.dtype is torch.bfloat16 else 1e-3
    return torch.allclose(shown.detach().cpu(), tensor, rtol=close, atol=close * size)
