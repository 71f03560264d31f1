"""What a call leaves behind: arguments changed, something kept from an earlier call, memory never filled."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence

from convviz.check.call_outcome import Tried, same
from convviz.check.calling.student_function import Student
from convviz.check.diagnose.where_and_when_wrong import ONLY, mark_of
from convviz.check.diagnosis import Diagnosis, diagnosis
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.mistakes.catalogue import catalogue

say = sentences("check")
say_call = sentences("calling_student_code")
OWN = (["weight"], ["bias"], ["weight", "bias"])
UNKNOWN = ("keeps_state", "keeps_image", "keeps_between")  # ids of the messages that do not say what it is that is kept


def _causes() -> Mapping[str, Sequence[str]]:
    """Return the messages that say more of what is kept than that it is, by the end of a title's id."""
    own = [say_call("kept.own", names=comma(names)) for names in OWN]
    return {"own": own, "shared": [say_call("shared_buffer")]}


def side_effects(student: Student, tried: Sequence[Tried], results: str) -> list[Diagnosis]:
    """Return what a call leaves behind or draws, or that its results come in another order; else nothing."""
    kinds = {one.answer.kind: one.answer for one in reversed(tried) if one.answer.kind != "ok"}  # the first of each
    if (answer := kinds.get("changed_input")) and student.task.quantised:
        return [diagnosis(catalogue()["Q04"], answer.message, results)]
    if answer := kinds.get("changed_input"):
        return [stale("changed", answer.message, "")]
    if answer := kinds.get("keeps_state"):
        cause = next((cause for cause, messages in _causes().items() if answer.message in messages), "kept")
        names = comma([name for name in tried[0].right if name in answer.message])
        if student.strides and answer.message in [say_call(id, name=names) for id in UNKNOWN]:
            return [Diagnosis("?", results, say("strided"), "", "")]
        return [stale(cause, answer.message, names)]
    if any(answer.message == say_call("random") for answer in kinds.values()):
        return [random_results(results)]
    if any("incorrect number of gradients" in answer.message for answer in kinds.values()):
        return [diagnosis(catalogue()["G04"], say("refused"))]
    if order := _other_order(tried):
        there = [pair for pair in zip(tried[0].right, order, strict=True) if pair[0] != pair[1]]
        places, names = (", ".join(each) for each in zip(*there, strict=True))
        return [diagnosis(catalogue()["G03"], say("order", places=places, names=names))]
    return []


def stale(what: str, evidence: str, results: str) -> Diagnosis:
    """Return I28 by the one of its causes that was seen; the evidence says what to change."""
    return dataclasses.replace(diagnosis(catalogue()["I28"], evidence), of=results, title=say(f"stale.{what}"), fix="")


def random_results(results: str) -> Diagnosis:
    """Return that results are drawn at random."""
    return Diagnosis("?", results, say("drawn"), "", "")


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


def _other_order(tried: Sequence[Tried]) -> tuple[str, ...]:
    """Return the names of the results in the order in which they came, if that is another one and all fit."""
    complete = [one for one in tried if one.answer.results.keys() == one.right.keys()]
    names = tuple(complete[0].right) if complete else ()
    for order in itertools.permutations(names):
        renamed = [(one, place, name) for one in complete for place, name in zip(names, order, strict=True)]
        if order != names and all(same(one.answer.results[place], one.right[name]) for one, place, name in renamed):
            return order
    return ()
