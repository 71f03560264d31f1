"""What is wrong with a gradient: which mistake of the catalogue gives these very numbers, or which two of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from convviz.check.battery import Case
from convviz.check.compare import same
from convviz.check.mistakes import Mistake, catalogue, compute
from convviz.check.recipes.choices import Recipe
from convviz.facts.words import sentences

say = sentences("check")


@dataclass(frozen=True)
class Seen:
    """What a student's function gave for one case, beside what is right; None where it gave nothing to compare."""

    case: Case
    got: torch.Tensor | None
    right: torch.Tensor

    @property
    def is_right(self) -> bool:
        """Whether both are the same."""
        return self.got is not None and same(self.got, self.right)


@dataclass(frozen=True)
class Diagnosis:
    """A mistake that explains what was seen.

    Attributes:
        id: of the catalogue; ``"?"`` where the catalogue has no such mistake.
        of: the result that it spoils.
        title: what is wrong, in plain words.
        evidence: why we think so.
        fix: what to change, and why.
        setting: a link's text that opens the board where the mistake shows; empty where there is none.
    """

    id: str
    of: str
    title: str
    evidence: str
    fix: str
    setting: str = ""
    is_partial: bool = False  # whether it explains only some of what is wrong


def diagnose(of: str, seen: Sequence[Seen]) -> list[Diagnosis]:
    """Return what explains the wrong results, best first; nothing where all are right.

    A mistake is named only if it gives the student's numbers in every case, those that are right included: a right
    implementation is never diagnosed. Several that cannot be told apart are all named, and said to be so.

    Args:
        of: which result this is, such as ``"grad_input"``.
        seen: all cases that were tried.
    """
    wrong = [one for one in seen if one.got is not None and not one.is_right]
    if not wrong:
        return []
    known = [mistake for mistake in catalogue().values() if of in mistake.of and mistake.ways]
    singles = [(mistake,) for mistake in known if any(_explains(of, (way,), seen) for way in mistake.ways)]
    if singles:
        return _named(of, singles, wrong, len(seen))
    pairs = list(_pairs(of, known, seen, wrong))
    if pairs:
        return _named(of, pairs, wrong, len(seen))
    return _partly(of, known, wrong)


def _explains(of: str, ways: Iterable[Recipe], seen: Iterable[Seen]) -> bool:
    """Return whether a recipe gives what was seen in every case that can be compared."""
    recipe = _merged(ways)
    return recipe is not None and all(_gives(of, recipe, one) for one in seen if one.got is not None)


def _gives(of: str, recipe: Recipe, one: Seen) -> bool:
    found = compute(of, recipe, one.case)
    return found is not None and one.got is not None and same(one.got, found)


def _merged(ways: Iterable[Recipe]) -> Recipe | None:
    """Return several mistakes as one recipe; None if they choose differently in the same step."""
    merged: dict[str, str] = {}
    for way in ways:
        if merged.keys() & way.keys():
            return None
        merged |= way
    return merged


def _pairs(
    of: str, known: Sequence[Mistake], seen: Sequence[Seen], wrong: Sequence[Seen]
) -> Iterator[tuple[Mistake, ...]]:
    """Yield the pairs of mistakes that explain what was seen; the smallest wrong case is asked first."""
    first = min(wrong, key=lambda one: one.case.spec.products)
    rest = [one for one in seen if one is not first]
    for pair in itertools.combinations(known, 2):
        for ways in itertools.product(*(mistake.ways for mistake in pair)):
            if _explains(of, ways, [first]) and _explains(of, ways, rest):
                yield pair
                break


def _named(of: str, found: Sequence[tuple[Mistake, ...]], wrong: Sequence[Seen], tried: int) -> list[Diagnosis]:
    evidence = say("evidence.two" if len(found[0]) > 1 else "evidence.one", count=len(wrong), of=tried)
    if len(found) > 1:
        evidence += " " + say("ambiguous", count=len(found))
    named = dict.fromkeys(mistake for group in found for mistake in group)
    return [diagnosis(mistake, evidence, of) for mistake in named]


def _partly(of: str, known: Sequence[Mistake], wrong: Sequence[Seen]) -> list[Diagnosis]:
    """Return the mistakes that explain most of the wrong cases, though not all of them."""
    fitting: Mapping[str, int] = {
        mistake.id: max(sum(_gives(of, way, one) for one in wrong) for way in mistake.ways) for mistake in known
    }
    best = max(fitting.values(), default=0)
    evidence = say("evidence.some", count=best, of=len(wrong))
    best_ones = [mistake for mistake in known if best and fitting[mistake.id] == best]
    return [diagnosis(mistake, evidence, of, is_partial=True) for mistake in best_ones]


def diagnosis(mistake: Mistake, evidence: str, of: str = "", is_partial: bool = False) -> Diagnosis:
    """Return a mistake of the catalogue as a diagnosis of one result, or of all that it spoils."""
    return Diagnosis(
        mistake.id, of or ", ".join(mistake.of), mistake.title, evidence, mistake.fix, mistake.setting, is_partial
    )
