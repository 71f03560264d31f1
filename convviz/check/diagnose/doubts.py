"""Whether what parts the wrong cases from the right ones holds of others too: it is said only if it does."""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable, Sequence

from convviz.cases.battery import Case, make_case
from convviz.cases.random_cases import random_geometries
from convviz.check.as_convolution import seen_of
from convviz.check.call_outcome import Tried
from convviz.check.calling.student_function import Student
from convviz.check.diagnose.where_and_when_wrong import mark_of

SEED = 86
MAX_GEOMETRIES, AT_ONCE = 90, 30  # geometries, and cases with one question
TINY = 1e-6
SECONDS = 0.15  # of the student's own code: slow code is asked fewer


class Doubts:
    """Geometries drawn at random, asked once a sentence would say something of all cases."""

    def __init__(self, student: Student, tried: Sequence[Tried]) -> None:
        """Ask nothing yet; ``tried`` says how slow the code is."""
        self._student, self._tried = student, tried

    @functools.cached_property
    def tried(self) -> list[Tried]:
        """What came of each."""
        student, task = self._student, self._student.task
        seconds = statistics.median(one.answer.seconds for one in self._tried)
        count = min(int(SECONDS / (seconds + TINY)), MAX_GEOMETRIES)
        specs = random_geometries(task, SEED, count, student.nearest)
        cases = [make_case("doubt", spec, SEED + at, task.rule) for at, spec in enumerate(specs)]
        cases = [case for case in cases if all(bool(value.any()) for value in student.right(case).values())]
        answered = zip(cases, student.try_all(cases, AT_ONCE), strict=False)
        return [Tried(case, answer, student.right(case)) for case, answer in answered if answer is not None]

    def mark(self, wrong: Sequence[Case], right: Sequence[Case], is_right: Callable[[Tried], bool]) -> str:
        """Return in a sentence what every failing case has and no other, drawn ones included; empty if nothing does."""
        if not mark_of(wrong, right):
            return ""
        fits = [(one.case, is_right(one)) for one in self.tried]
        others = ([case for case, fit in fits if fit is wanted] for wanted in (False, True))
        return mark_of([*wrong, *next(others)], [*right, *next(others)])

    def mark_for(self, result: str, wrong: Sequence[Case], right: Sequence[Case]) -> str:
        """Return the same of one result."""
        return self.mark(wrong, right, lambda one: seen_of(self._student.task, result, one).is_right)
