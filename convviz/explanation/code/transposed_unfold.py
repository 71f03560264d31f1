"""The transposed convolution as matrix products: col2im forward, im2col on the way back."""

from __future__ import annotations

from convviz.explanation.code.border import pad_input, padded_apart
from convviz.explanation.code.layers_words import add_bias, grad_bias, in_layers_words
from convviz.explanation.code.setting import Setting, rows_and_columns, section
from convviz.explanation.code.shared import FUNCTIONAL
from convviz.explanation.code.steps import BLANK, GRAD_INPUT, GRAD_OUTPUT, OUTPUT, Step, Value, assign
from convviz.explanation.code.unfold import (
    flat,
    fold,
    rows_times,
    to_columns,
    to_grad_columns,
    to_rows,
    to_weight,
    window_options,
)

CELLS = Value("cells", GRAD_OUTPUT.panels)


def steps(setting: Setting) -> list[Step]:
    """Return the whole snippet."""
    spec = setting.spec
    pad, image, padding = pad_input(spec)
    window = window_options(spec, padding)
    columns = Value("columns", image.panels)
    forward = [
        FUNCTIONAL,
        BLANK,
        to_rows(setting),
        flat(setting, CELLS),
        to_grad_columns(setting, Value("stamps"), CELLS, comment="every column is the stamp of one cell"),
        _fold(setting, window),
    ]
    backward = [
        *pad,
        *to_columns(setting, image, columns, window),
        assign(OUTPUT, *rows_times(columns, setting)),
        to_weight(setting, CELLS, columns),
    ]
    return [*in_layers_words(forward), *add_bias(setting), BLANK, *in_layers_words(backward), *grad_bias(setting)]


def _fold(setting: Setting, window: list[str]) -> Step:
    """Add the stamps up, and cut off what F.fold cannot: other padding before than after."""
    spec = setting.spec
    comment = "overlapping stamps add up"
    if any(spec.remainder):
        comment += f"; the remainder: {rows_and_columns(spec.remainder)} that none reaches"
    cut = section(spec.padding, spec.padded_size) if padded_apart(spec) else ""
    return fold(setting, GRAD_INPUT, "stamps", window, cut, comment)
