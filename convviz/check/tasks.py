"""What can be checked: for each task what a student's function takes, what it gives, and what is right."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from convviz.check.battery import Case

GEOMETRY = ("stride", "padding", "dilation", "groups", "padding_mode")
GRADIENTS = ("grad_input", "grad_weight", "grad_bias")


@dataclass(frozen=True)
class Task:
    """One thing that a person can be asked to write."""

    name: str  # what ``check(fn, name)`` is called with
    arguments: tuple[str, ...]  # names of what a function takes, in the order that a call without names has
    results: tuple[str, ...]  # names of what it gives, in the order of torch; the tensors of ``truth`` have these names
    # ``"function"``, ``"Function"`` (a subclass of ``torch.autograd.Function``) or ``"Module"`` (a class, or a function
    # that makes a layer). The latter two are called forward, and autograd asks them for the gradients
    kind: str = "function"
    # the rule of binary weights, ``"signs"`` or ``"scaled signs"`` (``recipes/grad_weight.py`` has them)
    quantised: str = ""


_FUNCTION = ("input", "weight", "bias", *GEOMETRY[:4])
_LAYER = ("in_channels", "out_channels", "kernel_size", *GEOMETRY[:4], "bias", "padding_mode")

TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        Task("conv2d", ("input", "weight", "bias", *GEOMETRY), ("output",)),
        Task("conv2d_input", ("input_size", "weight", "grad_output", *GEOMETRY), ("grad_input",)),
        Task("conv2d_weight", ("input", "weight_size", "grad_output", *GEOMETRY), ("grad_weight",)),
        Task("conv2d_bias", ("grad_output",), ("grad_bias",)),
        Task("conv2d_backward", ("grad_output", "input", "weight", "bias", *GEOMETRY), GRADIENTS),
        Task("conv2d_function", (*_FUNCTION, "padding_mode"), ("output", *GRADIENTS), "Function"),
        Task("conv2d_module", _LAYER, ("output", *GRADIENTS), "Module"),
        Task(
            "conv_transpose2d",
            ("input", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation"),
            ("output",),
        ),
        Task("linear", ("input", "weight", "bias"), ("output",)),
        Task("linear_backward", ("grad_output", "input", "weight", "bias"), GRADIENTS),
        Task("binary_conv2d", _FUNCTION, ("output", *GRADIENTS), "Function", "signs"),
        Task("scaled_binary_conv2d", _FUNCTION, ("output", *GRADIENTS), "Function", "scaled signs"),
    )
}


def find_task(name: object, fn: object = None) -> Task:
    """Return a task by its name; one for a Function is a layer's, if a layer's class is what was written for it.

    Raises:
        ValueError: there is no such task.
    """
    if not isinstance(name, str) or name not in TASKS:
        raise ValueError(f"task is one of {', '.join(TASKS)}: got {name!r}")
    task = TASKS[name]
    is_layer = isinstance(fn, type) and issubclass(fn, torch.nn.Module)
    return dataclasses.replace(task, kind="Module", arguments=_LAYER) if is_layer and task.kind == "Function" else task


def truth(task: Task, case: Case) -> dict[str, torch.Tensor]:
    """Return what is right, in float64, by the names of the task's results.

    Everything comes from torch's own forward pass and autograd, not from convviz's operators. Shapes are those of
    torch: ``[N, C, H, W]``, ``[C_out, C_in / groups, kH, kW]``, ``[C_out]``; of a linear layer ``[N, C]``, ``[O, C]``.
    """
    with torch.enable_grad():
        given = {name: case.tensor(name).clone().requires_grad_() for name in ("input", "weight", "bias")}
        if task.name == "conv_transpose2d":
            # Its input is a convolution's grad_output, and what comes out has the size of that convolution's input.
            output = _transposed(case)
        elif task.name.startswith("linear"):
            output = F.linear(given["input"].flatten(1), given["weight"].flatten(1), given["bias"])
        else:
            output = _forward(given["input"], _quantised(task, given["weight"]), given["bias"], case)
        found = {"output": output.detach()}
        if len(task.results) > 1 or task.results[0] != "output":
            sent = case.grad_output.reshape(output.shape)
            sums = torch.autograd.grad(output, tuple(given.values()), sent)
            found |= dict(zip(GRADIENTS, sums, strict=True))
    if task.name.startswith("linear"):
        found = {name: value.flatten(1) if value.dim() == 4 else value for name, value in found.items()}
    return {name: found[name] for name in task.results}


def _forward(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, case: Case) -> torch.Tensor:
    spec = case.spec
    (top, bottom), (left, right) = spec.padding
    mode = "constant" if spec.padding_mode == "zeros" else spec.padding_mode
    padded = F.pad(input, (left, right, top, bottom), mode=mode)
    return F.conv2d(padded, weight, bias, spec.stride, 0, spec.dilation, spec.groups)


def _transposed(case: Case) -> torch.Tensor:
    spec, bias = case.spec, case.transposed_bias
    padding = (spec.padding[0][0], spec.padding[1][0])
    return F.conv_transpose2d(
        case.grad_output, case.weight, bias, spec.stride, padding, spec.remainder, spec.groups, spec.dilation
    )


def _quantised(task: Task, weight: torch.Tensor) -> torch.Tensor:
    """Return the weight that the layer computes with; autograd sees the straight-through rule, |w| <= 1."""
    if not task.quantised:
        return weight
    signs = torch.where(weight >= 0, 1.0, -1.0).to(weight.dtype)
    passed = weight.clamp(-1, 1)
    signs = passed + (signs - passed).detach()
    return signs * weight.abs().mean((1, 2, 3), keepdim=True) if task.quantised == "scaled signs" else signs
