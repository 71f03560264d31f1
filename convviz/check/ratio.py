"""Numbers that are all wrong by one factor."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from convviz.check.compare import same


def constant_ratio(pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> float | None:
    """Return the one factor by which every (got, right) differs; None if there is none, or if it is 1."""
    ratio = None
    for got, right in pairs:
        if got.shape != right.shape or not right.numel():
            return None
        largest = right.abs().argmax()
        here = float(got.flatten()[largest].double() / right.flatten()[largest].double())
        if ratio is not None and abs(here - ratio) > 1e-6 * abs(ratio):
            return None
        if not same(got, right * here):
            return None
        ratio = here
    return None if ratio is None or abs(ratio - 1) < 1e-6 else ratio
