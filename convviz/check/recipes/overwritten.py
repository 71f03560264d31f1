"""Loops that write ``=`` where ``+=`` belongs: the last product wins in every cell."""

from __future__ import annotations

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
    by_tap = overlaps.startswith("last tap")
    rows, columns = (_last(*axis, extent, by_tap) for axis, extent in zip(numbers, size, strict=True))
    written = (rows[:, 0] >= 0)[:, None] & (columns[:, 0] >= 0)
    o, k = ((rows[:, column, None].clamp(0), columns[:, column].clamp(0)) for column in (0, 1))
    first = out - 1 if overlaps.endswith("last channel") else 0
    sent = grad_output[:, :, o[0], o[1]].unflatten(1, (groups, out))[:, :, first:]  # [N, g, C_out / g, H, W]
    taps = kernel[:, first:, k[0], k[1]].unflatten(0, (groups, per))  # [g, C_in / g, C_out / g, H, W]
    return torch.einsum("ngohw,gcohw->ngchw", sent, taps).flatten(1, 2) * written


def _last(outputs: int, cells: int, pitch: int, spacing: int, around: Pair, extent: int, by_tap: bool) -> torch.Tensor:
    """Return which (o, k) of one axis writes last into each row, ``[rows, 2]``; -1 where none does.

    Which product is last is asked for rows and columns by themselves: the loops run over the rows outside.
    """
    last = torch.full((extent, 2), -1)
    pairs = [(o, k) for o in range(outputs) for k in range(cells)]
    for o, k in sorted(pairs, key=lambda pair: pair[::-1]) if by_tap else pairs:
        row = o * pitch + k * spacing + around[0] - spacing * (cells - 1)
        if 0 <= row < extent:
            last[row] = torch.tensor((o, k))
    return last
