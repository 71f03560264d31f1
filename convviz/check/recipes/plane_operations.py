"""Planes of numbers, spread, padded and correlated as a recipe says, or written with ``=`` where ``+=`` belongs."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from convviz.geometry.spec import Pair, Sides


def spread(grad_output: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """Return grad_output with so many zeros between its rows and its columns."""
    height, width = grad_output.shape[-2:]
    shape = (*grad_output.shape[:-2], (height - 1) * (rows + 1) + 1, (width - 1) * (columns + 1) + 1)
    spread_out = grad_output.new_zeros(shape)
    spread_out[..., :: rows + 1, :: columns + 1] = grad_output
    return spread_out


def padded(plane: torch.Tensor, around: list[int]) -> torch.Tensor:
    """Return a plane with zeros around it, (left, right, top, bottom); negative numbers crop."""
    left, right, top, bottom = around
    height, width = plane.shape[-2:]
    if height + top + bottom <= 0 or width + left + right <= 0:
        return plane[..., :0, :0]
    plane = F.pad(plane, [max(cells, 0) for cells in around])  # first: a crop may reach beyond grad_output, into these
    return F.pad(plane, [min(cells, 0) for cells in around])


def correlate(input: torch.Tensor, kernel: torch.Tensor, step: Pair, spacing: Pair, groups: int) -> torch.Tensor | None:
    """Return the correlation; None where the kernel does not fit, or the channels do not meet."""
    fits = all(
        size >= gap * (cells - 1) + 1
        for size, gap, cells in zip(input.shape[-2:], spacing, kernel.shape[-2:], strict=True)
    )
    meets = input.shape[1] == kernel.shape[1] * groups and kernel.shape[0] % groups == 0
    return F.conv2d(input, kernel, None, step, 0, spacing, groups) if fits and meets else None


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

    ``overlaps`` says whose product is written last: that of the last output cell or of the last tap, for all output
    channels at once or one after the other. ``pitch`` and ``spacing`` are those of grad_output, once it is spread, and
    of the kernel, which is ``[C_in, C_out / groups, kH, kW]`` as it slides; ``around`` are the zeros before and after.
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
