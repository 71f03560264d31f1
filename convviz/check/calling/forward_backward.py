"""One call of a student's function over a case: an object made if it is a class, forward, and the gradients."""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from convviz.cases.battery import Case, beside, make_case
from convviz.cases.further_questions import NO_BIAS
from convviz.cases.tasks import GRADIENTS, forward_of
from convviz.check.calling.arrays import NotNumbers
from convviz.check.calling.by_autograd import derive
from convviz.check.calling.call_plan import RATE, Given, suited
from convviz.check.calling.function_or_class import AUTOGRAD
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
from convviz.check.calling.one_run import Run
from convviz.check.calling.results import apart, with_bias
from convviz.facts.words import sentences

say = sentences("calling_student_code")


class Call(Run):
    """A run of the function over a case, forward and back."""

    def run(self) -> None:
        """Fill in what was found, as far as it goes."""
        try:
            self._passes()
        finally:
            self.is_biased = self.is_biased or (self.subject.is_adapter and "bias" in self.given.read)
            is_plain = self.subject.task.pooling or self.case.way == NO_BIAS
            if not self.is_biased and "output" in self.found and not is_plain:
                self.found["output"] = with_bias(self.found["output"], self.subject.task.tensor(self.case, "bias"))
                self.given.remarks |= {"no_bias"} if self.subject.task.kind == "Module" else set()

    def _passes(self) -> None:
        subject, task, given = self.subject, self.subject.task, self.given
        layer, held = (None, {}) if subject.maker is None else self._made(given, self.case, self.again.disturbed)
        self.is_biased = self.is_biased or "bias" in held
        plain: list[torch.Tensor] = []
        asked = given
        if task.kind == "Module" and task.pooling:  # which has nothing to fill in
            asked = self._asked(given)
        elif task.kind == "Module":
            plain = [] if "bias" in held else plain_bias(layer, task.tensor(self.case, "bias").numel())
            self.is_biased = "bias" in held or bool(plain)
            asked = self._asked(given)
            for role, value in held.items():
                given.hold(role, value, value.detach().clone())
        is_derived = subject.backward is AUTOGRAD
        leaves = {**asked.gradients_to(subject.goes, self.again.only), **held} if is_derived else {}
        returned = self.go(subject.forward, asked, subject.goes, layer)
        if subject.backward is None:
            self.returned = returned if layer is None else apart(returned)[0]
            self.take(self.returned, *task.results)
            return
        output, kept = apart(returned)
        if is_derived:
            output = output[0] if isinstance(output, tuple) and output else output
            if not isinstance(output, torch.Tensor):
                raise NotNumbers(say("no_tensor", what=type(output).__name__))
        self.take(output, "output")
        self._between()
        if is_derived:
            derive(self, output, leaves, plain)
        else:
            self._own_backward(layer, output, kept)

    def _asked(self, given: Given) -> Given:
        """Return what goes into a forward pass: what a layer is made with are no tensors."""
        return Given(forward_of(given.task), self.plan, self.case) if given.task.kind == "Module" else given

    def _made(self, given: Given, case: Case, disturbed: tuple[str, ...] = ()) -> tuple[Any, dict[str, Any]]:
        """Return what the class makes, and those of the case's weights that were put there.

        Disturbed, it goes forward and back with another image first: what it keeps of an earlier one shows.
        """
        subject, plan = self.subject, self.plan
        other_weights = case.with_tensor("weight", 0.5 - case.weight)
        is_given = "weights" in disturbed and "weight" in subject.makes.roles
        first = Given(given.task, plan, other_weights) if is_given else given
        making = Given(subject.layer, plan, case) if subject.makes_layers else first
        layer = self.go(subject.maker, making, subject.makes)
        arrays = holding(layer, first.value("weight")) if is_given else []
        if is_given and not arrays:  # no place where a user could change them
            layer = self.go(subject.maker, given, subject.makes)
        if subject.style == "Module" and not isinstance(layer, torch.nn.Module):
            raise NotNumbers(say("no_layer", what=type(layer).__name__))
        held = self._filled(layer, given, case) if subject.is_filled else {}
        if disturbed:
            if "weights" in disturbed and subject.is_filled:
                fill(layer, given.task, other_weights, plan)
            self._used(layer, given, case, disturbed)
        has_weight = subject.style == "Module" and not given.task.pooling
        if (disturbed and subject.is_filled and "left" not in disturbed) or has_weight:
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
            self.go(self.subject.forward, self._asked(given), self.subject.goes, layer)
            return fill(layer, given.task, case, self.plan)

    def _used(self, layer: Any, given: Given, case: Case, disturbed: tuple[str, ...]) -> None:
        """Let a layer go forward and back with another image, and leave what that leaves behind."""
        subject = self.subject
        if "size" in disturbed and "input_size" not in subject.makes.roles:  # first: what a layer makes of it, it keeps
            with contextlib.suppress(Exception):
                self._other_image(layer, given, self._larger(case), disturbed)
        kept, other = self._other_image(layer, given, case, disturbed)
        if subject.style != "class":
            return
        if subject.backward is not None:
            other.hold("cache", kept)
            with contextlib.suppress(Exception):  # whatever it thinks of that image is not asked here
                self.go(subject.backward, other, subject.returns, layer)
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
        return apart(self.go(self.subject.forward, other, self.subject.goes, layer))[1], other

    def _larger(self, case: Case) -> Case:
        """Return a case of the same layer with a larger input, as far as there is one, and one sample more."""
        task, spec = self.subject.task, case.spec
        more = (0, 0) if task.name.startswith("linear") else spec.stride if task.is_transposed else (1, 1)
        rows, columns = (size + extra for size, extra in zip(spec.input_size, more, strict=True))
        larger = task.fit(spec.replace(input_size=(rows, columns), batch=spec.batch + 1))
        return suited(make_case("larger", larger, 3, case.rule), self.plan.data)

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
        self._back(layer, output)
        if "back" in self.again.disturbed and not self.moved:
            once = dict(self.found)
            try:
                if layer is not None:
                    zero(layer, "grads" not in self.again.disturbed)
                self._back(layer, output)
            except Exception:  # what frees all that it needed gives no wrong number
                self.found = once

    def _back(self, layer: Any, output: Any) -> None:
        """Take what the backward pass gives, or leaves on the object."""
        subject, given = self.subject, self.given
        before = {} if layer is None else weights_of(layer)
        returned = self.go(subject.backward, given, subject.returns, layer)
        names = tuple(name for name in subject.task.results if name != "output")
        if layer is not None:
            self.moved = moved(before, layer)
            before = before if RATE in subject.returns.roles | subject.makes.roles else {}
            optional = () if self.is_biased or len(names) == 1 else ("grad_bias",)
            sends = bool(self.case.grad_output.any())
            returned = gathered(returned, layer, names, optional, before, sends, given.remarks)
            returned = summed_cells(returned, output, self.plan.data, given.remarks)
        if len(names) == 1 and isinstance(returned, tuple) and len(returned) == len(GRADIENTS):
            returned = returned[GRADIENTS.index(names[0])]
        self.returned = (output, returned)
        self.take(returned, *names)
