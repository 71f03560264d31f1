"""What can be checked: for each task what a student's function takes, what it gives, and what is right."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from convviz.cases.battery import NOTHING, OTHER, ZEROS, Case, Ruled, make_case
from convviz.cases.pooled_geometries import fit_pooling, pooled_output
from convviz.geometry.spec import ConvSpec

GEOMETRY = ("stride", "padding", "dilation", "groups", "padding_mode")
GRADIENTS = ("grad_input", "grad_weight", "grad_bias")
# What a transposed convolution takes is the output of the convolution whose gradient it computes.
_EXCHANGED = {"input": "grad_output", "grad_output": "input", "bias": "transposed_bias"}


@dataclass(frozen=True)
class Task(Ruled):
    """One thing that a person can be asked to write."""

    name: str  # what ``check(fn, name)`` is called with
    arguments: tuple[str, ...]  # names of what a function takes, in the order that a call without names has
    results: tuple[str, ...]  # names of what it gives, in the order of torch; the tensors of ``truth`` have these names
    # ``"function"``, ``"Function"`` (a subclass of ``torch.autograd.Function``) or ``"Module"`` (a class, or a function
    # that makes a layer). The latter two are called forward, and autograd asks them for the gradients
    kind: str = "function"
    # the rule of binary weights, ``"signs"`` or ``"scaled signs"`` (``mistakes/grad_weight.py`` has them), or that of a
    # pooling, ``"max"`` or ``"average"``; empty for a plain convolution
    rule: str = ""

    @property
    def is_transposed(self) -> bool:
        """Whether it is about a transposed convolution: a case's convolution, read from its output to its input."""
        return self.name.startswith("conv_transpose")

    @property
    def is_row(self) -> bool:
        """Whether it is about one axis: a case's convolution with a height of 1."""
        return "1d" in self.name

    @property
    def lacks(self) -> tuple[int, ...]:
        """Which of torch's four axes its tensors do not have."""
        return (2, 3) if self.name.startswith("linear") else (2,) if self.is_row else ()

    def own(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a tensor of torch's four axes in those of the task; unchanged where another axis has no size of 1."""
        if any(tensor.shape[axis] != 1 for axis in self.lacks):
            return tensor
        return tensor[tuple(0 if axis in self.lacks else slice(None) for axis in range(4))]

    def whole(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a tensor of the task's axes in torch's four: the reverse of ``own``; another one as it is."""
        for axis in self.lacks if tensor.dim() == 4 - len(self.lacks) else ():
            tensor = tensor.unsqueeze(axis)
        return tensor

    def fit(self, spec: ConvSpec) -> ConvSpec:
        """Return a geometry as this task has it: with a height of 1, where a stride or a dilation may be any.

        Raises:
            ValueError: it is of a pooling, and has none that is like it.
        """
        if self.pooling:
            return fit_pooling(spec, self.pooling == "average")
        if not self.is_row:
            return spec
        (_, size), (_, kernel), (_, stride), (_, dilation) = (
            spec.input_size,
            spec.kernel_size,
            spec.stride,
            spec.dilation,
        )
        padding = ((0, 0), spec.padding[1])
        return spec.replace(
            input_size=(1, size), kernel_size=(1, kernel), stride=stride, padding=padding, dilation=dilation
        )

    def tensor(self, case: Case, role: str) -> torch.Tensor:
        """Return what a case has for the argument of this task that has this name."""
        return case.tensor(_EXCHANGED.get(role, role) if self.is_transposed else role)


_FUNCTION = ("input", "weight", "bias", *GEOMETRY[:4])
_LAYER = ("in_channels", "out_channels", "kernel_size", *GEOMETRY[:4], "bias", "padding_mode")
_TRANSPOSED = ("stride", "padding", "output_padding", "groups", "dilation")
_TRANSPOSED_LAYER = ("in_channels", "out_channels", "kernel_size", *_TRANSPOSED[:4], "bias", "dilation")
_MAX = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
_AVERAGE = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")
_LINEAR_LAYER = ("in_channels", "out_channels", "bias")

PLANAR: Mapping[str, Task] = {
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
        Task("max_pool2d", ("input", *_MAX), ("output",), rule="max"),
        Task("max_pool2d_backward", ("grad_output", "input", *_MAX), ("grad_input",), rule="max"),
        Task("avg_pool2d", ("input", *_AVERAGE), ("output",), rule="average"),
        Task("avg_pool2d_backward", ("grad_output", "input", *_AVERAGE), ("grad_input",), rule="average"),
        Task("binary_conv2d", _FUNCTION, ("output", *GRADIENTS), "Function", "signs"),
        Task("scaled_binary_conv2d", _FUNCTION, ("output", *GRADIENTS), "Function", "scaled signs"),
    )
}


# The same of one axis, by torch's names.
TASKS: Mapping[str, Task] = {
    **PLANAR,
    **{
        name.replace("2d", "1d"): dataclasses.replace(task, name=name.replace("2d", "1d"))
        for name, task in PLANAR.items()
        if name.startswith("conv")
    },
}


def find_task(name: object, fn: object = None) -> Task:
    """Return a task by its name; whoever wrote a Function or a layer's class for it is asked for its gradients, too.

    Raises:
        ValueError: there is no such task.
    """
    if isinstance(name, str) and (planar := name.replace("3d", "2d")) != name and planar in TASKS:
        raise ValueError(
            f"three axes are not checked, but with a depth of 1 a conv3d is a conv2d: check it as {planar!r} through "
            "an adapter, report(lambda case: my_conv3d(case.input[:, :, None], case.weight[:, :, None], ...)[:, :, 0], "
            f"{planar!r}), and then with its axes in another order: got {name!r}"
        )
    if not isinstance(name, str) or name not in TASKS:
        raise ValueError(f"task is one of {', '.join(TASKS)}: got {name!r}")
    task = TASKS[name]
    own = fn if isinstance(fn, type) else type(None)
    kind = next((each.__name__ for each in (torch.nn.Module, torch.autograd.Function) if issubclass(own, each)), "")
    if kind == "Module" and (task.kind == "Function" or task.pooling or task.results == ("output",)):
        return dataclasses.replace(task, kind=kind, arguments=layer_of(task), results=("output", *gradients_of(task)))
    if kind == "Function" and task.pooling:  # whose arguments are those of its forward pass
        arguments = forward_of(task).arguments
        return dataclasses.replace(task, kind=kind, arguments=arguments, results=("output", "grad_input"))
    if kind == "Function" and task.results == ("output",):
        return dataclasses.replace(task, kind=kind, results=("output", *gradients_of(task)))
    return task


def in_a_row(cases: Sequence[Case], task: Task) -> list[Case]:
    """Return cases with a height of 1, each geometry once, but for those that are about height and width."""
    made: dict[ConvSpec, Case] = {}
    for number, case in enumerate(cases):
        spec = task.fit(case.spec)
        if not any(word in case.name for word in ("height", "square")):
            key = spec if case.name not in (OTHER, ZEROS, NOTHING) else spec.replace(batch=100 + number)
            made.setdefault(key, make_case(case.name, spec, number, case.rule))
    return list(made.values())


def layer_of(task: Task) -> tuple[str, ...]:
    """Return what the class of a layer takes that does what a task is about."""
    if task.pooling:
        return forward_of(task).arguments[1:]
    linear = task.name.startswith("linear")
    return _LINEAR_LAYER if linear else _TRANSPOSED_LAYER if task.is_transposed else _LAYER


def gradients_of(task: Task) -> tuple[str, ...]:
    """Return the gradients that the layer has which a task is about."""
    return GRADIENTS[:1] if task.pooling else GRADIENTS


def forward_of(task: Task) -> Task:
    """Return the task of the forward pass to which a task belongs."""
    if task.name.startswith("linear"):
        return TASKS["linear"]
    if task.pooling:
        return TASKS[task.name.removesuffix("_backward")]
    return TASKS[f"{'conv_transpose' if task.is_transposed else 'conv'}{1 if task.is_row else 2}d"]


def truth(task: Task, case: Case) -> dict[str, torch.Tensor]:
    """Return what is right, in float64, by the names of the task's results.

    Everything comes from torch's own forward pass and autograd, not from convviz's operators. Shapes are those of
    torch: ``[N, C, H, W]``, ``[C_out, C_in / groups, kH, kW]``, ``[C_out]``; of a linear layer ``[N, C]``, ``[O, C]``,
    in one axis without H and kH.
    """
    names = ("input",) if task.pooling else ("input", "weight", "bias")
    with torch.enable_grad():
        given = {name: task.tensor(case, name).clone().requires_grad_() for name in names}
        output = forward_pass(task, case, given)
        found = {"output": output.detach()}
        if len(task.results) > 1 or task.results[0] != "output":
            sent = task.tensor(case, "grad_output").reshape(output.shape)
            asked = [name for name in gradients_of(task) if name in task.results]  # others would take as long again
            leaves = [given[name.removeprefix("grad_")] for name in asked]
            # The sum weighted by it, not grad_outputs=: to compare two shapes torch would load sympy, half a second.
            found |= dict(zip(asked, torch.autograd.grad((output * sent).sum(), leaves), strict=True))
    return {name: task.own(found[name]) if found[name].dim() == 4 else found[name] for name in task.results}


def forward_pass(task: Task, case: Case, given: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Return the right output for these input, weight and bias, in a case's geometry; autograd sees all of it."""
    if task.pooling:
        return pooled_output(case.pooling or task.pooling, case.spec, given["input"])
    input, weight, bias, spec = given["input"], given["weight"], given["bias"], case.spec
    if task.name.startswith("linear"):
        return F.linear(input.flatten(1), weight.flatten(1), bias)
    (top, bottom), (left, right) = spec.padding
    if task.is_transposed:  # what comes out has the size of the convolution's input
        geometry = (spec.stride, (top, left), spec.remainder, spec.groups, spec.dilation)
        return F.conv_transpose2d(input, weight, bias, *geometry)
    padding = (top, left)
    if spec.padding_mode != "zeros" or padding != (bottom, right):  # what conv2d itself does not pad
        mode = "constant" if spec.padding_mode == "zeros" else spec.padding_mode
        input, padding = F.pad(input, (left, right, top, bottom), mode=mode), (0, 0)
    return F.conv2d(input, _quantised(task, weight), bias, spec.stride, padding, spec.dilation, spec.groups)


def _quantised(task: Task, weight: torch.Tensor) -> torch.Tensor:
    """Return the weight that the layer computes with; autograd sees the straight-through rule, |w| <= 1."""
    if not task.quantised:
        return weight
    signs = torch.where(weight >= 0, 1.0, -1.0).to(weight.dtype)
    passed = weight.clamp(-1, 1)
    signs = passed + (signs - passed).detach()
    return signs * weight.abs().mean((1, 2, 3), keepdim=True) if task.quantised == "scaled signs" else signs
