"""Asks a student's function for every case, compares, and looks for what explains the difference."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch

from convviz import __version__
from convviz.cases.battery import NOTHING, Case
from convviz.cases.further_questions import FLOAT32
from convviz.cases.random_cases import in_words
from convviz.cases.settings_in_scope import NUMBERS, SWITCHES
from convviz.check.call_outcome import Tried, allowed, errors, same
from convviz.check.calling.call_plan import PAIRS
from convviz.check.calling.student_function import Student
from convviz.check.diagnose.explain import Probes, explain
from convviz.check.diagnosis import merged
from convviz.check.probes.one_hot_probes import OneHotProbes
from convviz.check.report import CaseResult, ErrorMap, Products, Report
from convviz.check.run.smallest_failing_geometry import RandomTrial
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.ops.to_tensor import cell_at

say = sentences("check")
say_call = sentences("calling_student_code")

# Alone they say nothing: whatever is wrong gives nothing where nothing is sent, and what is right in float64 was not
# asked.
ALONE = (NOTHING, FLOAT32)


def examine(
    student: Student, cases: Sequence[Case], rtol: float | None = None, atol: float = 0.0, random: int | None = None
) -> Report:
    """Return the report on a student's function.

    ``rtol``, ``atol`` are those of ``report``; ``random`` is the seed of the random geometries that follow where all is
    right, None for none.
    """
    cases = [student.suited(case) for case in cases]
    # Twice: where a later case shows that a function takes no pairs, its numbers for an earlier one mean nothing.
    found = [{case.name: reason for case in cases if (reason := student.takes(case))} for _ in range(2)]
    not_asked = found[-1]
    asked = [case for case in cases if case.name not in not_asked]
    if all(case.name in ALONE for case in asked):
        not_asked, asked = not_asked | {case.name: say("nothing_else") for case in asked}, []
    tried: list[Tried] = []
    for case in asked:
        tried.append(student.tried(case))
        if tried[-1].answer.kind in ("not_defined", "timeout", "crashed"):
            break  # the others would end the same way, and each would take its time
    results = [judged(one, rtol, atol) for one in tried]
    results += [CaseResult(case.name, False, results[-1].kind, say("untried")) for case in asked[len(tried) :]]
    failure, drawn = None, ""
    if random is not None and results and all(result.passed for result in results):
        trial = RandomTrial(student, lambda one: judged(one, rtol, atol).passed)
        failure = trial.run(random, tried)
        drawn = in_words(student.task, trial.asked)
    if failure:
        tried += dict.fromkeys((failure.smallest, failure.first))
        results.append(judged(failure.smallest, rtol, atol))
    probes = {result: OneHotProbes(student, result) for result in student.results}
    is_wrong = not all(result.passed for result in results)
    diagnoses = merged(explain(student, probes, tried, failure)) if is_wrong else ()
    shown = _first_map(probes, tried, results) if is_wrong else None
    said = (diagnoses, student.assumed, not_asked, __version__)
    is_called = any(result.passed for result in results)
    rest = _left_out(student, list(not_asked.values())) if is_called else ()
    asked_back = "" if is_called else student.question
    return Report(
        student.task.name, tuple(results), *said, left_out=rest, question=asked_back, error_map=shown, drawn=drawn
    )


def _left_out(student: Student, reasons: Sequence[str]) -> tuple[str, ...]:
    """Return in a few words each what a function was not asked; ``reasons`` are those of the cases that were not."""
    lacking = student.lacking
    known = {say_call(id, name=name) for name in lacking for id in ("no.argument", "no.read")}
    # The caller stated the scope, so the report does not list what lies outside of it.
    known |= {say_call("no.scope", name=name) for name in (*NUMBERS, *SWITCHES)}
    pairs = {name: say_call("no.pair", name=name) for name in PAIRS}
    single = [name for name, reason in pairs.items() if reason in reasons]
    known |= set(pairs.values())
    others = Counter(student.in_short(reason) for reason in reasons if reason not in known)
    found = [say_call("left.argument", names=comma(lacking))] * bool(lacking)
    found += [say_call("left.pairs", names=comma(single))] * bool(single)
    found += [say_call("left.once", count=student.called_once)] * bool(student.called_once)
    found += [say_call("left.reason", reason=reason, count=count) for reason, count in others.items()]
    return tuple(found)


def _first_map(probes: Probes, tried: Sequence[Tried], results: Sequence[CaseResult]) -> ErrorMap | None:
    """Return the plane in which the first wrong result is furthest off; None where there is no plane."""
    for one, result in zip(tried, results, strict=False):
        if result.passed or one.case.way or one.answer.kind not in ("ok", "keeps_state"):
            continue
        case, answer = one.case, one.answer
        worst = judged(dataclasses.replace(one, answer=dataclasses.replace(answer, kind="ok")), None, 0.0)
        name = worst.worst_result
        got, value = answer.results.get(name), one.right.get(name)
        if got is None or value is None or got.dim() != value.dim() or not got.numel():
            continue
        at = (worst.worst_index or (0,) * value.dim())[: max(value.dim() - 2, 0)]
        off = errors(got, value) > allowed(got, value, None, 0.0) if got.shape == value.shape else value != value
        wrong = tuple((row, column) for row, column in _plane(off, at).nonzero().tolist())
        right, received = (tuple(map(tuple, _plane(each, at).double().tolist())) for each in (value, got))
        found, products = next(probes[name].products(case), None), None
        if found is not None:
            differing = (tuple(found.missing), tuple(found.extra))
            products = Products(found.of, probes[name].setting(found.spec), len(found.right), *differing)
        return ErrorMap(case.name, name, at, right, received, wrong, products)
    return None


def _plane(tensor: torch.Tensor, at: Sequence[int]) -> torch.Tensor:
    for index in at:
        tensor = tensor[min(index, tensor.shape[0] - 1)]
    return tensor.reshape(1, -1) if tensor.dim() < 2 else tensor


def judged(tried: Tried, rtol: float | None, atol: float) -> CaseResult:
    """Return one case's result: the first thing that is wrong with an answer."""
    case, answer, right = tried.case, tried.answer, tried.right
    shapes = {
        name: (tuple(value.shape), tuple(answer.results[name].shape) if name in answer.results else None)
        for name, value in right.items()
    }
    given: dict[str, Any] = {"shapes": shapes, "seconds": answer.seconds}
    if answer.kind != "ok":
        return CaseResult(case.name, False, answer.kind, answer.message, **given)
    for name, (wanted, came) in shapes.items():
        if came != wanted:
            message = say("shape", result=name, got=list(came or ()), right=list(wanted))
            return CaseResult(case.name, False, "wrong_shape", message, worst_result=name, **given)
    wrong = [name for name, value in right.items() if not same(answer.results[name], value, rtol, atol)]
    if not wrong:
        return CaseResult(case.name, True, "ok", **given)
    name = wrong[0]
    got, value = answer.results[name], right[name]
    off = errors(got, value)
    index = cell_at(int(off.argmax()), off.shape)
    received, expected = float(got[index]), float(value[index])
    count = int((off > allowed(got, value, rtol, atol)).sum())
    lines = [
        say("wrong", result=name, shape=list(value.shape), count=count, of=off.numel()),
        say("worst", result=name, at=list(index), received=f"{received:.6g}", expected=f"{expected:.6g}"),
        *([say("also", results=", ".join(wrong[1:]))] if wrong[1:] else []),
    ]
    given |= {"worst_result": name, "worst_index": index, "max_abs_err": float(off.max())}
    return CaseResult(case.name, False, "wrong_value", "\n".join(lines), expected=expected, received=received, **given)
