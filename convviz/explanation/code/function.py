"""A complete ``torch.autograd.Function``, held against differences by gradcheck."""

from __future__ import annotations

import math

from convviz.explanation.code import rotate
from convviz.explanation.code.border import copies, grad_read, pad_input
from convviz.explanation.code.setting import Setting
from convviz.explanation.code.shared import FUNCTIONAL, TORCH, forward, grad_bias, shapes
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
    Value,
    assign,
    call,
    indented,
    note,
    step,
)
from convviz.spec import Pair

# gradcheck computes one row of the Jacobian for every input number, one column for every output number.
JACOBIAN_LIMIT = 100_000
VMAP = step("generate_vmap_rule = True", comment="for torch.func.vmap")
YOURS = "your own forward pass here"


def steps(setting: Setting) -> list[Step]:
    """Return the whole snippet."""
    wrapper, function = _wrapper(setting) if copies(setting.spec) else ([], "Conv2dFunction.apply")
    return [
        TORCH,
        FUNCTIONAL,
        BLANK,
        BLANK,
        step("class Conv2dFunction(torch.autograd.Function):"),
        *indented(
            [
                VMAP,
                BLANK,
                *_forward(setting),
                BLANK,
                *setup_context(setting, _reads(setting)[1]),
                BLANK,
                *_backward(setting),
            ]
        ),
        BLANK,
        BLANK,
        *wrapper,
        *use(setting, function),
        BLANK,
        *check(setting, function),
    ]


def arguments_of(setting: Setting, first: Value) -> list[Value]:
    """Return the arguments of forward: `first`, the weight and, where there is one, the bias."""
    return [first, WEIGHT, *([BIAS] if setting.bias else [])]


def _reads(setting: Setting) -> tuple[list[Step], Value, Value, Pair]:
    """Return the steps that pad within the Function, its first argument, what conv2d reads, and its padding.

    A border of copies is padded outside, where autograd folds it back; the Function is then one without padding.
    """
    pad, image, padding = pad_input(setting.spec)
    return ([], image, image, padding) if copies(setting.spec) else (pad, INPUT, image, padding)


def _forward(setting: Setting) -> list[Step]:
    pad, first, image, padding = _reads(setting)
    convolve = forward(setting, image, padding, head="return ", comment=YOURS)
    return [*head_of_forward(setting, first), *indented([*pad, convolve])]


def head_of_forward(setting: Setting, first: Value) -> list[Step]:
    """Return the lines above forward's body."""
    return [step("@staticmethod"), step(f"def forward({_names(arguments_of(setting, first))}):")]


def setup_context(setting: Setting, first: Value) -> list[Step]:
    """Return the method that saves what backward needs."""
    saved = _names([first, WEIGHT])
    return [
        step("@staticmethod"),
        step("def setup_context(ctx, inputs, output):", comment="apart from forward: for torch.func.grad"),
        *indented(
            [
                step(f"{saved}{', _' if setting.bias else ''} = inputs"),
                step(f"ctx.save_for_backward({saved})", comment="inputs only: they can be differentiated"),
            ]
        ),
    ]


def _backward(setting: Setting) -> list[Step]:
    pad, first, image, padding = _reads(setting)
    gradient = grad_read(setting.spec, copies(setting.spec))
    to_weight = [*pad, *rotate.to_weight(setting, image, padding)]
    return backward(first, gradient, [rotate.to_input(setting, gradient), to_weight, grad_bias(setting)])


def backward(first: Value, gradient: Value, branches: list[list[Step]]) -> list[Step]:
    """Return the method that computes the gradients, each only where it is wanted.

    Args:
        first: the first argument of forward.
        gradient: its gradient.
        branches: the steps to this gradient, to grad_weight and to grad_bias; these are empty where there is no bias.
    """
    branches = [branch for branch in branches if branch]
    gradients = [gradient, GRAD_WEIGHT, GRAD_BIAS][: len(branches)]
    body = [
        step(f"{_names([first, WEIGHT])} = ctx.saved_tensors"),
        step(" = ".join(value.text for value in gradients) + " = None"),
    ]
    for place, branch in enumerate(branches):
        body += [step(f"if ctx.needs_input_grad[{place}]:"), *indented(branch)]
    body.append(step(f"return {_names(gradients)}", comment="one for every argument of forward"))
    return [step("@staticmethod"), step("def backward(ctx, grad_output):"), *indented(body)]


def _wrapper(setting: Setting) -> tuple[list[Step], str]:
    pad, image, _ = pad_input(setting.spec)
    others: list[Part] = [WEIGHT, *([BIAS] if setting.bias else [])]
    return [
        step(f"def conv2d({_names([INPUT, WEIGHT, *([BIAS] if setting.bias else [])])}):"),
        *indented(
            [
                note("padded outside of the Function, so that autograd folds the copied border back"),
                *pad,
                call([Value("return Conv2dFunction.apply", OUTPUT.panels)], [image, *others]),
            ]
        ),
        BLANK,
        BLANK,
    ], "conv2d"


def use(setting: Setting, function: str) -> list[Step]:
    """Return the lines that call the function and ask for its gradients."""
    bias = [BIAS] if setting.bias else []
    values = [INPUT, WEIGHT, *bias]
    tensors = Value("tensors", tuple(panel for value in values for panel in value.panels))
    gradients: list[Part] = [GRAD_INPUT, ", ", GRAD_WEIGHT]
    if setting.bias:
        gradients += [", ", GRAD_BIAS]
    drawn = Value(f"({_names(values)})", tensors.panels)
    return [
        assign(tensors, "[tensor.detach().requires_grad_() for tensor in ", drawn, "]"),
        assign(OUTPUT, function, "(*", tensors, ")"),
        call([*gradients, " = torch.autograd.grad"], ["output", "tensors", GRAD_OUTPUT]),
    ]


def check(setting: Setting, function: str) -> list[Step]:
    """Return the lines that hold it against differences."""
    given = shapes(setting)
    outputs = math.prod(given.pop("grad_output"))
    fast = sum(map(math.prod, given.values())) * outputs > JACOBIAN_LIMIT
    arguments = [function, "tensors" if setting.dtype == "float64" else "doubles"]
    check = call(["assert torch.autograd.gradcheck"], [*arguments, *(["fast_mode=True"] if fast else [])])
    if setting.dtype == "float64":
        return [check]
    # Apple's device has no float64.
    there = ".cpu()" if setting.device.startswith("mps") else ""
    return [
        note(f"gradcheck divides small differences of the output: {setting.dtype} is too coarse"),
        step(f"doubles = [tensor.detach(){there}.double().requires_grad_() for tensor in tensors]"),
        check,
    ]


def _names(values: list[Value]) -> str:
    return ", ".join(value.text for value in values)
