"""Exercises by hand: the smallest setting that shows chosen mistakes, found by computing what each would give."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence

import torch

from convviz.check.battery import Case, make_case
from convviz.check.compare import same
from convviz.check.mistakes import Mistake, catalogue, compute
from convviz.check.random_cases import each_tensor
from convviz.check.sheet import Exercise, Wrong
from convviz.check.tasks import TASKS, truth
from convviz.facts.words import sentences
from convviz.geometry.axis_taps import PADDING_MODES
from convviz.geometry.spec import ConvSpec

say = sentences("exercise")

ALL = TASKS["conv2d_function"]  # output and all gradients
# What a person computes by hand without tiring of it. A kernel of one cell has no orientation, and teaches little.
SIZES, KERNELS, STRIDES, PADDINGS, DILATIONS, CHANNELS = range(2, 9), (2, 3), (1, 2, 3), (0, 1, 2), (1, 2), (1, 2)
DRAWS = 20  # of whole numbers for one geometry: a few hide a mistake that others show


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
    first = [(mistake, next(name for name in results if name in mistake.of), 1) for mistake in chosen]
    every = [(mistake, result, len(mistake.ways)) for mistake, result, _ in first]
    settings = list(_settings(results))
    # Some ways show with many channels only, which is no work for paper: then the first of each mistake has to do.
    for shown in (every, first):
        for tried, spec in enumerate(settings, 1):
            rough = make_case("any numbers", spec, 0)
            if not _shows(shown, rough, {name: compute(name, {}, rough) for name in results}):
                continue
            for draw in range(DRAWS):
                case = _whole_numbers(spec, seed * DRAWS + draw)
                right = {name: value for name, value in truth(ALL, case).items() if name in results}
                if _shows(shown, case, right):
                    made = [(mistake, result, compute(result, mistake.ways[0], case)) for mistake, result, _ in shown]
                    wrong = tuple(Wrong(mistake, result, got) for mistake, result, got in made if got is not None)
                    return Exercise(case, results, right, wrong, seed, tried, shown is every)
    raise ValueError(say("not_found", tried=len(settings), ids=", ".join(mistake.id for mistake in chosen)))


def _chosen(expose: Sequence[str]) -> list[Mistake]:
    if isinstance(expose, str) or not isinstance(expose, Sequence):
        raise ValueError(say("unknown", got=repr(expose)))
    if not expose:
        raise ValueError(say("none"))
    for id in expose:
        if id not in catalogue():
            raise ValueError(say("unknown", got=repr(id)))
        if id.startswith("Q") or not catalogue()[id].ways:
            raise ValueError(say("no_ways", id=id))
    return [catalogue()[id] for id in dict.fromkeys(expose)]


def _results(chosen: Sequence[Mistake]) -> tuple[str, ...]:
    found: set[str] = set()
    for mistake in sorted(chosen, key=lambda mistake: len(mistake.of)):
        if not found & set(mistake.of):
            found.add(mistake.of[0])
    return tuple(name for name in ALL.results if name in found)


def _shows(shown: Sequence[tuple[Mistake, str, int]], case: Case, right: Mapping[str, torch.Tensor | None]) -> bool:
    """Return whether each mistake gives something else in so many of its ways, and numbers in the first of them."""
    for mistake, result, ways in shown:
        for number, way in enumerate(mistake.ways[:ways]):
            got, wanted = compute(result, way, case), right[result]
            if (got is None and number == 0) or (got is not None and wanted is not None and same(got, wanted)):
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


Axis = tuple[int, int, int, int, int]  # size, kernel, stride, padding, dilation
Counts = tuple[int, int, int, int]  # batch, C_in, C_out, groups


def _settings(results: Sequence[str]) -> Iterator[ConvSpec]:
    """Yield geometries, the plainest first; of as plain ones that with the fewest products."""
    planes = sum(name in ("output", "grad_input", "grad_weight") for name in results)
    every = [*_square(), *_oblong()]
    every.sort(key=lambda one: (_oddity(*one), _cost(planes, *one)))
    met = set()
    for rows, columns, mode, (batch, channels, out_channels, groups) in every:
        size, kernel, stride, padding, dilation = zip(rows, columns, strict=True)
        spec = ConvSpec(size, channels, out_channels, kernel, stride, padding, dilation, groups, mode, batch)
        kind = (rows[1:], columns[1:], mode, batch, channels, out_channels, groups, spec.remainder, size[0] == size[1])
        if kind not in met:  # a larger input with the same remainder shows nothing that the smaller one does not
            met.add(kind)
            yield spec


def _square() -> Iterator[tuple[Axis, Axis, str, Counts]]:
    """Yield settings whose rows and columns differ in their number only."""
    every = itertools.product(CHANNELS, CHANNELS, CHANNELS, CHANNELS)
    counts = [one for one in every if one[1] % one[3] == 0 == one[2] % one[3]]
    for shared in itertools.product(KERNELS, STRIDES, PADDINGS, DILATIONS):
        for height, more in itertools.product(SIZES, (0, 1)):
            rows, columns = (height, *shared), (height + more, *shared)
            modes = [mode for mode in PADDING_MODES if mode == "zeros" or 0 < shared[2] < height]
            if _fits(rows) and _fits(columns):
                yield from ((rows, columns, mode, one) for mode in modes for one in counts)


def _oblong() -> Iterator[tuple[Axis, Axis, str, Counts]]:
    """Yield settings whose rows have another stride, padding or dilation than their columns."""
    shared = itertools.product(SIZES, KERNELS)
    for size, kernel in shared:
        lines = [(size, kernel, *rest) for rest in itertools.product(STRIDES, PADDINGS, DILATIONS)]
        lines = [line for line in lines if _fits(line)]
        yield from ((rows, columns, "zeros", (1, 1, 1, 1)) for rows, columns in itertools.permutations(lines, 2))


def _fits(axis: Axis) -> bool:
    """Return whether the window has two places at least, for there is nothing to add up with one."""
    return _taps(axis, "zeros")[1] > 1


def _oddity(rows: Axis, columns: Axis, mode: str, counts: Counts) -> int:
    per_axis = (max(row, column) for row, column in zip(rows[2:], columns[2:], strict=True))
    return sum(per_axis) - 2 + sum(counts) - 4 + (mode != "zeros") + (rows[2:] != columns[2:])


def _cost(planes: int, rows: Axis, columns: Axis, mode: str, counts: Counts) -> int:
    batch, channels, out_channels, groups = counts
    taps, cells = (a * b for a, b in zip(_taps(rows, mode), _taps(columns, mode), strict=True))
    return batch * (planes * taps * channels * out_channels // groups + cells * out_channels)


@functools.lru_cache(maxsize=4096)
def _taps(axis: Axis, mode: str) -> tuple[int, int]:
    size, kernel, stride, padding, dilation = axis
    cells = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    reads = [o * stride - padding + k * dilation for o in range(cells) for k in range(kernel)]
    return sum(mode != "zeros" or 0 <= i < size for i in reads), max(cells, 0)
