"""One call of a student's function over a case: an object made if it is a class, forward, and the gradients."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from convviz.cases.battery import Case, beside, make_case
from convviz.cases.tasks import GRADIENTS, forward_of
from convviz.check.calling.arrays import NotNumbers, hand_over
from convviz.check.calling.binding import Binding
from convviz.check.calling.call_plan import RATE, Given, Plan
from convviz.check.calling.function_or_class import AUTOGRAD, Subject
from convviz.check.calling.inspect_source import is_function, mentions
from convviz.check.calling.layer_contents import (
    fill,
    gathered,
    holding,
    is_unbuilt,
    moved,
    plain_bias,
    summed_cells,
    weights_of,
    zero,
)
from convviz.check.calling.names_and_layouts import DATA, to_layout
from convviz.check.calling.results import apart, only, take_apart, with_bias
from convviz.check.further_questions import NO_BIAS, SECOND, TWICE, probing
from convviz.facts.words import sentences

say = sentences("calling_student_code")

# Named here, so that NumPy loads its part before a child becomes a user who may not read it.
DRAWS = (torch.rand, np.random.rand, lambda count: random.random())


@dataclass(frozen=True)
class Again:
    """How a call is made otherwise than the first one."""

    # what comes before it, or into it: another "image", other "weights", another "layer"; "grads" stay as they are, and
    # so does what that "left" of its weights
    disturbed: tuple[str, ...] = ()
    turned: bool = False  # whether its arrays lie in memory in another order
    draws: bool = False  # whether random numbers are others
    only: str = ""  # the one tensor whose gradient is asked for; empty for all


class Call:
    """One run of the function over a case."""

    def __init__(self, subject: Subject, plan: Plan, case: Case, again: Again | None = None) -> None:
        self.subject, self.plan, self.case, self.again = subject, plan, case, again or Again()
        self.given = Given(subject.task, plan, case, self.again.turned)
        self.found: dict[str, torch.Tensor] = {}  # what came, as far as it went
        self.returned: Any = None  # as it came
        self.seconds = 0.0
        self.is_unlearned = False  # whether a bias that is no parameter is added
        self.moved: dict[str, float | None] = {}  # which of an object's weights are others afterwards
        self._is_biased = subject.has_bias(plan)

    def run(self) -> None:
        """Fill in what was found, as far as it goes."""
        try:
            self._passes()
        finally:
            self._is_biased = self._is_biased or (self.subject.is_adapter and "bias" in self.given.read)
            if not self._is_biased and "output" in self.found and self.case.way != NO_BIAS:
                self.found["output"] = with_bias(self.found["output"], self.subject.task.tensor(self.case, "bias"))
                self.given.remarks |= {"no_bias"} if self.subject.task.kind == "Module" else set()

    def _passes(self) -> None:
        subject, task, given = self.subject, self.subject.task, self.given
        layer, held = (None, {}) if subject.maker is None else self._made(given, self.case, self.again.disturbed)
        self._is_biased = self._is_biased or "bias" in held
        plain: list[torch.Tensor] = []
        asked = given
        if task.kind == "Module":
            plain = [] if "bias" in held else plain_bias(layer, task.tensor(self.case, "bias").numel())
            self._is_biased = "bias" in held or bool(plain)
            asked = Given(forward_of(task), self.plan, self.case)
            for role, value in held.items():
                given.hold(role, value, value.detach().clone())
        is_derived = subject.backward is AUTOGRAD
        leaves = {**asked.gradients_to(subject.goes, self.again.only), **held} if is_derived else {}
        returned = self._go(subject.forward, asked, subject.goes, layer)
        if subject.backward is None:
            self.returned = returned if layer is None else apart(returned)[0]
            self._take(self.returned, *task.results)
            return
        output, kept = apart(returned)
        if is_derived:
            output = output[0] if isinstance(output, tuple) and output else output
            if not isinstance(output, torch.Tensor):
                raise NotNumbers(say("no_tensor", what=type(output).__name__))
        self._take(output, "output")
        self._between()
        if is_derived:
            self._derived(output, leaves, plain)
        else:
            self._own_backward(layer, output, kept)

    def _take(self, returned: Any, *names: str) -> None:
        optional = () if self._is_biased or len(names) == 1 else ("grad_bias",)
        task = only(self.subject.task, *names)
        self.found.update(take_apart(returned, task, self.plan, optional, self.given.remarks))

    def _go(self, code: Any, given: Given, binding: Binding, layer: Any = None) -> Any:
        """Return what comes of a function, or of a method of what was made, for what its binding takes."""
        placed, named = given.arguments(binding)
        call = getattr(layer, code) if isinstance(code, str) else code.apply if is_function(code) else code
        return self._timed(call, *placed, **named)

    def _timed(self, call: Callable[..., Any], *placed: Any, **named: Any) -> Any:
        begin = time.perf_counter()
        for draw in DRAWS if self.again.draws and call is not self.subject.maker else ():
            draw(1)
        try:
            return call(*placed, **named)
        finally:
            self.seconds += time.perf_counter() - begin

    def _made(self, given: Given, case: Case, disturbed: tuple[str, ...] = ()) -> tuple[Any, dict[str, Any]]:
        """Return what the class makes, and those of the case's weights that were put there.

        Disturbed, it goes forward and back with another image first: what it keeps of an earlier one shows.
        """
        subject, plan = self.subject, self.plan
        other_weights = case.with_tensor("weight", 0.5 - case.weight)
        is_given = "weights" in disturbed and "weight" in subject.makes.roles
        first = Given(given.task, plan, other_weights) if is_given else given
        making = Given(subject.layer, plan, case) if subject.makes_layers else first
        layer = self._go(subject.maker, making, subject.makes)
        arrays = holding(layer, first.value("weight")) if is_given else []
        if is_given and not arrays:  # no place where a user could change them
            layer = self._go(subject.maker, given, subject.makes)
        if subject.style == "Module" and not isinstance(layer, torch.nn.Module):
            raise NotNumbers(say("no_layer", what=type(layer).__name__))
        held = self._filled(layer, given, case) if subject.is_filled else {}
        if disturbed:
            if "weights" in disturbed and subject.is_filled:
                fill(layer, given.task, other_weights, plan)
            self._used(layer, given, case, disturbed)
        if (disturbed and subject.is_filled and "left" not in disturbed) or subject.style == "Module":
            fill(layer, given.task, case, plan)
        with torch.no_grad():
            for array in arrays:  # in place, as training changes them: what is a view of them follows
                array[...] = given.value("weight")
        return layer, held

    def _filled(self, layer: Any, given: Given, case: Case) -> dict[str, Any]:
        """Put a case's weights into a layer, after a forward pass if it creates them there."""
        if is_unbuilt(layer):
            try:
                self._other_image(layer, given, case, ())
            except Exception as error:  # of a layer that waits for its weights, and of what shows when it is asked
                if isinstance(error, TypeError) and "None" not in str(error):
                    raise  # a pair where it makes them for one number
        try:
            return fill(layer, given.task, case, self.plan)
        except NotNumbers:
            self._go(self.subject.forward, given, self.subject.goes, layer)
            return fill(layer, given.task, case, self.plan)

    def _used(self, layer: Any, given: Given, case: Case, disturbed: tuple[str, ...]) -> None:
        """Let a layer go forward and back with another image, and leave what that leaves behind."""
        subject = self.subject
        kept, other = self._other_image(layer, given, case, disturbed)
        if subject.style != "class":
            return
        if subject.backward is not None:
            other.hold("cache", kept)
            with contextlib.suppress(Exception):  # whatever it thinks of that image is not asked here
                self._go(subject.backward, other, subject.returns, layer)
        if "image" in disturbed:  # as where a network is evaluated: nothing goes back
            self._other_image(layer, given, case, disturbed)
        zero(layer, "grads" not in disturbed)

    def _other_image(self, layer: Any, given: Given, case: Case, disturbed: tuple[str, ...]) -> tuple[Any, Given]:
        """Go forward with another image; return what is kept for going back, and what goes forward and back."""
        task = forward_of(given.task) if given.task.kind == "Module" else given.task
        for name in ("input", "grad_output"):
            case = case.with_tensor(name, 1 - case.tensor(name).flip(2, 3) / 2)
        if "weights" in disturbed and "weight" in self.subject.goes.roles:
            case = case.with_tensor("weight", 0.5 - case.weight)
        other = Given(task, self.plan, case)
        return apart(self._go(self.subject.forward, other, self.subject.goes, layer))[1], other

    def _between(self) -> None:
        """Go forward with something else before going back: what is kept elsewhere than in the cache is then another's.

        That is another image for a pair; another layer of the same sizes, as a workspace may be shared by those; and
        last, as it may be kept on the class, another setting, a small one, as it costs time.
        """
        subject, disturbed = self.subject, self.again.disturbed
        with contextlib.suppress(Exception):  # whatever it thinks of that is not asked here
            if subject.style == "pair" and "image" in disturbed:
                self._other_image(None, self.given, self.case, disturbed)
            if "layer" in disturbed:
                for spec in (self.case.spec, subject.task.fit(beside(self.case.spec)).replace(batch=1)):
                    other = make_case("between", spec, 3)
                    asked = Given(subject.task, self.plan, other)
                    layer = None if subject.maker is None else self._made(asked, other)[0]
                    self._other_image(layer, asked, other, ())

    def _own_backward(self, layer: Any, output: Any, kept: Any) -> None:
        subject, given = self.subject, self.given
        if kept is None and "cache" in subject.returns.roles:
            raise NotNumbers(say("no_cache"))
        given.hold("cache", kept)
        before = {} if layer is None else weights_of(layer)
        returned = self._go(subject.backward, given, subject.returns, layer)
        names = tuple(name for name in subject.task.results if name != "output")
        if layer is not None:
            self.moved = moved(before, layer)
            before = before if RATE in subject.returns.roles | subject.makes.roles else {}
            optional = () if self._is_biased or len(names) == 1 else ("grad_bias",)
            sends = bool(self.case.grad_output.any())
            returned = gathered(returned, layer, names, optional, before, sends, given.remarks)
            returned = summed_cells(returned, output, self.plan.data, given.remarks)
        if len(names) == 1 and isinstance(returned, tuple) and len(returned) == len(GRADIENTS):
            returned = returned[GRADIENTS.index(names[0])]
        self.returned = (output, returned)
        self._take(returned, *names)

    def _derived(self, output: torch.Tensor, leaves: dict[str, torch.Tensor], plain: list[torch.Tensor]) -> None:
        """Ask autograd for the gradients."""
        sent = to_layout(self.subject.task.tensor(self.case, "grad_output"), DATA[self.plan.data])
        sent = hand_over(sent, "torch", output.dtype, self.again.turned)
        if sent.shape != output.shape:
            return  # nothing can be sent back through an output of another shape: that is the mistake
        if not output.requires_grad:
            raise NotNumbers(say("no_graph"))
        self.given.hold("grad_output", sent, sent.clone())
        again = self.case.way == TWICE
        sent.requires_grad_(again)
        sums = self._timed(AUTOGRAD, output, (*leaves.values(), *plain), sent, allow_unused=True, create_graph=again)
        self.is_unlearned = any(value is not None for value in sums[len(leaves) :])
        self._is_biased = self._is_biased and (self.is_unlearned or not plain)
        self.returned = (output, *sums[: len(leaves)])
        for role, value in zip(leaves, sums, strict=False):
            if value is None:
                raise NotNumbers(say(self._lost(), name=f"grad_{role}"))
            if again:
                self._second(role, value, {**leaves, "grad_output": sent})
            else:
                self._take({f"grad_{role}": value}, f"grad_{role}")

    def _lost(self) -> str:
        """Return the id of the sentence on a gradient that is None, by what its code consists of."""
        if is_function(self.subject.fn):
            return "no_gradient.returned"
        return "no_gradient" if any(mentions(code, "apply") for code in self.subject.codes) else "no_gradient.cut"

    def _second(self, role: str, gradient: Any, leaves: dict[str, torch.Tensor]) -> None:
        """Derive a gradient again, by each tensor that it is made of; 0 where autograd knows of no way there."""
        task = self.subject.task
        probe = Given(forward_of(task), self.plan, probing(self.case)).value(role)
        for leaf in SECOND[f"grad_{role}"]:
            value, asked = None, leaves[leaf]
            if gradient.requires_grad:
                scalar = (gradient * probe).sum()
                (value,) = self._timed(AUTOGRAD, scalar, asked, allow_unused=True, retain_graph=True)
                if value is None:  # raises if that is marked once_differentiable
                    scalar.backward(retain_graph=True)
            like = only(task, "output" if leaf == "grad_output" else f"grad_{leaf}")
            second = take_apart(torch.zeros_like(asked) if value is None else value, like, self.plan)
            self.found[f"grad_{role} by {leaf}"] = second[like.results[0]]
