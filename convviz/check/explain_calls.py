"""What the calls themselves show, before any number is read: state, chance, exceptions, results in another order."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

from convviz.check.call_outcome import SEVERAL, Tried, period_of, same
from convviz.check.calling.student_function import Student
from convviz.check.diagnose import Diagnosis, diagnosis
from convviz.check.smallest_failing_geometry import Failure
from convviz.check.where_and_when_wrong import ONLY, mark_of
from convviz.facts.words import sentences
from convviz.mistakes.catalogue import catalogue

say = sentences("check")
say_call = sentences("calling_student_code")


def not_finite(unknown: Sequence[Tried], tried: Sequence[Tried]) -> Diagnosis:
    """Return which numbers are none, and what the cases have in common in which they are."""
    first = unknown[0]
    name, got = next(each for each in first.answer.results.items() if not bool(each[1].isfinite().all()))
    places = (~got.isfinite()).nonzero().tolist()
    seen = say("nan.seen", case=first.case.name, count=len(places), of=got.numel(), result=name, at=places[0])
    mark = mark_of([one.case for one in unknown], [one.case for one in tried if one.is_right])
    if len(unknown) == 1 and first.case.name in ONLY:  # whose sentence says where to look
        return Diagnosis("?", name, mark or say("nan", result=name), f"{say('nan', result=name)} {seen}", "")
    return Diagnosis("?", name, say("nan", result=name), f"{mark} {seen}".strip(), say("nan.fix"))


def slips(student: Student, tried: Sequence[Tried], results: str) -> list[Diagnosis]:
    """Return what a call did beside computing, or gave in another order; nothing where it did not."""
    kinds = {one.answer.kind: one.answer for one in tried if one.answer.kind != "ok"}
    if (answer := kinds.get("changed_input")) and student.task.quantised:
        return [diagnosis(catalogue()["Q04"], answer.message, results)]
    if answer := kinds.get("changed_input"):
        return [_stale("changed", answer.message, results)]
    if (answer := kinds.get("keeps_state")) and student.strides:
        return [Diagnosis("?", results, say("strided"), "", "")]
    if answer := kinds.get("keeps_state"):
        return [_stale("kept", answer.message, results)]
    if any(answer.message == say_call("random") for answer in kinds.values()):
        return [_random(results)]
    if any("incorrect number of gradients" in answer.message for answer in kinds.values()):
        return [diagnosis(catalogue()["G04"], say("refused"))]
    if order := _other_order(tried):
        there = [pair for pair in zip(tried[0].right, order, strict=True) if pair[0] != pair[1]]
        places, names = (", ".join(each) for each in zip(*there, strict=True))
        return [diagnosis(catalogue()["G03"], say("order", places=places, names=names))]
    return []


def kept_or_random(student: Student, tried: Sequence[Tried], results: str) -> Diagnosis | None:
    """Return that what is wrong is right in a fresh process: something is kept after other calls, or drawn."""
    first = next((one.case for one in tried if one.answer.kind == "ok" and not one.fits), None)
    if first is None:
        return None
    student.close()
    if not student.tried(first).is_right:
        return None
    fit = [student.tried(first).fits for _ in range(SEVERAL)]
    is_random = False in fit and True in fit[fit.index(False) :] and not period_of(fit)
    return _random(results) if is_random else _stale("kept", say_call("after_others", names=results), results)


def raised(tried: Sequence[Tried], results: str, failure: Failure | None) -> Diagnosis | None:
    """Return what the cases that end in an exception have in common, where no other has it and all others are right."""
    raising = [one for one in tried if one.answer.kind == "raised"]
    others = [one for one in tried if one.answer.kind != "raised"]
    right = [one.case for one in others] if all(one.fits for one in others) else []
    wrong = [one.case for one in raising]
    mark = mark_of(failure.wrong, failure.others) if failure and raising else mark_of(wrong, right)
    is_padding = mark == say("only", which=say("mark.paddings"))  # for which F.pad wants another order
    fix = catalogue()["F08"].fix if is_padding else ""
    return Diagnosis("?", results, mark, raising[0].answer.message, fix) if mark else None


def _other_order(tried: Sequence[Tried]) -> tuple[str, ...]:
    """Return the names of the results in the order in which they came, if that is another one and all fit."""
    complete = [one for one in tried if one.answer.results.keys() == one.right.keys()]
    names = tuple(complete[0].right) if complete else ()
    for order in itertools.permutations(names):
        renamed = [(one, place, name) for one in complete for place, name in zip(names, order, strict=True)]
        if order != names and all(same(one.answer.results[place], one.right[name]) for one, place, name in renamed):
            return order
    return ()


def _stale(what: str, evidence: str, results: str) -> Diagnosis:
    """Return I28 by the one of its causes that was seen."""
    return dataclasses.replace(diagnosis(catalogue()["I28"], evidence, results), title=say(f"stale.{what}"))


def _random(results: str) -> Diagnosis:
    return Diagnosis("?", results, say("drawn"), "", "")
