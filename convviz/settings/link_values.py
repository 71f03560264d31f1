"""How one value stands in a link: in words, whole numbers and decimals, without a character that an address escapes.

``facts/data/settings.json`` has kind and limits of every key; ``web/rules/link_values.js`` reads them for the page.
"""

import dataclasses
import re
from decimal import Decimal
from typing import Any

from convviz.geometry.shown_plane import Plane
from convviz.settings.schema import FACTS, Field
from convviz.settings.tensor_source import Source
from convviz.settings.validate_state import is_number, source

OWN_NUMBERS: list[str] = FACTS["kinds_with_own_numbers"]
PATTERNS = {name: re.compile(pattern) for name, pattern in FACTS["link_patterns"].items()}
SEPARATORS: dict[str, str] = FACTS["link_separators"]  # of height and width, of the two sides of one of them


def notice_arguments(field: Field) -> dict[str, Any]:
    low, high = field.range
    return {"low": low, "high": high, "words": ", ".join(field.named)}


def read(field: Field, text: str) -> Any:
    if field.kind in SEPARATORS:
        return _read_folded(text, SEPARATORS[field.kind], *field.range)
    if field.kind == "flag":
        return read_whole(text, 0, 1) == 1
    if field.kind == "plane":
        indices = [read_whole(part, 0, 10**9) for part in text.split(",")]
        _need(len(indices) == 3)
        return Plane(*indices)
    if field.kind == "bias":
        values = _numbers(text)
        return Source("values", values, (len(values),))
    if field.kind == "source":
        return _read_source(text, field)
    words = {str(word): word for word in field.words}
    _need(text in words)
    return words[text]


def write(field: Field, value: Any) -> str:
    if field.kind in SEPARATORS:
        return _write_folded(value, SEPARATORS[field.kind])
    if field.kind == "plane":
        return ",".join(map(str, dataclasses.astuple(value)))
    if field.kind == "bias":
        return "" if value is None else ",".join(map(write_number, value.values))
    return _write_source(value) if field.kind == "source" else str(int(value) if field.kind == "flag" else value)


def write_number(value: float) -> str:
    """Return the shortest decimal that reads back as the same float, as JavaScript's."""
    if value == 0:
        return "0"
    number = Decimal(repr(float(value))).normalize()
    exponent = number.adjusted()
    return f"{number:f}" if -7 < exponent < 21 else f"{number.scaleb(-exponent):f}e{exponent}"


def read_number(text: str) -> float:
    _need(PATTERNS["decimal"].fullmatch(text) and is_number(float(text)))
    return float(text)


def read_whole(text: str, low: int, high: int) -> int:
    _need(PATTERNS["whole"].fullmatch(text) and low <= int(text) <= high)
    return int(text)


def _read_folded(text: str, separators: str, low: int, high: int) -> Any:
    """Read ``8``, or ``8x6``; of a padding ``1``, ``1x2``, or ``1,2x0,1`` for all four sides."""
    if not separators:
        return read_whole(text, low, high)
    parts = [_read_folded(part, separators[1:], low, high) for part in text.split(separators[0])]
    _need(len(parts) <= 2)
    return (parts[0], parts[-1])


def _write_folded(value: Any, separators: str) -> str:
    if not separators:
        return str(value)
    first, last = (_write_folded(part, separators[1:]) for part in value)
    return first if first == last else f"{first}{separators[0]}{last}"


def folded(value: Any) -> Any:
    """Return (2, 2) as 2 and ((1, 1), (0, 0)) as (1, 0), as torch takes them."""
    if not isinstance(value, tuple):
        return value
    first, last = map(folded, value)
    # Two equal uneven sides stay two: one pair alone would be height and width.
    return first if first == last and not isinstance(first, tuple) else (first, last)


def _read_source(text: str, field: Field) -> Source:
    """Read a name, with its shape and numbers: ``values:1x1x1x2:0.5,-1``."""
    kind, *parts = text.split(":")
    _need(kind in field.words and len(parts) in ((2,) if kind in OWN_NUMBERS else (0, kind == "one_hot")))
    shape = [read_whole(size, 1, 10**10) for size in parts[0].split("x")] if kind in OWN_NUMBERS else []
    return source(field.name, {"kind": kind, "values": _numbers(parts[-1]) if parts else (), "shape": shape})


def _write_source(made: Source) -> str:
    own = made.kind in OWN_NUMBERS
    shape = ["x".join(map(str, made.shape))] if own else []
    numbers = [",".join(map(write_number, made.values))] if own or made.kind == "one_hot" else []
    return ":".join([made.kind, *shape, *filter(None, numbers)])


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(read_number, text.split(",")))


def _need(holds: object) -> None:
    if not holds:
        raise ValueError
