"""Geometries and numbers drawn at random, for what is wrong in a few settings only and right in the whole battery.

The same seed gives the same cases; torch's own random numbers are not touched.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import torch

from convviz.cases.battery import Case, beside, make_case
from convviz.cases.pooled_geometries import is_ceil
from convviz.cases.setting_in_words import setting_in_words
from convviz.cases.tasks import Task
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.geometry.axis_taps import PADDING_MODES
from convviz.geometry.spec import ConvSpec

say = sentences("check")
Fit = Callable[[ConvSpec], ConvSpec | None]

MAX_PRODUCTS = 2500  # of a geometry: a few hundred of them must not take long in loops of pure Python
MAX_LARGE = 10_000  # of one that is large in one respect
# What a geometry is large in, and how large first: as fast paths and blocks are, then at random.
LARGE = {
    "groups": (24, 32, 64),
    "inputs": (32, 48, 64),
    "outputs": (32, 48, 64),
    "rows": (16, 32, 64),
    "columns": (16, 32, 64),
    "batch": (32, 61),  # whole chunks, and a rest behind each of them
    "plane": (17, 18, 24),  # of more cells than a byte counts, and beyond a tile of 16
    "cells": (24, 25),  # and 64 channels of them: more than two bytes with a sign count
}
FEATURES = (257, 1024)  # of a linear layer, which takes many
SIDES = ("rows", "columns")
AGAIN = 4  # every so many geometries come again with other numbers: that shows caches and shared buffers
TENSORS = ("input", "weight", "bias", "grad_output", "transposed_bias")
NUMBERS = ("any", "any", "any", "whole", "positive", "large and small")


def random_cases(task: Task, seed: int, count: int, fit: Fit) -> Iterator[Case]:
    """Yield cases of so many geometries, some of them more than once, with other numbers.

    ``fit`` returns the nearest geometry that a function can be asked, None where there is none.
    """
    for number, kind, spec, other in _geometries(task, seed, count, fit):
        case = with_numbers(kind, task, spec, seed + number)
        yield case
        if number % AGAIN == 0:
            # The same numbers in another order: sum, mean and largest are the same, and so are the shapes.
            yield each_tensor(case, lambda numbers, _: numbers.flatten().flip(0).reshape(numbers.shape))
            name = TENSORS[number // AGAIN % len(TENSORS)]
            yield case.with_tensor(name, 0.5 - case.tensor(name))
            if other is not None:
                yield with_numbers("any", task, other, seed + number)  # what is kept by sizes alone shows
            yield case


def random_geometries(task: Task, seed: int, count: int, fit: Fit) -> list[ConvSpec]:
    """Return the geometries of those cases, each once."""
    drawn = _geometries(task, seed, count, fit)
    return list(dict.fromkeys(spec for _, _, *specs in drawn for spec in specs if spec is not None))


def _geometries(task: Task, seed: int, count: int, fit: Fit) -> Iterator[tuple[int, str, ConvSpec, ConvSpec | None]]:
    """Yield a number, a kind of numbers, a geometry, and one beside it every so many times."""
    draws = Random(seed)
    for number in range(count):
        spec = fit(_geometry(draws, task.name.startswith("linear")))
        if spec is None or spec.products > MAX_PRODUCTS or _is_cropped_away(spec):
            continue
        # At the border of its mask a binary weight may be taken either way.
        kind = "any" if task.quantised else draws.choice(NUMBERS)
        other = fit(beside(spec)) if number % AGAIN == 0 else None
        yield number, kind, spec, None if other in (None, spec) or _is_cropped_away(other) else other


def large_cases(task: Task, seed: int, fit: Fit) -> Iterator[Case]:
    """Yield cases with many channels, groups, rows, columns or samples, one of these at a time: so they cost little.

    Last some planes that are large both ways, with a dilation or without.
    """
    draws = Random(seed)
    linear = task.name.startswith("linear")
    for what, sizes in LARGE.items():
        if linear and what in ("groups", "plane", "cells", *SIDES):
            continue
        many = FEATURES if linear and what != "batch" else ()
        for at, size in enumerate((*sizes, draws.randrange(sizes[0], sizes[-1] + 1), *many)):
            spec = fit(_large(draws, what, size, linear))
            if spec is not None and spec.products <= MAX_LARGE and not _is_cropped_away(spec):
                yield with_numbers("any", task, spec, seed + at)


def _large(draws: Random, what: str, size: int, linear: bool) -> ConvSpec:
    if what == "cells":
        return ConvSpec(size, 64, 1, (1, 2), 3)
    many = dict.fromkeys(SIDES, size) if what == "plane" else {what: size}
    groups, batch = many.get("groups", 1), many.get("batch", 1)
    inputs = many.get("inputs", groups if groups > 1 else 1 + draws.randrange(2))
    outputs = many.get(
        "outputs", groups * (1 + draws.randrange(2) * (groups <= 32)) if groups > 1 else 1 + draws.randrange(2)
    )
    if linear:
        return ConvSpec(1, inputs, outputs, 1, batch=batch)
    kernel = (1 + draws.randrange(3), 1 + draws.randrange(3))
    rows, columns = (many.get(name, cells + draws.randrange(2)) for name, cells in zip(SIDES, kernel, strict=True))
    padding = [draws.randrange(min(cells, 2)) if what in (*SIDES, "batch") else 0 for cells in kernel]
    stride, dilation = 1 + draws.randrange(2), 1 + (draws.randrange(2) if what == "plane" else 0)
    return ConvSpec((rows, columns), inputs, outputs, kernel, stride, padding, dilation, groups, batch=batch)


def with_numbers(kind: str, task: Task, spec: ConvSpec, seed: int) -> Case:
    """Return a case of a geometry with numbers of a kind, named after both."""
    case = make_case(kind, spec, seed, task.rule)
    if kind == "any":
        return case
    if kind == "large and small":
        return each_tensor(case, lambda numbers, at: numbers * 1000.0 ** ((seed + at) % 3 - 1))
    return each_tensor(case, lambda numbers, _: (2 * numbers).round() if kind == "whole" else numbers.abs())


def each_tensor(case: Case, changed: Callable[[torch.Tensor, int], torch.Tensor]) -> Case:
    """Return a case with other numbers in all its tensors, which are counted."""
    tensors = {name: changed(case.tensor(name), at) for at, name in enumerate(TENSORS)}
    return dataclasses.replace(case, **tensors)  # type: ignore[arg-type]  # the names are those of tensors


def absolute(case: Case) -> Case:
    """Return a case with the size of each number, in whose results nothing cancels."""
    return each_tensor(case, lambda numbers, _: numbers.abs())


def named(task: Task, case: Case, found: bool = True) -> Case:
    """Return a case with a name that says what it is, for a report, and that it was ``found`` at random."""
    spec = case.spec
    is_linear = task.name.startswith("linear")
    input = spec.output_shape if task.is_transposed else spec.input_shape
    shapes = {"input": input} if task.pooling else {"input": input, "weight": spec.weight_shape}
    kept = [axis for axis in range(4) if axis not in task.lacks]
    said = [f"{name} {[shape[axis] for axis in kept]}" for name, shape in shapes.items()]
    said += [] if is_linear else [setting_in_words(spec)]
    said += ["ceil_mode"] * bool(task.pooling and is_ceil(spec))
    said += [say("setting.groups", groups=spec.groups)] * (spec.groups > 1)
    return dataclasses.replace(case, name=say("random", shapes=comma(said)) if found else comma(said))


def in_words(task: Task, cases: Sequence[Case]) -> str:
    """Return in a sentence how many cases were drawn, and up to which sizes; empty if none was."""
    if not cases:
        return ""
    specs = [case.spec for case in cases]
    sizes = {
        "channels": max(max(spec.in_channels, spec.out_channels) for spec in specs),
        "batch": max(spec.batch for spec in specs),
    }
    if not task.name.startswith("linear"):
        sides = [spec.output_size if task.is_transposed else spec.input_size for spec in specs]
        sizes |= {} if task.is_row else {"rows": max(rows for rows, _ in sides)}
        sizes |= {"columns": max(columns for _, columns in sides)}
        return say("drawn.row" if task.is_row else "drawn.sizes", count=len(cases), **sizes)
    return say("drawn.features", count=len(cases), **sizes)


def simpler(spec: ConvSpec) -> Iterator[ConvSpec]:
    """Yield geometries with one number less of something, the largest steps first."""
    changes: list[dict[str, object]] = [{"batch": 1}, {"batch": spec.batch - 1}, {"padding_mode": "zeros"}]
    groups, into, out = spec.groups, spec.in_channels, spec.out_channels
    changes += [{"groups": 1, "in_channels": into // groups, "out_channels": out // groups}, {"groups": 1}]
    changes += [{"in_channels": groups}, {"out_channels": groups}]
    changes += [{"batch": spec.batch // 2}] if spec.batch > 8 else []
    changes += [{"in_channels": into // 2 // groups * groups}] if into > 8 * groups else []
    changes += [{"out_channels": out // 2 // groups * groups}] if out > 8 * groups else []
    changes += [{"in_channels": into - groups}, {"out_channels": out - groups}]
    padding = (spec.padding[0][0], spec.padding[1][0])
    pairs = {"dilation": spec.dilation, "stride": spec.stride, "padding": padding, "kernel_size": spec.kernel_size}
    for name, pair in (*pairs.items(), ("input_size", spec.input_size)):
        first, second = pair
        least = 0 if name == "padding" else 1
        changes += [{name: (least, least)}, {name: (least, second)}, {name: (first, least)}]
        changes += [{name: (first // 2, second)}, {name: (first, second // 2)}] if max(pair) > 8 else []
        changes += [{name: (first - 1, second - 1)}, {name: (first - 1, second)}, {name: (first, second - 1)}]
    for change in changes:
        try:
            other = spec.replace(**change)
        except ValueError:  # the kernel does not fit any more, or there is nothing less
            continue
        if other != spec and not _is_cropped_away(other):
            yield other


def _geometry(draws: Random, is_linear: bool) -> ConvSpec:
    if is_linear:
        return ConvSpec(1, 1 + draws.randrange(6), 1 + draws.randrange(6), 1, batch=1 + draws.randrange(5))
    rows = _axis(draws)
    same = draws.randrange(5)  # 0, 1: all is square; 2: all but the input; 3: input, kernel and output
    columns = rows if same < 2 else (_size(draws, *rows[1:]), *rows[1:]) if same == 2 else _axis(draws)
    columns = draws.choice(_of_sizes(*rows) or [columns]) if same == 3 else columns
    groups = draws.choice((1, 1, 1, 2, 2, 3, 4))
    per_group = (1, 1, 2, 3) if groups > 1 else (1, 1, 2, 3, 4, 5)
    channels, out_channels = groups * draws.choice(per_group), groups * draws.choice(per_group)
    batch = draws.choice((1, 1, 2, 2, 3, 4, 7))
    mode = draws.choice(("zeros",) * 6 + PADDING_MODES)
    padding: Any
    size, kernel, stride, padding, dilation = zip(rows, columns, strict=True)
    if stride == (1, 1) and not draws.randrange(8):  # for who takes a padding in words
        padding, mode = "same", "zeros"
    try:
        return ConvSpec(size, channels, out_channels, kernel, stride, padding, dilation, groups, mode, batch)
    except ValueError:  # a border that is wider than the input
        return ConvSpec(size, channels, out_channels, kernel, stride, padding, dilation, groups, batch=batch)


def _axis(draws: Random) -> tuple[int, int, int, int, int]:
    kernel, stride = draws.choice((1, 1, 2, 2, 3, 3, 4, 5)), draws.choice((1, 1, 1, 2, 2, 3))
    dilation = draws.choice((1, 1, 1, 2, 3))
    padding = draws.randrange(kernel + 1) if draws.randrange(3) else 0
    return _size(draws, kernel, stride, padding, dilation), kernel, stride, padding, dilation


def _of_sizes(size: int, kernel: int, *others: int) -> list[tuple[int, int, int, int, int]]:
    """Return the axes of the same input, kernel and output with another stride, padding or dilation."""

    def rows(stride: int, padding: int, dilation: int) -> int:
        return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1

    found = itertools.product((1, 2, 3), range(kernel + 1), (1, 2, 3))
    return [(size, kernel, *each) for each in found if each != others and rows(*each) == rows(*others)]


def _size(draws: Random, kernel: int, stride: int, padding: int, dilation: int) -> int:
    """Return a size of the input by what comes out of it, few rows of which show the most; and a remainder."""
    rows = draws.choice((1, 2, 2, 3, 4))
    span = dilation * (kernel - 1) + 1
    return max((rows - 1) * stride + span - 2 * padding + draws.randrange(stride), 1, span - 2 * padding)


def _is_cropped_away(spec: ConvSpec) -> bool:
    """Return whether the padding is so wide that of a spread grad_output nothing is left: no layer is built so."""
    if any(size <= rest for size, rest in zip(spec.input_size, spec.remainder, strict=True)):
        return True
    axes = zip(spec.output_size, spec.stride, spec.dilation, spec.kernel_size, spec.padding, strict=True)
    return any((o - 1) * s + 1 <= 2 * max(max(p) - d * (k - 1), 0) for o, s, d, k, p in axes)
