"""When two tensors count as the same, or as one times the other."""

from __future__ import annotations

import torch

FLOAT32 = 1e-5  # of the largest number: bfloat16 and TF32 lose more


def tolerance(dtype: torch.dtype) -> float:
    """Return how far numbers may be apart, as a part of the largest of them: 1e-9 in float64, else 1e-4, as in float32.

    Nobody is given less than float32: what comes back in half of it has lost its digits on the way.
    """
    return 1e-9 if dtype == torch.float64 else 1e-4


def same(got: torch.Tensor, right: torch.Tensor, rtol: float | None = None, atol: float = 0.0) -> bool:
    """Return whether two tensors have one shape and the same numbers, but for rounding in the coarser dtype."""
    return got.shape == right.shape and bool((errors(got, right) <= allowed(got, right, rtol, atol)).all())


def errors(got: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return how far each number is off, in float64; inf where only one of both is a number."""
    apart = (got.double() - right.double()).abs()
    return torch.where(got.double() == right.double(), 0.0, apart.nan_to_num(nan=float("inf")))


def allowed(got: torch.Tensor, right: torch.Tensor, rtol: float | None, atol: float) -> float:
    """Return how far a number may be off: ``atol``, plus ``rtol`` of the largest right one."""
    if rtol is None:
        rtol = tolerance(got.dtype if got.is_floating_point() else torch.float64)
        if got.dtype == torch.float64 and right.dtype == torch.float64 and bool((got.float().double() == got).all()):
            rtol = FLOAT32  # it was computed in float32, and has no more digits
    largest = float(right.abs().max()) if right.numel() else 0.0
    return atol + rtol * max(largest, torch.finfo(torch.float64).tiny)


def ratio_of(got: torch.Tensor, right: torch.Tensor) -> float | None:
    """Return the one factor by which all numbers differ; None if there is none."""
    if got.shape != right.shape or not right.numel():
        return None
    largest = right.abs().argmax()
    ratio = float(got.flatten()[largest].double() / right.flatten()[largest].double())
    return ratio if same(got, right * ratio) else None
