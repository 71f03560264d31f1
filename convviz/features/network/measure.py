"""How large the numbers of a tensor are, and how many of them are zero."""

import math
from dataclasses import dataclass

import torch

SAFE = (1e-15, 1e15)  # between them squares of float32 neither vanish nor overflow


@dataclass(frozen=True)
class Stats:
    """The size of a tensor's numbers."""

    rms: float  # the root of their mean square; nan or inf if one of them is
    zeros: float  # the share that is exactly 0


def measure(values: torch.Tensor) -> Stats:
    """Return the size of the numbers, right also where their squares have no place in their own format."""
    count = values.numel()
    if not count:
        return Stats(0.0, 0.0)
    values = values.detach()
    if values.is_complex():
        values = values.abs()
    if not values.is_floating_point():
        values = values.double()
    zeros = 1 - int(torch.count_nonzero(values)) / count
    rms = _norm(values, values.dtype) / math.sqrt(count)
    if zeros < 1 and not SAFE[0] < rms < SAFE[1]:
        most = float(values.abs().max())  # nan if one of them is
        whole = most if math.isfinite(most) else 1.0
        rms = _norm(values.double() / whole, torch.float64) / math.sqrt(count) * whole
    return Stats(rms, zeros)


def norm(values: torch.Tensor) -> float:
    """Return the root of the sum of the squares."""
    return measure(values).rms * math.sqrt(values.numel())


def _norm(values: torch.Tensor, dtype: torch.dtype) -> float:
    # Half formats are summed in float32: 65,504 numbers are soon too many for them.
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    return float(torch.linalg.vector_norm(values, dtype=wide))


def has_batch(shape: torch.Size, batch: int | None) -> bool:
    """Return whether the first axis of a tensor has the samples."""
    return batch is not None and len(shape) > 0 and shape[0] == batch
