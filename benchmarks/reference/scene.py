"""The eight tensors that every way of showing them shows: those that the app opens with."""

import torch

from convviz import stages
from convviz.settings.state import Settings
from convviz.settings.tensors import input_tensor, target_tensor, weight_tensor

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
REACH, STEP = 3.0, 0.1  # of the sliders, as the app's

_FIRST = Settings()
_INPUT, _TARGET = input_tensor(_FIRST), target_tensor(_FIRST)
SOBEL_X = weight_tensor(_FIRST).flatten().tolist()


def compute(weight, compare=True):
    """Return the stages of the app's first settings for another kernel, by the same work as the app's.

    Args:
        weight: Nine numbers, row by row.
        compare: As in `stages`; the app compares at every step.
    """
    kernel = torch.tensor(weight, dtype=torch.float64).reshape(_FIRST.spec.weight_shape)
    other = {"loss": _FIRST.loss, "target": _TARGET, "dtype": _FIRST.dtype}
    return stages(_FIRST.spec, _INPUT, kernel, **other, compare=compare)


def planes(weight):
    """Return {name: float32 array [rows, columns]} of the eight tensors."""
    result = compute(weight)
    return {name: getattr(result, name)[0, 0].numpy() for name in NAMES}
