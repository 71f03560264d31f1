"""The whole numbers of a geometry, from what people write: one, a pair, a pair of sides, and how large they may be."""

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any

Pair = tuple[int, int]

MAX_NUMBER = 2**31 - 1  # some of torch's own convolutions count in 32 bits, and take 2**32 for 0
MAX_NUMBERS = 2**40  # of one tensor: a terabyte of bytes; products of such sizes still fit into 64 bits


def is_whole(value: object, least: int) -> bool:
    """Return whether this is a whole number, no bool, and at least that large."""
    # bool is an int in Python, but "stride=True" is a slip, not a stride. Most are plain ints: Integral asks longer.
    whole = type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))
    return whole and value >= least  # type: ignore[operator]


def is_pair(value: object) -> bool:
    """Return whether these are two, in a tuple or a list."""
    return isinstance(value, (tuple, list)) and len(value) == 2


def unwrapped(value: Any) -> Any:
    """Return the number that stands in a list alone: torch takes [2] for (2, 2)."""
    return value[0] if isinstance(value, (tuple, list)) and len(value) == 1 else value


def count(name: str, value: Any) -> int:
    """Return a whole number of 1 or more."""
    if not is_whole(value, 1):
        raise ValueError(f"{name} is a whole number of 1 or more: got {value!r}")
    _check_largest(name, (value,), value)
    return int(value)


def pair(name: str, value: Any, least: int = 1) -> Pair:
    """Return (height, width) of a number or a pair of them."""
    parts = tuple(value) if is_pair(value) else (value, value)
    if not all(is_whole(part, least) for part in parts):
        example = f"{name}=3 or {name}=(3, 2)" if least else f"{name}=1 or {name}=(1, 0)"
        raise ValueError(
            f"{name} is a whole number of {least} or more, or a pair (height, width) of them: got {value!r}; "
            f"for example {example}"
        )
    _check_largest(name, parts, value)
    return (int(parts[0]), int(parts[1]))


def sides(name: str, value: Any) -> tuple[Pair, Pair]:
    """Return ((top, bottom), (left, right)) of a number, a pair, or a pair of pairs."""
    per_axis = tuple(value) if is_pair(value) else (value, value)
    each = tuple(tuple(side) if is_pair(side) else (side, side) for side in per_axis)
    cells = [number for side in each for number in side]
    if not all(is_whole(number, 0) for number in cells):
        raise ValueError(
            f"{name} is a whole number of 0 or more, a pair (height, width), a pair of pairs ((top, bottom), "
            f"(left, right)), 'same' or 'valid': got {value!r}; for example {name}=1"
        )
    _check_largest(name, cells, value)
    top, bottom, left, right = map(int, cells)
    return ((top, bottom), (left, right))


def check_tensor_size(name: str, shape: Sequence[int], remedy: str) -> None:
    """Check that a tensor of this shape is one that torch's convolutions, and some memory, can hold."""
    if max(shape) > MAX_NUMBER:
        raise ValueError(
            f"{name} can have up to {MAX_NUMBER} cells along an axis, because torch's convolutions count in 32 bits: "
            f"got the shape {list(shape)}; {remedy}"
        )
    if math.prod(shape) > MAX_NUMBERS:
        raise ValueError(
            f"{name} can have up to 2**{MAX_NUMBERS.bit_length() - 1} numbers, more than a machine's memory holds: got "
            f"the shape {list(shape)}; {remedy}"
        )


def _check_largest(name: str, numbers: Sequence[Any], value: Any) -> None:
    if max(numbers) > MAX_NUMBER:
        raise ValueError(
            f"{name} is at most {MAX_NUMBER}, because torch's convolutions count in 32 bits: got {value!r}; use a "
            "smaller number"
        )
