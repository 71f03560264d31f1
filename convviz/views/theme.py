"""The one place for colours and for the way numbers are written."""

from __future__ import annotations

import itertools
import math
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

# Diverging around zero and safe for every common colour blindness: blue is negative, orange is positive.
# Luminance alone tells the size; the printed sign tells the direction. A zero is grey: a cell is seen on white paper.
COLORSCALES: dict[str, list[list[Any]]] = {
    "light": [[0.0, "#17538f"], [0.25, "#7fb0dc"], [0.5, "#f0f0ee"], [0.75, "#f2ac70"], [1.0, "#a8430a"]],
    "dark": [[0.0, "#8cc4ff"], [0.25, "#35618f"], [0.5, "#282b32"], [0.75, "#8f5220"], [1.0, "#ffb066"]],
}
INKS = ("#000000", "#ffffff")
GRID_LIMIT = 12  # above this many rows or columns a cell is too small for its number
MINUS = "−"


def format_number(value: float) -> str:
    """Write a number the short way it stands in a cell: three significant digits or fewer.

    ``board/js/base/format.js`` writes numbers by the same rules; a test holds the two equal.

    Args:
        value: any float, nan and infinities included.

    Returns:
        Text with a true minus sign, without trailing zeros, never "-0".
    """
    size = abs(value)
    if 0 < size < 0.00095 or size >= 9999.5:
        return _written(value, Context(2, ROUND_HALF_UP).create_decimal(size), exponential=True)
    digits = 0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.0995 else 3
    return _written(value, Decimal(size).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def format_long(value: float) -> str:
    """Write a number where there is room for it, such as the loss: six significant digits or fewer; as the page does.

    Args:
        value: any float, nan and infinities included.
    """
    size = Context(6, ROUND_HALF_UP).create_decimal(abs(value))
    return _written(value, size, exponential=not -4 <= size.adjusted() < 6)


def _written(value: float, size: Decimal, *, exponential: bool = False) -> str:
    """Write a size, rounded half up as JavaScript does; Python's own formatting rounds a half to the even digit."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "∞" if value > 0 else f"{MINUS}∞"
    exponent = size.adjusted() if exponential else 0
    text = f"{size.scaleb(-exponent).normalize():f}" + (f"e{exponent}" if exponential else "")
    return (MINUS if value < 0 else "") + text.replace("-", MINUS)


def rgb(color: str) -> tuple[int, int, int]:
    """Split ``#rrggbb`` into its three numbers."""
    red, green, blue = bytes.fromhex(color[1:])
    return red, green, blue


def luminance(color: tuple[float, float, float]) -> float:
    """Return the relative luminance of WCAG 2, 0 (black) to 1 (white)."""
    linear = [part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def mixed(color: str, ground: str, share: float) -> str:
    """Return a share of a colour on a ground, ``#rrggbb``, as CSS mixes in srgb."""
    parts = (share * a + (1 - share) * b for a, b in zip(rgb(color), rgb(ground), strict=True))
    return f"#{bytes(map(round, parts)).hex()}"


def color_at(scale: list[list[Any]], position: float) -> tuple[float, float, float]:
    """Return the colour at a position from 0 to 1, interpolated between the stops as plotly does it."""
    for (start, low), (end, high) in itertools.pairwise(scale):
        if position <= end:
            share = (position - start) / (end - start)
            red, green, blue = (a + share * (b - a) for a, b in zip(rgb(low), rgb(high), strict=True))
            return red, green, blue
    return rgb(scale[-1][1])
