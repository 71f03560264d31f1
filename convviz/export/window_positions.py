"""The steps of an equation, as the board walks through them: where the window or the stamp is, what is filled."""

import itertools
from dataclasses import dataclass, field

import torch

from convviz.facts import facts
from convviz.facts.format_numbers import format_number
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.ops.conv2d_input import conv2d_input
from convviz.ops.padding import pad_input
from convviz.ops.stages import Stages
from convviz.views.cell_kinds import COPY, DATA
from convviz.views.panels import Equation, Panel

Cell = tuple[int, int]
WALKS: dict[str, dict[str, str]] = facts("picture")["walks"]  # by equation; that to the input also by stamps


@dataclass(frozen=True)
class Step:
    """One step of an equation; panels go by the names of their stages."""

    over: str  # the panel whose cells are the steps, in reading order
    cell: Cell
    hidden: dict[str, frozenset[Cell]]  # not computed yet
    lit: dict[str, dict[Cell, bool]]  # cell → whether it does more than multiply by a zero of the construction
    window: tuple[str, tuple[int, int, int, int]]  # the panel under it; row, column, rows, columns there
    values: dict[str, torch.Tensor] = field(default_factory=dict)
    text: str = ""


def count_steps(equation: Equation) -> int:
    """Return how many steps an equation has; 0 where it is no sum of windows."""
    return 0 if equation.name == "bias" else _named(equation)[_walk(equation)["over"]].values.numel()


def step_at(stages: Stages, plane: Plane, equation: Equation, number: int) -> Step:
    panels, walk = _named(equation), _walk(equation)
    over, kernel, image = (panels[walk[name]] for name in ("over", "kernel", "image"))
    row, column = cell = divmod(number, over.values.shape[1])
    count = over.values.numel()
    value = format_number(float(over.values[cell]))
    text = f"{walk['unit']} {number + 1} of {count}: {over.label}[{row}, {column}] = {value}"
    hidden, values = {}, {}
    if walk["unit"] == "stamp":
        values = _stamped(stages, plane.within(stages.spec), number) if number + 1 < count else {}
        text = f"{text} times {kernel.label}"
    else:
        later = [divmod(at, over.values.shape[1]) for at in range(number + 1, count)]
        hidden = {over.name: frozenset(later)}
        if over.name == "grad_padded_input":  # a cell of the input's waits for all cells that copy it
            waiting = _copied(stages.spec).flatten()[number + 1 :].unique()
            hidden["grad_input"] = frozenset(divmod(int(cell), stages.spec.input_size[1]) for cell in waiting)
    (top, rows), (left, columns) = spans = [_span(stages.spec, walk, axis, cell[axis]) for axis in (0, 1)]
    lit = _lit(stages.spec, kernel, image, spans, walk["unit"] == "stamp")
    return Step(over.name, cell, hidden, lit, (image.name, (top, left, rows, columns)), values, text)


def _named(equation: Equation) -> dict[str, Panel]:
    return {panel.name: panel for panel in equation.panels}


def _walk(equation: Equation) -> dict[str, str]:
    """Return how an equation is walked through; the gradient of a border of copies comes first."""
    own = {"grad_input": "grad_padded_input"} if "grad_padded_input" in _named(equation) else {}
    walk = WALKS["stamps" if equation.view in ("both", "stamps") else equation.name]
    return {name: own.get(value, value) for name, value in walk.items()}


def _span(spec: ConvSpec, walk: dict[str, str], axis: int, index: int) -> tuple[int, int]:
    pairs = {name: getattr(spec, walk[name])[axis] if walk[name] else 1 for name in ("step", "spread", "cells")}
    before = spec.padding[axis][0] if walk["unit"] == "stamp" and walk["image"] == "grad_input" else 0
    return index * pairs["step"] - before, pairs["spread"] * (pairs["cells"] - 1) + 1


def _lit(
    spec: ConvSpec, kernel: Panel, image: Panel, spans: list[tuple[int, int]], stamps: bool
) -> dict[str, dict[Cell, bool]]:
    """Return the cells that take part, and whether neither of two is a constructed zero."""
    taps = []  # a list an axis: row of the kernel, row of the image, whether both are real
    for axis, (start, reach) in enumerate(spans):
        size = kernel.values.shape[axis]
        pairs = [(k, start + k * (reach - 1) // max(size - 1, 1)) for k in range(size)]
        taps.append([(k, at, _is_real(spec, kernel, axis, k) and _is_real(spec, image, axis, at)) for k, at in pairs])
    lit: dict[str, dict[Cell, bool]] = {kernel.name: {}, image.name: {}}
    for (k_row, row, real_row), (k_column, column, real_column) in itertools.product(*taps):
        lit[kernel.name][k_row, k_column] = real = real_row and real_column
        if real or not stamps:  # else it falls on the padding, and is dropped
            lit[image.name][row, column] = real
    if image.name == "grad_padded_input":
        copied = _copied(spec).tolist()
        lit["grad_input"] = dict.fromkeys(
            (divmod(int(copied[r][c]), spec.input_size[1]) for r, c in lit[image.name]), True
        )
    return lit


def _is_real(spec: ConvSpec, panel: Panel, axis: int, index: int) -> bool:
    letters = (panel.roles.rows, panel.roles.columns)[axis]
    copies = panel.name in ("padded_input", "grad_padded_input") and spec.padding_mode != "zeros"
    return 0 <= index < len(letters) and (letters[index] == DATA or (copies and letters[index] == COPY))


def _copied(spec: ConvSpec) -> torch.Tensor:
    cells = torch.arange(spec.input_size[0] * spec.input_size[1], dtype=torch.float64)
    return pad_input(cells.reshape(1, 1, *spec.input_size), spec)[0, 0]


def _stamped(stages: Stages, plane: Plane, number: int) -> dict[str, torch.Tensor]:
    spec, at = stages.spec, (plane.sample, plane.in_channel)
    so_far = stages.grad_output.clone()
    so_far.flatten(2)[:, :, number + 1 :] = 0
    # Transposed, the sum is the layer's output, and has its bias.
    bias = stages.bias[plane.in_channel] if stages.transposed and stages.bias is not None else 0
    bare = spec.replace(input_size=spec.padded_size, padding=0, padding_mode="zeros")
    whole, own = (
        conv2d_input(
            each.input_shape, stages.weight, so_far, each.stride, each.padding, each.dilation, each.groups,
            padding_mode=each.padding_mode,
        )[at]
        for each in (bare, spec)
    )  # fmt: skip
    return {"grad_padded_input": whole, "grad_input": bias + own}
