"""Numbers that are all wrong by one factor."""

from __future__ import annotations

import torch

from convviz.check.compare import same


def ratio_of(got: torch.Tensor, right: torch.Tensor) -> float | None:
    """Return the one factor by which all numbers differ; None if there is none."""
    if got.shape != right.shape or not right.numel():
        return None
    largest = right.abs().argmax()
    ratio = float(got.flatten()[largest].double() / right.flatten()[largest].double())
    return ratio if same(got, right * ratio) else None
