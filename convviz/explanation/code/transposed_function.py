"""The transposed convolution as a complete ``torch.autograd.Function``: both its gradients are convolutions."""

from __future__ import annotations

from dataclasses import replace

from convviz.explanation.code import function, rotate
from convviz.explanation.code.border import pad_input, padded_apart
from convviz.explanation.code.layers_words import grad_bias, in_layers_words, with_layers_panels
from convviz.explanation.code.setting import Setting, options, section, short
from convviz.explanation.code.shared import FUNCTIONAL, TORCH
from convviz.explanation.code.shared import forward as convolve
from convviz.explanation.code.steps import (
    BIAS,
    BLANK,
    GRAD_INPUT,
    GRAD_OUTPUT,
    INPUT,
    WEIGHT,
    Part,
    Step,
    Value,
    call,
    indented,
    step,
)

NAME = "ConvTranspose2dFunction"


def steps(setting: Setting) -> list[Step]:
    """Return the whole snippet."""
    methods = [
        function.VMAP,
        BLANK,
        *_forward(setting),
        BLANK,
        *function.setup_context(setting, INPUT),
        BLANK,
        *_backward(setting),
    ]
    return [
        TORCH,
        FUNCTIONAL,
        BLANK,
        BLANK,
        step(f"class {NAME}(torch.autograd.Function):"),
        *indented(methods),
        BLANK,
        BLANK,
        *with_layers_panels(function.use(setting, f"{NAME}.apply")),
        BLANK,
        *function.check(setting, f"{NAME}.apply"),
    ]


def _forward(setting: Setting) -> list[Step]:
    spec = setting.spec
    _, _, padding = pad_input(spec)
    settings = options(spec.stride, padding, spec.dilation, spec.groups)
    settings += [f"output_padding={short(spec.remainder)}"] if any(spec.remainder) else []
    cut = section(spec.padding, spec.padded_size) if padded_apart(spec) else ""
    written = Value("return F.conv_transpose2d", GRAD_INPUT.panels)
    arguments: list[Part] = [GRAD_OUTPUT, WEIGHT, *([BIAS] if setting.bias else []), *settings]
    stamp = call([written], arguments, cut, comment=function.YOURS)
    return [*function.head_of_forward(setting, INPUT), *indented(in_layers_words([stamp]))]


def _backward(setting: Setting) -> list[Step]:
    pad, image, padding = pad_input(setting.spec)
    to_input = [*pad, convolve(replace(setting, bias=False), image, padding)]
    to_weight = [*pad, *rotate.to_weight(setting, image, padding)]
    branches = [in_layers_words(to_input), in_layers_words(to_weight), grad_bias(setting)]
    return function.backward(INPUT, GRAD_INPUT, branches)
