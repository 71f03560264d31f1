"""From the settings to the numbers that follow from them."""

from __future__ import annotations

from convviz.ops.stages import Stages, stages
from convviz.ops.stages_transposed import stages_transposed
from convviz.settings.state import Settings


def compute(settings: Settings, *, compare: bool = True) -> Stages:
    """Compute every stage that follows from the settings, on their device and in their dtype.

    Args:
        settings: everything that was set.
        compare: also run autograd and record the deviation from it.
    """
    run = stages_transposed if settings.transposed else stages
    return run(
        settings.spec,
        settings.input_tensor(),
        settings.weight_tensor(),
        settings.bias_tensor(),
        settings.grad_tensor(),
        settings.loss,
        settings.target_tensor(),
        settings.device,
        settings.dtype,
        compare=compare,
    )
