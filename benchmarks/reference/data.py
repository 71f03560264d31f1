"""The numbers that every variant shows: the app's own default, eight tensors of it."""

from __future__ import annotations

import torch

from convviz import Stages, stages
from convviz.settings.state import Settings

NAMES = (
    "padded_input",
    "weight",
    "output",
    "grad_output",
    "padded_grad_output",
    "rotated_weight",
    "grad_input",
    "grad_weight",
)
DEFAULT = Settings()


def kernel() -> list[float]:
    """Return the first kernel, row by row."""
    flat: list[float] = DEFAULT.weight_tensor().flatten().tolist()
    return flat


def compute(weight: list[float]) -> Stages:
    """Compute what the app computes for this kernel, the comparison with autograd included."""
    spec = DEFAULT.spec
    return stages(
        spec,
        DEFAULT.input_tensor(),
        torch.tensor(weight, dtype=torch.float64).reshape(spec.weight_shape),
        loss=DEFAULT.loss,
        target=DEFAULT.target_tensor(),
    )


def planes(weight: list[float]) -> dict[str, list[list[float]]]:
    """Return the eight planes as nested lists."""
    result = compute(weight)
    return {name: getattr(result, name)[0, 0].tolist() for name in NAMES}
