"""From wrong answers to what is wrong: the catalogue first, then one factor, then the products themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from convviz.cases.battery import NOTHING, ZEROS, make_case
from convviz.cases.setting_in_words import setting_in_words
from convviz.check.as_convolution import in_terms_of, seen_of
from convviz.check.call_outcome import SEVERAL, Failure, Tried, period_of
from convviz.check.calling.student_function import Student
from convviz.check.diagnose.by_catalogue import diagnose, sometimes
from convviz.check.diagnose.doubts import Doubts
from convviz.check.diagnose.explain_numbers import all_others, unnamed
from convviz.check.diagnose.padding_rules import other_rule, own_padding
from convviz.check.diagnose.side_effects import not_finite, random_results, side_effects, stale
from convviz.check.diagnose.size_limits import size_limit
from convviz.check.diagnose.where_and_when_wrong import mark_of
from convviz.check.diagnose.wrong_further import wrong_answers
from convviz.check.diagnosis import Diagnosis, Seen, diagnosis
from convviz.check.probes.one_hot_probes import OneHotProbes
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.mistakes.catalogue import catalogue

say = sentences("check")
say_call = sentences("calling_student_code")


Probes = Mapping[str, OneHotProbes]


def explain(
    student: Student, probes: Probes, tried: Sequence[Tried], failure: Failure | None = None
) -> Iterator[Diagnosis]:
    """Yield what explains the wrong results of a task, result by result, best first.

    ``probes`` ask for more; ``failure`` is what random geometries say besides, where only one of the cases is wrong.
    """
    task = student.task
    results = ", ".join(tried[0].right) if tried else ""
    if name := student.unzeroed:
        yield diagnosis(catalogue()["G09"], say("unzeroed", name=name), results)
        return
    further, tried = [one for one in tried if one.case.way], [one for one in tried if not one.case.way]
    if not failure and all(one.is_right for one in tried):
        for one in further:
            yield from () if one.is_right else wrong_answers(one)
        return
    if not task.pooling and (
        rule := other_rule(task, tried) or ("padding" in student.lacking and own_padding(task, tried))
    ):
        yield rule
        return
    if any(one.answer.message == say_call("plain_bias") for one in tried):
        return  # which says it all
    if unknown := [one for one in tried if one.answer.kind == "not_finite"]:  # a NaN differs from every number
        yield not_finite(unknown, tried)
        tried = [one for one in tried if one not in unknown]
        if not any(one.answer.kind != "ok" or not one.fits for one in tried):
            return
        failure = None
    if found := side_effects(student, tried, results):
        yield from found
        return
    first = next((one.case for one in tried if one.answer.kind == "ok" and not one.fits), None)
    if first and not failure:
        student.close()
        if student.tried(first).is_right:  # in a fresh process: after other calls something is kept
            fit = [student.tried(first).fits for _ in range(SEVERAL)]
            is_random = False in fit and True in fit[fit.index(False) :] and not period_of(fit)
            names = comma([name for name in task.results if any(name in one.wrong for one in tried)])
            yield random_results(results) if is_random else stale("kept", say_call("after_others", names=names), names)
            return
    tried, doubts = _by_geometry(student, tried), Doubts(student, tried)
    raised = _raised(student, tried, results, failure, doubts)
    if raised and all(one.fits for one in tried if one.answer.kind != "raised"):
        yield raised
        raised = None
    every = {result: [seen_of(task, result, one) for one in tried] for result in (tried[0].right if tried else ())}
    wrong = {result: [one.got is not None and not one.is_right for one in seen] for result, seen in every.items()}
    # First what the first failing case has, which is the one that is shown: a border spoils an output in few cases.
    for result in sorted(filter(lambda name: any(wrong[name]), wrong), key=lambda name: wrong[name].index(True)):
        seen = every[result]
        larger = _larger(probes[result], seen) if failure and not task.pooling else []
        seen = [*seen, *larger]
        found = diagnose(probes[result].of, seen, strict=failure is not None)
        if not found and not seen[0].case.quantised and (once := sometimes(probes[result].of, seen)):
            mark = "" if failure else all_others(result, doubts, [one for one in seen if not one.is_right], seen)
            found = [dataclasses.replace(once, evidence=f"{mark} {once.evidence}".strip())]
        elif not found or found[0].is_partial:
            found = unnamed(probes[result], seen, found, failure, larger, doubts)
        if failure and (when := _when(student, failure)):
            found = _said_first(when, found) if found else [Diagnosis("?", result, when, "", "")]
        raised = raised if not found else None  # which says more of it
        yield from (in_terms_of(task, result, each, student.turns) for each in found)
    if raised:
        yield raised


def _larger(ones: OneHotProbes, seen: Sequence[Seen]) -> list[Seen]:
    """Return a larger case that is as wrong as the smallest one is, if there is one: fewer explanations fit it."""
    wrong = (one.case for one in seen if one.got is not None and not one.is_right)
    larger = ones.larger(min(wrong, key=lambda case: case.spec.products))
    return [larger] if larger else []


def _by_geometry(student: Student, tried: Sequence[Tried]) -> Sequence[Tried]:
    """Return the cases; one of special numbers that is wrong with others as well is called by its geometry."""
    wrong = [one for one in tried if not one.is_right]
    if len(wrong) != 1 or wrong[0].case.name not in (ZEROS, NOTHING):
        return tried
    spec = wrong[0].case.spec
    if student.tried(make_case("other numbers", spec, 76, student.task.rule)).is_right:
        return tried
    named = dataclasses.replace(wrong[0].case, name=setting_in_words(spec))
    return [dataclasses.replace(one, case=named) if one is wrong[0] else one for one in tried]


def _said_first(when: str, found: list[Diagnosis]) -> list[Diagnosis]:
    """Return diagnoses that say first when it is wrong, as everything else is right; a name keeps its own sentence."""
    best, *others = found
    if best.id == "?":
        evidence = f"{best.title} {best.evidence}".replace(when, "").strip()
        return [dataclasses.replace(best, title=when, evidence=evidence), *others]
    if others:  # which of them it is nobody knows
        return [Diagnosis("?", best.of, when, "", ""), *found]
    return [dataclasses.replace(best, evidence=f"{when} {best.evidence}", is_partial=True)]


def _when(student: Student, failure: Failure) -> str:
    """Return in a sentence when it fails at random, by what was drawn and by what is asked besides."""
    return mark_of(failure.wrong, failure.others, lambda: size_limit(student, failure.smallest.case.spec))


def _raised(
    student: Student, tried: Sequence[Tried], results: str, failure: Failure | None, doubts: Doubts
) -> Diagnosis | None:
    """Return what the wrong cases, some of which end in an exception, have in common, where no right one has it."""
    raised = [one for one in tried if one.answer.kind == "raised"]
    if not raised:
        return None
    right, wrong = ([one.case for one in tried if one.fits is fits] for fits in (True, False))
    mark = _when(student, failure) if failure else doubts.mark(wrong, right, lambda one: one.is_right)
    is_padding = mark == say("only", which=say("mark.paddings"))  # for which F.pad wants another order
    fix = catalogue()["F08"].fix if is_padding else ""
    return Diagnosis("?", results, mark, raised[0].answer.message, fix) if mark else None
