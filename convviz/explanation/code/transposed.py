"""The transposed convolution as the definition, as convolutions and by PyTorch's own operator.

It is the code of conv2d's gradients in the layer's words, for it is the same computation.
"""

from __future__ import annotations

from dataclasses import replace

from convviz.explanation.code import definition, rotate
from convviz.explanation.code.border import pad_input, padded_apart
from convviz.explanation.code.layers_words import add_bias, grad_bias, in_layers_words
from convviz.explanation.code.setting import Setting, section
from convviz.explanation.code.shared import FUNCTIONAL, TORCH, forward
from convviz.explanation.code.steps import (
    BIAS,
    BLANK,
    GRAD_BIAS,
    GRAD_INPUT,
    GRAD_OUTPUT,
    GRAD_WEIGHT,
    OUTPUT,
    WEIGHT,
    Part,
    Step,
    call,
    note,
    step,
)


def definition_steps(setting: Setting) -> list[Step]:
    """Return the whole snippet: every product, three sums."""
    loop = definition.steps(replace(setting, bias=False))
    return [
        *in_layers_words(loop),
        *([BLANK, *add_bias(setting), *grad_bias(setting)] if setting.bias else []),
    ]


def rotate_steps(setting: Setting) -> list[Step]:
    """Return the whole snippet: the output, too, is a convolution."""
    spec = setting.spec
    pad, image, padding = pad_input(spec)
    lines = [
        FUNCTIONAL,
        BLANK,
        *rotate.to_input(setting, GRAD_INPUT),
        BLANK,
        *pad,
        forward(replace(setting, bias=False), image, padding),
        BLANK,
        *rotate.to_weight(setting, image, padding),
    ]
    written = in_layers_words(lines)
    place = next(number for number, line in enumerate(written) if line.text.startswith("output = ")) + 1
    return [*written[:place], *add_bias(setting), *written[place:], *grad_bias(setting)]


def aten_steps(setting: Setting) -> list[Step]:
    """Return the whole snippet: PyTorch's own operator, told to be transposed."""
    spec = setting.spec
    pad, image, padding = pad_input(spec)
    cut = section(spec.padding, spec.padded_size) if padded_apart(spec) else ""
    bias: Part = BIAS if setting.bias else "None"
    third: Part = GRAD_BIAS if setting.bias else "_"
    sizes = f"[{spec.in_channels}]" if setting.bias else "None"
    lists = f"{list(spec.stride)}, {list(padding)}, {list(spec.dilation)}, True, {list(spec.remainder)}"
    results: list[Part] = [OUTPUT, ", ", GRAD_WEIGHT, ", ", third, " = torch.ops.aten.convolution_backward"]
    why = "the operator cuts off as much before as after" if cut else ""
    lines = [
        TORCH,
        *([FUNCTIONAL] if pad else []),
        BLANK,
        note("stride, padding, dilation, transposed, output_padding, groups"),
        step(f"geometry = ({lists}, {spec.groups})"),
        call([GRAD_INPUT, " = torch.ops.aten.convolution"], [GRAD_OUTPUT, WEIGHT, bias, "*geometry"], cut, comment=why),
        BLANK,
        *pad,
        call(results, [image, GRAD_OUTPUT, WEIGHT, sizes, "*geometry", f"[True, True, {setting.bias}]"]),
    ]
    return in_layers_words(lines)
