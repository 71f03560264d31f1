"""What a single 1 sent back leaves behind: orientation, pitch, spacing and place, read off the products.

In a right gradient the product (o, k) goes to row ``stride * o - padding + dilation * k``. A wrong one has other
numbers in that formula, and each number has a name that says what went wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from convviz.check.provenance import Cell, Product, Provenance
from convviz.facts.words import sentences

say = sentences("check")
LINES = ("row", "column")  # by axis


@dataclass(frozen=True)
class Line:
    """The formula of one axis: ``cell = pitch * o + spacing * k + cross * (k of the other axis) + place``.

    For grad_weight k is what the formula gives, and o and the input cell are what goes in.
    """

    pitch: int
    spacing: int
    cross: int
    place: int


def readings(found: Provenance) -> list[str]:
    """Return in sentences how a gradient's products lie otherwise than they should; nothing where none is wrong."""
    said: list[str] = []
    for axis, line_name in enumerate(LINES):
        got = line(list(found.found), axis, found.of)
        if got is not None:
            said += _apart(got, _right(found, axis), line_name)
    factors = [factor for factor in found.factors if factor != 1]
    if factors and len(found.factors) == 1:
        said.append(say("read.factor", factor=f"{factors[0]:g}"))
    elif factors:
        said.append(_otherwise(found))
    if not said:
        said += _most_moved(found)
    if not said and (found.missing or found.extra):
        said.append(_counts(found))
    return said


def line(products: list[Product], axis: int, of: str) -> Line | None:
    """Return the formula that all products of an axis obey; None if they obey none of whole numbers."""
    rows, targets = [], []
    for o, kernel, cell in (_named(of, product) for product in products):
        rows.append([o[axis], kernel[axis], kernel[1 - axis], 1])
        targets.append(cell[axis])
    if len(rows) < 4:
        return None
    given, wanted = torch.tensor(rows, dtype=torch.float64), torch.tensor(targets, dtype=torch.float64)
    solved = torch.linalg.lstsq(given, wanted[:, None], driver="gelsd").solution[:, 0]
    whole = solved.round()
    if not torch.allclose(given @ whole, wanted):
        return None
    return Line(*(int(number) for number in whole))


def _named(of: str, product: Product) -> Product:
    """Return (cell of grad_output, of the kernel, of the input); the last two change places for grad_weight."""
    o, middle, last = product
    return (o, middle, last) if of == "grad_input" else (o, last, middle)


def _right(found: Provenance, axis: int) -> Line:
    spec = found.spec
    return Line(spec.stride[axis], spec.dilation[axis], 0, -spec.padding[axis][0])


def _apart(got: Line, right: Line, line: str) -> Iterator[str]:
    if got.cross:
        yield say(f"read.crossed.{line}")
        return
    if got.spacing == -right.spacing:
        yield say(f"read.reversed.{line}")
    elif got.spacing != right.spacing:
        yield say(f"read.spacing.{line}", got=abs(got.spacing), right=right.spacing)
    if got.pitch != right.pitch:
        yield say(f"read.pitch.{line}", got=got.pitch, right=right.pitch)
    if got.place != right.place and got.spacing == right.spacing and got.pitch == right.pitch:
        yield _moved(got.place - right.place, line)


def _moved(by: int, line: str) -> str:
    ways = ("above", "below") if line == "row" else ("left", "right")
    return say(f"read.{ways[by > 0]}", count=abs(by))


def _most_moved(found: Provenance) -> Iterator[str]:
    """Yield where most of the products stand, if that is one other place for most of them."""
    for axis, line in enumerate(LINES):
        right = _right(found, axis)
        moved = Counter(
            cell[axis] - right.pitch * o[axis] - right.spacing * kernel[axis] - right.place
            for o, kernel, cell in (_named(found.of, product) for product in found.found)
        )
        by, often = moved.most_common(1)[0] if moved else (0, 0)
        if by and often > len(found.found) / 2:
            yield _moved(by, line)


def _otherwise(found: Provenance) -> str:
    """Return how many products count otherwise than once, and whether one line has or has sent them all."""
    others = [product for product, factor in found.found.items() if abs(factor - 1) > 1e-6]
    counted = say("read.factors", count=len(others), total=len(found.found))
    return _where(counted, [product[2] for product in others], found.of) or (
        _where(counted, [product[0] for product in others], "grad_output") or counted
    )


def _where(counted: str, cells: list[Cell], result: str) -> str:
    """Return the sentence with the one row or column of a result in which all cells are; nothing if there is none."""
    for axis, line in enumerate(LINES):
        lines = {cell[axis] for cell in cells}
        if len(lines) == 1:
            return say(f"read.only.{line}", what=counted, lines=min(lines), result=result)
    return ""


def _counts(found: Provenance) -> str:
    missing, extra = len(found.missing), len(found.extra)
    total = len(found.right)
    if missing and extra:
        counted = say("read.both", total=total, missing=missing, extra=extra)
    else:
        counted = say("read.missing", total=total, count=missing) if missing else say("read.extra", count=extra)
    return _where(counted, [product[2] for product in (*found.missing, *found.extra)], found.of) or counted
