"""Formats of 16 bits: sums are kept in float32 and rounded once at the end, as torch's own kernels do."""

from __future__ import annotations

import torch


def is_narrow(tensor: torch.Tensor) -> bool:
    """Return whether the format is one of those that torch adds up in float32: bfloat16 and float16."""
    return tensor.element_size() < 4


def wide_dtype(tensor: torch.Tensor) -> torch.dtype:
    """Return the format in which sums of such numbers are kept: float32 for a narrow one, else its own."""
    return torch.float32 if is_narrow(tensor) else tensor.dtype


def widened(tensor: torch.Tensor) -> torch.Tensor:
    """Return the same numbers in the format that their sums are kept in; whoever adds them up rounds the result."""
    return tensor.to(wide_dtype(tensor))
