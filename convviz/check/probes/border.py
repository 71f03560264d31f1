"""What of a border other than zeros is left out: some of its sides, its corners, or all but one copy of a cell."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from convviz.check.probes.relations import beside
from convviz.check.probes.traced_products import Product, Provenance, named
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences

say = sentences("check")
SIDES = (("top", "bottom"), ("left", "right"))  # by axis, before the input and after it
AXES = ((0,), (1,), (0, 1))


def unfolded(found: Provenance) -> str:
    """Return in a sentence which part of a border is left out, if that explains what is missing; empty otherwise."""
    missing = set(found.missing)
    if found.spec.padding_mode == "zeros" or found.extra or found.unknown or not missing:
        return ""
    at = {product: beside(found, named(found.of, product))[2] for product in found.right}
    sides = {product: _sides(found, wanted) for product, (_, wanted) in at.items()}
    if missing == {product for product, beyond in sides.items() if len(beyond) == 2}:
        return say("read.border.corners")
    all_sides = tuple(itertools.chain(*SIDES))
    gone = [side for side in all_sides if missing >= {product for product, beyond in sides.items() if side in beyond}]
    if gone and missing == {product for product, beyond in sides.items() if beyond & set(gone)}:
        return say("read.border.sides", sides=comma([say(f"side.{side}") for side in gone]))
    kept = found.right - missing
    last = [_last(at, axis) for axis in (0, 1)]
    for axes in AXES if found.of == "grad_input" else ():
        latest = {each for each, (cell, to) in at.items() if all(to[axis] == last[axis][cell[axis]] for axis in axes)}
        if kept == latest:
            return say("read.border.twice")
    return ""


def _sides(found: Provenance, wanted: list[float]) -> set[str]:
    """Return beyond which sides of the input a cell of the padded input is."""
    beyond = set()
    for at, size, (before, after) in zip(wanted, found.spec.input_size, SIDES, strict=True):
        beyond |= {before} if at < 0 else {after} if at >= size else set()
    return beyond


def _last(at: Mapping[Product, tuple[tuple[int, int], list[float]]], axis: int) -> dict[int, float]:
    """Return for each line of the input the last line of the padded one that is a copy of it."""
    last: dict[int, float] = {}
    for cell, wanted in at.values():
        last[cell[axis]] = max(wanted[axis], last.get(cell[axis], wanted[axis]))
    return last
