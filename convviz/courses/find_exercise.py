"""Exercises by hand: the smallest setting that shows chosen mistakes, found by computing what each would give."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch

from convviz.cases.battery import Case, make_case
from convviz.cases.random_cases import each_tensor
from convviz.cases.tasks import TASKS, truth
from convviz.check.call_outcome import same
from convviz.check.diagnose.by_catalogue import in_geometry
from convviz.check.one_thread import one_thread
from convviz.courses.exercise_sheet import Exercise, Wrong
from convviz.facts.words import sentences
from convviz.geometry.axis_taps import PADDING_MODES
from convviz.geometry.spec import ConvSpec
from convviz.mistakes.catalogue import Mistake, catalogue, compute
from convviz.mistakes.recipe_steps import Recipe

say = sentences("exercise")

ALL = TASKS["conv2d_function"]  # output and all gradients
# What a person computes by hand without tiring of it. A kernel of one cell has no orientation, and teaches little.
SIZES, KERNELS, STRIDES, PADDINGS, DILATIONS, CHANNELS = range(2, 9), (2, 3), (1, 2, 3), (0, 1, 2), (1, 2), (1, 2)
NAMES = [field.name for field in dataclasses.fields(ConvSpec) if field.name != "input_size"]
DRAWS = 20  # of whole numbers for one geometry: a few hide a mistake that others show


@one_thread()
def exercise(expose: Sequence[str], *, seed: int = 0) -> Exercise:
    """Return the smallest exercise that shows every one of the chosen mistakes.

    Args:
        expose: ids of the catalogue, such as ``["I10", "I11"]``.
        seed: of the numbers; the same seed gives the same sheet.

    Raises:
        ValueError: an unknown mistake, one that no sheet can show, or mistakes that no small setting shows together.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise ValueError(say("seed", seed=repr(seed)))
    chosen = _chosen(expose)
    results = _results(chosen)
    shown = [(mistake, next(name for name in results if name in mistake.of)) for mistake in chosen]
    settings = _settings(sum(name != "grad_bias" for name in results))
    # Some ways show with many channels only, which is no work for paper: then the first of each mistake has to do.
    for in_every_way in (True, False):
        ways = [_Way(of, way, not n) for each, of in shown for n, way in enumerate(each.ways) if in_every_way or not n]
        for tried, spec in enumerate(settings, 1):
            if not _differ(ways, spec):
                continue
            rough = make_case("any numbers", spec, 0)
            if not _show(ways, rough, functools.cache(functools.partial(compute, recipe={}, case=rough))):
                continue
            for draw in range(DRAWS):
                case = _whole_numbers(spec, seed * DRAWS + draw)
                right = {name: value for name, value in truth(ALL, case).items() if name in results}
                if _show(ways, case, right.__getitem__):
                    made = [(mistake, result, compute(result, mistake.ways[0], case)) for mistake, result in shown]
                    wrong = tuple(Wrong(mistake, result, got) for mistake, result, got in made if got is not None)
                    return Exercise(case, results, right, wrong, seed, tried, in_every_way)
    raise ValueError(say("not_found", tried=len(settings), ids=", ".join(mistake.id for mistake in chosen)))


def _chosen(expose: Sequence[str]) -> list[Mistake]:
    if isinstance(expose, str) or not isinstance(expose, Sequence):
        raise ValueError(say("unknown", got=repr(expose)))
    if not expose:
        raise ValueError(say("none"))
    for id in expose:
        if id not in catalogue():
            raise ValueError(say("unknown", got=repr(id)))
        if not catalogue()[id].is_of("") or not catalogue()[id].ways:
            raise ValueError(say("no_ways", id=id))
    return [catalogue()[id] for id in dict.fromkeys(expose)]


def _results(chosen: Sequence[Mistake]) -> tuple[str, ...]:
    found: set[str] = set()
    for mistake in sorted(chosen, key=lambda mistake: len(mistake.of)):
        if not found & set(mistake.of):
            found.add(mistake.of[0])
    return tuple(name for name in ALL.results if name in found)


class _Way(NamedTuple):
    """One way to make a mistake in a result."""

    of: str
    recipe: Recipe
    has_numbers: bool  # whether it has to give some, as the first of its mistake


def _differ(ways: list[_Way], spec: ConvSpec) -> bool:
    """Return whether no way is what is right in a geometry, as any way to take groups is where there is one.

    The one that is comes first from now on, as what is asked of all settings: most of the next do not show it either.
    """
    for at, way in enumerate(ways):
        if in_geometry(way.of, way.recipe, spec) == in_geometry(way.of, {}, spec):
            ways.insert(0, ways.pop(at))
            return False
    return True


def _show(ways: list[_Way], case: Case, right: Callable[[str], torch.Tensor | None]) -> bool:
    """Return whether each way gives something else than what is right of a result; one that does not comes first."""
    for at, way in enumerate(ways):
        got, wanted = compute(way.of, way.recipe, case), right(way.of)
        if (got is None and way.has_numbers) or (got is not None and wanted is not None and same(got, wanted)):
            ways.insert(0, ways.pop(at))
            return False
    return True


def _whole_numbers(spec: ConvSpec, seed: int) -> Case:
    """Return a case of whole numbers from −3 to 3, without 0, which would hide its factor."""
    drawn = make_case("by hand", spec, seed)
    generator = torch.Generator().manual_seed(seed % 2**63)

    def draw(like: torch.Tensor, _: int) -> torch.Tensor:
        digits = torch.randint(1, 4, like.shape, generator=generator)
        signs = torch.randint(0, 2, like.shape, generator=generator) * 2 - 1
        return (digits * signs).double()

    return each_tensor(drawn, draw)


@functools.cache
def _settings(planes: int) -> list[ConvSpec]:
    """Return geometries, the plainest first; of as plain ones that with the fewest products in so many results."""
    met: dict[object, ConvSpec] = {}
    for spec in sorted(_every(), key=lambda spec: (_oddity(spec), _cost(planes, spec))):
        # A larger input with the same remainder shows nothing that the smaller one does not.
        is_square = spec.input_size[0] == spec.input_size[1]
        met.setdefault((*(getattr(spec, name) for name in NAMES), spec.remainder, is_square), spec)
    return list(met.values())


def _every() -> Iterator[ConvSpec]:
    """Yield settings whose rows and columns differ in their number only, then plain ones of other differences."""
    every = itertools.product(CHANNELS, CHANNELS, CHANNELS, CHANNELS)
    counts = [one for one in every if one[1] % one[3] == 0 == one[2] % one[3]]
    lines = [(size, *rest) for *rest, size in itertools.product(KERNELS, STRIDES, PADDINGS, DILATIONS, range(2, 10))]
    # The window has two places at least, for there is nothing to add up with one.
    lines = [(n, k, s, p, d) for n, k, s, p, d in lines if n + 2 * p - d * (k - 1) > s]
    for rows, columns in itertools.product(lines, lines):
        size, kernel, stride, padding, dilation = zip(rows, columns, strict=True)
        if rows[0] not in SIZES:
            continue
        if rows[1:] == columns[1:] and columns[0] - rows[0] in (0, 1):
            for mode, (batch, into, out, groups) in itertools.product(PADDING_MODES, counts):
                if mode == "zeros" or 0 < rows[3] < rows[0]:
                    yield ConvSpec(size, into, out, kernel, stride, padding, dilation, groups, mode, batch)
        elif rows[:2] == columns[:2]:
            yield ConvSpec(size, 1, 1, kernel, stride, padding, dilation)


def _oddity(spec: ConvSpec) -> int:
    pairs = (spec.stride, (spec.padding[0][0], spec.padding[1][0]), spec.dilation)
    counts = spec.batch + spec.in_channels + spec.out_channels + spec.groups
    return sum(map(max, pairs)) - 2 + counts - 4 + (spec.padding_mode != "zeros") + any(a != b for a, b in pairs)


def _cost(planes: int, spec: ConvSpec) -> int:
    taps = len(spec.axis_taps(0)) * len(spec.axis_taps(1)) * spec.in_channels // spec.groups
    return spec.batch * spec.out_channels * (planes * taps + math.prod(spec.output_size))
