"""How one value stands in a link: in words, whole numbers and decimals, without a character that an address escapes.

A reader takes the text and raises ValueError for every other form; what it returns stands in a state as it is.
``board/js/rules/link_values.js`` says the same for the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from convviz.settings.parse import is_number
from convviz.settings.source import Source

WHOLE = re.compile(r"[0-9]{1,10}")
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


def write_number(value: float) -> str:
    """Return the shortest decimal that reads back as the same float: what JavaScript writes, without a plus sign."""
    if value == 0:
        return "0"
    sign, parts, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    digits = "".join(map(str, parts))
    point = len(digits) + int(exponent)  # digits before the decimal point
    minus = "-" if sign else ""
    if not -6 < point <= 21:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{minus}{digits[0]}{fraction}e{point - 1}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return f"{minus}{digits}{'0' * (point - len(digits))}"
    return f"{minus}{digits[:point]}.{digits[point:]}"


def read_number(text: str) -> float:
    """Read a decimal."""
    if not DECIMAL.fullmatch(text) or not is_number(float(text)):
        raise ValueError
    return float(text)


def read_whole(text: str, low: int, high: int) -> int:
    """Read a whole number from low to high."""
    if not WHOLE.fullmatch(text) or not low <= int(text) <= high:
        raise ValueError
    return int(text)


def write_pair(pair: Sequence[int]) -> str:
    """Write ``8``, or ``8x6`` for height and width."""
    return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]}x{pair[1]}"


def read_pair(text: str, low: int, high: int) -> tuple[int, ...]:
    """Read ``8`` or ``8x6``."""
    parts = [read_whole(part, low, high) for part in text.split("x")]
    if len(parts) > 2:
        raise ValueError
    return (parts[0], parts[-1])


def write_sides(sides: Sequence[Sequence[int]]) -> str:
    """Write a padding: ``1``, ``1x2``, or ``1,2x0,1`` for top, bottom, left and right."""
    axes = [str(before) if before == after else f"{before},{after}" for before, after in sides]
    return axes[0] if axes[0] == axes[1] else "x".join(axes)


def read_sides(text: str, low: int, high: int) -> tuple[tuple[int, ...], ...]:
    """Read a padding."""
    axes = []
    for axis in text.split("x"):
        cells = [read_whole(part, low, high) for part in axis.split(",")]
        if len(cells) > 2:
            raise ValueError
        axes.append((cells[0], cells[-1]))
    if len(axes) > 2:
        raise ValueError
    return (axes[0], axes[-1])


def write_source(source: Source) -> str:
    """Write a name, or a name with the shape and the numbers: ``values:1x1x1x2:0.5,-1``."""
    numbers = ",".join(map(write_number, source.values))
    if source.kind in ("values", "image"):
        return f"{source.kind}:{'x'.join(map(str, source.shape))}:{numbers}"
    return f"{source.kind}:{numbers}" if source.kind == "one_hot" and source.values else source.kind


def read_source(text: str, kinds: tuple[str, ...]) -> Source:
    """Read a name out of kinds, with the numbers that belong to it."""
    kind, *parts = text.split(":")
    if kind not in kinds:
        raise ValueError
    if kind in ("values", "image"):
        if len(parts) != 2:
            raise ValueError
        shape = tuple(read_whole(size, 1, 10**10) for size in parts[0].split("x"))
        values = _numbers(parts[1])
        if len(shape) != (2 if kind == "image" else 4) or math.prod(shape) != len(values):
            raise ValueError
        return Source(kind, values, shape)
    if kind == "one_hot" and len(parts) == 1:
        values = _numbers(parts[0])
        if len(values) != 4 or any(value < 0 or value % 1 for value in values):
            raise ValueError
        return Source(kind, values)
    if parts:
        raise ValueError
    return Source(kind)


def write_bias(source: Source | None) -> str:
    """Write a bias as its numbers alone."""
    return "" if source is None else ",".join(map(write_number, source.values))


def read_bias(text: str) -> Source:
    """Read the numbers of a bias."""
    values = _numbers(text)
    return Source("values", values, (len(values),))


def read_flag(text: str) -> bool:
    """Read ``1`` or ``0``."""
    return bool(read_whole(text, 0, 1))


def read_word(text: str, words: Sequence[str]) -> str:
    """Read one of some words."""
    if text not in words:
        raise ValueError
    return text


def write_plain(value: Any) -> str:
    """Write a word, a whole number, or a switch as 1 or 0."""
    return str(int(value)) if isinstance(value, bool) else str(value)


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(read_number, text.split(",")))
