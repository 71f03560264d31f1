"""Slopes by moving one cell at a time: what a gradient is held against."""

from collections.abc import Callable

import torch

CELLS_AT_ONCE = 64  # moved in one call

Loss = Callable[[torch.Tensor], torch.Tensor]


def central_differences(loss: Loss, cells: torch.Tensor, eps: float) -> torch.Tensor:
    """Return (loss(cell + eps) - loss(cell - eps)) / (2 eps) for every cell."""
    step = eps * torch.eye(cells.numel(), dtype=cells.dtype).reshape(-1, *cells.shape)
    run = torch.func.vmap(loss, chunk_size=CELLS_AT_ONCE)
    slopes: torch.Tensor = (run(cells + step) - run(cells - step)) / (2 * eps)
    return slopes.reshape(cells.shape)
