"""A student's function, with how it is called: what it answers to a case, beside what is right."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from convviz.cases.battery import Case, make_case
from convviz.cases.further_questions import FLOAT32, LINEAR_SPEC, NO_BIAS, SPEC, TWICE, right_of
from convviz.cases.settings_in_scope import Scope
from convviz.cases.tasks import Task
from convviz.check.call_outcome import Answer, Tried
from convviz.check.calling.ask_back import question
from convviz.check.calling.askable import Askable
from convviz.check.calling.call_plan import Plan, suited
from convviz.check.calling.case_runner import Asker
from convviz.check.calling.excuses import Excuses
from convviz.check.calling.find_plan import PROBES, cure
from convviz.check.calling.function_or_class import AUTOGRAD, Subject
from convviz.check.calling.inspect_source import mentions, reverses, unzeroed
from convviz.check.calling.likely_plans import plans
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("calling_student_code")
LIKELY = 5  # ways of calling a function that are tried in a scope, with each kind of array
AGAIN = 0.2  # seconds of its own code: who is slower is not called twice in every case
ENDED = ("timeout", "crashed")
UNEVEN = ConvSpec((7, 5), 3, 3, (3, 2), (2, 1), (1, 0), (1, 2), batch=2)


@dataclass(frozen=True, eq=False)
class Student:
    """A student's function, with what was found out about how to call it."""

    task: Task  # with the output among its results where a forward pass of its own is there
    results: tuple[str, ...]  # names of those that it gives; without grad_bias if it knows no bias
    _nothing: Answer | None  # to every case, where there is nothing to call
    _askable: Askable
    _asker: Asker
    _names: frozenset[str]  # of the cases that are asked, in which what is seen is said
    _said: tuple[str, ...]
    _remarks: set[str] = field(default_factory=set)
    _tried: dict[Case, Answer] = field(default_factory=dict)
    _afresh: dict[Case, Answer] = field(default_factory=dict)  # of what raised, in a process that had kept nothing
    _once: set[Case] = field(default_factory=set)  # those that were called once, as it is slow
    _seconds: list[float] = field(default_factory=list)  # of the cases that were called again
    _rights: dict[Case, dict[str, torch.Tensor]] = field(default_factory=dict)

    @property
    def _subject(self) -> Subject:
        return self._askable.subject

    @functools.cached_property
    def _excuses(self) -> Excuses:
        return Excuses(self._askable, self._asker, self.right)

    @property
    def plan(self) -> Plan:
        """How it is called."""
        return self._askable.found.plan

    @property
    def calls(self) -> int:
        """How many calls finding that out took."""
        return self._askable.found.calls

    @property
    def speaks(self) -> bool:
        """Whether it takes a padding in words as well."""
        return self._askable.speaks

    @property
    def receives_sizes(self) -> bool:
        """Whether it has an argument for the size of a kernel."""
        return bool({"weight_size", "kernel_size"} & self._subject.binding.roles)

    @property
    def question(self) -> str:
        """What it needs to know to call it, and how that is said; empty where it knows all."""
        return "" if self._nothing else question(self._subject, self._askable.found.score[0] >= 0, self.plan.arrays)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Sentences: what was assumed about its arguments and its arrays, and what was seen in the cases so far."""
        return (*(say(f"remark.{id}") for id in sorted(self._remarks)), *self._said)

    @property
    def lacking(self) -> list[str]:
        """The settings that it has no argument for."""
        return [
            name for name in (*self._askable.built_in(), *self._askable.not_passed()) if name in self.task.arguments
        ]

    @property
    def unzeroed(self) -> str:
        """The name of an array that its code makes without zeros and adds to; empty if there is none."""
        return unzeroed(self._subject.codes)

    @property
    def reshapes(self) -> bool:
        """Whether its code reshapes anything, as far as it can be read."""
        return any(mentions(code, "reshape", "view", "ravel") for code in self._subject.codes)

    @property
    def turns(self) -> bool:
        """Whether its code reverses anything, as far as it can be read."""
        return any(map(reverses, self._subject.codes))

    @property
    def strides(self) -> bool:
        """Whether its code lays a view of its own over an array."""
        return any(mentions(code, "as_strided") for code in self._subject.codes)

    def nearest(self, spec: ConvSpec) -> ConvSpec | None:
        """Return a geometry like this one that it can be asked, None where none is found."""
        return self._askable.nearest(spec)

    def suited(self, case: Case) -> Case:
        """Return what is left of a case for who takes one image at a time, or one plane."""
        return suited(case, self.plan.data)

    def fits(self, scope: Scope) -> bool | None:
        """Return whether it is right at a small case inside a scope, called in a likely way; None: it gives nothing."""
        answers = None
        for spec in PROBES[:2]:
            case = make_case("probe", self.task.fit(scope.nearest(self.task.fit(spec))), 1, self.task.rule)
            ways = itertools.groupby(plans(self._subject, self._askable.found.stated), lambda plan: plan.arrays)
            for plan in itertools.chain.from_iterable(itertools.islice(each, LIKELY) for _, each in ways):
                part = suited(case, plan.data)
                answer = self._asker.ask(plan, part, twice=False)
                if answer.kind in ENDED:
                    return False
                right = {name: value for name, value in self.right(part).items() if name in answer.results}
                if right and answer.has(right):
                    return True
                answers = False if answer.kind == "ok" else answers
        return answers

    def close(self) -> None:
        """End its process, if it has one, and with it all that its code kept; a question begins another."""
        self._asker.close()

    def try_all(self, cases: Sequence[Case], at_once: int) -> list[Answer | None]:
        """Return what one call for each case gives, up to one that ends the process; None where it need not answer."""
        answers = self._asker.ask_all(self.plan, cases, at_once)
        answers = [self._cured(case, answer) for case, answer in zip(cases, answers, strict=False)]
        pairs = zip(cases, answers, strict=False)  # what gave numbers of a pair was asked that before
        whys = [None if answer.kind == "ok" else self._excuses.of(case, answer) for case, answer in pairs]
        kept = zip(cases, answers, whys, strict=False)
        return [None if why or self._askable.lacks(case.spec) else answer for case, answer, why in kept]

    def right(self, case: Case) -> dict[str, torch.Tensor]:
        """Return what is right, of what it gives: who takes no bias is not asked for a gradient of one."""
        if case not in self._rights:
            whole = right_of(self.task, case)
            self._rights[case] = {name: value for name, value in whole.items() if name.split()[0] in self.results}
        return self._rights[case]

    def tried(self, case: Case, once: bool = False) -> Tried:
        """Return what came of one case, beside what is right."""
        return Tried(case, self.answer(case, once), self.right(case))

    def answer(self, case: Case, once: bool = False) -> Answer:
        """Return what came of one case; ``once``: its numbers alone are read, which a second call never changes."""
        known = self._nothing or self._askable.found.ended or self._tried.pop(case, None)
        answer = known or self._cured(case, once=once)
        if answer.kind in ("refused", "said_once"):
            answer = dataclasses.replace(answer, kind="raised")
        self._remarks.update(answer.remarks if case.name in self._names else ())
        return answer

    def takes(self, case: Case) -> str | None:
        """Return None, or why this case is not asked: a missing argument, its own assert, or what it raises."""
        if self._nothing:
            return None
        if lacks := self._askable.lacks(case.spec):
            return lacks
        if case.rule == "average inside" and "count_include_pad" in self._askable.not_passed():
            return say("no.argument", name="count_include_pad")
        tried = (self._askable.found.ended, *self._tried.values())
        if any(each and each.kind in ENDED for each in tried):
            return None
        answer = self._cured(case, self._tried.pop(case, None))
        if why := self._excuses.of(case, answer):
            return why
        if answer.kind == "raised":  # what an earlier call left behind may be why: then a fresh process shows it
            if case not in self._afresh:
                self.close()
                self._afresh[case] = self._cured(case)
            if why := self._excuses.of(case, self._afresh[case], fresh=True):
                return why
        self._tried[case] = answer
        return None

    def in_short(self, reason: str) -> str:
        """Return why it does not take a case without the message of its own code."""
        return self._excuses.short.get(reason, reason)

    def learn_pairs(self) -> None:
        """Ask for rows and columns apart, so that what it takes one number for is known."""
        if not self.task.name.startswith("linear") and (spec := self.nearest(UNEVEN)) is not None:
            case = make_case("apart", spec, 2, self.task.rule)
            self._excuses.of(case, self._cured(case))

    def further(self, seed: int) -> list[Case]:
        """Return what it can be asked beside the settings, at a plain one of them."""
        subject, plan, task = self._subject, self.plan, self._subject.task
        spec = self.nearest(LINEAR_SPEC if task.name.startswith("linear") else SPEC)
        is_plain = subject.style == "function" and task.results == ("output",) and not subject.demands_bias
        ways = {
            FLOAT32: plan.dtype == "float64" and plan.arrays != "lists",
            NO_BIAS: subject.bias is not None and (subject.style in ("Function", "Module") or is_plain),
            # What comes of pieces, a sample each or a plane, has no gradient of its own.
            TWICE: subject.backward is AUTOGRAD and not task.rule and plan.data[0] == "N",
        }
        asked = [way for way, holds in ways.items() if holds and spec is not None]
        made = [make_case(way, spec or SPEC, seed + at, task.rule) for at, way in enumerate(asked)]
        return [dataclasses.replace(case, way=case.name) for case in made]

    @property
    def called_once(self) -> int:
        """Of how many of the cases it is not known what a second call gives, as it is slow."""
        return sum(case.name in self._names for case in self._once)

    def _cured(self, case: Case, answer: Answer | None = None, once: bool = False) -> Answer:
        twice = not once and sum(self._seconds) < AGAIN
        if answer is None:
            answer = self._asker.ask(self.plan, case, twice)
            if not once:
                (self._seconds.append(answer.seconds) if twice else self._once.add(case))
        for plan in cure(self._subject, self.plan, answer):  # what was enough for the probe may not be for every case
            again = self._asker.ask(plan, case, twice)
            answer = answer if again.failed else again
        return answer
