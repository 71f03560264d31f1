"""What came of a check: per case and as a whole, as text, dict, Gradescope's file and HTML."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from convviz.check.diagnosis import Diagnosis
from convviz.check.probes.traced_products import Product
from convviz.facts.words import sentences

say = sentences("check")
WRONG = "background:rgba(208,60,40,0.35)"  # readable on light and on dark paper
CELL = "padding:1px 6px;text-align:right;font-variant-numeric:tabular-nums"
MAX_SHOWN = 16  # rows and columns of a plane that are shown
UNCALLED = ("raised", "wrong_type")  # kinds of cases in which nothing came that could be compared
LINES = 12  # of a message at most: it stands in a grader's narrow box
WIDTH = 160  # letters of what was not asked, and of what was assumed: a line each
Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class CaseResult:
    """One case of a check."""

    name: str  # such as ``"stride 2, padding 1"``
    passed: bool  # whether all results are right
    kind: str  # ``"ok"``, ``"wrong_shape"``, ``"wrong_value"``, or one of ``answer.KINDS``
    message: str = ""  # what is wrong, in a sentence; empty if nothing is
    # result → (expected shape, received shape); the latter None where nothing came
    shapes: Mapping[str, tuple[tuple[int, ...], tuple[int, ...] | None]] = field(default_factory=dict)
    worst_result: str = ""  # the result that is furthest off; empty if none is
    worst_index: tuple[int, ...] | None = None  # the cell of it that is furthest off; None if shapes differ
    expected: float | None = None  # the right number there
    received: float | None = None  # the student's number there
    max_abs_err: float | None = None  # how far that one is off; None where nothing could be compared
    seconds: float = 0.0  # that the student's own code took

    @property
    def came(self) -> bool:
        """Whether anything came that has a shape."""
        return any(received is not None for _, received in self.shapes.values())


@dataclass(frozen=True)
class Products:
    """The products of one channel plane that differ from the right ones."""

    # ``"grad_input"``, whose products are (cell of grad_output, of the kernel, of the result), or ``"grad_weight"``,
    # whose are (cell of grad_output, of the input, of the result)
    of: str
    setting: str  # in words, such as ``"kernel 3x2, stride 1, padding 0"``
    total: int  # how many a right gradient has there
    missing: tuple[Product, ...]  # products that belong there and are not there
    extra: tuple[Product, ...]  # products that are there and do not belong there


@dataclass(frozen=True)
class ErrorMap:
    """One plane of a wrong result."""

    case: str  # the name of the case
    result: str  # such as ``"grad_input"``
    at: tuple[int, ...]  # the leading indices of the plane, such as sample and channel
    right: Rows  # its rows as they should be
    received: Rows  # its rows as they came; of another size where the shape is wrong
    wrong: tuple[tuple[int, int], ...]  # the cells of it that are wrong, (row, column); empty where the sizes differ
    products: Products | None = None  # which products differ; None where the result is no gradient of input or weight


class CheckFailed(AssertionError):
    """A student's function is not right; the message says where, and what to change."""


@dataclass(frozen=True)
class Report:
    """All that a check found out."""

    task: str  #: the name of the task
    cases: tuple[CaseResult, ...]  #: one for each case that was tried
    diagnoses: tuple[Diagnosis, ...]  #: what explains the wrong ones, best first
    assumed: tuple[str, ...]  #: how the function was called, in sentences
    not_asked: Mapping[str, str]  #: case → why it was not tried
    convviz_version: str  #: of the package that says so
    #: the scope outside of which nothing is right, as it was found; None where none was looked for
    fits: Mapping[str, Any] | None = None
    left_out: tuple[str, ...] = ()  #: what it was not asked, in a few words each
    question: str = ""  #: what it needs to know, where nothing is right, and how that is said; empty where it knows all
    error_map: ErrorMap | None = None  #: where the first wrong result is wrong; None where nothing could be compared
    drawn: str = ""  #: how many random cases were asked besides, and up to which sizes; empty where none was

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
        lines = [self.summary]
        first = next((case for case in self.cases if not case.passed), None)
        if first is not None:
            lines += [say("first", case=first.name), *first.message.splitlines()]
        lines += [self.question] * bool(self.question)
        if not self.cases:
            lines += [say("none", reason=reason) for reason in dict.fromkeys(self.not_asked.values())]
        if hint and self.diagnoses:
            best, *others = self.diagnoses
            lines.append(say("hint", title=best.title, where=_where([best, *others], best.title)))
            # What explains only some of it, alone or with others, or stands in no catalogue, needs what was seen.
            tied = any((other.of, other.evidence) == (best.of, best.evidence) for other in others)
            is_said = first is not None and best.evidence in first.message
            lines += [best.evidence] * bool(not is_said and (best.is_partial or tied or best.id == "?"))
            lines += [best.fix] * bool(best.fix)
            rest = [other for other in others if other.fix or (best.is_partial and other.of == best.of)]
            titles = dict.fromkeys(other.title for other in rest if other.title != best.title)
            named = [f"{title.rstrip('.')} ({_where(others, title)})" for title in titles]
            lines += [say("further", what="; ".join(named))] * bool(named)
        lines += [self.drawn] * bool(self.drawn)
        last = self._unsaid()  # also of what passes: a wrong assumption may be why
        return "\n".join([*lines[: LINES - len(last)], *last])

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

    def _unsaid(self) -> list[str]:
        """Return the lines that say what was not asked, and what was assumed."""
        remarks = {"left_out": self.left_out, "assumed": self.assumed}
        return [say(id, what=_in_a_line(id, parts)) for id, parts in remarks.items() if parts]

    @property
    def summary(self) -> str:
        """The first line: how many cases are right, or that it could not be called."""
        right, count = sum(case.passed for case in self.cases), len(self.cases)
        if self.cases and all(case.kind in UNCALLED and not case.came for case in self.cases):
            return say("summary.uncalled", task=self.task)
        id = "summary.none" if not count else "summary.single" if count == 1 else "summary"
        whole = say(id, task=self.task, count=right, right=right, of=count)
        return whole if self.fits is None else f"{whole} {say('fits', scope=repr(self.fits).replace(chr(39), chr(34)))}"

    def _repr_html_(self) -> str:
        parts = [_p(self.summary)]
        for found in self.diagnoses:
            lines = "<br>".join(map(escape, filter(None, (found.evidence, found.fix))))
            parts.append(f"<p><b>{escape(found.title)}</b> ({escape(found.where)})<br>{lines}</p>")
        parts += [_map(self.error_map)] if self.error_map else []
        parts += [_p(self.question)] if self.question else []
        rows = (
            f'<tr><td style="text-align:left">{escape(case.name)}</td>'
            f"<td>{escape(say('right') if case.passed else case.kind.replace('_', ' '))}</td>"
            f'<td style="text-align:left;white-space:pre-line">{escape(case.message)}</td></tr>'
            for case in self.cases
        )
        parts.append(f"<table><tr><th>{escape(say('case'))}</th></tr>{''.join(rows)}</table>")
        parts += [_p(self.drawn)] if self.drawn else []
        parts += map(_p, self._unsaid())
        left = [say("not_tried.case", case=name, reason=reason) for name, reason in self.not_asked.items()]
        parts += [_p(say("not_tried", what="; ".join(left)))] if left else []
        return f'<div style="max-width:60em">{"".join(parts)}</div>'


def _in_a_line(name: str, parts: Sequence[str]) -> str:
    """Return as many parts as stand in a line, at least one, and how many more the report's attribute of a name has."""
    ends = itertools.accumulate(len(part) + 2 for part in parts)
    count = max(sum(end <= WIDTH for end in ends), 1)
    rest = [say("more", count=len(parts) - count, name=name)] if count < len(parts) else []
    return "; ".join([*parts[:count], *rest])


def _where(found: Sequence[Diagnosis], title: str) -> str:
    """Return the results that one sentence is said of, and its id if it has one."""
    same = [each for each in found if each.title == title]
    of = ", ".join(dict.fromkeys(each.of for each in same))
    return dataclasses.replace(same[0], of=of).where


def _p(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _map(shown: ErrorMap) -> str:
    name = f"{shown.result}[{', '.join(map(str, shown.at))}]" if shown.at else shown.result
    right, received = _plane(say("right"), shown.right, ()), _plane(say("yours"), shown.received, shown.wrong)
    text = _p(say("plane" if shown.wrong else "plane.shapes", plane=name, case=shown.case))
    text += f'<div style="display:flex;gap:2em;flex-wrap:wrap">{right}{received}</div>'
    products = shown.products
    if products and (products.missing or products.extra):
        counts = {"missing": len(products.missing), "extra": len(products.extra)}
        text += _p(say("products", total=products.total, result=shown.result, setting=products.setting, **counts))
    return text


def _plane(title: str, rows: Rows, wrong: tuple[tuple[int, int], ...]) -> str:
    body = ""
    for i, row in enumerate(rows[:MAX_SHOWN]):
        styles = [CELL + ";" + WRONG * ((i, j) in wrong) for j in range(len(row[:MAX_SHOWN]))]
        cells = (f'<td style="{style}">{value:.4g}</td>' for style, value in zip(styles, row, strict=False))
        body += f"<tr>{''.join(cells)}</tr>"
    return f"<table><caption>{title}</caption>{body}</table>"
