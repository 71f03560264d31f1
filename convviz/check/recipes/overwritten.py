"""Loops that write ``=`` where ``+=`` belongs: the last product wins in every cell."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch

from convviz.spec import Pair, Sides


def overwritten(
    grad_output: torch.Tensor,
    kernel: torch.Tensor,
    groups: int,
    overlaps: str,
    pitch: Pair,
    spacing: Pair,
    around: Sides,
) -> torch.Tensor | None:
    """Return what a correlation with the spread and padded grad_output would be, if loops put = for +=.

    Args:
        grad_output: ``[N, C_out, H_out, W_out]``.
        kernel: as it slides, ``[C_in, C_out / groups, kH, kW]``.
        groups: how many.
        overlaps: whose product is written last: that of the last output cell or of the last tap (kernel cell), for all
            output channels at once or one after the other.
        pitch: how far apart the cells of grad_output stand once it is spread.
        spacing: how far apart the cells of the kernel stand.
        around: zeros before and after, for rows and for columns.
    """
    per, out = kernel.shape[0] // groups, kernel.shape[1]
    if grad_output.shape[1] != out * groups or kernel.shape[0] % groups:
        return None
    kernel = kernel.flip(-2, -1)  # who scatters does not rotate
    outputs, cells = grad_output.shape[2:], kernel.shape[2:]
    numbers = list(zip(outputs, cells, pitch, spacing, around, strict=True))
    size = [(o - 1) * s + 1 + before + after - d * (k - 1) for o, k, s, d, (before, after) in numbers]
    if min(size) <= 0:
        return None
    result = grad_output.new_zeros(grad_output.shape[0], kernel.shape[0], *size)
    first = out - 1 if overlaps.endswith("last channel") else 0
    for (i, a), (j, b) in _order(outputs, cells, by_tap=overlaps.startswith("last tap")):
        row, column = (
            o * s + k * d + before - d * (n - 1)
            for (o, k), (_, n, s, d, (before, _)) in zip(((i, a), (j, b)), numbers, strict=True)
        )
        if 0 <= row < size[0] and 0 <= column < size[1]:
            for g in range(groups):
                sent, taps = grad_output[:, g * out + first : (g + 1) * out, i, j], kernel[g * per : (g + 1) * per]
                result[:, g * per : (g + 1) * per, row, column] = sent @ taps[:, first:, a, b].T
    return result


def _order(outputs: torch.Size, cells: torch.Size, by_tap: bool) -> Iterator[tuple[Pair, Pair]]:
    """Yield ((o, k) of the rows, (o, k) of the columns) as loops meet them: by outputs, or by kernel cells."""
    if by_tap:
        for a, b, i, j in itertools.product(*map(range, (*cells, *outputs))):
            yield (i, a), (j, b)
    else:
        for i, j, a, b in itertools.product(*map(range, (*outputs, *cells))):
            yield (i, a), (j, b)
