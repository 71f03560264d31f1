"""The search through the catalogue: which mistakes, alone or two at once, give the numbers that were seen."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import torch

from convviz.check.battery import Case
from convviz.check.compare import same
from convviz.check.mistakes import Mistake, compute
from convviz.check.recipes.choices import Recipe, axes, complete
from convviz.geometry.spec import ConvSpec


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
class Found:
    """Mistakes that together explain what was seen.

    Attributes:
        mistakes: the one that shows in the most cases first.
        explained: how many of the wrong cases have the very numbers that they give.
    """

    mistakes: tuple[Mistake, ...]
    explained: int


class Search:
    """Recipes held against what was seen for one result; each is computed once for each case.

    Attributes:
        wrong: the cases whose numbers are there and are wrong, plainest first.
    """

    def __init__(self, of: str, seen: Sequence[Seen]) -> None:
        """Take what was seen of the result named ``of``."""
        self._of = of
        self._first = next((one for one in seen if one.got is not None and not one.is_right), None)
        given = sorted((one for one in seen if one.got is not None), key=lambda one: _plainness(one.case.spec))
        self.wrong = [one for one in given if not one.is_right]
        # Wrong ones first: a recipe that does not explain them is put aside soon.
        self._ordered = [*self.wrong, *(one for one in given if one.is_right)]
        self._known: dict[tuple[str, Hashable], bool | None] = {}

    def singles(self, known: Sequence[Mistake]) -> list[Found]:
        """Return the mistakes that explain everything alone."""
        found = [
            Found((mistake,), best) for mistake in known if (best := max(self._fit(way) for way in mistake.ways)) > 0
        ]
        return _best(found)

    def pairs(self, known: Sequence[Mistake]) -> list[Found]:
        """Return the pairs of mistakes that explain everything together."""
        found = []
        for pair in itertools.combinations(known, 2):
            best = max((self._fit(way) for way in _together(*pair)), default=0)
            if best > 0:
                found.append(Found(tuple(sorted(pair, key=self._shows, reverse=True)), best))
        return _best(found)

    def explained(self, recipe: Recipe) -> int:
        """Return in how many of the wrong cases a recipe gives the very numbers that were seen."""
        return sum(self._gives(recipe, one) is True for one in self.wrong)

    def is_part(self, recipe: Recipe) -> bool:
        """Return whether a recipe gives the very numbers of the first wrong case, and spoils none that is right."""
        spoils = any(one.is_right and self._gives(recipe, one) is not True for one in self._ordered)
        return self._first is not None and self._gives(recipe, self._first) is True and not spoils

    def _fit(self, recipe: Recipe) -> int:
        """Return ``explained`` if a recipe contradicts no case, else 0.

        Where it cannot be computed at all, a student's code does as it likes; only being right would contradict it.
        """
        explained = 0
        for one in self._ordered:
            gives = self._gives(recipe, one)
            if gives is False or (gives is None and one.is_right):
                return 0
            explained += gives is True and not one.is_right
        return explained

    def _gives(self, recipe: Recipe, one: Seen) -> bool | None:
        """Return whether a recipe gives what was seen in a case; None if it cannot be computed there."""
        key = (one.case.name, resolved(self._of, recipe, one.case))
        if key not in self._known:
            found = compute(self._of, recipe, one.case)
            self._known[key] = None if found is None else one.got is not None and same(one.got, found)
        return self._known[key]

    def _shows(self, mistake: Mistake) -> int:
        """Return in how many of the wrong cases a mistake changes anything."""
        right = [resolved(self._of, {}, one.case) for one in self.wrong]
        return max(
            sum(resolved(self._of, way, one.case) != own for one, own in zip(self.wrong, right, strict=True))
            for way in mistake.ways
        )


def _plainness(spec: ConvSpec) -> tuple[int, int]:
    """Return how many numbers are others than the plainest: in a plain case most recipes are one and the same."""
    above = (max(spec.stride) > 1, any(map(any, spec.padding)), max(spec.dilation) > 1, spec.groups > 1)
    return sum(above) + any(spec.remainder) + (spec.padding_mode != "zeros"), spec.products


def _best(found: Sequence[Found]) -> list[Found]:
    best = max((one.explained for one in found), default=0)
    return [one for one in found if one.explained == best]


def _together(one: Mistake, other: Mistake) -> Iterator[Recipe]:
    """Yield the ways to make both mistakes at once; none where both choose in the same step."""
    for ours, theirs in itertools.product(one.ways, other.ways):
        both = ours.keys() & theirs.keys()
        if not both:
            yield {**ours, **theirs}
        elif both == {"times"}:
            yield {**ours, **theirs, "times": f"{ours['times']} * {theirs['times']}"}


def resolved(of: str, recipe: Recipe, case: Case) -> Hashable:
    """Return a recipe with the numbers that its names stand for in a case: many recipes are one and the same there."""
    chosen = complete(of, recipe)
    if of == "grad_bias":
        return tuple(sorted({**chosen, **recipe}.items()))
    chosen = {**chosen, **_without_choice(chosen, case.spec)}
    lines = axes(chosen, case.spec)
    named = tuple(
        (step, *(line.get(choice, choice) for line in lines))
        for step, choice in chosen.items()
        if step != "axes" or choice == "border"  # the others are in the numbers
    )
    return named, tuple(line[name] for line in lines for name in ("N", "p", "d"))


def _without_choice(chosen: Recipe, spec: ConvSpec) -> Recipe:
    """Return the steps in which every choice comes to the same in a geometry, with one of the choices."""
    same: dict[str, str] = {}
    if spec.groups == 1:
        same["groups"] = "own"
        if chosen.get("reversed") == "channels of each group":
            same["reversed"] = "all channels"
    if spec.padding_mode == "zeros":
        same["border"] = "own"
    if spec.kernel_size[0] == spec.kernel_size[1] and chosen.get("reach") == "d * (K turned - 1)":
        same["reach"] = "d * (K - 1)"
    return {step: choice for step, choice in same.items() if step in chosen}
