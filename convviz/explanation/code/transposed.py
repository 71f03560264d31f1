"""The transposed convolution: the code of conv2d's gradients in the layer's words, for it is the same computation.

What is the gradient to the input there is the output here, and its grad_output the input. A line's panels keep the
names that they have in the convolution, as on the board.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from convviz.explanation.code import definition, rotate
from convviz.explanation.code.border import pad_input, padded_apart
from convviz.explanation.code.setting import Setting, section
from convviz.explanation.code.shared import FUNCTIONAL, TORCH, forward
from convviz.explanation.code.steps import (
    BIAS,
    BLANK,
    GRAD_BIAS,
    GRAD_INPUT,
    GRAD_OUTPUT,
    GRAD_WEIGHT,
    INPUT,
    OUTPUT,
    WEIGHT,
    Part,
    Step,
    assign,
    call,
    note,
    step,
)
from convviz.settings.names import SHOWN

# Comments speak of the input and the output in general.
IN_COMMENTS = {"input": "output", "output": "input", "grad_output": "input"}
PHRASES = {
    r"the remainder: (.*) that no window read": r"output_padding: \1",
    r"the remainder": "output_padding",
    re.escape(rotate.HIDDEN): "what comes of these cells is cut off whole",
    r"a padding zero adds nothing": "cut off by the padding",
}


def definition_steps(setting: Setting) -> list[Step]:
    """Return the whole snippet: every product, three sums."""
    loop = definition.steps(replace(setting, bias=False))
    return [
        *in_layers_words(loop),
        *([BLANK, *_add_bias(), *_grad_bias(setting)] if setting.bias else []),
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
    added = _add_bias() if setting.bias else []
    return [*written[:place], *added, *written[place:], *_grad_bias(setting)]


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


def in_layers_words(steps: Iterable[Step]) -> list[Step]:
    """Give every tensor of the convolution the name that it has in the transposed one."""
    return [
        replace(
            one,
            text=_renamed(one.text, SHOWN),
            arguments=tuple(_renamed(argument, SHOWN) for argument in one.arguments),
            after=_renamed(one.after, SHOWN),
            comment=_comment(one.comment),
        )
        for one in steps
    ]


def _renamed(text: str, names: dict[str, str]) -> str:
    return re.sub(r"\w+", lambda found: names.get(found[0], found[0]), text)


def _comment(text: str) -> str:
    text = _renamed(text, IN_COMMENTS)
    for before, after in PHRASES.items():
        text = re.sub(before, after, text)
    return text


def _add_bias() -> list[Step]:
    return in_layers_words([step(GRAD_INPUT, " += ", BIAS.then("[:, None, None]"))])


def _grad_bias(setting: Setting) -> list[Step]:
    return in_layers_words([assign(GRAD_BIAS, INPUT, ".sum((0, 2, 3))")]) if setting.bias else []
