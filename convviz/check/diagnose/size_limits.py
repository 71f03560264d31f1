"""From which size on a function is wrong that is right at all smaller ones; found by asking, not by what was drawn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from convviz.cases.battery import Case, make_case
from convviz.check.calling.student_function import Student
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("check")
LARGE = 8  # a size that most cases stay below: smaller ones decide nothing by being large
Resize = Callable[[ConvSpec, int], ConvSpec]


def _groups(spec: ConvSpec, size: int) -> ConvSpec:
    into, out = spec.in_channels // spec.groups, spec.out_channels // spec.groups
    return spec.replace(groups=size, in_channels=into * size, out_channels=out * size)


SIZES: Mapping[str, tuple[Callable[[ConvSpec], int], Resize]] = {
    "groups": (lambda spec: spec.groups, _groups),
    "inputs": (lambda spec: spec.in_channels, lambda spec, size: spec.replace(in_channels=size)),
    "outputs": (lambda spec: spec.out_channels, lambda spec, size: spec.replace(out_channels=size)),
    "rows": (lambda spec: spec.input_size[0], lambda spec, n: spec.replace(input_size=(n, spec.input_size[1]))),
    "columns": (lambda spec: spec.input_size[1], lambda spec, n: spec.replace(input_size=(spec.input_size[0], n))),
    "samples": (lambda spec: spec.batch, lambda spec, size: spec.replace(batch=size)),
}


@dataclass(frozen=True)
class _Limit:
    """Two sizes, one above the other, of which the smaller one is right and the larger one wrong."""

    right: ConvSpec
    wrong: ConvSpec


def size_limit(student: Student, wrong: ConvSpec) -> str:
    """Return in a sentence from which size on a geometry is wrong; empty where no size decides it."""
    for name, (size, resized) in SIZES.items():
        if size(wrong) < LARGE or (found := _limit(student, wrong, name)) is None:
            continue
        other = {"rows": "columns", "columns": "rows"}.get(name, "")
        if other and (cells := _cells(student, wrong, name, other, found)):
            return cells
        sizes = {"right": size(found.right), "wrong": size(found.wrong), "next": size(found.wrong) + 1}
        sizes |= {"twice": 2 * sizes["right"], "thrice": 3 * sizes["right"]}
        blocks = [_is_right(student, wrong, resized, sizes[name]) for name in ("twice", "thrice")]
        above = [_is_right(student, wrong, resized, n) for n in (sizes["next"], 2 * sizes["wrong"])]
        if sizes["right"] > 1 and blocks == [True, True] and above[0] is False:
            return say("limit.blocks", what=say(f"size.{name}"), **sizes)
        if above[0] and above[1] is not False:
            return say("limit.exactly", what=say(f"size.{name}"), **sizes)
        id = "limit.from" if True in (*above, *blocks) else "limit.more"
        return say(id, what=say(f"size.{name}"), **sizes)
    return ""


def _limit(student: Student, wrong: ConvSpec, name: str) -> _Limit | None:
    """Return where one size alone, from its smallest on, makes a geometry wrong; None where it does not."""
    size, resized = SIZES[name]
    low, high = next((n for n in range(1, size(wrong)) if _of(wrong, resized, n)), 0), size(wrong)
    if not low or not _is_right(student, wrong, resized, low) or _is_right(student, wrong, resized, high) is not False:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        answer = _is_right(student, wrong, resized, middle)
        if answer is None:
            return None
        low, high = (middle, high) if answer else (low, middle)
    right, least = _of(wrong, resized, low), _of(wrong, resized, high)
    return _Limit(right, least) if right and least else None


def _cells(student: Student, wrong: ConvSpec, name: str, other: str, first: _Limit) -> str:
    """Return in a sentence that the number of cells of a plane decides, rows times columns; empty if it does not."""
    (size, resized), (name_size, _) = SIZES[other], SIZES[name]
    limits = [first]
    for more in (size(wrong) + 1, 2 * size(wrong)):
        wider = _of(wrong, resized, more)
        if wider and (found := _limit(student, wider, name)):
            limits.append(found)
    if len({name_size(each.wrong) for each in limits}) < 2:
        return ""  # it decides by itself
    fitting = []
    for id, cells in {"limit.plane": _plain, "limit.cells": _padded}.items():
        right, least = max(cells(each.right) for each in limits), min(cells(each.wrong) for each in limits)
        fitting += [say(id, right=right, wrong=least)] * (right < least)
    if fitting and (len(fitting) == 1 or wrong.padded_size == wrong.input_size):
        return fitting[0]
    words = {"what": say(f"size.{name}"), "other": say(f"size.{other}")}
    own, moved = (limits[0], next(each for each in limits if name_size(each.wrong) != name_size(limits[0].wrong)))
    sizes = {
        "count": size(own.wrong),
        "wrong": name_size(own.wrong),
        "more": size(moved.wrong),
        "then": name_size(moved.wrong),
    }
    return say("limit.both", **words, **sizes)


def _padded(spec: ConvSpec) -> int:
    rows, columns = spec.padded_size
    return rows * columns


def _plain(spec: ConvSpec) -> int:
    rows, columns = spec.input_size
    return rows * columns


def _of(spec: ConvSpec, resized: Resize, size: int) -> ConvSpec | None:
    try:
        return resized(spec, size)
    except ValueError:  # no window fits any more
        return None


def _is_right(student: Student, spec: ConvSpec, resized: Resize, size: int) -> bool | None:
    """Return whether a geometry of another size is right; None where it cannot be asked."""
    other = _of(spec, resized, size)
    return None if other is None else is_right(student, other)


def is_right(student: Student, spec: ConvSpec) -> bool | None:
    """Return whether a function is right at a geometry, with numbers of its own; None where it cannot be asked."""
    case = make_case("another size", spec, 84, student.task.rule)
    return None if student.takes(case) else student.tried(case).is_right


# What is plain in a geometry, by the ends of the sentences' ids.
PLAINER: Mapping[str, Mapping[str, object]] = {
    "stride": {"stride": 1},
    "dilation": {"dilation": 1},
    "padding": {"padding": 0},
    "groups": {"groups": 1},
    "batch": {"batch": 1},
    "border": {"padding_mode": "zeros"},
}


def needed(student: Student, wrong: Case) -> str:
    """Return in a sentence which settings make a wrong case right as soon as one of them is plain; empty for none."""
    spec = wrong.spec
    asked: dict[str, bool | None] = {}
    for what, change in PLAINER.items():
        try:
            plainer = spec.replace(**change)
        except ValueError:
            continue
        if plainer != spec:
            asked[what] = is_right(student, plainer)
    which = [say(f"needed.{what}") for what, answer in asked.items() if answer]
    if not which or is_right(student, spec) is not False:
        return ""
    joined = which[0]
    for each in itertools.islice(which, 1, None):
        joined = say("mark.or", one=joined, other=each)
    return say("needed", case=wrong.name, which=joined)
