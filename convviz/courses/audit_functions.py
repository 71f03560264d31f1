"""Functions that are wrong in one chosen way, and right ones, in the forms in which people's checks call them.

What they compute comes from autograd, but for the one result that a recipe spoils. A wrong recipe that comes to no
result raises ValueError, as the code that it stands for would crash.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from convviz.cases.battery import Case
from convviz.cases.tasks import TASKS, Task, truth
from convviz.check.as_convolution import as_result, case_of_convolution, recipe_of
from convviz.check.call_outcome import same
from convviz.courses.audited_call import Numbers, case_of, given_back
from convviz.mistakes.catalogue import compute
from convviz.mistakes.recipe_steps import Recipe

OnCall = Callable[[], object]
STYLES = ("torch", "cs231n")
DEFAULTS: Mapping[str, Any] = {
    "bias": None, "stride": 1, "padding": 0, "dilation": 1, "groups": 1, "padding_mode": "zeros", "output_padding": 0,
    "ceil_mode": False, "count_include_pad": True,
}  # fmt: skip


@dataclass(frozen=True)
class Slip:
    """One way of one mistake: the result that it spoils, and how."""

    result: str
    recipe: Recipe


def answers(task: Task, case: Case, slip: Slip | None = None) -> dict[str, torch.Tensor]:
    """Return a task's results for a case by their names, one of them spoilt.

    Raises:
        ValueError: the spoilt one cannot be computed.
    """
    right = truth(task, case)
    if slip is None:
        return right
    of_convolution = case_of_convolution(task, slip.result, case)
    found = compute(recipe_of(task, slip.result), slip.recipe, of_convolution)
    if found is None:
        raise ValueError(f"{slip.result}: the shapes of input, kernel and channels do not fit together")
    return right | {slip.result: as_result(task, slip.result, case, found)}


def make(task: Task, style: str, slip: Slip | None = None, on_call: OnCall = lambda: None) -> Callable[..., Any]:
    """Return a function, autograd function or class of layers that does a task, wrongly if there is a slip.

    The style is one of ``STYLES``; ``on_call`` is called at every call of it.
    """
    if style == "cs231n":
        inner = _function(task, slip, on_call)

        def conv_backward(dout: Any, cache: Any) -> Any:
            x, w, b, conv_param = cache
            return inner(dout, x, w, b, stride=conv_param["stride"], padding=conv_param["pad"])

        return conv_backward
    if task.kind == "function":
        return _function(task, slip, on_call)
    if task.kind == "Function":
        return _autograd(task, slip, on_call)
    of_function = TASKS["conv_transpose2d_function" if task.is_transposed else "conv2d_function"]
    function = _autograd(of_function, slip, on_call)
    base = torch.nn.ConvTranspose2d if task.is_transposed else torch.nn.Conv2d

    class Layer(base):  # type: ignore[misc, valid-type]  # one of two
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            geometry = (getattr(self, name) for name in of_function.arguments[3:])
            found: torch.Tensor = function.apply(input, self.weight, self.bias, *geometry)
            return found

    return Layer


def signature_of(task: Task, style: str) -> str:
    """Return what such a function is called with, for a message."""
    if style == "cs231n":
        return "fn(dout, (x, w, b, {'stride': s, 'pad': p}))"
    called = {"function": "fn", "Function": "fn.apply", "Module": "fn"}[task.kind]
    return called + str(_signature(task))


def _signature(task: Task) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    defaults = DEFAULTS if task.kind != "Module" else {**DEFAULTS, "bias": True}
    defaults = {**defaults, "stride": None} if task.pooling else defaults
    return inspect.Signature(
        [inspect.Parameter(name, kind, default=defaults.get(name, inspect.Parameter.empty)) for name in task.arguments]
    )


def _function(task: Task, slip: Slip | None, on_call: OnCall) -> Callable[..., Any]:
    signature = _signature(task)

    def fn(*placed: Any, **named: Any) -> Any:
        on_call()
        bound = signature.bind(*placed, **named)
        bound.apply_defaults()
        numbers = Numbers(bound.arguments)
        results = answers(task, case_of(task, numbers), slip)
        given = tuple(given_back(results[name], name, numbers) for name in task.results)
        return given if len(given) > 1 else given[0]

    fn.__signature__ = signature  # type: ignore[attr-defined]
    return fn


def _autograd(task: Task, slip: Slip | None, on_call: OnCall) -> type[torch.autograd.Function]:
    signature = _signature(task)

    class Handed(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *placed: Any) -> Any:
            on_call()
            bound = signature.bind(*placed)
            bound.apply_defaults()
            ctx.given, ctx.count = bound.arguments, len(placed)
            return Handed.by_name(ctx.given, "output")

        @staticmethod
        def backward(ctx: Any, *sent: Any) -> Any:
            given = {**ctx.given, "grad_output": sent[0]}
            sums = [Handed.by_name(given, f"grad_{name}") for name in ("input", "weight", "bias")]
            return (*sums, *[None] * len(task.arguments))[: ctx.count]

        @staticmethod
        def by_name(given: Mapping[str, Any], name: str) -> Any:
            numbers = Numbers(given)
            # Each pass has only its own crash: what is wrong backward lets the forward pass alone.
            own = slip if slip is not None and slip.result == name else None
            return given_back(answers(task, case_of(task, numbers), own)[name], name, numbers)

    return Handed


def differs(task: Task, case: Case, slip: Slip, right: Mapping[str, torch.Tensor]) -> bool:
    """Return whether a slip shows in a case."""
    try:
        got = answers(task, case, slip)[slip.result]
    except ValueError:
        return True
    wanted = right[slip.result]
    if task.kind != "function":  # autograd sums a gradient of a shape that the argument's broadcasts to
        with contextlib.suppress(RuntimeError):
            fits = torch.broadcast_shapes(got.shape, wanted.shape) == got.shape
            got = got.sum_to_size(wanted.shape) if fits else got
    return not same(got, wanted)
