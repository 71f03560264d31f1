"""The formula that all products of an axis obey, read off single ones, beside the right one."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import torch

from convviz.check.probes.traced_products import Product, Provenance, named


@dataclass(frozen=True)
class Line:
    """The formula of one axis: ``cell = pitch * o + spacing * k + cross * (k of the other axis) + place``.

    For grad_weight k is what the formula gives, and o and the input cell are what goes in.
    """

    pitch: int
    spacing: int
    cross: int
    place: int


def line(products: list[Product], axis: int, of: str) -> Line | None:
    """Return the formula that all products of an axis obey; None if they obey none of whole numbers."""
    rows, targets = [], []
    for o, kernel, cell in (named(of, product) for product in products):
        rows.append([o[axis], kernel[axis], kernel[1 - axis], 1])
        targets.append(cell[axis])
    if len(rows) < 4 or any(len({row[at] for row in rows}) < 2 for at in (0, 1)):
        return None  # one cell of an axis alone says nothing of its steps
    given, wanted = torch.tensor(rows, dtype=torch.float64), torch.tensor(targets, dtype=torch.float64)
    if int(torch.linalg.matrix_rank(given[:, [0, 1, 3]])) < 3:
        return None  # several formulas fit
    solved = torch.linalg.lstsq(given, wanted[:, None], driver="gelsd").solution[:, 0]
    whole = solved.round()
    if not torch.allclose(given @ whole, wanted):
        return None
    return Line(*(int(number) for number in whole))


def line_of(found: Provenance, axis: int) -> Line | None:
    """Return the formula of an axis; a kernel of one cell has the right spacing, as it can have no other."""
    if found.spec.kernel_size[axis] > 1 or not found.found:
        return line(list(found.found), axis, found.of)
    at = {(o[axis], cell[axis]) for o, _, cell in (named(found.of, product) for product in found.found)}
    (first, start), (last, end) = min(at), max(at)
    pitch = (end - start) // (last - first) if last > first else 0
    place = start - pitch * first
    fits = last > first and all(cell == pitch * o + place for o, cell in at)
    return dataclasses.replace(right_line(found, axis), pitch=pitch, place=place) if fits else None


def axes_exchanged(found: Provenance) -> str:
    """Return which setting of rows and columns is exchanged, or ``"all"``; empty where something else is wrong."""
    rows, columns = right_line(found, 0), right_line(found, 1)
    got = [line(list(found.found), axis, found.of) for axis in (0, 1)]
    changed = {"stride": ["pitch"], "dilation": ["spacing"], "padding": ["place"], "all": ["pitch", "spacing", "place"]}
    pairs = ((rows, columns), (columns, rows))
    for setting, names in changed.items():
        exchanged = [dataclasses.replace(own, **{name: getattr(other, name) for name in names}) for own, other in pairs]
        if got == exchanged != [rows, columns]:
            return setting
    return ""


def right_line(found: Provenance, axis: int) -> Line:
    """Return the formula that an axis of a geometry has."""
    spec = found.spec
    return Line(spec.stride[axis], spec.dilation[axis], 0, -spec.padding[axis][0])
