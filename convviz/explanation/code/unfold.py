"""Matrix products: im2col, and col2im on the way back."""

from __future__ import annotations

import math

from convviz.explanation.code.border import copies, give_back, grad_read, pad_input, padded_apart, read_size
from convviz.explanation.code.setting import Setting, numbers, options, rows_and_columns, short
from convviz.explanation.code.shared import FUNCTIONAL, TORCH, bias_added, grad_bias
from convviz.explanation.code.steps import (
    BLANK,
    GRAD_OUTPUT,
    GRAD_WEIGHT,
    OUTPUT,
    WEIGHT,
    Part,
    Step,
    Value,
    assign,
    call,
)
from convviz.spec import ConvSpec, Pair

ROWS = Value("rows", WEIGHT.panels)
GRADIENTS = Value("gradients", GRAD_OUTPUT.panels)


def steps(setting: Setting) -> list[Step]:
    """Return the whole snippet."""
    spec = setting.spec
    pad, image, padding = pad_input(spec)
    columns, window = Value("columns", image.panels), window_options(spec, padding)
    comment = "overlapping windows add up"
    if any(spec.remainder):
        comment += f"; {rows_and_columns(spec.remainder)} that no window read: 0"
    return [
        *([TORCH] if copies(spec) else []),
        FUNCTIONAL,
        BLANK,
        *pad,
        *to_columns(setting, image, columns, window),
        to_rows(setting),
        assign(OUTPUT, *rows_times(columns, setting), *bias_added(setting)),
        BLANK,
        flat(setting, GRADIENTS),
        to_weight(setting, GRADIENTS, columns),
        to_grad_columns(setting, Value("grad_columns"), GRADIENTS),
        fold(setting, grad_read(spec, padded_apart(spec)), "grad_columns", window, comment=comment),
        *(give_back(setting) if padded_apart(spec) else []),
        *grad_bias(setting),
    ]


def window_options(spec: ConvSpec, padding: Pair) -> list[str]:
    """Return the arguments that tell F.unfold and F.fold where the windows are."""
    return [short(spec.kernel_size), *options(spec.stride, padding, spec.dilation)]


def to_columns(setting: Setting, image: Value, columns: Value, window: list[str]) -> list[Step]:
    """Write every window as a column."""
    groups, height = setting.spec.groups, math.prod((setting.in_per_group, *setting.spec.kernel_size))
    unfolded = call([columns, " = F.unfold"], [image, *window], comment="every window is a column")
    if groups == 1:
        return [unfolded]
    by_group = f".reshape({setting.spec.batch}, {groups}, {height}, {_cells(setting)})"
    return [unfolded, assign(columns, columns, by_group, comment="one matrix per group")]


def to_rows(setting: Setting) -> Step:
    """Write every kernel as a row."""
    height = math.prod((setting.in_per_group, *setting.spec.kernel_size))
    by_group = f".reshape({setting.spec.groups}, {setting.out_per_group}, {height})"
    return assign(ROWS, WEIGHT, by_group if setting.spec.groups > 1 else ".flatten(1)", comment="every kernel is a row")


def rows_times(columns: Value, setting: Setting) -> list[Part]:
    """Return the product of every kernel with every window."""
    return ["(", ROWS, " @ ", columns, f").reshape({numbers(setting.spec.output_shape)})"]


def flat(setting: Setting, target: Value) -> Step:
    """Write a channel of grad_output as a row."""
    shape = (setting.spec.batch, setting.spec.groups, setting.out_per_group, _cells(setting))
    return assign(target, GRAD_OUTPUT, f".reshape({numbers(shape)})" if setting.spec.groups > 1 else ".flatten(2)")


def to_weight(setting: Setting, gradients: Value, columns: Value) -> Step:
    """Multiply what ``flat`` made with every window, and add up the samples."""
    summed = (").sum(0)" if setting.spec.batch > 1 else ")") + f".reshape({numbers(setting.spec.weight_shape)})"
    return assign(GRAD_WEIGHT, "(", gradients, " @ ", columns, ".mT", summed)


def to_grad_columns(setting: Setting, columns: Value, gradients: Value, comment: str = "") -> Step:
    """Multiply every kernel with every cell of what ``flat`` made."""
    left, right = ("(", ").flatten(1, 2)") if setting.spec.groups > 1 else ("", "")
    return assign(columns, left, ROWS, ".mT @ ", gradients, right, comment=comment)


def fold(setting: Setting, target: Value, columns: str, window: list[str], cut: str = "", comment: str = "") -> Step:
    """Add every entry of a column to the cell that it belongs to."""
    size = f"({numbers(read_size(setting.spec))})"
    return call([target, " = F.fold"], [columns, size, *window], cut, comment=comment)


def _cells(setting: Setting) -> int:
    return math.prod(setting.spec.output_size)
