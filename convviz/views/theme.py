"""The colours of ``facts/data/colours.json``, the one place for them, and how they are mixed."""

import itertools
from collections.abc import Mapping
from typing import Any

from convviz.facts import facts

COLOURS: Mapping[str, dict[str, Any]] = facts("colours")
Scale = list[list[Any]]  # colours by share, from 0 to 1


def _diverging(none: str, negative: Scale, positive: Scale) -> Scale:
    """Return a scale with 0 in its middle, of two ramps by size."""
    below = [[0.5 - size / 2, color] for size, color in reversed(negative)]
    return [*below, [0.5, none], *([0.5 + size / 2, color] for size, color in positive)]


# A scale a variable, and one for all else, by theme. A positive number has its variable's hue, a negative one is gold
# and lighter or darker than a positive one of its size: also for the colour-blind. A zero is grey, to be seen on paper.
COLORSCALES: dict[str, dict[str, Scale]] = {
    theme: {
        name: _diverging(colours["scales"]["none"], colours["scales"]["negative"], ramp)
        for name, ramp in colours["scales"].items()
        if name not in ("none", "negative")
    }
    for theme, colours in COLOURS.items()
}
INKS = ("#000000", "#ffffff")
GRID_LIMIT = 12  # above this many rows or columns a cell is too small for its number


def rgb(color: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(color[1:])
    return red, green, blue


def luminance(color: tuple[float, float, float]) -> float:
    """Return the relative luminance of WCAG 2, 0 (black) to 1 (white)."""
    linear = [part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink_on(color: tuple[float, float, float]) -> str:
    """Return the ink that can be read on it: where both have a contrast of 4.5, the other one begins."""
    return INKS[luminance(color) < 0.179]


def mixed(color: str, ground: str, share: float) -> str:
    """Return a share of a colour on a ground, ``#rrggbb``, as CSS mixes in srgb."""
    parts = (share * a + (1 - share) * b for a, b in zip(rgb(color), rgb(ground), strict=True))
    return f"#{bytes(map(round, parts)).hex()}"


def color_at(scale: Scale, position: float) -> tuple[float, float, float]:
    for (start, low), (end, high) in itertools.pairwise(scale):
        if position <= end:
            share = (position - start) / (end - start)
            red, green, blue = (a + share * (b - a) for a, b in zip(rgb(low), rgb(high), strict=True))
            return red, green, blue
    return rgb(scale[-1][1])
