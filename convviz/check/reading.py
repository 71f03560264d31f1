"""What a single 1 sent back leaves behind: orientation, pitch, spacing and place, read off the products.

In a right gradient the product (o, k) goes to row ``stride * o - padding + dilation * k``. A wrong one has other
numbers in that formula, and each number has a name that says what went wrong.
"""

from __future__ import annotations

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
    if not sentences and (found.missing or found.extra):
        sentences.append(_counts(found))
    return sentences


def line(products: list[Product], axis: int, of: str) -> Line | None:
    """Return the formula that all products of an axis obey; None if they obey none of whole numbers."""
    rows, targets = [], []
    for o, middle, last in products:
        kernel, cell = (middle, last) if of == "grad_input" else (last, middle)
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


def _right(found: Provenance, axis: int) -> Line:
    spec = found.spec
    return Line(spec.stride[axis], spec.dilation[axis], 0, -spec.padding[axis][0])


def _apart(got: Line, right: Line, line: str) -> Iterator[str]:
    if got.cross:
        yield f"the kernel's rows and columns are exchanged: a {line} of the result depends on the other axis of the kernel"
        return
    if got.spacing == -right.spacing:
        yield f"along each {line}'s axis the kernel stands in reverse order"
    elif got.spacing != right.spacing:
        yield f"the kernel's {line}s are {abs(got.spacing)} apart instead of {right.spacing}"
    if got.pitch != right.pitch:
        yield f"neighbouring {line}s of grad_output act {got.pitch} {line}s apart instead of {right.pitch}"
    if got.place != right.place and got.spacing == right.spacing and got.pitch == right.pitch:
        shift = got.place - right.place
        yield f"everything stands {abs(shift)} {line}{'s' if abs(shift) > 1 else ''} too {'low' if shift > 0 else 'high'}"


def _counts(found: Provenance) -> str:
    missing, extra = len(found.missing), len(found.extra)
    return f"of {len(found.right)} products {missing} are missing, and {extra} are there that do not belong there"
