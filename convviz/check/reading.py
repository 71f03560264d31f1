"""What a single 1 sent back leaves behind: orientation, pitch, spacing and place, read off the products.

In a right gradient the product (o, k) goes to row ``stride * o - padding + dilation * k``. A wrong one has other
numbers in that formula, and each number has a name that says what went wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from convviz.check.provenance import Product, Provenance
from convviz.spec import AXES


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
    sentences = []
    for axis, name in enumerate(AXES):
        got = line(list(found.found), axis, found.of)
        if got is not None:
            sentences += _apart(got, _right(found, axis), "row" if name == "height" else "column")
    factors = [factor for factor in found.factors if factor != 1]
    if factors and len(found.factors) == 1:
        sentences.append(f"each product counts {factors[0]:g} times instead of once")
    if not sentences:
        sentences += _most_moved(found)
    if not sentences and (found.missing or found.extra):
        sentences.append(_counts(found))
    return sentences


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
        yield f"rows and columns of the kernel are exchanged: a {line} of the result depends on its other axis"
        return
    if got.spacing == -right.spacing:
        yield f"the kernel's {line}s stand in reverse order"
    elif got.spacing != right.spacing:
        yield f"the kernel's {line}s are {abs(got.spacing)} apart instead of {right.spacing}"
    if got.pitch != right.pitch:
        yield f"neighbouring {line}s of grad_output act {got.pitch} {line}s apart instead of {right.pitch}"
    if got.place != right.place and got.spacing == right.spacing and got.pitch == right.pitch:
        yield _moved(got.place - right.place, line)


def _moved(by: int, line: str) -> str:
    ways = ("above", "below") if line == "row" else ("to the left of", "to the right of")
    return f"everything stands {abs(by)} {line}{'s' if abs(by) > 1 else ''} {ways[by > 0]} where it belongs"


def _most_moved(found: Provenance) -> Iterator[str]:
    """Yield where most of the products stand, if that is one other place for most of them."""
    for axis, line in enumerate(("row", "column")):
        right = _right(found, axis)
        moved = Counter(
            cell[axis] - right.pitch * o[axis] - right.spacing * kernel[axis] - right.place
            for o, kernel, cell in (_named(found.of, product) for product in found.found)
        )
        by, often = moved.most_common(1)[0] if moved else (0, 0)
        if by and often > len(found.found) / 2:
            yield _moved(by, line)


def _counts(found: Provenance) -> str:
    missing, extra = len(found.missing), len(found.extra)
    cells = {product[2] for product in (*found.missing, *found.extra)}
    where = ""
    for axis, line in enumerate(("row", "column")):
        lines = sorted({cell[axis] for cell in cells})
        if len(lines) <= 2 and not where:
            names = " and ".join(map(str, lines))
            where = f", all of them in {line}{'s' if len(lines) > 1 else ''} {names} of {found.of}"
    said = [f"{missing} of {len(found.right)} products are missing"] if missing else []
    said += [f"{extra} {'are' if extra > 1 else 'is'} there that do not belong there"] if extra else []
    return " and ".join(said) + where
