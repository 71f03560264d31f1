"""The tab Matrix: the convolution and its gradients as matrix products."""

import math
from collections.abc import Mapping
from typing import Any

import torch

from convviz.app.validate_request import whole
from convviz.features.matrix.matrices import MAX_MATRIX_ENTRIES, Matrices, matrices, one_matrix
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.ops.by_rotate import backward_padding
from convviz.ops.stages import Stages
from convviz.settings.state import Settings
from convviz.settings.tensor_display_names import shown_name

# A matrix that is called as its stage, or as what the stage is made of.
NAMES = ("input", "padded_input", "weight", "output", "grad_output", "grad_input", "grad_padded_input", "grad_weight")
VECTORS = ("input", "product", "grad_output", "gradient")
LARGE = 4096  # cells of an image: above it fewer digits are sent
CHOICES = ("start",)


def data(settings: Settings, stages: Stages, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return the products of the windows from ``start`` on, and the one matrix."""
    start = whole(choices, "start", 0)
    made = matrices(stages, settings.plane)
    rows, windows = made.columns.shape
    step = min(windows, max(MAX_MATRIX_ENTRIES // rows, 1))
    start = min(max(start, 0), windows - 1) // step * step
    shown = slice(start, min(start + step, windows))
    double = stages.input.dtype is torch.float64
    digits = 6 if made.overlap.numel() > LARGE else 17 if double else 9
    return {
        "geometry": geometry(settings.spec, settings.plane, settings.transposed),
        "names": {name: shown_name(name, settings.transposed) for name in NAMES} | _columns_named(settings.transposed),
        "dtype": "float64" if double else "float32",
        "in_channels": list(made.in_channels),
        "out_channels": list(made.out_channels),
        "bias": stages.bias is not None,
        "windows": {"start": shown.start, "end": shown.stop, "step": step, "of": windows},
        "matrices": _matrices(made, shown, digits),
        "one": _one(settings, stages, digits),
    }


def _one(settings: Settings, stages: Stages, digits: int) -> dict[str, Any]:
    try:
        made = one_matrix(stages, settings.plane)
    except ValueError as error:
        return {"error": str(error)}
    vectors = {name: _numbers(getattr(made, name)[None], digits)[0] for name in VECTORS}
    return {"matrix": _numbers(made.matrix, digits), **vectors}


def _columns_named(transposed: bool) -> dict[str, str]:
    """Return the columns' names: transposed, they are made where a convolution makes gradients."""
    names = ("columns", "grad_columns")
    return dict(zip(names, reversed(names) if transposed else names, strict=True))


def _matrices(made: Matrices, shown: slice, digits: int) -> dict[str, list[list[float | str]]]:
    by_window = ("columns", "output", "grad_output", "grad_columns")
    whole = ("weight", "grad_weight_of_sample", "grad_weight", "grad_image", "overlap", "grad_input")
    return {name: _numbers(getattr(made, name)[:, shown], digits) for name in by_window} | {
        name: _numbers(getattr(made, name), digits) for name in whole
    }


def _numbers(matrix: torch.Tensor, digits: int) -> list[list[float | str]]:
    """Return the rows of a matrix, infinity as a word: JSON knows none."""
    rows: list[list[float]] = matrix.tolist()
    return [[_number(value, digits) for value in row] for row in rows]


def _number(value: float, digits: int) -> float | str:
    if math.isfinite(value):
        return float(f"{value:.{digits}g}")
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def geometry(spec: ConvSpec, plane: Plane, transposed: bool) -> dict[str, Any]:
    at = plane.within(spec)
    return spec.to_dict() | {
        "output_size": list(spec.output_size),
        "gradient_padding": [before for before, _ in backward_padding(spec)],  # a negative number crops
        "plane": {"n": at.sample, "o": at.out_channel, "c": at.in_channel},
        "transposed": transposed,
    }
