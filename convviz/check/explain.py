"""From wrong answers to what is wrong: the catalogue first, then one factor, then the products themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import torch

from convviz.check.answer import Answer
from convviz.check.battery import Case
from convviz.check.compare import ratio_of, same
from convviz.check.diagnose import Diagnosis, Seen, diagnose, diagnosis
from convviz.check.mistakes import catalogue
from convviz.check.one_hot_probes import OneHotProbes, as_convolution, recipe_of, shown_names, single
from convviz.check.premises import broken_premise
from convviz.check.probe_analysis import counts, readings
from convviz.check.provenance import setting_in_words
from convviz.check.random_trial import Failure
from convviz.check.side_effects import slips
from convviz.check.tasks import Task
from convviz.check.where import ONLY, alike, factors, is_moved, mark_of, order_of, places
from convviz.facts.words import sentences

say = sentences("check")

Results = Mapping[str, torch.Tensor]


def explain(
    task: Task,
    ones: OneHotProbes,
    cases: Sequence[Case],
    answers: Sequence[Answer],
    rights: Sequence[Results],
    failure: Failure | None = None,
) -> Iterator[Diagnosis]:
    """Yield what explains the wrong results of a task, result by result, best first.

    Args:
        task: what was asked.
        ones: asks for more.
        cases: all that were asked.
        answers: what came.
        rights: what is right.
        failure: what random geometries say besides, where only one of them is wrong.
    """
    results = ", ".join(rights[0]) if rights else ""
    if name := ones.unzeroed:
        yield diagnosis(catalogue()["G09"], say("unzeroed", name=name), results)
        return
    if found := slips(task, answers, rights):
        yield from found
        return
    if raised := _raised(cases, answers, rights, failure):
        yield raised
    names = list(rights[0]) if rights else []
    if task.quantised:  # the sign of 0 spoils one case: what fails before that comes before it
        names.sort(key=lambda name: _first_wrong(name, answers, rights))
    for result in names:
        of = recipe_of(task, result)
        seen = [
            Seen(
                case, as_convolution(task, result, case, answer.results.get(result)), _right(task, result, case, right)
            )
            for case, answer, right in zip(cases, answers, rights, strict=False)
        ]
        if all(one.got is None or one.is_right for one in seen):
            continue
        found = diagnose(of, seen)
        if not found or found[0].is_partial:
            found = _unnamed(of, ones, result, seen, found, shown_names(task), failure)
        if failure and found and (when := mark_of(failure.wrong, failure.others)):
            best = found[0]  # where everything else is right, it is said first when it is wrong
            evidence = f"{best.title} {best.evidence}".replace(when, "").strip()
            found[0] = dataclasses.replace(best, title=when, evidence=evidence)
        yield from found


def _first_wrong(name: str, answers: Sequence[Answer], rights: Sequence[Results]) -> int:
    """Return the number of the first case in which a result is wrong."""
    pairs = enumerate(zip(answers, rights, strict=False))
    wrong = (
        at for at, (answer, right) in pairs if name in answer.results and not same(answer.results[name], right[name])
    )
    return next(wrong, len(answers))


def _raised(
    cases: Sequence[Case], answers: Sequence[Answer], rights: Sequence[Results], failure: Failure | None
) -> Diagnosis | None:
    """Return what the cases that end in an exception have in common, where no other has it and all others are right."""
    raised = [answer for answer in answers if answer.kind == "raised"]
    wrong = [case for case, answer in zip(cases, answers, strict=False) if answer.kind == "raised"]
    others = [
        (case, all(name in answer.results and same(answer.results[name], value) for name, value in right.items()))
        for case, answer, right in zip(cases, answers, rights, strict=False)
        if answer.kind != "raised"
    ]
    right = [case for case, _ in others] if all(is_right for _, is_right in others) else []
    mark = mark_of(failure.wrong, failure.others) if failure and raised else mark_of(wrong, right)
    return Diagnosis("?", ", ".join(rights[0]), mark, raised[0].message, "") if mark else None


def _right(task: Task, result: str, case: Case, right: Mapping[str, torch.Tensor]) -> torch.Tensor:
    made = as_convolution(task, result, case, right[result])
    assert made is not None  # what is right is there
    return made


def _unnamed(
    of: str,
    ones: OneHotProbes,
    result: str,
    seen: Sequence[Seen],
    partly: list[Diagnosis],
    names: Mapping[str, str],
    failure: Failure | None,
) -> list[Diagnosis]:
    """Return what can be said of numbers that no mistake of the catalogue gives in every case."""
    wrong = [one for one in seen if one.got is not None and not one.is_right]
    smallest = min(wrong, key=lambda one: one.case.spec.products)

    def ask(case: Case) -> torch.Tensor | None:
        return ones.ask(result, case)

    pairs = [(one.got, one.right) for one in wrong if one.got is not None]
    mark = "" if failure else mark_of([one.case for one in wrong], [one.case for one in seen if one.is_right])
    if len(wrong) == 1 and wrong[0].case.name in ONLY:
        return [Diagnosis("?", result, mark, say("only.of", case=wrong[0].case.name), "")]
    # In the smallest of all there may be one number, which proves nothing.
    typical = max(wrong, key=lambda one: one.case.spec.products) if failure else smallest
    if broken := broken_premise(of, typical.case, typical.right, ask, names):
        return [dataclasses.replace(broken, of=result)]
    where = [sentence for sentence in (*places(of, pairs), mark) if sentence]
    also = " ".join(where)
    said = _by_ratio(of, wrong)
    if said is None and not order_of(of, pairs):
        said = _by_products(of, ones, result, smallest.case, only_lines=is_moved(pairs) or alike(of, pairs) != "")
    if said is None and (partly or not also):
        return partly
    if said is None:
        return [Diagnosis("?", result, where[0], " ".join(where[1:]), "")]
    return [*partly, dataclasses.replace(said, of=result, evidence=f"{said.evidence} {also}".strip())]


def _by_ratio(of: str, wrong: Sequence[Seen]) -> Diagnosis | None:
    """Return what is wrong where every case is off by one factor."""
    ratios = [ratio_of(one.got, one.right) for one in wrong if one.got is not None]
    found = [ratio for ratio in ratios if ratio is not None]
    if len(found) < len(ratios) or not found or 0 in found:
        return None
    if max(found) - min(found) <= 1e-6 * abs(found[0]):
        evidence = say("ratio.evidence", result=of, ratio=f"{found[0]:.6g}")
        return Diagnosis("?", of, say("ratio"), evidence, say("ratio.fix"))
    each = factors([(one.case, ratio) for one, ratio in zip(wrong, found, strict=True)])
    return Diagnosis("?", of, say("ratios"), say("ratios.evidence", result=of, ratios=each), say("ratios.fix"))


def _by_products(of: str, ones: OneHotProbes, result: str, smallest: Case, only_lines: bool) -> Diagnosis | None:
    """Return how the products lie otherwise than they should.

    With ``only_lines`` by what holds of whole rows and columns alone.
    """
    counted, found = None, None
    for found in ones.products(result, smallest):
        setting = setting_in_words(found.spec)
        if said := readings(found):
            rest = say("read.also", setting=setting, what="; ".join(said[1:])) if said[1:] else ""
            return Diagnosis("?", of, f"{said[0]}.", rest or say("read", setting=setting), "")
        if count := counts(found):
            counted = counted or Diagnosis("?", of, f"{count}.", say("read", setting=setting), "")
    # The last of them has the geometry of a case that is wrong: only its channels and samples are left.
    if found is not None and found.unknown and not found.found and not only_lines:
        setting = setting_in_words(found.spec)
        evidence = say("read.also", setting=setting, what=say("read.unknown.seen"))
        return Diagnosis("?", of, say("read.unknown"), evidence, "")
    is_plain = found is None or not (found.missing or found.unknown or found.spec != single(smallest.spec))
    if only_lines or counted or not is_plain:
        return None if only_lines else counted
    mixed = ones.mixed(result, smallest)
    if not mixed:
        return None
    evidence = say("read.single.evidence", setting=setting_in_words(found.spec)) if found else ""
    if mixed == "both":
        return diagnosis(catalogue()["G10"], f"{say('mixed.both')} {evidence}".strip(), of)
    return Diagnosis("?", of, say(f"mixed.{mixed}"), evidence, say(f"mixed.{mixed}.fix"))
