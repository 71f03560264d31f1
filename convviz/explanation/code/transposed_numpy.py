"""The transposed convolution in NumPy alone: every kernel cell stamps the input; the gradients take windows back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from convviz.explanation.code import numpy_only
from convviz.explanation.code.border import has_border
from convviz.explanation.code.layers_words import add_bias, grad_bias, in_layers_words
from convviz.explanation.code.numpy_only import KERNELS, SORTED, by_group
from convviz.explanation.code.setting import Setting, numbers, section
from convviz.explanation.code.steps import BLANK, GRAD_INPUT, GRAD_OUTPUT, WEIGHT, Step, Value, assign, note
from convviz.settings.names import LETTERS

CELLS = Value("cells", GRAD_OUTPUT.panels)
SWAPPED = str.maketrans(LETTERS)


def steps(setting: Setting) -> list[Step]:
    """Return the whole snippet."""
    spec, grouped = setting.spec, setting.spec.groups > 1
    padding, image = numpy_only.pad(spec)
    windows, cells = Value("windows", image.panels), CELLS if grouped else GRAD_OUTPUT
    sort = [SORTED, by_group(setting, KERNELS, WEIGHT), by_group(setting, CELLS, GRAD_OUTPUT)]
    backward = [
        *padding,
        *numpy_only.windows_of(spec, windows, image),
        *([by_group(setting, windows, windows)] if grouped else []),
        *numpy_only.to_output(setting, windows),
        *numpy_only.to_weight(setting, cells, windows),
    ]
    return [
        *numpy_only.IMPORTS,
        BLANK,
        note("n sample, c input channel, o output channel, h w input cell, u v kernel cell"),
        *_in_layers_words(sort if grouped else []),
        *_in_layers_words(_forward(setting, cells)),
        *add_bias(setting),
        BLANK,
        *_in_layers_words(backward),
        *grad_bias(setting),
    ]


def _forward(setting: Setting, cells: Value) -> list[Step]:
    spec, border = setting.spec, has_border(setting.spec)
    target = Value("padded_output") if border else GRAD_INPUT
    shape = numbers((spec.batch, spec.in_channels, *spec.padded_size))
    cut = section(spec.padding, spec.padded_size)
    return [
        note("every kernel cell stamps grad_output, scaled, on the cells that it meets"),
        assign(target, f"np.zeros(({shape}), dtype=grad_output.dtype)"),
        *numpy_only.stamps(setting, target, cells),
        *([assign(GRAD_INPUT, target, cut, comment="cut off by the padding")] if border else []),
    ]


def _in_layers_words(steps: Iterable[Step]) -> list[Step]:
    """Rename the tensors, and the letters of the channels in the sums."""
    return [
        replace(one, arguments=tuple(text.translate(SWAPPED) if text[0] == '"' else text for text in one.arguments))
        for one in in_layers_words(steps)
    ]
