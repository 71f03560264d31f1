"""Lines that several of the snippets have in common."""

from __future__ import annotations

from convviz.explanation.code.setting import Setting, numbers, options
from convviz.explanation.code.steps import (
    BIAS,
    GRAD_BIAS,
    GRAD_OUTPUT,
    OUTPUT,
    WEIGHT,
    Part,
    Step,
    Value,
    assign,
    call,
    step,
)
from convviz.spec import Pair

TORCH = step("import torch")
FUNCTIONAL = step("import torch.nn.functional as F")


def preamble(setting: Setting) -> list[Step]:
    """Return the steps that draw the tensors: the same numbers on every device."""
    dtype = f", dtype=torch.{setting.dtype}" if setting.dtype != "float32" else ""
    device = f'.to("{setting.device}")' if setting.device != "cpu" else ""
    return [
        TORCH,
        Step(),
        step("generator = torch.Generator().manual_seed(0)"),
        *(
            step(f"{name} = torch.randn({numbers(shape)}, generator=generator{dtype}){device}")
            for name, shape in shapes(setting).items()
        ),
    ]


def numpy_preamble(setting: Setting) -> list[Step]:
    """The same in NumPy, which knows no devices and no bfloat16."""
    dtype = "float64" if setting.dtype == "float64" else "float32"
    comment = "NumPy has no bfloat16" if setting.dtype == "bfloat16" else ""
    return [
        step("import numpy as np"),
        Step(),
        step("generator = np.random.default_rng(0)", comment=comment),
        *(
            step(f'{name} = generator.standard_normal(({numbers(shape)}{"," * (len(shape) == 1)}), dtype="{dtype}")')
            for name, shape in shapes(setting).items()
        ),
    ]


def shapes(setting: Setting) -> dict[str, tuple[int, ...]]:
    """Return the shape of each tensor that the snippets are given."""
    spec = setting.spec
    ends = (spec.output_shape, spec.input_shape) if setting.transposed else (spec.input_shape, spec.output_shape)
    bias = {"bias": ends[1][1:2]} if setting.bias else {}
    return {"input": ends[0], "weight": spec.weight_shape, **bias, "grad_output": ends[1]}


def forward(setting: Setting, image: Value, padding: Pair, head: str = "output = ", comment: str = "") -> Step:
    """Return the forward pass by torch's own conv2d, assigned or returned."""
    spec = setting.spec
    settings = options(spec.stride, padding, spec.dilation, spec.groups)
    arguments: list[Part] = [image, WEIGHT, *([BIAS] if setting.bias else []), *settings]
    written = Value(f"{head}F.conv2d", OUTPUT.panels)
    return call([written], arguments, comment=comment)


def bias_added(setting: Setting) -> list[Part]:
    """Return the end of an expression that is the output without its bias."""
    return [" + ", BIAS.then("[:, None, None]")] if setting.bias else []


def grad_bias(setting: Setting) -> list[Step]:
    """Return the gradient of the bias: it is added to every cell of its channel."""
    return [assign(GRAD_BIAS, GRAD_OUTPUT, ".sum((0, 2, 3))")] if setting.bias else []
