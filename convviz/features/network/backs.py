"""Ways back as data: the one of a recording, and a 1 from any cell."""

from collections.abc import Sequence
from typing import Any

import torch

from convviz.facts.words import sentences
from convviz.features.network.keep_gradients import Came
from convviz.features.network.measure import measure, norm
from convviz.features.network.operations import Back, Operation, WeightBack
from convviz.features.network.send_back import WayBack

say = sentences("features/network")


def made_back(
    start: dict[str, Any], operations: Sequence[Operation], came: Came, weights: dict[int, torch.Tensor]
) -> Back:
    """Return one way back as data."""
    found = [came.get(operation.index) for operation in operations]
    stats = tuple(None if each is None else each[1] or measure(each[0]) for each in found)
    backs = {}
    for operation in operations:
        gradient = weights.get(operation.index)
        if gradient is not None and operation.weight is not None:
            change, size = norm(gradient), operation.weight.norm
            backs[operation.index] = WeightBack(change, change / size if size else None, gradient)
    return Back(start, tuple(None if each is None else each[0] for each in found), stats, backs)


def send_from_output(way: WayBack | None, operations: Sequence[Operation], kind: str, first: Back) -> Back:
    """Send back from the sum of the model's output, or from the loss that it was recorded with."""
    if first.start["kind"] == kind:
        return first
    if kind == "loss":
        raise ValueError(say("refuse.no_loss"))
    output = _alive(way).output
    if not isinstance(output, torch.Tensor) or not output.requires_grad:
        raise ValueError(say("refuse.no_sum"))
    came, weights = _alive(way).send(output, torch.ones_like(output))
    return made_back({"kind": kind}, operations, came, weights)


def send_from_cell(
    way: WayBack | None, operations: Sequence[Operation], operation: Operation, cell: Sequence[int], sample: int
) -> Back:
    """Send a 1 back from one cell of an operation's output, in the drawn sample."""
    alive = _alive(way)
    shape = operation.shape
    if len(cell) != len(shape) or not all(0 <= at < size for at, size in zip(cell, shape, strict=False)):
        raise ValueError(say("refuse.cell", name=operation.label, shape=list(shape), got=list(cell)))
    edge = alive.edges[operation.index]
    if edge is None:
        raise ValueError(say("refuse.no_way", name=operation.label))
    gradient = alive.zeros(operation.index)
    gradient[(sample, *cell) if operation.batched else tuple(cell)] = 1
    came, weights = alive.send(edge, gradient, one_sample=True)
    start = {"kind": "cell", "operation": operation.index, "cell": list(cell)}
    return made_back(start, operations, came, weights)


def _alive(way: WayBack | None) -> WayBack:
    if way is None:
        raise ValueError(say("refuse.not_live"))
    return way
