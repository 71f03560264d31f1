"""grad_input of loops that write ``=`` where ``+=`` belongs."""

from __future__ import annotations

import itertools

import torch

from convviz.check.recipes.choices import ORIENTATIONS, Recipe, factor
from convviz.spec import ConvSpec, Pair


def overwritten(
    chosen: Recipe, spec: ConvSpec, grad_output: torch.Tensor, weight: torch.Tensor
) -> torch.Tensor | None:
    """Return the gradient of loops that write ``=`` where ``+=`` belongs: the last product wins in every cell.

    None where a turned kernel does not fit into the window.
    """
    (top, bottom), (left, right) = spec.padding
    height, width = spec.input_size
    result = grad_output.new_zeros(spec.batch, spec.in_channels, height + top + bottom, width + left + right)
    weight = ORIENTATIONS[chosen["kernel"]](weight).flip(-2, -1)  # who scatters does not rotate
    if weight.shape[-2:] != spec.kernel_size:
        return None
    per, out = spec.in_channels // spec.groups, spec.out_channels // spec.groups
    for g in range(spec.groups):
        first = (g + 1) * out - 1 if chosen["overlaps"].endswith("last channel") else g * out
        channels = slice(first, (g + 1) * out)
        for (i, a), (j, b) in _order(spec, weight, by_tap=chosen["overlaps"].startswith("last tap")):
            row, column = i * spec.stride[0] + a * spec.dilation[0], j * spec.stride[1] + b * spec.dilation[1]
            sent = torch.einsum("no,oc->nc", grad_output[:, channels, i, j], weight[channels, :, a, b])
            result[:, g * per : (g + 1) * per, row, column] = sent
    result = result if chosen["crop"] == "0" else result[..., top : top + height, left : left + width]
    return result * factor(chosen, spec)


def _order(spec: ConvSpec, weight: torch.Tensor, by_tap: bool) -> list[tuple[Pair, Pair]]:
    """Return ((o, k) of the rows, (o, k) of the columns) as loops meet them: by outputs, or by kernel cells."""
    pairs = [
        ((i, a), (j, b))
        for i, j, a, b in itertools.product(*map(range, (*spec.output_size, *weight.shape[-2:])))
    ]  # fmt: skip
    return sorted(pairs, key=lambda pair: (pair[0][1], pair[1][1])) if by_tap else pairs
