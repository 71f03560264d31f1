"""The filter of a pass that is shown, by itself: a filter reads no other filter, and no channel of another group."""

import math
from dataclasses import dataclass

import torch

from convviz.facts.words import sentences
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.ops.stages import Stages

say = sentences("quantised")

MAX_QUANTISED_PRODUCTS = 200_000_000  # of all runs together: about half a second


@dataclass(frozen=True, eq=False)
class ShownFilter:
    """One output channel and the input channels of its group, float64; the spec is of these channels alone."""

    spec: ConvSpec
    input: torch.Tensor  # [N, C_in / groups, H, W]
    weight: torch.Tensor  # [1, C_in / groups, kH, kW]
    bias: torch.Tensor | None
    grad_output: torch.Tensor  # [N, 1, H_out, W_out]
    sample: int
    channel: int


def shown_filter(stages: Stages, plane: Plane) -> ShownFilter:
    spec = stages.spec
    if stages.transposed:
        raise ValueError(say("refused.transposed"))
    if any(before != after for before, after in spec.padding):
        raise ValueError(say("refused.padding", padding=spec.padding))
    at, per_group = plane.within(spec), spec.in_channels // spec.groups
    channels = slice(at.in_channel // per_group * per_group, (at.in_channel // per_group + 1) * per_group)
    own = spec.replace(in_channels=per_group, out_channels=1, groups=1)
    cells = math.prod(own.kernel_size)
    if own.products * 6 * cells > MAX_QUANTISED_PRODUCTS:
        raise ValueError(say("refused.products", cells=cells, millions=f"{own.products / 10**6:.1f}"))

    def double(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().to("cpu", torch.float64)

    filters = slice(at.out_channel, at.out_channel + 1)
    return ShownFilter(
        own,
        double(stages.input)[:, channels],
        double(stages.weight)[filters],
        None if stages.bias is None else double(stages.bias)[filters],
        double(stages.grad_output)[:, filters],
        at.sample,
        at.in_channel % per_group,
    )
