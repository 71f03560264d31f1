"""From wrong answers to what is wrong: the catalogue first, then one factor, then the products themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch

from convviz.check.answer import Answer
from convviz.check.battery import Case
from convviz.check.diagnose import Diagnosis, Seen, diagnose
from convviz.check.provenance import setting_in_words
from convviz.check.ratio import constant_ratio
from convviz.check.reading import readings
from convviz.check.single_ones import SingleOnes, as_convolution, recipe_of, single
from convviz.check.slips import slips
from convviz.check.tasks import Task
from convviz.facts.words import sentences

say = sentences("check")


def explain(
    task: Task,
    ones: SingleOnes,
    cases: Sequence[Case],
    answers: Sequence[Answer],
    rights: Sequence[Mapping[str, torch.Tensor]],
) -> Iterator[Diagnosis]:
    """Yield what explains the wrong results of a task, result by result, best first."""
    if found := slips(task, answers, rights):
        yield from found
        return
    for result in rights[0] if rights else ():
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
            found += _by_ratio(of, seen) or _by_products(of, ones, result, seen)
        yield from found


def _right(task: Task, result: str, case: Case, right: Mapping[str, torch.Tensor]) -> torch.Tensor:
    made = as_convolution(task, result, case, right[result])
    assert made is not None  # what is right is there
    return made


def _by_ratio(of: str, seen: Sequence[Seen]) -> list[Diagnosis]:
    ratio = constant_ratio([(one.got, one.right) for one in seen if one.got is not None and not one.is_right])
    if ratio is None:
        return []
    evidence = say("ratio.evidence", result=of, ratio=f"{ratio:.6g}")
    return [Diagnosis("?", of, say("ratio"), evidence, say("ratio.fix"))]


def _by_products(of: str, ones: SingleOnes, result: str, seen: Sequence[Seen]) -> list[Diagnosis]:
    """Return a diagnosis that no catalogue has: how the products lie otherwise than they should."""
    wrong = [one.case for one in seen if one.got is not None and not one.is_right]
    smallest = min(wrong, key=lambda case: case.spec.products)
    found = None
    for found in ones.products(result, smallest):
        said = readings(found)
        if said:
            evidence = say("read", setting=setting_in_words(found.spec), what="; ".join(said))
            return [Diagnosis("?", of, f"{said[0]}.", evidence, "")]
    # The last of them has the geometry of a case that is wrong: only its channels and samples are left.
    if found is None or found.unknown or found.spec != single(smallest.spec):
        return []
    evidence = say("read.single.evidence", setting=setting_in_words(found.spec))
    return [Diagnosis("?", of, say("read.single"), evidence, say("read.single.fix"))]
