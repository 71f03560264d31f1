"""What a pane can draw, and JSON hold: finite numbers."""

from __future__ import annotations

import torch

from convviz.facts.words import sentences

say = sentences("rules")


def check_finite(name: str, tensor: torch.Tensor) -> None:
    """Refuse numbers that are too large for their dtype.

    Args:
        name: what the numbers are called.
        tensor: of any shape.

    Raises:
        ValueError: one is inf or nan.
    """
    if not bool(tensor.isfinite().all()):
        dtype = str(tensor.dtype).removeprefix("torch.")
        raise ValueError(
            say("refused.finite", dtype=dtype, value=tensor[~tensor.isfinite()].flatten()[0].item(), name=name)
        )
