"""One call of a student's function over a case: an object made if it is a class, forward, and the gradients."""

from __future__ import annotations

import contextlib
import dataclasses
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from convviz.check.battery import Case, beside, make_case
from convviz.check.calling.arrays import NotNumbers, hand_over
from convviz.check.calling.binding import Binding
from convviz.check.calling.call_plan import RATE, Given, Plan
from convviz.check.calling.function_or_class import AUTOGRAD, Subject
from convviz.check.calling.inspect_source import is_function
from convviz.check.calling.layer_contents import fill, gathered, holding, updates, weights_of, zero
from convviz.check.calling.names_and_layouts import DATA, role_of, to_layout
from convviz.check.calling.results import At, is_array, pieces, take_apart, together
from convviz.check.further_questions import NO_BIAS, SECOND, TWICE, probing
from convviz.check.tasks import GRADIENTS, Task, forward_of
from convviz.facts.words import sentences

say = sentences("calling_student_code")

# Named here, so that NumPy loads its part before a child becomes a user who may not read it.
DRAWS = (torch.rand, np.random.rand, lambda count: random.random())


@dataclass(eq=False)
class Call:
    """One run of the function over a case, piece by piece if it has to be."""

    subject: Subject
    plan: Plan
    case: Case
    again: tuple[str, ...] = ()
    turned: bool = False
    only: str = ""
    draws: bool = False
    remarks: set[str] = field(default_factory=set)
    found: dict[str, torch.Tensor] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    biased: bool = True  # whether it adds a bias of its own
    plain: list[torch.Tensor] = field(default_factory=list)  # a layer's bias that is no parameter
    plain_bias: bool = False  # whether it adds that one
    seconds: float = 0.0
    returned: Any = None  # as it came
    error: BaseException | None = None  # what it threw

    def run(self) -> None:
        """Fill in what was found, as far as it goes."""
        parts: list[tuple[At, dict[str, torch.Tensor]]] = []
        try:
            for case, at in pieces(self.case, self.plan.data, self.subject.task.is_transposed):
                found: dict[str, torch.Tensor] = {}
                parts.append((at, found))
                self._piece(case, found)
        finally:
            if parts and parts[0][1]:
                self.found = together(parts)

    def _piece(self, case: Case, found: dict[str, torch.Tensor]) -> None:
        task = self.subject.task
        given = Given(task, self.plan, case, self.again, self.turned)
        self.biased = self.subject.has_bias(self.plan)
        try:
            self._passes(given, case, found)
        finally:
            self.biased = self.biased or (self.subject.is_adapter and "bias" in given.read)
            if not self.biased and "output" in found and case.way != NO_BIAS:
                found["output"] = _with_bias(found["output"], task.tensor(case, "bias"))
                self.remarks |= {"no_bias"} if task.kind == "Module" else set()
            self.remarks |= given.remarks
            self.read |= given.read
            self.changed |= set(given.changed)

    def _timed(self, call: Callable[..., Any], *placed: Any, **named: Any) -> Any:
        begin = time.perf_counter()
        for draw in DRAWS if self.draws and call is not self.subject.maker else ():
            draw(1)
        try:
            return call(*placed, **named)
        finally:
            self.seconds += time.perf_counter() - begin

    def _passes(self, given: Given, case: Case, found: dict[str, torch.Tensor]) -> None:
        subject, task = self.subject, self.subject.task
        made: tuple[Any, dict[str, Any]] = (None, {}) if subject.maker is None else self._made(given, case)
        (layer, wanted), asked = made, given
        self.biased = self.biased or "bias" in wanted
        if task.kind == "Module":
            self.plain = [] if "bias" in wanted else _plain_bias(layer, task.tensor(case, "bias").numel())
            self.biased = "bias" in wanted or bool(self.plain)
            asked = Given(forward_of(task), self.plan, case)
            for role, value in wanted.items():
                given.hold(role, value, value.detach().clone())
        if subject.backward is AUTOGRAD:
            wanted = {**asked.gradients_to(subject.goes, self.only), **wanted}
        returned = self._go(subject.forward, asked, subject.goes, layer)
        if subject.backward is None:
            self.returned = returned if layer is None else _apart(returned)[0]
            found.update(take_apart(self.returned, task, self.plan, self._optional(task.results), given.remarks))
            return
        output, kept = _apart(returned)
        if subject.backward is AUTOGRAD:
            output = output[0] if isinstance(output, tuple) and output else output
            if not isinstance(output, torch.Tensor):
                raise NotNumbers(say("no_tensor", what=type(output).__name__))
        found.update(take_apart(output, _only(task, "output"), self.plan))
        self._between(given, case)
        if subject.backward is AUTOGRAD:
            self._differentiated(given, case, output, wanted, found)
        else:
            self._own_backward(given, layer, output, kept, found)

    def _go(self, code: Any, given: Given, binding: Binding, layer: Any = None) -> Any:
        """Return what comes of a function, or of a method of what was made, for what its binding takes."""
        placed, named = given.arguments(binding)
        call = getattr(layer, code) if isinstance(code, str) else code.apply if is_function(code) else code
        return self._timed(call, *placed, **named)

    def _optional(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return () if self.biased or len(names) == 1 else ("grad_bias",)

    def _made(self, given: Given, case: Case) -> tuple[Any, dict[str, Any]]:
        """Return what the class makes, and those of the case's weights that were put there.

        Asked a second time, it goes forward and back with another image first: what it keeps of an earlier one shows.
        """
        subject, plan, again = self.subject, self.plan, given.again
        other_weights = case.with_tensor("weight", 0.5 - case.weight)
        is_given = "weights" in again and "weight" in subject.makes.roles
        first = Given(given.task, plan, other_weights) if is_given else given
        making = Given(subject.layer, plan, case) if subject.makes_layers else first
        layer = self._go(subject.maker, making, subject.makes)
        arrays = holding(layer, first.value("weight")) if is_given else []
        if is_given and not arrays:  # no place where a user could change them
            layer = self._go(subject.maker, given, subject.makes)
        if subject.style == "Module" and not isinstance(layer, torch.nn.Module):
            raise NotNumbers(say("no_layer", what=type(layer).__name__))
        held = fill(layer, given.task, case, plan) if subject.is_filled else {}
        changes = "weights" in again and subject.is_filled
        if changes:
            fill(layer, given.task, other_weights, plan)
        if again:
            kept, other = self._other_image(layer, given, case)
        if again and subject.style == "class":
            if subject.backward is not None:
                other.hold("cache", kept)
                with contextlib.suppress(Exception):  # whatever it thinks of that image is not asked here
                    self._go(subject.backward, other, subject.returns, layer)
            if "image" in again:  # as where a network is evaluated: nothing goes back
                self._other_image(layer, given, case)
            zero(layer, "grads" not in again)
        updates_itself = bool(again) and subject.is_filled and RATE in subject.returns.roles
        if changes or updates_itself or subject.style == "Module":
            fill(layer, given.task, case, plan)
        with torch.no_grad():
            for array in arrays:  # in place, as training changes them: what is a view of them follows
                array[...] = given.value("weight")
        return layer, held

    def _other_image(self, layer: Any, given: Given, case: Case) -> tuple[Any, Given]:
        """Go forward with another image; return what is kept for going back, and what goes forward and back."""
        task = forward_of(given.task) if given.task.kind == "Module" else given.task
        for name in ("input", "grad_output"):
            case = case.with_tensor(name, 1 - case.tensor(name).flip(2, 3) / 2)
        if "weights" in given.again and "weight" in self.subject.goes.roles:
            case = case.with_tensor("weight", 0.5 - case.weight)
        other = Given(task, self.plan, case)
        return _apart(self._go(self.subject.forward, other, self.subject.goes, layer))[1], other

    def _between(self, given: Given, case: Case) -> None:
        """Go forward with something else before going back: what is kept elsewhere than in the cache is then another's.

        That is another image for a pair, and another layer or setting, a small one, as it costs time.
        """
        subject = self.subject
        with contextlib.suppress(Exception):  # whatever it thinks of that is not asked here
            if subject.style == "pair" and "image" in self.again:
                self._other_image(None, given, case)
            if "layer" in self.again:
                other = make_case("between", subject.task.fit(beside(case.spec)).replace(batch=1), 3)
                asked = Given(given.task, self.plan, other)
                self._other_image(None if subject.maker is None else self._made(asked, other)[0], asked, other)

    def _own_backward(self, given: Given, layer: Any, output: Any, kept: Any, found: dict[str, torch.Tensor]) -> None:
        subject = self.subject
        if kept is None and "cache" in subject.returns.roles:
            raise NotNumbers(say("no_cache"))
        given.hold("cache", kept)
        before = weights_of(layer) if RATE in subject.returns.roles | subject.makes.roles else {}
        returned = self._go(subject.backward, given, subject.returns, layer)
        names = tuple(name for name in subject.task.results if name != "output")
        if layer is not None:
            updated = updates(layer, before, bool(self.case.grad_output.any())) if before else {}
            returned = gathered(returned, layer, names, self._optional(names), updated)
            if isinstance(returned, dict) and any(returned.get(name) is each for name, each in updated.items()):
                self.remarks.add("updated")
            if isinstance(returned, dict) and "N" not in self.plan.data and _alike(returned.get("grad_bias"), output):
                self.remarks.add("cells")
                others = tuple(axis for axis, letter in enumerate(self.plan.data) if letter != "C")
                returned["grad_bias"] = returned["grad_bias"].sum(others)
        if len(names) == 1 and isinstance(returned, tuple) and len(returned) == len(GRADIENTS):
            returned = returned[GRADIENTS.index(names[0])]
        self.returned = (output, returned)
        asked = _only(subject.task, *names)
        found.update(take_apart(returned, asked, self.plan, self._optional(names), given.remarks))

    def _differentiated(
        self, given: Given, case: Case, output: torch.Tensor, wanted: dict[str, torch.Tensor], found: dict[str, Any]
    ) -> None:
        sent = to_layout(self.subject.task.tensor(case, "grad_output"), DATA[self.plan.data]).to(
            output.dtype, copy=True
        )
        sent = hand_over(sent, "torch", output.dtype, self.turned)
        if sent.shape != output.shape:
            return  # nothing can be sent back through an output of another shape: that is the mistake
        if not output.requires_grad:
            raise NotNumbers(say("no_graph"))
        given.hold("grad_output", sent, sent.clone())
        again = case.way == TWICE
        sent.requires_grad_(again)
        leaves = (*wanted.values(), *self.plain)
        sums = self._timed(AUTOGRAD, output, leaves, sent, allow_unused=True, create_graph=again)
        self.plain_bias = any(value is not None for value in sums[len(wanted) :])
        self.biased = self.biased and (self.plain_bias or not self.plain)
        self.returned = (output, *sums[: len(wanted)])
        for role, value in zip(wanted, sums, strict=False):
            name = f"grad_{role}"
            if value is None:
                raise NotNumbers(say("no_gradient", name=name))
            if again:
                self._second(case, role, value, {**wanted, "grad_output": sent}, found)
            else:
                found.update(take_apart({name: value}, _only(self.subject.task, name), self.plan))

    def _second(
        self, case: Case, role: str, gradient: Any, leaves: dict[str, torch.Tensor], found: dict[str, Any]
    ) -> None:
        """Derive a gradient again, by each tensor that it is made of; 0 where autograd knows of no way there."""
        task = self.subject.task
        probe = Given(forward_of(task), self.plan, probing(case)).value(role)
        for leaf in SECOND[f"grad_{role}"]:
            value, asked = None, leaves[leaf]
            if gradient.requires_grad:
                scalar = (gradient * probe).sum()
                (value,) = self._timed(AUTOGRAD, scalar, asked, allow_unused=True, retain_graph=True)
                if value is None:  # raises if that is marked once_differentiable
                    scalar.backward(retain_graph=True)
            like = _only(task, "output" if leaf == "grad_output" else f"grad_{leaf}")
            second = take_apart(torch.zeros_like(asked) if value is None else value, like, self.plan)
            found[f"grad_{role} by {leaf}"] = second[like.results[0]]


def _alike(one: Any, other: Any) -> bool:
    return hasattr(one, "shape") and one.ndim > 1 and tuple(one.shape) == tuple(np.shape(other))


def _only(task: Task, *names: str) -> Task:
    return dataclasses.replace(task, results=names)


def _apart(returned: Any) -> tuple[Any, Any]:
    """Return the output, and what is kept for going back."""
    if isinstance(returned, tuple) and len(returned) > 1 and is_array(returned[0]):
        return returned[0], returned[1] if len(returned) == 2 else returned[1:]
    return returned, None


def _with_bias(output: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return an output with the bias that its maker has no place for: all are held against the same truth."""
    if output.dim() < 2 or output.shape[1] != bias.numel():
        return output
    return output + bias.to(output.dtype).reshape(1, -1, *[1] * (output.dim() - 2))


def _plain_bias(layer: torch.nn.Module, count: int) -> list[torch.Tensor]:
    """Return a layer's bias that is no parameter, and let autograd say whether it is used."""
    held = [(name, value) for name, value in (*vars(layer).items(), *layer.named_buffers()) if role_of(name, ("bias",))]
    found = [value for _, value in held if isinstance(value, torch.Tensor) and value.numel() == count]
    return [value.requires_grad_() for value in found if value.is_leaf and value.is_floating_point()]
