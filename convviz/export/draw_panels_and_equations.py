"""Panels and equations as shapes: the one place that draws them for pages, slides and papers."""

import unicodedata
from collections.abc import Iterator, Sequence

from convviz.export.non_data_cell_shapes import beyond, is_marked, marks, symbol
from convviz.export.primitives import Box, Look, Mosaic, Scene, Shape, Words, moved
from convviz.export.window_positions import Cell, Step
from convviz.facts.format_numbers import format_number
from convviz.views.panels import Equation, Panel, Sign
from convviz.views.scales import QUANTITIES, Ends, is_beyond, is_gradient
from convviz.views.theme import COLORSCALES, GRID_LIMIT, color_at, ink_on, mixed, rgb

CELL = 30  # pixels for each cell
WIDEST = 300  # pixels a panel of many cells
SMALL = 8  # letters of long numbers and of zeros
GAP = 14
HEAD = 40  # above a panel: its name and shape
SIGN = 46
LETTER = 7.3  # pixels a letter of a panel's name
TITLE = 26
FOOT = 24
EDGE = 10
DASH = (3.0, 3.0)

Drawing = tuple[list[Shape], float, float]  # with its width and height


def scene(drawn: Drawing, look: Look, title: str, edge: float = EDGE) -> Scene:
    shapes, width, height = drawn
    placed = tuple(moved(shape, edge, edge) for shape in shapes)
    return Scene(width + 2 * edge, height + 2 * edge, look.paper, placed, title)


def stacked(drawings: Sequence[tuple[str, Drawing]], look: Look) -> Drawing:
    shapes: list[Shape] = []
    width = down = 0.0
    for title, (inner, wide, high) in drawings:
        shapes.append(Words(0, down + 15, title, 15, look.ink, bold=True))
        shapes += [moved(shape, 0, down + TITLE) for shape in inner]
        width, down = max(width, wide, LETTER * letters(title) * 15 / 12.5), down + TITLE + high + 2 * EDGE
    return shapes, width, down - 2 * EDGE


def draw_equation(equation: Equation, end: Ends, look: Look, step: Step | None = None) -> Drawing:
    shapes: list[Shape] = []
    x = height = 0.0
    for item in equation.items:
        if isinstance(item, Sign):
            shapes += _sign(item, x, look)
            x += max(SIGN, 6 * letters(item.note)) if item.note else SIGN - 12
            continue
        inner, wide, high = draw_panel(item, end(equation, item), look, step)
        shapes += [moved(shape, x, 0) for shape in inner]
        x, height = x + wide + GAP, max(height, high)
    drawn = (shapes, x - GAP, height)
    return drawn if step is None else with_words(drawn, step.text, look)


def letters(text: str) -> float:
    """Return how many letters wide a text is; a Chinese one is nearly two."""
    return sum(1.7 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def with_words(drawn: Drawing, text: str, look: Look) -> Drawing:
    shapes, width, height = drawn
    words = Words(0, height + FOOT - 6, text, 12.5, look.ink)
    return [*shapes, words], max(width, LETTER * letters(text)), height + FOOT


def draw_panel(panel: Panel, end: float, look: Look, step: Step | None = None) -> Drawing:
    """Return one panel under its name and shape; ``end`` is the number at the ends of its colours."""
    values = panel.values if step is None else step.values.get(panel.name, panel.values)
    rows = values.double().cpu().tolist()
    hidden = frozenset() if step is None else step.hidden.get(panel.name, frozenset())
    side = min(CELL, WIDEST / max(len(rows), len(rows[0])))
    wide, high = side * len(rows[0]), side * len(rows)
    small = max(len(rows), len(rows[0])) <= GRID_LIMIT
    quantity = QUANTITIES[panel.called]
    colors = [[cell_color(value, end, look, quantity) for value in row] for row in rows]
    cells, numbers = _numbered(rows, colors, side, look) if small else ([_mosaic(colors, side)], [])
    quiet = {place for place, value in _places(rows) if value == 0 and is_marked(panel.roles, *place)}
    far = [place for place, value in _places(rows) if is_beyond(value, end) and place not in hidden]
    cells += marks(panel.roles, side, look, lambda place: small and place not in quiet)
    cells += beyond(far, side, look)
    for row, column in sorted(hidden):
        edge = look.line if small else ""
        cells.append(Box(column * side, row * side, side, side, look.paper, edge, 0.5, kind="later"))
    color: str = getattr(look, quantity)
    frame, line = (color, 2.5) if is_gradient(panel.called) else (mixed(color, look.paper, 0.45), 1.5)
    over: list[Shape] = [Box(0, 0, wide, high, stroke=frame, line=line, kind="frame")]
    over += [words for place, words in numbers if place not in hidden | quiet]
    if step is not None:
        over += _pointed(panel, step, side, look)
    shape = str(list(panel.shape))
    head = [
        Words(0, -22, panel.label, 12.5, color, bold=True),
        Words(0, -7, shape, 11, look.muted),
    ]
    shapes = [moved(each, 0, HEAD) for each in (*head, *cells, *over)]
    return shapes, max(wide, LETTER * len(panel.label), LETTER * len(shape) * 11 / 12.5), high + HEAD


def cell_color(value: float, end: float, look: Look, quantity: str) -> str:
    share = 0.5 if value != value else min(max((value / end + 1) / 2, 0.0), 1.0)
    red, green, blue = color_at(COLORSCALES[look.theme][quantity], share)
    return f"#{bytes((round(red), round(green), round(blue))).hex()}"


def _sign(sign: Sign, x: float, look: Look) -> list[Shape]:
    drawn: list[Shape] = [moved(strokes, x + 4, HEAD + 14) for strokes in symbol(sign.symbol, look)]
    if not drawn:
        drawn = [Words(x + 4, HEAD + 32, sign.symbol, 20, look.ink)]
    return [*drawn, Words(x, HEAD + 48, sign.note, 10, look.muted)] if sign.note else drawn


def _places(rows: list[list[float]]) -> Iterator[tuple[Cell, float]]:
    return (((r, c), value) for r, row in enumerate(rows) for c, value in enumerate(row))


def _numbered(
    rows: list[list[float]], colors: list[list[str]], side: float, look: Look
) -> tuple[list[Shape], list[tuple[Cell, Words]]]:
    cells: list[Shape] = []
    numbers = []
    for r, row in enumerate(rows):
        for c, value in enumerate(row):
            color, text = colors[r][c], format_number(value)
            cells.append(Box(c * side, r * side, side, side, color, look.line, 0.5, kind="cell"))
            ink = look.zero if value == 0 else ink_on(rgb(color))
            size = SMALL if value == 0 or len(text) > 4 else 10
            words = Words((c + 0.5) * side, (r + 0.5) * side + 0.36 * size, text, size, ink, centred=True)
            numbers.append(((r, c), words))
    return cells, numbers


def _mosaic(colors: list[list[str]], side: float) -> Mosaic:
    return Mosaic(0, 0, side * len(colors[0]), side * len(colors), tuple(map(tuple, colors)))


def _pointed(panel: Panel, step: Step, side: float, look: Look) -> list[Shape]:
    """Return what a step adds: the cells that take part, the window, its own cell."""
    shapes: list[Shape] = []
    inset = min(2.5, side / 8)
    for (r, c), real in sorted(step.lit.get(panel.name, {}).items()):
        x, y, size = c * side + inset, r * side + inset, side - 2 * inset
        color, line, kind = (look.accent, 2.0, "lit") if real else (look.muted, 1.2, "zero")
        shapes.append(
            Box(x, y, size, size, stroke=color, line=min(line, side / 5), dash=() if real else DASH, kind=kind)
        )
    if step.window[0] == panel.name:
        row, column, rows, columns = step.window[1]
        height, width = panel.values.shape
        # A stamp may reach over the edge: what lies beyond is cut off, so that it covers no other panel.
        left, top = max(column, -0.3) * side, max(row, -0.3) * side
        right, bottom = min(column + columns, width + 0.3) * side, min(row + rows, height + 0.3) * side
        if right > left and bottom > top:
            shapes.append(Box(left, top, right - left, bottom - top, stroke=look.accent, line=3, kind="window"))
    if step.over == panel.name:
        row, column = step.cell
        shapes.append(Box(column * side, row * side, side, side, stroke=look.accent, line=3, kind="now"))
    return shapes
