"""What is asked: a function, a forward and a backward pass as a pair, or a class with both as methods."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from convviz.cases.tasks import GEOMETRY, GRADIENTS, Task, forward_of, layer_of
from convviz.check.calling.binding import Argument, Binding, binding_of, takes_case
from convviz.check.calling.call_plan import RATE, Plan
from convviz.check.calling.inspect_source import is_function, knows_words, libraries

NOTHING = Binding(())
INPUT = Binding((Argument("input", "input"),))
FORWARD = ("forward", "fprop", "forward_pass", "__call__")
BACKWARD = ("backward", "bprop", "backprop", "backward_pass")
AUTOGRAD = torch.autograd.grad
# What makes a layer is called with its weights, or else with its channels.
_WEIGHTS = Task("conv2d", ("weight", "bias", *GEOMETRY), ())


@dataclass(frozen=True)
class Subject:
    """What a student wrote, the task it is for, and how it is called: made if it is a class, forward, and back."""

    fn: Any
    task: Task
    binding: Binding  # all that it is given on the way
    forward: Any  # a function, or the name of a method
    goes: Binding  # how that is called
    backward: Any = None  # the same, or AUTOGRAD; None where the forward pass gives all there is
    returns: Binding = NOTHING  # how the backward pass is called
    maker: Any = None  # the class, or the function that makes a layer
    makes: Binding = NOTHING  # how that is called
    layer: Task = _WEIGHTS  # the task by which it is called, of kind "Module" where that is with channels

    @property
    def style(self) -> str:
        """The kind of its task; of a function's ``"pair"`` and ``"class"``, which have passes of their own."""
        if self.task.kind != "function":
            return self.task.kind
        return "class" if self.maker is not None else "function" if self.backward is None else "pair"

    @property
    def is_filled(self) -> bool:
        """Whether the weights are put among the attributes of what is made."""
        has_weight = "weight" in self.makes.roles | self.goes.roles or self.task.pooling
        return self.maker is not None and not has_weight

    @property
    def makes_layers(self) -> bool:
        """Whether it is called with channels and a kernel's size, as a layer's class is."""
        return self.layer.kind == "Module"

    @property
    def codes(self) -> tuple[Any, ...]:
        """The functions that it consists of, as far as they are known before it is called."""
        if self.style == "pair":
            return (self.fn, self.forward)
        if not isinstance(self.fn, type) or is_function(self.fn):
            return (self.fn,)
        methods = (self.forward, self.backward or "") if self.style == "class" else ("forward",)
        found = (getattr(self.fn, name, None) for name in ("__init__", *methods))
        return tuple(code for code in found if inspect.isfunction(code))

    @functools.cached_property  # each way of calling it asks what its code says, and each scope that is tried
    def knows_words(self) -> bool:
        """Whether its code has a padding in words."""
        return knows_words(self.codes)

    @functools.cached_property
    def knows_upper_words_alone(self) -> bool:
        """Whether these are "SAME" and "VALID"."""
        return self.knows_words and not knows_words(self.codes, ("same", "valid"))

    @functools.cached_property
    def libraries(self) -> list[str]:
        """The kinds of arrays that its code may want, the likeliest first."""
        return libraries(self.codes or (self.fn,))

    @property
    def is_adapter(self) -> bool:
        """Whether it is its caller's own adapter: it takes the case, and nothing is inferred about it."""
        return "case" in self.binding.roles

    @property
    def bias(self) -> Argument | None:
        """Its argument for a bias; of a layer the one of its class."""
        binding = self.makes if self.style == "Module" else self.binding
        return next((each for each in binding.arguments if each.role == "bias"), None)

    @property
    def demands_bias(self) -> bool:
        """Whether its signature leaves nobody the choice to have no bias: None is not its own default."""
        return self.bias is None or (self.style != "Module" and self.bias.default is not None)

    def has_bias(self, plan: Plan) -> bool:
        """Return whether it is given a bias."""
        if self.style == "class" and self.is_filled:
            return False  # whether there is a place for one is seen in what the class makes
        return "bias" in {*self.binding.roles, *plan.form} or plan.form == ("dict",)


def subject_of(fn: Any, task: Task, less: int = 0) -> Subject:
    """Return what is asked, with how its arguments are bound; of one that does not say how many, some may be left."""
    if takes_case(fn):
        whole = Binding((Argument("case", "case"),))
        return Subject(fn, dataclasses.replace(task, kind="function"), whole, fn, whole)
    if isinstance(fn, tuple | list) and len(fn) == 2 and all(map(callable, fn)) and "output" not in task.results:
        forward, backward = fn
        kept = dataclasses.replace(task, arguments=("grad_output", "cache"))  # whatever it is called
        passes = {"forward": forward, "goes": _forward(forward, task), "backward": backward}
        return _with_passes(backward, task, {**passes, "returns": binding_of(backward, kept)})
    if _has_passes(fn, task):
        return _with_passes(fn, task, _methods(fn, task))
    if is_function(fn) and task.kind == "function" and set(task.results) & set(GRADIENTS):
        taken = forward_of(task).arguments
        task = dataclasses.replace(task, kind="Function", arguments=taken, results=("output", *task.results))
    binding = binding_of(fn, task)
    count = len(binding.arguments) - less
    binding = dataclasses.replace(binding, arguments=binding.arguments[:count], placed=binding.placed[:count])
    if task.kind == "Module":
        return Subject(fn, task, binding, "__call__", INPUT, AUTOGRAD, maker=fn, makes=binding, layer=task)
    return Subject(fn, task, binding, fn, binding, AUTOGRAD if task.kind == "Function" else None)


def _with_passes(fn: Any, task: Task, passes: dict[str, Any]) -> Subject:
    """Return a subject whose output is asked for as well, since a forward pass of its own is there."""
    stages = [passes[stage] for stage in ("makes", "goes", "returns") if stage in passes]
    arguments = tuple(each for stage in stages for each in stage.arguments if each.role != "cache")
    own_forward = "maker" not in passes or passes["backward"] is not None
    results = ("output", *(name for name in task.results if name != "output")) if own_forward else task.results
    asked = dataclasses.replace(task, kind="function", results=results)
    placed, unknown = (tuple(name for stage in stages for name in getattr(stage, of)) for of in ("placed", "unknown"))
    return Subject(fn, asked, Binding(arguments, placed, unknown=unknown), **passes)


def _has_passes(fn: Any, task: Task) -> bool:
    if not isinstance(fn, type) or is_function(fn) or issubclass(fn, torch.nn.Module):
        return False
    if task.kind == "Function" or _method(fn, FORWARD) is None:
        return False
    return _method(fn, BACKWARD) is not None or task.results == ("output",)


def _method(made: type, names: tuple[str, ...]) -> str | None:
    own = {name for base in made.__mro__ if base is not object for name in vars(base)}
    return next((name for name in names if name in own), None)


def _methods(made: type, task: Task) -> dict[str, Any]:
    forward = _method(made, FORWARD) or "forward"
    backward = _method(made, BACKWARD) if task.results != ("output",) else None
    sizes = () if task.name.startswith("linear") else ("input_size",)
    layer = dataclasses.replace(task, arguments=(*layer_of(task), *sizes, RATE), results=(), kind="Module")
    weights = dataclasses.replace(forward_of(task), arguments=("weight", "bias", *forward_of(task).arguments[3:]))
    makes = _stage(made, layer)
    known = makes.roles - set(makes.placed)
    if not task.pooling and ("out_channels" not in known or not known & {"in_channels", "kernel_size"}):
        by_weights = _stage(made, weights)
        is_layer = "out_channels" in known or makes.placed
        if "weight" in by_weights.roles - set(by_weights.placed) or not is_layer:
            makes, layer = by_weights, weights
    found = {"forward": forward, "goes": _forward(_bound(made, forward), task), "backward": backward}
    if backward is not None:
        returned = dataclasses.replace(task, arguments=("grad_output", RATE), kind="function")
        returns = _stage(_bound(made, backward), returned)
        found["returns"] = _beginning_with("grad_output", returns)
    return {**found, "maker": made, "makes": makes, "layer": layer}


def _bound(made: type, name: str) -> Callable[..., Any]:
    """Return a method whose signature lacks self, before there is an object of its class."""
    found = inspect.getattr_static(made, name)
    return found.__func__ if isinstance(found, staticmethod) else types.MethodType(getattr(made, name), made)


def _forward(fn: Callable[..., Any], task: Task) -> Binding:
    return _beginning_with("input", _stage(fn, forward_of(task)))


def _beginning_with(role: str, binding: Binding) -> Binding:
    """Return a binding whose first argument has a role that no name of it says."""
    if role in binding.roles or not binding.arguments:
        return binding
    first, *rest = binding.arguments
    unknown = tuple(name for name in binding.unknown if name != first.name)
    return dataclasses.replace(binding, arguments=(dataclasses.replace(first, role=role), *rest), unknown=unknown)


def _stage(fn: Any, task: Task) -> Binding:
    try:
        if not inspect.signature(fn).parameters:
            return NOTHING
    except (TypeError, ValueError):
        pass
    return binding_of(fn, task)
