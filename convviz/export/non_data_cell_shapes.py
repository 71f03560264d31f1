"""What cells are that are no data, and signs, as plain shapes: no writer needs patterns, no font needs rare letters."""

import itertools
import math
from collections.abc import Callable

from convviz.export.primitives import Box, Look, Segment, Shape, Strokes
from convviz.views.cell_kinds import COPY, INSERTED, PADDING, REMAINDER, Roles

DOT = 3.0  # pixels
LINE, HALO = 1.2, 2.6
COPIED = 0.15  # of a cell: the frame around a copy
CORNER = 0.3  # of a cell: the part of its diagonal that a number leaves free, and the mark of a number off the colours

Place = tuple[int, int]


def letters(roles: Roles, row: int, column: int) -> set[str]:
    return {roles.rows[row], roles.columns[column]}


def is_unread(roles: Roles, row: int, column: int) -> bool:
    return row in roles.unread_rows or column in roles.unread_columns


def is_marked(roles: Roles, row: int, column: int) -> bool:
    """Return whether a mark says what a cell is: its 0 need not be printed."""
    return bool(letters(roles, row, column) & {PADDING, INSERTED, REMAINDER}) or is_unread(roles, row, column)


def marks(roles: Roles, side: float, look: Look, numbered: Callable[[Place], bool]) -> list[Shape]:
    """Return the marks of cells that are no data: padding, copies, inserted zeros, never read."""
    grounds: list[Shape] = []
    frames: list[Segment] = []
    dots: list[Segment] = []
    lines: list[Segment] = []
    for row, column in itertools.product(range(len(roles.rows)), range(len(roles.columns))):
        found, x, y = letters(roles, row, column), column * side, row * side
        if found & {PADDING, REMAINDER}:
            grounds.append(Box(x, y, side, side, look.padding, kind="padding"))
        elif COPY in found:
            frames += _frame(x, y, side, side * COPIED)
        elif INSERTED in found:
            dots.append((x + side / 2 - DOT / 2, y + side / 2, x + side / 2 + DOT / 2, y + side / 2))
        if REMAINDER in found or is_unread(roles, row, column):
            lines += _diagonal(x, y, side, numbered((row, column)))
    strokes = [
        Strokes(tuple(frames), look.padding, side * COPIED),
        Strokes(tuple(dots), look.muted, DOT),
        Strokes(tuple(lines), look.paper, HALO),
        Strokes(tuple(lines), look.muted, LINE),
    ]
    return [*grounds, *(each for each in strokes if each.segments)]


def beyond(places: list[Place], side: float, look: Look) -> list[Shape]:
    """Return the corners of cells whose numbers are larger than their colours show."""
    size = min(side * CORNER, 7.0) if side >= 12 else side / 2
    bars = 4
    corners = tuple(
        (
            c * side,
            r * side + (bar + 0.5) * size / bars,
            c * side + size * (1 - bar / bars),
            r * side + (bar + 0.5) * size / bars,
        )
        for (r, c), bar in itertools.product(places, range(bars))
    )
    edges = tuple((c * side + size, r * side, c * side, r * side + size) for r, c in places)
    return [Strokes(corners, look.paper, size / bars), Strokes(edges, look.ink, 1.0)] if places else []


def _frame(x: float, y: float, side: float, wide: float) -> list[Segment]:
    near, far = wide / 2, side - wide / 2
    return [
        *((x, y + near, x + side, y + near), (x, y + far, x + side, y + far)),
        *((x + near, y, x + near, y + side), (x + far, y, x + far, y + side)),
    ]


def _diagonal(x: float, y: float, side: float, numbered: bool) -> list[Segment]:
    if not numbered:
        return [(x, y + side, x + side, y)]
    part = side * CORNER
    return [(x, y + side, x + part, y + side - part), (x + side - part, y + part, x + side, y)]


def symbol(text: str, look: Look) -> list[Strokes]:
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
