"""What came of a check: per case and as a whole, as text, dict, Gradescope's file and HTML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from convviz.check.case_result import CaseResult
from convviz.check.diagnose import Diagnosis
from convviz.check.error_map import ErrorMap
from convviz.check.html import as_html
from convviz.facts.words import sentences

say = sentences("check")
LINES = 12  # of a message at most: it stands in a grader's narrow box


class CheckFailed(AssertionError):
    """A student's function is not right; the message says where, and what to change."""


@dataclass(frozen=True)
class Report:
    """All that a check found out.

    Attributes:
        task: its name.
        cases: one result for each case that was tried.
        diagnoses: what explains the wrong ones, best first.
        assumed: how the function was called, in sentences.
        not_asked: case → why it was not tried.
        convviz_version: of the package that says so.
        error_map: where the first wrong result is wrong; None where nothing came that could be compared.
    """

    task: str
    cases: tuple[CaseResult, ...]
    diagnoses: tuple[Diagnosis, ...]
    assumed: tuple[str, ...]
    not_asked: Mapping[str, str]
    convviz_version: str
    error_map: ErrorMap | None = None

    @property
    def passed(self) -> bool:
        """Whether every case that was tried is right, and one was tried at all."""
        return bool(self.cases) and all(case.passed for case in self.cases)

    @property
    def score(self) -> float:
        """The part of the tried cases that is right, from 0 to 1."""
        return sum(case.passed for case in self.cases) / len(self.cases) if self.cases else 0.0

    @property
    def seconds(self) -> float:
        """That the student's own code took in all cases."""
        return sum(case.seconds for case in self.cases)

    def text(self, hint: bool = True) -> str:
        """Return at most 12 plain lines: the first failing case, its shapes, its worst cell, one hint."""
        lines = [say("summary", task=self.task, right=sum(case.passed for case in self.cases), count=len(self.cases))]
        first = next((case for case in self.cases if not case.passed), None)
        if first is not None:
            lines += [say("first", case=first.name), *first.message.splitlines()]
        if not self.cases:
            lines += [say("none", reason=reason) for reason in dict.fromkeys(self.not_asked.values())]
        if hint and self.diagnoses:
            best = self.diagnoses[0]
            lines.append(say("hint", title=best.title, result=best.of, id=best.id))
            # What explains only some of it, or stands in no catalogue, is nothing without what was seen.
            lines += [best.evidence] * bool(best.evidence and (best.is_partial or not best.fix))
            lines += [best.fix] * bool(best.fix)
        if self.assumed:  # also of what passes: a wrong assumption may be why
            lines.append(say("assumed", what="; ".join(self.assumed)))
        return "\n".join(lines[:LINES])

    def raise_if_failed(self, hint: bool = True) -> None:
        """Do nothing if all is right.

        Raises:
            CheckFailed: something is wrong; its message is ``text()``.
        """
        if not self.passed:
            raise CheckFailed(self.text(hint))

    def link(self) -> str:
        """Return the text of a link to the board at the setting that shows the first mistake; empty without one."""
        return next((found.setting for found in self.diagnoses if found.setting), "")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        return {"passed": self.passed, "score": self.score, **asdict(self)}

    def to_gradescope(self, points: float = 1.0) -> dict[str, Any]:
        """Return what Gradescope reads as ``results.json``: a test for each case, the points shared out equally."""
        share = points / max(len(self.cases), 1)
        return {
            "tests": [
                {
                    "name": f"{self.task}: {case.name}",
                    "score": share if case.passed else 0.0,
                    "max_score": share,
                    "output": case.message or say("right"),
                    "visibility": "visible",
                }
                for case in self.cases
            ],
            "output": self.text(),
        }

    def _repr_html_(self) -> str:
        return as_html(self.task, self.cases, self.diagnoses, self.error_map, self.assumed, self.not_asked)
