"""What can be checked: for each task what a student's function takes, what it gives, and what is right."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from convviz.cases.battery import Case

GEOMETRY = ("stride", "padding", "dilation", "groups", "padding_mode")
GRADIENTS = ("grad_input", "grad_weight", "grad_bias")
# What a transposed convolution takes is the output of the convolution whose gradient it computes.
_EXCHANGED = {"input": "grad_output", "grad_output": "input", "bias": "transposed_bias"}


@dataclass(frozen=True)
class Task:
    """One thing that a person can be asked to write."""

    name: str  # what ``check(fn, name)`` is called with
    arguments: tuple[str, ...]  # names of what a function takes, in the order that a call without names has
    results: tuple[str, ...]  # names of what it gives, in the order of torch; the tensors of ``truth`` have these names
    # ``"function"``, ``"Function"`` (a subclass of ``torch.autograd.Function``) or ``"Module"`` (a class, or a function
    # that makes a layer). The latter two are called forward, and autograd asks them for the gradients
    kind: str = "function"
    # the rule of binary weights, ``"signs"`` or ``"scaled signs"`` (``mistakes/grad_weight.py`` has them)
    quantised: str = ""

    @property
    def is_transposed(self) -> bool:
        """Whether it is about a transposed convolution: a case's convolution, read from its output to its input."""
        return self.name.startswith("conv_transpose2d")

    def tensor(self, case: Case, role: str) -> torch.Tensor:
        """Return what a case has for the argument of this task that has this name."""
        return case.tensor(_EXCHANGED.get(role, role) if self.is_transposed else role)


_FUNCTION = ("input", "weight", "bias", *GEOMETRY[:4])
_LAYER = ("in_channels", "out_channels", "kernel_size", *GEOMETRY[:4], "bias", "padding_mode")
_TRANSPOSED = ("stride", "padding", "output_padding", "groups", "dilation")
_TRANSPOSED_LAYER = ("in_channels", "out_channels", "kernel_size", *_TRANSPOSED[:4], "bias", "dilation")
_LINEAR_LAYER = ("in_channels", "out_channels", "bias")

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
        Task("conv_transpose2d", ("input", "weight", "bias", *_TRANSPOSED), ("output",)),
        Task("conv_transpose2d_input", ("input_size", "weight", "grad_output", *_TRANSPOSED), ("grad_input",)),
        Task("conv_transpose2d_weight", ("input", "weight_size", "grad_output", *_TRANSPOSED), ("grad_weight",)),
        Task("conv_transpose2d_bias", ("grad_output",), ("grad_bias",)),
        Task("conv_transpose2d_backward", ("grad_output", "input", "weight", "bias", *_TRANSPOSED), GRADIENTS),
        Task(
            "conv_transpose2d_function", ("input", "weight", "bias", *_TRANSPOSED), ("output", *GRADIENTS), "Function"
        ),
        Task("conv_transpose2d_module", _TRANSPOSED_LAYER, ("output", *GRADIENTS), "Module"),
        Task("linear", ("input", "weight", "bias"), ("output",)),
        Task("linear_backward", ("grad_output", "input", "weight", "bias"), GRADIENTS),
        Task("binary_conv2d", _FUNCTION, ("output", *GRADIENTS), "Function", "signs"),
        Task("scaled_binary_conv2d", _FUNCTION, ("output", *GRADIENTS), "Function", "scaled signs"),
    )
}


def find_task(name: object, fn: object = None) -> Task:
    """Return a task by its name; whoever wrote a Function or a layer's class for it is asked for its gradients, too.

    Raises:
        ValueError: there is no such task.
    """
    if not isinstance(name, str) or name not in TASKS:
        raise ValueError(f"task is one of {', '.join(TASKS)}: got {name!r}")
    task = TASKS[name]
    own = fn if isinstance(fn, type) else type(None)
    kind = next((each.__name__ for each in (torch.nn.Module, torch.autograd.Function) if issubclass(own, each)), "")
    if kind == "Module" and (task.kind == "Function" or task.results == ("output",)):
        return dataclasses.replace(task, kind=kind, arguments=layer_of(task), results=("output", *GRADIENTS))
    if kind == "Function" and task.results == ("output",):
        return dataclasses.replace(task, kind=kind, results=("output", *GRADIENTS))
    return task


def layer_of(task: Task) -> tuple[str, ...]:
    """Return what the class of a layer takes that does what a task is about."""
    linear = task.name.startswith("linear")
    return _LINEAR_LAYER if linear else _TRANSPOSED_LAYER if task.is_transposed else _LAYER


def forward_of(task: Task) -> Task:
    """Return the task of the forward pass to which a task belongs."""
    return TASKS["linear" if task.name.startswith("linear") else "conv_transpose2d" if task.is_transposed else "conv2d"]


def truth(task: Task, case: Case) -> dict[str, torch.Tensor]:
    """Return what is right, in float64, by the names of the task's results.

    Everything comes from torch's own forward pass and autograd, not from convviz's operators. Shapes are those of
    torch: ``[N, C, H, W]``, ``[C_out, C_in / groups, kH, kW]``, ``[C_out]``; of a linear layer ``[N, C]``, ``[O, C]``.
    """
    with torch.enable_grad():
        given = {name: task.tensor(case, name).clone().requires_grad_() for name in ("input", "weight", "bias")}
        output = forward_pass(task, case, given)
        found = {"output": output.detach()}
        if len(task.results) > 1 or task.results[0] != "output":
            sent = task.tensor(case, "grad_output").reshape(output.shape)
            sums = torch.autograd.grad(output, tuple(given.values()), sent)
            found |= dict(zip(GRADIENTS, sums, strict=True))
    if task.name.startswith("linear"):
        found = {name: value.flatten(1) if value.dim() == 4 else value for name, value in found.items()}
    return {name: found[name] for name in task.results}


def forward_pass(task: Task, case: Case, given: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Return the right output for these input, weight and bias, in a case's geometry; autograd sees all of it."""
    input, weight, bias, spec = given["input"], given["weight"], given["bias"], case.spec
    if task.name.startswith("linear"):
        return F.linear(input.flatten(1), weight.flatten(1), bias)
    (top, bottom), (left, right) = spec.padding
    if task.is_transposed:  # what comes out has the size of the convolution's input
        geometry = (spec.stride, (top, left), spec.remainder, spec.groups, spec.dilation)
        return F.conv_transpose2d(input, weight, bias, *geometry)
    mode = "constant" if spec.padding_mode == "zeros" else spec.padding_mode
    padded = F.pad(input, (left, right, top, bottom), mode=mode)
    return F.conv2d(padded, _quantised(task, weight), bias, spec.stride, 0, spec.dilation, spec.groups)


def _quantised(task: Task, weight: torch.Tensor) -> torch.Tensor:
    """Return the weight that the layer computes with; autograd sees the straight-through rule, |w| <= 1."""
    if not task.quantised:
        return weight
    signs = torch.where(weight >= 0, 1.0, -1.0).to(weight.dtype)
    passed = weight.clamp(-1, 1)
    signs = passed + (signs - passed).detach()
    return signs * weight.abs().mean((1, 2, 3), keepdim=True) if task.quantised == "scaled signs" else signs
