"""Tries a function that is right in the whole battery at random geometries, and looks for the smallest it fails in."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Callable, Sequence

from convviz.cases.battery import Case
from convviz.cases.random_cases import absolute, large_cases, named, random_cases, simpler, with_numbers
from convviz.cases.tasks import truth
from convviz.check.call_outcome import Failure, Tried, same, tolerance
from convviz.check.calling.student_function import Student
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("calling_student_code")

MAX_GEOMETRIES, LEAST, AT_ONCE = 160, 4, 32  # geometries; cases with one question, all of which share one time limit
# Seconds of its own code: for small cases, for large ones, for a question.
SMALL, LARGE, ANSWER = 0.4, 0.2, 0.1
EACH = 1.6  # cases of a geometry, as some come again with other numbers
FFT = 1e-3  # of the largest product that no window may read: an FFT leaves its rounding everywhere
TINY = 1e-6
ENDED = ("timeout", "crashed")
CHECKED, SHRUNK = 4, 80  # failing cases that are asked alone; smaller ones that are tried


class RandomTrial:
    """One function's trial; the judge says whether an answer is right."""

    def __init__(self, student: Student, judge: Callable[[Tried], bool]) -> None:
        self._task, self._student, self._judge = student.task, student, judge
        self.asked: tuple[Case, ...] = ()  # the cases that were tried at random, once it ran

    def run(self, seed: int, battery: Sequence[Tried]) -> Failure | None:
        """Return the smallest failing case, if there is one; the battery's answers say how slow the function is."""
        self._student.learn_pairs()
        again = self._student.answer(battery[-1].case)  # a first call is slow: where there is one case, it has two
        seconds = statistics.median((*(one.answer.seconds for one in battery), again.seconds))
        count = min(max(int(SMALL / (EACH * seconds + TINY)), LEAST), MAX_GEOMETRIES)
        at_once = min(max(int(ANSWER / (seconds + TINY)), 1), AT_ONCE)
        drawn = random_cases(self._task, seed, count, self._student.nearest)
        cases = [case for case in (*drawn, *self._large(seed, battery)) if self._shows(case)]
        asked = zip(cases, self._student.try_all(cases, at_once), strict=False)
        tried = [Tried(case, answer, self._student.right(case)) for case, answer in asked if answer is not None]
        self.asked = tuple(one.case for one in tried)
        others = [one for one in tried if self._is_right(one)]
        wrong = sorted((one for one in tried if one not in others), key=lambda one: one.case.spec.products)
        if not wrong:
            return None
        smallest, first = self._alone(wrong)
        return Failure(smallest, first, tuple(one.case for one in wrong), tuple(one.case for one in others))

    def _large(self, seed: int, battery: Sequence[Tried]) -> list[Case]:
        """Return large cases, of slow code every so many of them: as many as its time for a product allows."""
        large = list(large_cases(self._task, seed, self._student.nearest))
        products = sum(one.case.spec.products for one in battery)
        needed = sum(one.answer.seconds for one in battery) / products * sum(case.spec.products for case in large)
        return large[:: math.ceil(needed / LARGE) or 1]

    def _is_right(self, tried: Tried) -> bool:
        """Return whether an answer is right but for rounding: where few numbers cancel, their sum says little of it."""
        if self._judge(tried) or tried.answer.kind != "ok":
            return tried.answer.kind == "ok"
        summed = truth(self._task, absolute(tried.case))
        factors = (tried.case.input, tried.case.weight, tried.case.grad_output)
        unread = FFT * math.prod(sorted(float(each.abs().max()) for each in factors)[1:])
        return all(
            got.shape == value.shape
            and same(got, value, 0.0, tolerance(got.dtype) * max(float(summed[name].abs().max()), unread))
            for name, value in tried.right.items()
            for got in (tried.answer.results[name],)
        )

    def _shows(self, case: Case) -> bool:
        """Return whether every result has a number: where windows see the border alone, none has."""
        return all(bool(value.any()) for value in self._student.right(case).values())

    def _alone(self, wrong: Sequence[Tried]) -> tuple[Tried, Tried]:
        """Ask what failed again, in a fresh process: what is right there depends on the calls before it."""
        for tried in wrong[:CHECKED]:
            if tried.answer.kind in ENDED:
                return self._named(tried), self._named(tried)
            self._student.close()
            if (first := self._failed(tried.case)) is not None:
                return self._smallest(first, tried.case.name), first
        names = ", ".join(wrong[0].wrong)
        kept = dataclasses.replace(wrong[0].answer, kind="keeps_state", message=say("after_others", names=names))
        found = self._named(dataclasses.replace(wrong[0], answer=kept))
        return found, found

    def _named(self, tried: Tried) -> Tried:
        return dataclasses.replace(tried, case=named(self._task, tried.case))

    def _failed(self, case: Case) -> Tried | None:
        """Return what comes of a case by itself if it is wrong; None if it is right, or is not asked."""
        case = named(self._task, case)
        if not self._shows(case) or self._student.takes(case):
            return None
        tried = self._student.tried(case)
        return None if self._is_right(tried) else tried

    def _smallest(self, found: Tried, numbers: str) -> Tried:
        """Return a smaller case that fails as well: one from which nothing can be taken away."""
        met = {found.case.spec}
        smaller = simpler(found.case.spec)
        while found.answer.kind not in ENDED and len(met) <= SHRUNK and (spec := next(smaller, None)) is not None:
            spec = self._as_pooling(spec)
            if spec not in met and (failed := self._failed(with_numbers(numbers, self._task, spec, 79))) is not None:
                found, smaller = failed, simpler(spec)
            met.add(spec)
        return found

    def _as_pooling(self, spec: ConvSpec) -> ConvSpec:
        """Return the geometry of a pooling that is like this one, if the task is one and there is any."""
        try:
            return self._task.fit(spec) if self._task.pooling else spec
        except ValueError:
            return spec
