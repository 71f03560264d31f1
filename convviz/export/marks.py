"""Hatching and signs as plain lines, so that no writer needs patterns, and no font needs rare letters."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable

from convviz.export.scene import Look, Segment, Strokes
from convviz.views.cells import INSERTED, PADDING, REMAINDER, Roles

DOT = 1.5  # pixels
DOTS, LINES = 6.0, 7.0  # from one mark to the next; a whole number of dots in a cell
CORNER = 7.5
EDGE = 0.7
ROOMY = 20  # pixels of a cell that holds a number


def hatching(roles: Roles, side: float, look: Look) -> list[Strokes]:
    """Return the marks over the cells that are not data.

    Dots are padding, dots with thin lines the padding for the remainder, a corner a zero that the stride inserted,
    thick lines what no window ever reads.

    Args:
        roles: of the panel's rows and columns.
        side: pixels a cell; the panel starts at 0, 0.
        look: the colours.
    """
    border = [*_runs(roles, side, lambda row, column: PADDING in _letters(roles, row, column))]
    remainder = [*_runs(roles, side, lambda row, column: REMAINDER in _letters(roles, row, column))]
    unread = [*_runs(roles, side, lambda row, column: row in roles.unread_rows or column in roles.unread_columns)]
    inserted = [
        (column * side, row * side)
        for row, column in itertools.product(range(len(roles.rows)), range(len(roles.columns)))
        if INSERTED in (letters := _letters(roles, row, column)) and not {PADDING, REMAINDER} & letters
    ]
    size = (side * len(roles.columns), side * len(roles.rows))
    third = min(CORNER, side / 4) / 3
    # A triangle in the corner, as three bars of falling length.
    corners = [
        (x, y + (bar + 0.5) * third, x + (3 - bar) * third, y + (bar + 0.5) * third)
        for (x, y), bar in itertools.product(inserted, range(3))
    ]
    found = [
        Strokes(tuple(_dots([*border, *remainder])), look.muted, DOT, (DOT, DOTS - DOT)),
        Strokes(tuple(_lines(_inside(remainder, *size), 2 * LINES)), look.warn, 0.8),
        Strokes(tuple(corners), look.accent, third),
        Strokes(tuple(_lines(_inside(unread, *size), LINES)), look.warn, 1.4),
    ]
    return [strokes for strokes in found if strokes.segments]


Run = tuple[float, float, float, float]  # x, y, width, height


def _letters(roles: Roles, row: int, column: int) -> set[str]:
    return {roles.rows[row], roles.columns[column]}


def _runs(roles: Roles, side: float, marked: Callable[[int, int], bool]) -> Iterable[Run]:
    """Neighbouring marked cells of a row as one rectangle each."""
    columns = range(len(roles.columns))
    for row in range(len(roles.rows)):
        cells = [(column, marked(row, column)) for column in columns]
        for yes, group in itertools.groupby(cells, key=operator.itemgetter(1)):
            run = [column for column, _ in group]
            if yes:
                yield run[0] * side, row * side, len(run) * side, side


def _inside(runs: Iterable[Run], wide: float, high: float) -> Iterable[Run]:
    """Keep the ends of thick lines off the panel's own edge."""
    for x, y, width, height in runs:
        left, top = max(x, EDGE), max(y, EDGE)
        yield left, top, min(x + width, wide - EDGE) - left, min(y + height, high - EDGE) - top


def _dots(runs: Iterable[Run]) -> Iterable[Segment]:
    """Dotted lines on one lattice over the whole panel, every second one shifted; each starts with a dot."""
    for x, y, width, height in runs:
        for line in range(math.ceil((y - 1.5) / DOTS), math.ceil((y + height - 1.5) / DOTS)):
            if height >= ROOMY and 0.28 < (line * DOTS + 1.5 - y) / height < 0.74:
                continue  # the number stands here, and a dot beside it would look like its sign
            shift = 2 + (line % 2) * DOTS / 2
            first, last = math.ceil((x - shift) / DOTS), math.ceil((x + width - shift) / DOTS) - 1
            if last >= first:
                height_of_line = line * DOTS + 1.5
                yield first * DOTS + shift - DOT / 2, height_of_line, last * DOTS + shift + DOT / 2, height_of_line


def _lines(runs: Iterable[Run], gap: float) -> Iterable[Segment]:
    """Rising lines on one lattice over the whole panel, cut at the edges of each rectangle."""
    for x, y, width, height in runs:
        for line in range(math.ceil((x + y) / gap), math.floor((x + width + y + height) / gap) + 1):
            start, end = max(x, line * gap - y - height), min(x + width, line * gap - y)
            if end - start > 0.1:
                yield start, line * gap - start, end, line * gap - end


def symbol(text: str, look: Look) -> list[Strokes]:
    """Return the sign of an operation as lines in a square of 20 pixels; empty for one that has no drawing."""
    lines: dict[str, list[Segment]] = {
        "=": [(4, 7.5, 16, 7.5), (4, 12.5, 16, 12.5)],
        "+": [(4, 10, 16, 10), (10, 4, 10, 16)],
        "−": [(4, 10, 16, 10)],
        "→": [(2, 10, 18, 10), (13, 5.5, 18, 10), (13, 14.5, 18, 10)],
        "Σ": [(15, 3, 5, 3), (5, 3, 11, 10), (11, 10, 5, 17), (5, 17, 15, 17)],
        "⊛": [*_circle(10, 10, 8), (10, 5.5, 10, 14.5), (6.1, 7.8, 13.9, 12.2), (6.1, 12.2, 13.9, 7.8)],
        "⊞": [
            *((2.5, 2.5, 17.5, 2.5), (17.5, 2.5, 17.5, 17.5), (17.5, 17.5, 2.5, 17.5), (2.5, 17.5, 2.5, 2.5)),
            *((2.5, 10, 17.5, 10), (10, 2.5, 10, 17.5)),
        ],
    }
    return [Strokes(tuple(lines[text]), look.ink, 1.5)] if text in lines else []


def _circle(x: float, y: float, radius: float, corners: int = 20) -> list[Segment]:
    turns = [2 * math.pi * corner / corners for corner in range(corners + 1)]
    points = [(x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns]
    return [(*a, *b) for a, b in itertools.pairwise(points)]
