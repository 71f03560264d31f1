"""Planes of numbers, spread, padded and correlated as a recipe says, whatever it says."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from convviz.spec import Pair


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
