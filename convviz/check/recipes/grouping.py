"""Which channels meet in a grouped convolution's backward pass, as a recipe says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from convviz.check.recipes.choices import Recipe
from convviz.geometry.spec import ConvSpec


@dataclass(frozen=True)
class Grouping:
    """How channels are taken apart and put together again.

    Attributes:
        groups: how many there are, as far as the recipe knows.
        outputs: output channels in the order in which the groups take them.
        sent: those of them whose gradients are used at all.
        ordered: puts the groups' kernels in order.
        placed: puts the channels of the result in order.
    """

    groups: int
    outputs: list[int]
    sent: list[int]
    ordered: Callable[[list[torch.Tensor]], list[torch.Tensor]]
    placed: Callable[[torch.Tensor], torch.Tensor]


def grouping(chosen: Recipe, spec: ConvSpec) -> Grouping:
    """Return how a recipe takes the channels of ``[N, C_out, ...]`` and ``[C_out, C_in / groups, ...]``."""
    way, groups, out = chosen["groups"], spec.groups, spec.out_channels
    knows = way not in ("ignored", "all into the first", "repeated")
    outputs = list(range(out))
    if way == "every g-th channel":
        outputs = [channel for group in range(groups) for channel in range(group, out, groups)]
    sent = outputs
    if chosen["overlaps"] == "last channel":
        per = out // groups
        sent = outputs[per - 1 :: per] if knows else outputs[-1:]

    def ordered(blocks: list[torch.Tensor]) -> list[torch.Tensor]:
        if way == "repeated":
            return [block.repeat(1, groups, 1, 1) for block in blocks]
        return blocks[::-1] if way == "reversed" else blocks

    def placed(result: torch.Tensor) -> torch.Tensor:
        if way == "all into the first":
            return torch.cat([result, *[torch.zeros_like(result)] * (groups - 1)], 1)
        if way == "results reversed":
            return torch.cat(result.chunk(groups, 1)[::-1], 1)
        if way == "every g-th channel":
            return torch.stack(result.chunk(groups, 1), 2).flatten(1, 2)
        return result

    return Grouping(groups if knows else 1, outputs, sent, ordered, placed)
