"""A student's function, with what was found out about how to call it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import torch

from convviz.check.battery import Case, make_case
from convviz.check.call_outcome import Answer
from convviz.check.calling.call_plan import Plan
from convviz.check.calling.case_runner import Asker
from convviz.check.calling.child_process import bounds_of
from convviz.check.calling.find_plan import Found, cure, search
from convviz.check.calling.function_or_class import Subject, subject_of
from convviz.check.calling.inspect_source import is_function, mentions, takes_square_kernels, unzeroed
from convviz.check.calling.names_and_layouts import CONV, LINEAR, STATED
from convviz.check.calling.supported_geometries import Reach
from convviz.check.compare import same
from convviz.check.settings_in_scope import EVERYTHING, Scope, with_one_number
from convviz.check.tasks import Task, truth
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("calling_student_code")


@dataclasses.dataclass(frozen=True, eq=False)
class Student:
    """A student's function, with what was found out about how to call it."""

    task: Task  # with the output among its results where a forward pass of its own is there
    calls: int  # that finding out took
    results: tuple[str, ...]  # names of those that it gives; without grad_bias if it knows no bias
    plan: Plan
    reach: Reach
    _subject: Subject
    _found: Found
    _asker: Asker
    _scope: Scope
    _cases: Sequence[Case]
    _said: tuple[str, ...]
    _remarks: set[str] = dataclasses.field(default_factory=set)
    _tried: dict[Case, Answer] = dataclasses.field(default_factory=dict)
    _pairs: set[ConvSpec] = dataclasses.field(default_factory=set)  # those that it cannot be asked with two numbers

    @property
    def assumed(self) -> tuple[str, ...]:
        """Sentences: what was assumed about its arguments and its arrays, and what was seen in the cases so far."""
        pairs = [say("remark.one_number", count=len(self._pairs))] if self._pairs else []
        return (*self._said, *(say(f"remark.{id}") for id in sorted(self._remarks)), *pairs)

    @property
    def unzeroed(self) -> str:
        """The name of an array that its code makes without zeros and adds to; empty if there is none."""
        return unzeroed(self._subject.codes)

    @property
    def reshapes(self) -> bool:
        """Whether its code reshapes anything, as far as it can be read."""
        return any(mentions(code, "reshape", "view", "ravel") for code in self._subject.codes)

    def close(self) -> None:
        """End its process, if it has one, and with it all that its code kept; a question begins another."""
        self._asker.close()

    def takes(self, case: Case) -> str | None:
        """Return None, or why this case is not asked, such as "it has no argument for dilation"."""
        if self._subject.fn is None or _no_code(self._subject.fn, self.task):
            return None
        return self.reach.lacks(case.spec) or self._refusal(case)

    def try_all(self, cases: Sequence[Case], at_once: int) -> list[Answer | None]:
        """Return what one call for each case gives, up to one that ends the process; None where it refuses."""
        answers = self._asker.ask_all(self.plan, cases, at_once)
        answers = [self._cured(case, answer) for case, answer in zip(cases, answers, strict=False)]
        return [None if self._is_left_out(each) else each for each in answers]

    def answer(self, case: Case) -> Answer:
        """Return what came of one case."""
        if self._subject.fn is None:
            return Answer("not_defined", message=say("not_defined"))
        if refused := _no_code(self._subject.fn, self.task):
            return Answer("wrong_type", message=refused)
        answer = self._found.ended or self._tried.pop(case, None) or self._cured(case)
        if answer.kind in ("refused", "one_number"):
            answer = dataclasses.replace(answer, kind="raised")
        self._remarks.update(answer.remarks if case in self._cases else ())
        return answer

    def _refusal(self, case: Case) -> str | None:
        """Return what a function says by its own assert or by what it raises: that it is not made for this."""
        tried = (self._found.ended, *self._tried.values())
        if any(each and each.kind in ("timeout", "crashed") for each in tried):
            return None
        answer = self._tried[case] = self._cured(case)
        if not self._is_left_out(answer):
            return None
        del self._tried[case]
        return say(f"no.{answer.kind}", message=answer.message.rstrip("."))

    def _is_left_out(self, answer: Answer) -> bool:
        return answer.kind == "one_number" or (answer.kind == "refused" and not self._scope.strict)

    def _cured(self, case: Case, answer: Answer | None = None) -> Answer:
        answer = answer or self._asker.ask(self.plan, case)
        for plan in cure(self.plan, answer):  # what was enough for the probe may not be for every case
            again = self._asker.ask(plan, case)
            answer = answer if again.failed else again
        if answer.kind == "raised" and self._takes_one_number(case):
            self._pairs.add(case.spec)
            return dataclasses.replace(answer, kind="one_number")
        return answer

    def _takes_one_number(self, case: Case) -> bool:
        """Return whether it fails for two equal numbers as for two others, and is right for one: two are the reason."""
        if not (found := with_one_number(case.spec, self.task.name == "conv_transpose2d")):
            return False
        names, spec = found
        equal = make_case("one number", spec, 3, self.task.quantised)
        if not self._asker.ask(dataclasses.replace(self.plan, pairs=" ".join(names)), equal).failed:
            return False
        answer, right = self._asker.ask(self.plan, equal), truth(self.task, equal)
        return answer.kind == "ok" and all(same(value, right[name]) for name, value in answer.results.items())


def open_student(
    fn: Any,
    task: Task,
    probes: Sequence[Case] = (),
    *,
    layout: str | None = None,
    time_limit: float | None = None,
    scope: Scope = EVERYTHING,
) -> Student:
    """Return a student's function together with how it is called, found out by its signature and by trial.

    The arguments are those of ``report``; ``probes`` are its cases, for a function that has a setting built in.

    Raises:
        ValueError: there is no such layout, or the time limit is no positive number.
    """
    linear = task.name.startswith("linear")
    layouts = LINEAR if linear else CONV + STATED
    known, exact = dict.fromkeys(each[0] for each in layouts), [f"{each[0]} {each[1]}" for each in layouts]
    if layout is not None and layout not in known and layout not in exact:
        raise ValueError(f"layout is one of {', '.join(known)}, or two words such as {exact[1]!r}: got {layout!r}")
    subject = subject_of(fn, task)
    is_code = fn is not None and not _no_code(fn, task)
    while True:
        binding, asker = subject.binding, Asker(subject, bounds_of(time_limit))
        found = search(asker, subject, probes, layout, scope) if is_code else Found(Plan())
        if not is_code or found.score[0] >= 0 or binding.counted or len(binding.arguments) < 2:
            break
        asker.close()  # it may take fewer
        fewer = dataclasses.replace(binding, arguments=binding.arguments[:-1], placed=binding.placed[:-1])
        subject = dataclasses.replace(subject, binding=fewer)
    square = is_code and not linear and takes_square_kernels(subject.codes, found.plan.kernel)
    said = _assumed(subject, found, layout, square) if is_code else ()
    task = dataclasses.replace(task, results=subject.task.results)
    results = _results(task.results, subject, found)
    reach = Reach(task, subject, found, square, scope)
    return Student(task, found.calls, results, found.plan, reach, subject, found, asker, scope, probes, said)


def _no_code(fn: Any, task: Task) -> str:
    made = type(fn).__name__
    if (
        isinstance(fn, torch.nn.Module)
        if task.kind == "Module"
        else hasattr(fn, "forward") and not isinstance(fn, type)
    ):
        return say("an_object", what=made)
    pair = isinstance(fn, tuple | list) and len(fn) == 2 and all(map(callable, fn))
    return "" if callable(fn) or pair else say("not_callable", what=made)


def _results(whole: tuple[str, ...], subject: Subject, found: Found) -> tuple[str, ...]:
    """Return what it gives: a function that knows no bias has no gradient of one."""
    if len(whole) == 1 or not callable(subject.fn):
        return whole
    if found.score[0] > 0:
        return tuple(name for name in whole if name in found.names)
    return whole if subject.has_bias(found.plan) else whole[:-1]


def _assumed(subject: Subject, found: Found, layout: str | None, square: bool) -> tuple[str, ...]:
    binding, task, plan, passes = subject.binding, subject.task, found.plan, subject.passes
    others = [each for each in binding.arguments if each.role not in (None, each.name, *binding.placed)]
    layouts = {"data": plan.data, "kernel": plan.kernel}
    kinds = {"Function": "apply" if is_function(subject.fn) else "autograd", "Module": "layer"}
    is_known = found.score[0] > 1 or plan.data in ("NCHW", "HW")
    shaped = "stated" if layout is not None else "layout" if is_known else "guessed"
    if task.name.startswith("linear"):
        shaped = "linear"
    elif task.name == "conv2d_bias" and layout is None:
        shaped = "channels"
    no_bias = "bias" in task.arguments and not (passes and passes.is_filled) and not subject.has_bias(plan)
    no_bias = no_bias and task.kind != "Module"  # what a layer has is seen in what is made, and remarked
    said: dict[str, Any] = {  # sentence → whether it holds, or its arguments
        "placed": {"names": comma(binding.placed)} if binding.placed else False,
        "named": {"names": comma([f"{each.name} = {each.role}" for each in others])} if others else False,
        "dict": plan.form == ("dict",),
        "cache": {"names": comma(plan.form)} if plan.form not in ((), ("dict",)) else False,
        "passes": passes is not None and passes.maker is None,
        "class": passes is not None and passes.maker is not None,
        kinds.get(task.kind, plan.arrays): True,
        shaped: layouts,
        "bias": {"shape": comma(["C" if letter == "C" else "1" for letter in plan.bias])}
        if plan.bias != "C"
        else False,
        "float32": plan.dtype == "float32",
        plan.pairs: plan.pairs != "any",
        "square": square,
        "zeros": any(each.name == "padding_mode" and each.role is None for each in binding.arguments),
        "plane": plan.sizes == "plane",
        "words": plan.words,
        "unknown": found.score[0] < 0,
    }
    assumed = (say(f"assumed.{id}", **({} if holds is True else holds)) for id, holds in said.items() if holds)
    return (*assumed, *[say("remark.no_bias")] * no_bias)
