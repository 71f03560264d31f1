"""One case put to a student's function, and what came of it."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from convviz.check.battery import Case
from convviz.check.call_outcome import Answer
from convviz.check.calling.arrays import NotNumbers, hand_over, shares_memory
from convviz.check.calling.call_plan import Given, Plan
from convviz.check.calling.describe_exception import failure
from convviz.check.calling.forward_backward import between, changed_weights, fill, run_passes
from convviz.check.calling.function_or_class import Subject
from convviz.check.calling.inspect_source import is_function
from convviz.check.calling.names_and_layouts import DATA, role_of, to_layout
from convviz.check.calling.results import Piece, pieces, take_apart, together
from convviz.check.compare import same
from convviz.check.tasks import Task
from convviz.facts.words import sentences

say = sentences("calling_student_code")

ONCE_BEYOND = 20_000  # products; in a larger case loops in pure Python would take twice as long


# What may come before a second call, or into it: another image, other weights, another layer or setting; and the
# gradients of the call before stay.
DISTURBED = ("image", "weights", "layer", "grads")


# Named here, so that NumPy loads its part before a child becomes a user who may not read it.
DRAWS = (torch.rand, np.random.rand, lambda count: random.random())


def ask(subject: Subject, plan: Plan, case: Case, twice: bool) -> Answer:
    """Return what comes of one case; whatever the code throws, it ends here."""
    first = _Call(subject, plan, case)
    kind, message = _run(first)
    broken = next((name for name, value in first.found.items() if not bool(value.isfinite().all())), None)
    if kind == "ok" and broken is not None:
        what = "nan" if bool(first.found[broken].isnan().any()) else "inf"
        kind, message = "not_finite", say("not_finite", name=broken, what=what)
    elif kind == "ok" and first.changed:
        own = subject.task.kind == "Module" and first.changed <= {"weight", "bias"}
        sentence = "changed_own" if own else "changed_input"
        kind, message = "changed_input", say(sentence, names=", ".join(sorted(first.changed)))
    elif kind == "ok" and first.plain_bias and twice:
        kind, message = "wrong_type", say("plain_bias")
    if kind == "ok" and twice and case.spec.products <= ONCE_BEYOND:
        kind, message = _again(first)
    remarks = tuple(sorted(first.remarks))
    return Answer(kind, dict(first.found), message, first.seconds, remarks, frozenset(first.read))


def _run(call: _Call) -> tuple[str, str]:
    """Run a call, and return its kind and the sentence for it.

    One that draws has other random numbers, so that what depends on them gives itself away; a layer begins with the
    same, as what it keeps of its first weights is not drawn again.
    """
    with random_kept(), torch.enable_grad():
        try:
            call.run()
        except KeyboardInterrupt:  # of whoever waits; in a process of its own nobody can press it
            raise
        except BaseException as error:  # SystemExit is a student's mistake like others
            return failure(error, call.subject.fn)
    return "ok", ""


@contextlib.contextmanager
def random_kept() -> Iterator[None]:
    """Leave the random numbers of Python, NumPy and torch as they were."""
    python, numpy, torchs = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
        torch.set_rng_state(torchs)


def _again(first: _Call) -> tuple[str, str]:
    """Call it a second time, with the same numbers in another order in memory, as they are after a transpose."""
    turned = _differs(first, turned=True)
    kind, message = _differs(first, turned=False) if turned[0] != "ok" else turned
    likes = [_is_like(first, draws=True) for _ in range(8 * (turned[0] != "ok"))]
    # The same call differs, and with the same random numbers does not, or it comes back to what it was.
    if False in likes and (_is_like(first) or True in likes[likes.index(False) :]):
        return "wrong_type", say("random")
    if kind != "ok":
        return "keeps_state", _why(first) or message
    if turned[0] == "keeps_state":  # what raises, as .view does, gives no wrong number
        if first.plan.arrays != "numpy":
            return "wrong_type", say("memory_order")
        first.remarks.add("memory_order")  # NumPy's arrays are in order, unless somebody transposed one
    return _alone(first) if first.subject.task.kind == "Function" else ("ok", "")


def _why(first: _Call) -> str:
    """Return in a sentence which disturbance alone makes a difference; empty if none is needed, or an image."""
    if not _is_like(first) or not _is_like(first, again=("image",)):
        return ""
    return next((say(f"kept.{each}") for each in DISTURBED[1:] if not _is_like(first, again=(each,))), "")


def _is_like(first: _Call, **how: Any) -> bool:
    """Return whether one more call gives what the first gave."""
    second = _Call(first.subject, first.plan, first.case, **how)
    ran = _run(second)[0] == "ok"
    return ran and all(name in second.found and same(second.found[name], value) for name, value in first.found.items())


def _differs(first: _Call, turned: bool) -> tuple[str, str]:
    second = _Call(first.subject, first.plan, first.case, again=DISTURBED, turned=turned, draws=True)
    kind, message = _run(second)
    if kind != "ok":
        return "raised", say("second_failed", why=message)
    if shares_memory(first.returned, second.returned):
        return "keeps_state", say("shared_buffer")
    for name, value in first.found.items():
        if name not in second.found or not same(second.found[name], value):
            passes = first.subject.passes
            kept = "keeps_state" if passes is None else "keeps_image" if passes.maker else "keeps_between"
            return "keeps_state", say(kept, name=name)
    return "ok", ""


def _alone(first: _Call) -> tuple[str, str]:
    """Ask for each gradient by itself: a Function may look at the wrong one of needs_input_grad."""
    for name in [name for name in first.found if name != "output"]:
        call = _Call(first.subject, first.plan, first.case, only=name.removeprefix("grad_"))
        kind, _ = _run(call)
        if kind != "ok" or not same(call.found[name], first.found[name]):
            return "wrong_type", say("alone", name=name)
    return "ok", ""


@dataclass(eq=False)
class _Call:
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
    biased: bool | None = None  # whether it adds a bias of its own; None where that is not known yet
    plain_bias: bool = False  # whether a layer adds a bias that is no parameter
    seconds: float = 0.0
    returned: Any = None  # as it came

    def run(self) -> None:
        """Fill in what was found, as far as it goes."""
        parts: list[tuple[Piece, dict[str, torch.Tensor]]] = []
        task = self.subject.task
        try:
            for piece in pieces(self.case, self.plan.data, task.name == "conv_transpose2d"):
                found: dict[str, torch.Tensor] = {}
                parts.append((piece, found))
                self._piece(piece.case, found)
        finally:
            if parts and parts[0][1]:
                self.found = together(parts)

    def _piece(self, case: Case, found: dict[str, torch.Tensor]) -> None:
        given = Given(self.subject.task, self.plan, case, self.again, self.turned)
        task = self.subject.task
        self.biased = self.subject.has_bias(self.plan) if self.subject.passes is None else None
        try:
            if self.subject.passes is not None:
                self.biased, self.returned = run_passes(self.subject, given, case, self._timed, found)
            elif task.kind == "function":
                self._function(given, found)
            else:
                self._differentiated(given, case, found)
        finally:
            if self.biased is False and "output" in found:
                bias = case.transposed_bias if task.name == "conv_transpose2d" else case.bias
                found["output"] = _with_bias(found["output"], bias)
                self.remarks |= {"no_bias"} if task.kind == "Module" else set()
            self.remarks |= given.remarks
            self.read |= given.read
            self.changed |= set(given.changed)

    def _timed(self, call: Callable[..., Any], *placed: Any, **named: Any) -> Any:
        begin, subject = time.perf_counter(), self.subject
        is_made = (
            call is subject.passes.maker if subject.passes else subject.task.kind == "Module" and call is subject.fn
        )
        for draw in DRAWS if self.draws and not is_made else ():
            draw(1)
        try:
            return call(*placed, **named)
        finally:
            self.seconds += time.perf_counter() - begin

    def _function(self, given: Given, found: dict[str, torch.Tensor]) -> None:
        subject = self.subject
        placed, named = given.arguments(subject.binding)
        returned = self.returned = self._timed(subject.fn, *placed, **named)
        optional = () if subject.has_bias(self.plan) or len(subject.task.results) == 1 else ("grad_bias",)
        found.update(take_apart(returned, subject.task, self.plan, optional, given.remarks))

    def _differentiated(self, given: Given, case: Case, found: dict[str, torch.Tensor]) -> None:
        subject, plan = self.subject, self.plan
        plain: list[torch.Tensor] = []
        placed, named = given.arguments(subject.binding)
        if subject.task.kind == "Module":
            layer = self._timed(subject.fn, *placed, **named)
            if not isinstance(layer, torch.nn.Module):
                raise NotNumbers(say("no_layer", what=type(layer).__name__))
            asked = Given(_FORWARD, plan, case)
            wanted = {"input": asked.value("input").requires_grad_(), **fill(layer, case, plan)}
            if "weights" in self.again:
                fill(layer, changed_weights(case), plan)
            if self.again:  # what is kept of an image before it shows
                self._timed(layer, 1 - wanted["input"].detach().flip(2, 3) / 2)
            fill(layer, case, plan)
            plain = [] if "bias" in wanted else _plain_bias(layer, case)
            self.biased = "bias" in wanted or bool(plain)
            for role in wanted.keys() - {"input"}:
                given.hold(role, wanted[role], wanted[role].detach().clone())
            output = self._timed(layer, wanted["input"])
            if "layer" in self.again:
                self._between(case)
        else:
            wanted = given.gradients_to(self.only)
            call = subject.fn.apply if is_function(subject.fn) else subject.fn
            output = self._timed(call, *placed, **named)
            if "layer" in self.again:
                self._between(case)
        output = output[0] if isinstance(output, tuple) and output else output
        if not isinstance(output, torch.Tensor):
            raise NotNumbers(say("no_tensor", what=type(output).__name__))
        found.update(take_apart(output, _FORWARD, plan))
        sent = to_layout(case.grad_output, DATA[plan.data]).to(output.dtype, copy=True)
        sent = hand_over(sent, "torch", output.dtype, self.turned)
        if sent.shape != output.shape:
            return  # nothing can be sent back through an output of another shape: that is the mistake
        if not output.requires_grad:
            raise NotNumbers(say("no_graph"))
        given.hold("grad_output", sent, sent.clone())
        sums = self._timed(torch.autograd.grad, output, (*wanted.values(), *plain), sent, allow_unused=True)
        self.plain_bias = any(value is not None for value in sums[len(wanted) :])
        self.biased = self.biased and (self.plain_bias or not plain)
        sums = sums[: len(wanted)]
        self.returned = (output, *sums)
        for role, value in zip(wanted, sums, strict=True):
            name = f"grad_{role}"
            if value is None:
                raise NotNumbers(say("no_gradient", name=name))
            found.update(take_apart({name: value}, Task(subject.task.name, (), (name,)), plan))

    def _between(self, case: Case) -> None:
        """Go forward with another setting before going back: what is kept on the class is then another."""
        subject, other = self.subject, between(case)
        placed, named = Given(subject.task, self.plan, other).arguments(subject.binding)
        with contextlib.suppress(Exception):  # whatever it thinks of that setting is not asked here
            made = self._timed(subject.fn.apply if is_function(subject.fn) else subject.fn, *placed, **named)
            if subject.task.kind == "Module":
                fill(made, other, self.plan)
                self._timed(made, Given(_FORWARD, self.plan, other).value("input"))


def _with_bias(output: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return an output with the bias that its maker has no place for: all are held against the same truth."""
    if output.dim() < 2 or output.shape[1] != bias.numel():
        return output
    return output + bias.to(output.dtype).reshape(1, -1, *[1] * (output.dim() - 2))


def _plain_bias(layer: torch.nn.Module, case: Case) -> list[torch.Tensor]:
    """Return a layer's bias that is no parameter, and let autograd say whether it is used."""
    held = [(name, value) for name, value in (*vars(layer).items(), *layer.named_buffers()) if role_of(name, ("bias",))]
    found = [value for _, value in held if isinstance(value, torch.Tensor) and value.numel() == case.bias.numel()]
    return [value.requires_grad_() for value in found if value.is_leaf and value.is_floating_point()]


_FORWARD = Task("conv2d", (), ("output",))
