"""How a student's function is called, as far as its signature does not say it, and what it is given."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from convviz.cases.battery import Case
from convviz.cases.further_questions import NO_BIAS
from convviz.cases.pooled_geometries import is_ceil
from convviz.cases.same_padding import padding_word
from convviz.cases.tasks import GEOMETRY, Task
from convviz.check.calling.arrays import changed, hand_over
from convviz.check.calling.binding import TENSORS, Binding
from convviz.check.calling.names_and_layouts import (
    DATA,
    KERNEL,
    bias_shape,
    names_of,
    role_of,
    sizes_in,
    stated_role,
    to_layout,
)
from convviz.facts.words import sentences

say = sentences("calling_student_code")

RATE = "learning_rate"  # with which a backward pass updates weights itself; 1, so that the change is the gradient
USUAL = (*GEOMETRY, "pad")  # names of settings that a course's dict has
FLAGS = ("ceil_mode", "count_include_pad")  # the flags of a pooling
OF_A_CASE = (*TENSORS, *GEOMETRY, "output_padding", "kernel_size", "input_size", "weight_size", *FLAGS)
PAIRS = ("stride", "padding", "dilation", "output_padding", "kernel_size")


@dataclass(frozen=True)
class Plan:
    """What was found out by trial; plain data."""

    arrays: str = "torch"  # or "numpy", "lists"
    data: str = "NCHW"  # order of axes of input, output and their gradients, a key of DATA
    kernel: str = "OIHW"  # that of the weight, a key of KERNEL
    bias: str = "C"  # its shape: "111C", "C1"
    form: tuple[str, ...] = ()  # what a cache holds, in its order; ("dict",) for one with keys
    # "any": a number where both axes have the same; "pair": always two; else the names that have two
    pairs: str = "any"
    dtype: str = "float64"  # or "float32"
    words: bool = False  # whether the padding is said as "same" or "valid"
    # how a padding is given: "four", as F.pad has it, (left, right, top, bottom); "pairs", ((top, bottom), (left,
    # right)); "uneven", so where it differs from side to side, and as torch has it elsewhere; empty: there in words
    sides: str = ""
    upper: bool = False  # whether these are "SAME" and "VALID", as TensorFlow has them


# What is left of a geometry for those who take one image at a time, or one plane.
ALONE: Mapping[str, Mapping[str, int]] = {
    **{layout: {"batch": 1} for layout in ("CHW", "HWC", "C")},
    "HW": {"batch": 1, "in_channels": 1, "out_channels": 1, "groups": 1},
}


def suited(case: Case, data: str) -> Case:
    """Return what is left of a case in a layout: its first image, or the first plane of that."""
    spec = case.spec.replace(**ALONE.get(data, {}))
    if spec == case.spec:
        return case
    shapes = {
        "input": spec.input_shape, "weight": spec.weight_shape, "bias": (spec.out_channels,),
        "grad_output": spec.output_shape, "transposed_bias": (spec.in_channels,),
    }  # fmt: skip
    cut = {name: case.tensor(name)[tuple(map(slice, shape))] for name, shape in shapes.items()}
    return dataclasses.replace(case, spec=spec, **cut)  # type: ignore[arg-type]  # the names are those of tensors


class Params(dict[str, Any]):
    """A dict that notes which of its keys are read, so that it is known what a function makes use of."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.read: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        """Return what is there; of a setting by its usual name alone, as ``get("strides", 1)`` is 1 in any course."""
        self.read.add(key)
        is_usual = default is None or key in USUAL or stated_role(key) or role_of(key, GEOMETRY) is None
        return super().get(key, default) if is_usual else default


def _noting(name: str) -> Callable[..., Any]:
    """Return a dict's method that notes the key which it is asked for; without one, all of them."""

    def method(self: Params, *given: Any) -> Any:
        self.read.update(given[:1] or dict.keys(self))
        return getattr(super(Params, self), name)(*given)

    return method


for _name in ("__getitem__", "pop", "__iter__", "keys", "values", "items"):
    setattr(Params, _name, _noting(_name))


class AskedCase:
    """A case as a caller's own adapter reads it: each attribute has torch's name, and which are read is noted."""

    def __init__(self, value: Callable[[str], Any]) -> None:
        self._value = value
        self.read: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name not in OF_A_CASE:
            raise AttributeError(say("no_such", name=name, known=", ".join(OF_A_CASE)))
        self.read.add(name)
        return self._value(name)


class Given:
    """What one call is given, made when it is asked for."""

    def __init__(self, task: Task, plan: Plan, case: Case, turned: bool = False) -> None:
        self.task, self.plan, self.turned = task, plan, turned
        self.remarks: set[str] = set()
        self._case = case
        self._held: dict[str, Any] = {}
        self._was: dict[str, Any] = {}
        self._dicts: list[Params | AskedCase] = []

    def value(self, role: str) -> Any:
        """Return what stands for a role, the same object whenever it is asked for."""
        if role not in self._held:
            self._held[role] = self._make(role)
        return self._held[role]

    def arguments(self, binding: Binding) -> tuple[list[Any], dict[str, Any]]:
        """Return what is given by place and by name."""
        placed: list[Any] = []
        named: dict[str, Any] = {}
        for each in binding.arguments:
            value = each.default if each.role is None else self.value(each.role)
            if each.by_name:
                named[each.name] = value
            else:
                placed.append(value)
        return placed, named

    def gradients_to(self, binding: Binding, only: str) -> dict[str, torch.Tensor]:
        """Let the tensors of a call ask for gradients, or one of them alone; return those that do, by role."""
        found = {role: self.value(role) for role in TENSORS[1:] if role in binding.roles and only in (role, "")}
        return {role: each.requires_grad_() for role, each in found.items() if isinstance(each, torch.Tensor)}

    def hold(self, role: str, value: Any, was: Any = None) -> None:
        """Give this for a role, and watch it if it is known what it was."""
        self._held[role] = value
        if was is not None:
            self._was[role] = was

    @property
    def changed(self) -> list[str]:
        """The roles of arrays that are others than they were."""
        return [role for role, was in self._was.items() if changed(was, self._held[role])]

    @property
    def read(self) -> set[str]:
        """The keys that were read from its dicts, or the attributes of the case."""
        return {key for one in self._dicts for key in one.read}

    def _make(self, role: str) -> Any:
        if role in TENSORS:
            return self._array(role)
        if role == "case":
            self._dicts.append(AskedCase(self.value))
            return self._dicts[-1]
        if role == "params":
            return self._dict(())
        if role == "cache" and self.plan.form == ("dict",):
            return self._dict(("input", "weight", "bias"))
        if role == "cache":
            return tuple(map(self.value, self.plan.form))
        return plain_value(role, self._case, self.plan, self.task)

    def _array(self, role: str) -> Any:
        if self.task.kind == "Module":
            return self._case.way != NO_BIAS  # of a layer's arguments "bias" alone is called like a tensor
        if role == "bias" and self._case.way == NO_BIAS:
            return None
        plan, dtype = self.plan, getattr(torch, self.plan.dtype)
        tensor = self.task.tensor(self._case, role)
        if role == "bias":
            tensor = tensor.reshape(() if plan.data == "HW" else bias_shape(plan.bias, tensor.numel()))
        else:
            tensor = to_layout(tensor, KERNEL[plan.kernel] if role == "weight" else DATA[plan.data])
        self._was[role] = hand_over(tensor, plan.arrays, dtype)
        return hand_over(tensor, plan.arrays, dtype, self.turned)

    def _dict(self, tensors: tuple[str, ...]) -> Params:
        settings = (*GEOMETRY, *["output_padding"] * self.task.is_transposed, "kernel_size")
        if self.task.pooling:
            settings = (*settings, "kernel_size.0", "kernel_size.1", *FLAGS)
        roles = tensors if self.task.name.startswith("linear") else (*tensors, *settings)
        keys = ((key, role) for role in reversed(roles) for key in names_of(role))
        made = Params({key: self.value(role) for key, role in keys})
        self._dicts.append(made)
        return made


def plain_value(role: str, case: Case, plan: Plan, task: Task) -> Any:
    """Return what is no tensor: a number, a pair, a size or a word."""
    spec = case.spec
    name, _, axis = role.partition(".")
    if name in FLAGS:
        return is_ceil(spec) if name == "ceil_mode" else case.rule != "average inside"
    uneven = not task.pooling and any(before != after for before, after in spec.padding)  # which no number says
    if name == "padding" and plan.sides and not plan.words and (uneven or plan.sides != "uneven"):
        four = (*spec.padding[1], *spec.padding[0])
        if axis or task.is_row:
            return spec.padding[int(axis or 1)]
        return four if plan.sides == "four" else spec.padding
    if name == "padding" and (plan.words or uneven):
        word = padding_word(spec) or "same"
        return word.upper() if plan.upper else word
    if name in PAIRS:
        special = {"padding": (spec.padding[0][0], spec.padding[1][0]), "output_padding": spec.remainder}
        pair: tuple[int, int] = special[name] if name in special else getattr(spec, name)
        if axis or task.is_row:
            return pair[int(axis or 1)]
        is_one = pair[0] == pair[1] and plan.pairs != "pair" and name not in plan.pairs.split()
        return pair[0] if is_one else pair
    if name == RATE:
        return 1.0
    if name == "input_size" and task.kind == "Module":  # what makes a layer knows no batch
        shape = spec.output_shape if task.is_transposed else spec.input_shape
        return sizes_in(shape, [axis for axis in DATA[plan.data] if axis])
    if name == "input_size":
        if task.is_transposed and "output" in task.results:  # where the size of what comes out is called so
            return spec.input_size
        shape = spec.output_shape if task.is_transposed else spec.input_shape
        return sizes_in(shape, DATA[plan.data])
    if name == "weight_size":
        return sizes_in(spec.weight_shape, KERNEL[plan.kernel])
    if task.is_transposed and name in ("in_channels", "out_channels"):
        return spec.in_channels if name == "out_channels" else spec.out_channels
    return getattr(spec, name)
