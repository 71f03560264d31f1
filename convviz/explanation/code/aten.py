"""PyTorch's own operator, which returns all three gradients."""

from __future__ import annotations

from convviz.explanation.code.border import give_back, grad_read, pad_input, padded_apart
from convviz.explanation.code.setting import Setting
from convviz.explanation.code.shared import FUNCTIONAL, TORCH
from convviz.explanation.code.steps import (
    BIAS,
    BLANK,
    GRAD_BIAS,
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


def steps(setting: Setting) -> list[Step]:
    """Return the whole snippet."""
    spec = setting.spec
    pad, image, padding = pad_input(spec)
    lists = f"{list(spec.stride)}, {list(padding)}, {list(spec.dilation)}"
    bias: Part = BIAS if setting.bias else "None"
    third: Part = GRAD_BIAS if setting.bias else "_"
    gradient = grad_read(spec, padded_apart(spec))
    results: list[Part] = [gradient, ", ", GRAD_WEIGHT, ", ", third, " = torch.ops.aten.convolution_backward"]
    bias_sizes = f"[{spec.out_channels}]" if setting.bias else "None"
    wanted = f"[True, True, {setting.bias}]"
    return [
        TORCH,
        *([FUNCTIONAL] if pad else []),
        BLANK,
        *pad,
        note("stride, padding, dilation, transposed, output_padding, groups"),
        step(f"geometry = ({lists}, False, [0, 0], {spec.groups})"),
        call([OUTPUT, " = torch.ops.aten.convolution"], [image, WEIGHT, bias, "*geometry"]),
        BLANK,
        call(results, [GRAD_OUTPUT, image, WEIGHT, bias_sizes, "*geometry", wanted]),
        *(give_back(setting) if padded_apart(spec) else []),
    ]
