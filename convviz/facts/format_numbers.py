"""The one place for the way numbers are written."""

import math
from decimal import ROUND_HALF_UP, Context, Decimal

MINUS = "−"
LEAST = 2.0**-126  # below it, float32 loses digits, and the last numbers before 0 are noise


def format_number(value: float) -> str:
    """Write a number as in a cell, like ``web/base/format.js``: three significant digits, or a whole number."""
    size = abs(value)
    if _tiny_or_huge(size):
        return _written(value, Context(2, ROUND_HALF_UP).create_decimal(size), exponential=True)
    digits = 0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.0995 else 3
    return _written(value, Decimal(size).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def format_long(value: float) -> str:
    """Write a number where there is room, such as the loss: six digits at most."""
    size = Context(6, ROUND_HALF_UP).create_decimal(abs(value))
    return _written(value, size, exponential=_tiny_or_huge(abs(value)))


def _tiny_or_huge(size: float) -> bool:
    """Return whether a number is written in powers of ten, short and long: it has one form wherever it stands."""
    return LEAST <= size < 0.00095 or size >= 999_999.5


def _written(value: float, size: Decimal, *, exponential: bool = False) -> str:
    """Write a size, rounded half up as JavaScript does; Python rounds a half to the even digit."""
    if abs(value) < LEAST:
        return "0"
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "∞" if value > 0 else f"{MINUS}∞"
    exponent = size.adjusted() if exponential else 0
    text = f"{size.scaleb(-exponent).normalize():f}" + (f"e{exponent}" if exponential else "")
    return (MINUS if value < 0 else "") + text.replace("-", MINUS)
