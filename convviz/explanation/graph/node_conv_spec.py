"""The geometry of a convolution that stands in a graph, read off what its node keeps and what flows out of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from convviz.explanation.graph.nodes_and_edges import Snapshot
from convviz.explanation.graph.walk import Function, forward_class, is_convolution
from convviz.geometry.spec import ConvSpec
from convviz.ops.autograd_functions import Convolution

Shape = tuple[int, ...]


def geometry(
    function: Function,
    saved: Mapping[str, Any],
    gradient: Snapshot | None,
    passed_on: Sequence[Snapshot | None],
) -> ConvSpec | None:
    """Return the geometry of a 2-D convolution, or of the one that a transposed one reads; None where it is unknown."""
    if forward_class(function) is Convolution:
        own: Any = function
        return own.spec if isinstance(getattr(own, "spec", None), ConvSpec) else None
    if not (is_convolution(function) or is_transposed(function)) or gradient is None:
        return None
    # What was not saved, because no gradient needs it, has the shape of the gradient that was made for it.
    shapes = [_shape(saved.get(name), passed_on, place) for place, name in enumerate(("input", "weight"))]
    if shapes[0] is None or shapes[1] is None or 0 in shapes[0]:
        return None
    return _spec(saved, shapes[0], shapes[1], gradient.shape)


def is_transposed(function: Function) -> bool:
    return len(getattr(function, "_saved_stride", ())) == 2 and bool(getattr(function, "_saved_transposed", False))


def _shape(tensor: Any, passed_on: Sequence[Snapshot | None], place: int) -> Shape | None:
    if isinstance(tensor, torch.Tensor):
        return tuple(tensor.shape)
    found = passed_on[place] if place < len(passed_on) else None
    return None if found is None else found.shape


def _spec(saved: Mapping[str, Any], input: Shape, weight: Shape, output: Shape) -> ConvSpec:
    batch, in_channels, *size = output if saved["transposed"] else input
    return ConvSpec(
        input_size=size,
        in_channels=in_channels,
        out_channels=weight[0],
        kernel_size=weight[2:],
        stride=saved["stride"],
        padding=saved["padding"],
        dilation=saved["dilation"],
        groups=saved["groups"],
        batch=batch,
    )
