"""The one place for colours and for the way numbers are written."""

from __future__ import annotations

import itertools
import math
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

# Diverging around zero and safe for every common colour blindness: blue is negative, orange is positive.
# Luminance alone tells the size; the printed sign tells the direction.
COLORSCALES: dict[str, list[list[Any]]] = {
    "light": [[0.0, "#17538f"], [0.25, "#7fb0dc"], [0.5, "#ffffff"], [0.75, "#f2ac70"], [1.0, "#a8430a"]],
    "dark": [[0.0, "#8cc4ff"], [0.25, "#35618f"], [0.5, "#171b21"], [0.75, "#8f5220"], [1.0, "#ffb066"]],
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
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    size = abs(value)
    if size == 0:
        return "0"
    if size < 0.00095 or size >= 9999.5:
        exponent = Decimal(size).adjusted()
        mantissa = _rounded(Decimal(size).scaleb(-exponent), 1)
        if mantissa == "10.0":
            mantissa, exponent = "1.0", exponent + 1
        text = f"{mantissa.removesuffix('.0')}e{exponent}".replace("-", MINUS)
    else:
        digits = 0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.0995 else 3
        text = _rounded(Decimal(size), digits)
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return MINUS + text if value < 0 else text


def format_long(value: float) -> str:
    """Write a number where there is room for it, such as the loss: six significant digits or fewer.

    ``board/js/base/format.js`` writes it by the same rules.

    Args:
        value: any float, nan and infinities included.
    """
    size = abs(value)
    if not math.isfinite(value) or size == 0:
        return format_number(value)
    exponent = Decimal(size).adjusted()
    mantissa = Decimal(size).scaleb(-exponent).quantize(Decimal("0.00001"), ROUND_HALF_UP)
    if mantissa == 10:
        mantissa, exponent = Decimal(1), exponent + 1
    if -4 <= exponent < 6:
        text = f"{mantissa.scaleb(exponent):f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        text = f"{mantissa:f}".rstrip("0").rstrip(".") + f"e{exponent}".replace("-", MINUS)
    return MINUS + text if value < 0 else text


def _rounded(size: Decimal, digits: int) -> str:
    """Round half up, as JavaScript does; Python's own formatting rounds an exact half to the even digit."""
    return str(size.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def rgb(color: str) -> tuple[int, int, int]:
    """Split ``#rrggbb`` into its three numbers."""
    return (int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16))


def luminance(color: tuple[float, float, float]) -> float:
    """Return the relative luminance of WCAG 2, 0 (black) to 1 (white)."""
    linear = [part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def color_at(scale: list[list[Any]], position: float) -> tuple[float, float, float]:
    """Return the colour at a position from 0 to 1, interpolated between the stops as plotly does it."""
    for (start, low), (end, high) in itertools.pairwise(scale):
        if position <= end:
            share = (position - start) / (end - start)
            a, b = rgb(low), rgb(high)
            return (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2]))
    red, green, blue = rgb(scale[-1][1])
    return (red, green, blue)
