"""What is wrong with a result: which mistakes of the catalogue, alone or two at once, give the very numbers seen."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from convviz.cases.battery import Case
from convviz.check.call_outcome import same
from convviz.check.diagnosis import Diagnosis, Seen, diagnosis
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec
from convviz.mistakes.catalogue import Mistake, catalogue, compute
from convviz.mistakes.recipe_steps import Recipe, axes, complete

say = sentences("check")
OF_PLANES = ("F08", "I02", "I03", "I04", "I05", "I21")  # which need rows and columns
SEVERAL = 6  # numbers that no other mistake gives by chance


def diagnose(of: str, seen: Sequence[Seen], strict: bool = False) -> list[Diagnosis]:
    """Return what explains the wrong results, best first; nothing where all are right.

    A mistake is named only if it gives the student's numbers in every case, those that are right included: a right
    implementation is never diagnosed. Several that cannot be told apart are all named, and said to be so. What gives
    only those of the first wrong case and of most others is partial. ``strict``: only what gives all is named.
    """
    search = _Search(of, seen)
    wrong = len(search.wrong)
    if not wrong or (wrong == 1 and 2 * sum(one.got is not None for one in seen) < len(seen)):
        return []  # one wrong result among calls that mostly fail is no evidence of anything else
    rule = seen[0].case.rule
    known = [each for each in catalogue().values() if of in each.of and each.ways and each.is_of(rule)]
    if not rule and all(one.case.spec.input_size[0] == one.case.spec.kernel_size[0] == 1 for one in seen):
        known = [each for each in known if each.id not in OF_PLANES]
    if all(one.case.spec.input_size == (1, 1) for one in seen):  # one window: a mean over them is none
        known = [each for each in known if "H W" not in each.ways[0].get("times", "")]
    found, best = _best(itertools.combinations(known, 1), search.fit, 1)
    if not found and wrong > 1:  # what two mistakes at once give in a single case, some other two give as well
        found, best = _best(itertools.combinations(filter(search.shows_first, known), 2), search.fit, 2)
    found = [group for group in found if all(map(search.shows_first, group))] or found
    if strict and best < wrong:
        return []
    if found:
        evidence = say("evidence.two" if len(found[0]) > 1 else "evidence.one", count=wrong, result=of)
        if best < wrong:
            evidence = say("evidence.fails", count=best, of=wrong)
        evidence += " " + say("ambiguous", count=len(found)) if len(found) > 1 else ""
        named = (mistake for group in found for mistake in sorted(group, key=search.shows, reverse=True))
        return [diagnosis(mistake, evidence, of) for mistake in dict.fromkeys(named)]
    found, best = _best(itertools.combinations(known, 1), search.fit_partly, wrong // 2 + 1)
    evidence = say("evidence.some", count=best, of=wrong, result=of)
    return [diagnosis(mistake, evidence, of, is_partial=True) for (mistake,) in found]


def unexplained(of: str, seen: Sequence[Seen], named: Sequence[Diagnosis]) -> list[Seen]:
    """Return the wrong results that none of some mistakes gives."""
    search, ways = _Search(of, seen), [way for each in named for way in catalogue()[each.id].ways]
    wrong = (one for one in seen if one.got is not None and not one.is_right)
    return [one for one in wrong if not any(search.gives(way, one) for way in ways)]


def sometimes(of: str, seen: Sequence[Seen]) -> Diagnosis | None:
    """Return the one mistake that gives the numbers of all wrong cases, though not those of the right ones."""
    search = _Search(of, seen)
    several = len(search.wrong) > 1 and sum(one.right.numel() for one in search.wrong) >= SEVERAL
    rule = seen[0].case.pooling
    known = [each for each in catalogue().values() if of in each.of and each.is_of(rule)]
    found = [each for each in known if several and any(map(search.fits_wrong, each.ways))]
    if len(found) != 1:
        return None
    return diagnosis(found[0], say("evidence.where", count=len(search.wrong), result=of), of, is_partial=True)


def _best(
    groups: Iterable[tuple[Mistake, ...]], fit: Callable[[Recipe], int], least: int
) -> tuple[list[tuple[Mistake, ...]], int]:
    """Return the groups that explain the most wrong cases, if that is enough, and how many these are."""
    counts = {group: max(map(fit, _ways(*group)), default=0) for group in groups}
    best = max(counts.values(), default=0)
    return [group for group, count in counts.items() if count == best >= least], best


class _Search:
    """Recipes held against what was seen for one result; each is computed once for each case."""

    def __init__(self, of: str, seen: Sequence[Seen]) -> None:
        self._of = of
        given = [one for one in seen if one.got is not None]
        self._first = next((one for one in given if not one.is_right), None)
        given.sort(key=lambda one: _plainness(one.case.spec))
        self.wrong = [one for one in given if not one.is_right]
        # Wrong ones first: a recipe that does not explain them is put aside soon.
        self._ordered = [*self.wrong, *(one for one in given if one.is_right)]
        self._known: dict[tuple[str, Hashable], bool | None] = {}

    def fit(self, recipe: Recipe) -> int:
        """Return how many of the wrong cases have the very numbers that a recipe gives; 0 if it contradicts a case.

        Where it cannot be computed at all, a student's code does as it likes; only being right would contradict it.
        """
        explained = 0
        for one in self._ordered:
            gives = self.gives(recipe, one)
            if gives is False or (gives is None and one.is_right):
                return 0
            explained += gives is True and not one.is_right
        return explained

    def fits_wrong(self, recipe: Recipe) -> bool:
        """Return whether a recipe gives the numbers of every wrong case."""
        return all(self.gives(recipe, one) for one in self.wrong)

    def fit_partly(self, recipe: Recipe) -> int:
        """Return the same; 0 only if it is not what the first wrong case has, or spoils one that is right."""
        if self._first is None or not self.gives(recipe, self._first):
            return 0
        if any(one.is_right and not self.gives(recipe, one) for one in self._ordered):
            return 0
        return sum(self.gives(recipe, one) is True for one in self.wrong)

    def gives(self, recipe: Recipe, one: Seen) -> bool | None:
        """Return whether a recipe gives what was seen in a case; None if it cannot be computed there."""
        key = (one.case.name, resolved(self._of, recipe, one.case))
        if key not in self._known:
            found = compute(self._of, recipe, one.case)
            self._known[key] = None if found is None else one.got is not None and same(one.got, found)
        return self._known[key]

    def shows(self, mistake: Mistake) -> int:
        """Return in how many of the wrong cases a mistake changes anything."""
        return max(map(self._changes, mistake.ways))

    def shows_first(self, mistake: Mistake) -> bool:
        """Return whether its plainest way changes anything: what nobody was asked for, as a dilation, is no mistake."""
        return self._changes(mistake.ways[0]) > 0

    def _changes(self, way: Recipe) -> int:
        return sum(resolved(self._of, way, one.case) != resolved(self._of, {}, one.case) for one in self.wrong)


def _plainness(spec: ConvSpec) -> tuple[int, int]:
    """Return how many numbers are others than the plainest: in a plain case most recipes are one and the same."""
    above = (max(spec.stride) > 1, any(map(any, spec.padding)), max(spec.dilation) > 1, spec.groups > 1)
    return sum(above) + any(spec.remainder) + (spec.padding_mode != "zeros"), spec.products


def _ways(one: Mistake, *others: Mistake) -> Iterator[Recipe]:
    """Yield the ways to make one or two mistakes at once; none where both choose in the same step."""
    for ours, theirs in itertools.product(one.ways, others[0].ways if others else ({},)):
        both = ours.keys() & theirs.keys()
        if not both:
            yield {**ours, **theirs}
        elif both == {"times"}:
            yield {**ours, **theirs, "times": f"{ours['times']} * {theirs['times']}"}


def resolved(of: str, recipe: Recipe, case: Case) -> Hashable:
    """Return a recipe with the numbers that its names stand for in a case: many recipes are one and the same there."""
    if case.pooling:
        return tuple(sorted(complete("pooling", recipe).items()))
    return in_geometry(of, recipe, case.spec)


def in_geometry(of: str, recipe: Recipe, spec: ConvSpec) -> Hashable:
    """Return the same in a convolution's geometry: what is equal there gives equal numbers, whatever the tensors."""
    chosen = complete(of, recipe)
    if of == "grad_bias":
        return tuple(sorted({**chosen, **recipe}.items()))
    chosen = {**chosen, **_without_choice(chosen, spec)}
    rows, columns = axes(chosen, spec)
    named = tuple(
        (step, rows.get(choice, choice), columns.get(choice, choice))
        for step, choice in chosen.items()
        if step != "axes" or choice == "border"  # the others are in the numbers
    )
    return named, tuple(line[name] for line in (rows, columns) for name in ("N", "p", "d"))


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
