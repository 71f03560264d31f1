"""The steps of an equation, as the board walks through them: where the window or the stamp is, what is filled."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import torch

from convviz.axis_taps import axis_taps, source
from convviz.ops.conv2d_input import conv2d_input
from convviz.ops.stages import Stages
from convviz.plane import Plane
from convviz.views.cells import DATA, PADDING
from convviz.views.panels import Equation, Panel
from convviz.views.theme import format_number

Cell = tuple[int, int]


@dataclass(frozen=True)
class Step:
    """One step of an equation; panels go by the names of their stages.

    Attributes:
        over: the panel whose cells are the steps, in reading order.
        cell: the one of this step, (row, column).
        hidden: cells that are not computed yet.
        lit: cells that take part, and whether they do more than multiply by a zero of the construction.
        window: the panel on which the window or the stamp lies, and its row, column, rows and columns there.
        values: planes that stand in for the final ones, ``[H, W]``.
        text: the step in words.
    """

    over: str
    cell: Cell
    hidden: dict[str, frozenset[Cell]]
    lit: dict[str, dict[Cell, bool]]
    window: tuple[str, tuple[int, int, int, int]]
    values: dict[str, torch.Tensor] = field(default_factory=dict)
    text: str = ""


def count_steps(equation: Equation) -> int:
    """Return how many steps an equation has; 0 where it is no sum of windows."""
    if equation.name == "bias":
        return 0
    return _named(equation)[_over(equation)].values.numel()


def step_at(stages: Stages, plane: Plane, equation: Equation, number: int) -> Step:
    """Return one step of an equation, counted from 0.

    Args:
        stages: the numbers.
        plane: which sample and channels the equation shows.
        equation: any but that of the bias.
        number: of the step, below ``count_steps(equation)``.
    """
    columns = _named(equation)[_over(equation)].values.shape[1]
    cell = (number // columns, number % columns)
    make = _stamp if equation.view == "stamps" else _window
    return make(stages, plane.within(stages.spec), equation, number, cell)


def _named(equation: Equation) -> dict[str, Panel]:
    return {panel.name: panel for panel in equation.panels}


def _result(equation: Equation) -> str:
    if equation.name == "input":
        return "grad_padded_input" if "grad_padded_input" in _named(equation) else "grad_input"
    return {"forward": "output", "weight": "grad_weight"}[equation.name]


def _over(equation: Equation) -> str:
    return "grad_output" if equation.view == "stamps" else _result(equation)


def _window(stages: Stages, plane: Plane, equation: Equation, number: int, cell: Cell) -> Step:
    spec, panels, result = stages.spec, _named(equation), _result(equation)
    image, kernel, stride, dilation = {
        "forward": ("padded_input", "weight", spec.stride, spec.dilation),
        "input": ("padded_grad_output", "rotated_weight", (1, 1), spec.dilation),
        "weight": ("padded_input", "dilated_grad_output", spec.dilation, (1, 1)),  # they change places
    }[equation.name]
    pairs = []  # a list an axis: row of the kernel, row of the image, whether neither is a zero of the construction
    for axis in range(2):
        sizes = panels[image].values.shape[axis], panels[result].values.shape[axis], panels[kernel].values.shape[axis]
        found = axis_taps(*sizes, stride[axis], 0, dilation[axis], "zeros")
        pairs.append(
            [
                (k, at, _is_real(panels[kernel], axis, k, stages) and _is_real(panels[image], axis, at, stages))
                for o, k, at in found
                if o == cell[axis]
            ]
        )
    lit: dict[str, dict[Cell, bool]] = {kernel: {}, image: {}}
    for (k_row, row, real_row), (k_column, column, real_column) in itertools.product(*pairs):
        lit[kernel][k_row, k_column] = lit[image][row, column] = real_row and real_column
    hidden = {result: frozenset(_later(panels[result], number))}
    if result == "grad_padded_input":
        hidden["grad_input"] = frozenset(_unfolded(stages, number))
    here = panels[result]
    text = _text("cell", number, here, cell, here.values)
    return Step(result, cell, hidden, lit, (image, _span(pairs)), {}, text)


def _is_real(panel: Panel, axis: int, index: int, stages: Stages) -> bool:
    letter = (panel.roles.rows, panel.roles.columns)[axis][index]
    copies = panel.name == "padded_input" and stages.spec.padding_mode != "zeros"
    return letter == DATA or (copies and letter == PADDING)


def _span(pairs: list[list[tuple[int, int, bool]]]) -> tuple[int, int, int, int]:
    (top, *_, bottom), (left, *_, right) = ([at for _, at, _ in (*axis, axis[-1])] for axis in pairs)
    return top, left, bottom - top + 1, right - left + 1


def _later(panel: Panel, number: int) -> list[Cell]:
    rows, columns = panel.values.shape
    return [(at // columns, at % columns) for at in range(number + 1, rows * columns)]


def _unfolded(stages: Stages, number: int) -> list[Cell]:
    """Cells of the input's gradient that still wait for one of the cells that copy them."""
    spec = stages.spec
    last = []
    for axis in range(2):
        before, size = spec.padding[axis][0], spec.input_size[axis]
        rows = [0] * size
        for at in range(spec.padded_size[axis]):
            row = source(at - before, size, spec.padding_mode)
            assert row is not None  # only a border of zeros is a copy of nothing
            rows[row] = max(rows[row], at)
        last.append(rows)
    return [
        (row, column)
        for row, column in itertools.product(range(spec.input_size[0]), range(spec.input_size[1]))
        if last[0][row] * spec.padded_size[1] + last[1][column] > number
    ]


def _stamp(stages: Stages, plane: Plane, equation: Equation, number: int, cell: Cell) -> Step:
    spec, panels, result = stages.spec, _named(equation), _result(equation)
    folds = result == "grad_padded_input"
    pairs, sources = [], []
    for axis in range(2):
        sizes = (spec.padded_size[axis], spec.output_size[axis], spec.kernel_size[axis])
        every = axis_taps(*sizes, spec.stride[axis], 0, spec.dilation[axis], "zeros")
        found = [(k, at) for o, k, at in every if o == cell[axis]]
        before, size = spec.padding[axis][0], spec.input_size[axis]
        own = [source(at - before, size, spec.padding_mode) for _, at in found]
        sources.append(own)
        pairs.append([(k, at - (0 if folds else before), i is not None) for (k, at), i in zip(found, own, strict=True)])
    lit: dict[str, dict[Cell, bool]] = {"weight": {}, result: {}, "grad_input": {}}
    for down, right in itertools.product(*(range(len(axis)) for axis in pairs)):
        (k_row, row, real_row), (k_column, column, real_column) = pairs[0][down], pairs[1][right]
        lit["weight"][k_row, k_column] = real_row and real_column
        i_row, i_column = sources[0][down], sources[1][right]
        if i_row is not None and i_column is not None:  # else it falls on the padding, and is dropped
            lit[result][row, column] = lit["grad_input"][i_row, i_column] = True
    values = _stamped(stages, plane, number) if number + 1 < count_steps(equation) else {}
    over = panels["grad_output"]
    text = f"{_text('stamp', number, over, cell, over.values)} times {panels['weight'].label}"
    return Step("grad_output", cell, {}, lit, (result, _span(pairs)), values, text)


def _stamped(stages: Stages, plane: Plane, number: int) -> dict[str, torch.Tensor]:
    """What the stamps so far have added up to: the gradient of what stamped."""
    spec = stages.spec
    so_far = stages.grad_output.clone()
    so_far.flatten(2)[:, :, number + 1 :] = 0
    at = (plane.sample, plane.in_channel)
    # Transposed, the sum is the layer's output, and has its bias.
    bias = stages.bias[plane.in_channel] if stages.transposed and stages.bias is not None else 0
    shared = (spec.stride, 0, spec.dilation, spec.groups)
    whole = (*stages.input.shape[:2], *spec.padded_size)
    planes = {"grad_padded_input": conv2d_input(whole, stages.weight, so_far, *shared)[at]}
    planes["grad_input"] = bias + conv2d_input(
        stages.input.shape, stages.weight, so_far, spec.stride, spec.padding, *shared[2:],
        padding_mode=spec.padding_mode,
    )[at]  # fmt: skip
    return planes


def _text(unit: str, number: int, panel: Panel, cell: Cell, values: torch.Tensor) -> str:
    count = values.numel()
    value = format_number(float(values[cell]))
    return f"{unit} {number + 1} of {count}: {panel.label}[{cell[0]}, {cell[1]}] = {value}"
