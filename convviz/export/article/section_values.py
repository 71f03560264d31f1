"""What the sentences of a section are filled with: looked up or counted in its state, so that no number is false."""

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import torch

from convviz.facts import facts
from convviz.facts.format_numbers import format_number
from convviz.facts.join_lists import listed
from convviz.mistakes.catalogue import catalogue
from convviz.mistakes.grad_input import grad_input
from convviz.ops.stages import Stages
from convviz.settings.compute import compute
from convviz.settings.link import from_link

Place = tuple[str, int, int]


def values_of(section: Mapping[str, Any]) -> dict[str, str]:
    """Return the arguments of a section's sentences, by name, as they are written."""
    return {name: value_of(section["state"], value) for name, value in section["values"].items()}


def value_of(state: str, value: Mapping[str, Any]) -> str:
    """Return one value, such as ``{"cell": "grad_input 2 3"}``, in its own ``state`` or in that of its section."""
    (kind,) = value.keys() & FOUND.keys()
    found = FOUND[kind](stages_of(value.get("state", state)), value[kind])
    return found if isinstance(found, str) else format_number(found + value.get("plus", 0))


@functools.cache
def stages_of(state: str) -> Stages:
    settings, notices = from_link(state)
    if notices:
        raise ValueError(f"the article has the state {state}: {' '.join(notices)}")
    return compute(settings.replace(dtype="float64"), compare=False)


def place_of(cell: str) -> Place:
    panel, row, column = cell.split()
    return panel, int(row), int(column)


def cell_name(cell: str) -> str:
    panel, row, column = place_of(cell)
    return f"{panel}[{row},{column}]"


def terms(stages: Stages, cell: str) -> list[tuple[float, float]]:
    """Return the factors of each product behind a cell of the first plane, the gradient first, read from the taps."""
    panel, row, column = place_of(cell)
    spec, at = stages.spec, (row, column)
    found = []
    for o, *taps in itertools.product(range(spec.out_channels), spec.axis_taps(0), spec.axis_taps(1)):
        (down, i, y), (right, j, x) = taps
        gradient = float(stages.grad_output[0, o, down, right])
        if panel == "grad_input" and (y, x) == at:
            found.append((gradient, float(stages.weight[o, 0, i, j])))
        elif panel == "grad_weight" and (i, j) == at and o == 0:
            found.append((gradient, float(stages.input[0, 0, y, x])))
    return found


def sum_of(stages: Stages, cell: str) -> str:
    """Return the products of a cell as they are written; what a gradient of 0 brings is left out."""
    products = ["·".join(map(format_number, factors)) for factors in terms(stages, cell) if factors[0] != 0]
    return " + ".join(products) or "0"


def weights_of(stages: Stages, cell: str) -> str:
    """Return the weights that a cell of grad_input gets, in the order of its sum, as a list in words."""
    return listed([format_number(weight) for _, weight in terms(stages, cell)])


def number(stages: Stages, cell: str) -> float:
    panel, row, column = place_of(cell)
    tensor: torch.Tensor = getattr(stages, panel)
    return float(tensor[0, 0, row, column])


def _windows(stages: Stages, pixel: str) -> int:
    at = pixel.split()
    return len([tap for tap in stages.spec.axis_taps(0) if tap[2] == int(at[0])]) * len(
        [tap for tap in stages.spec.axis_taps(1) if tap[2] == int(at[1])]
    )


def _padding(stages: Stages, of: str) -> int:
    before = stages.spec.padding[0][0]
    reach = stages.spec.dilation[0] * (stages.spec.kernel_size[0] - 1)
    return before if of == "input" else reach - before


def _covered(stages: Stages, _of: str) -> int:
    spec = stages.spec
    return (spec.output_size[0] - 1) * spec.stride[0] + spec.dilation[0] * (spec.kernel_size[0] - 1) + 1


def mistaken(stages: Stages, mistake: str) -> torch.Tensor:
    """Return what a mistake that the board can show makes of grad_input."""
    (way,) = [each["way"] for each in facts("breakable_steps")["input"] if each["id"] == mistake]
    found = grad_input(catalogue()[mistake].ways[way], stages.spec, stages.grad_output, stages.weight)
    if found is None:
        raise ValueError(f"the mistake {mistake} has no result in this geometry: choose another state")
    return found


def _wrong(stages: Stages, mistake: str) -> int:
    return int((mistaken(stages, mistake) != stages.grad_input).sum())


FOUND: dict[str, Callable[[Stages, str], float | str]] = {
    "cell": number,
    "sum": sum_of,
    "weights": weights_of,
    "products": lambda stages, cell: len(terms(stages, cell)),
    "windows": _windows,
    "cells": lambda stages, name: getattr(stages, name)[0, 0].numel(),
    "extent": lambda stages, name: getattr(stages, name).shape[2],
    "channels": lambda stages, name: getattr(stages, name).shape[1],
    "kernels": lambda stages, name: getattr(stages, name).shape[:2].numel(),
    "stride": lambda stages, _of: stages.spec.stride[0],
    "padding": _padding,
    "covered": _covered,
    "remainder": lambda stages, _of: stages.spec.remainder[0],
    "wrong": _wrong,
    "wrong_extent": lambda stages, mistake: mistaken(stages, mistake).shape[2],
}
