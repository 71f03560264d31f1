"""The picture of one state as still SVG, for readers whose page runs no script: one drawing an equation."""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape

from convviz.ops.stages import Stages
from convviz.plane import Plane
from convviz.views import captions
from convviz.views.cells import DATA, INSERTED, REMAINDER
from convviz.views.figures import limit
from convviz.views.panels import Equation, Panel, Sign, equations
from convviz.views.theme import COLORSCALES, GRID_LIMIT, INKS, color_at, format_number, luminance

CELL = 30  # pixels a cell
WIDEST = 300  # pixels a panel of many cells
GAP = 14
HEAD = 40  # above a panel: its name and shape
SIGN = 46
LETTER = 7.3  # pixels a letter of a panel's name
SCALE = COLORSCALES["light"]
HATCHES = (
    '<defs><pattern id="cv-hatch-p" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<circle cx="3" cy="3" r=".9" fill="#5a626d"/></pattern>'
    '<pattern id="cv-hatch-u" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<path d="M0 0V7" stroke="#b3261e" stroke-width="1.6"/></pattern></defs>'
)


def still_figures(stages: Stages, plane: Plane, input_view: str, one_scale: bool) -> str:
    """Return the equations as HTML figures with inline SVG and captions.

    Args:
        stages: the numbers.
        plane: which sample and channels to show.
        input_view: the equation to the input as a ``"window"`` or as ``"stamps"``.
        one_scale: one colour scale an equation; otherwise one a panel.
    """
    drawn: list[str] = []
    for equation in equations(stages, plane, input_view):
        formula = captions.formula(stages, plane, equation.name, equation.view)
        note = captions.note(stages, equation.name, equation.view)
        caption = f"<b>{escape(equation.title)}</b> <code>{escape(formula)}</code>" + (
            f"<br>{escape(note)}" if note else ""
        )
        picture = _equation(equation, one_scale, first=not drawn)
        drawn.append(f"<figure><figcaption>{caption}</figcaption>\n{picture}\n</figure>")
    return "\n".join([*drawn, f"<p>{escape(captions.loss(stages))}</p>"])


def _equation(equation: Equation, one_scale: bool, first: bool) -> str:
    shared = limit(equation.panels)
    parts, x, height = [], 0.0, 0.0
    for item in equation.items:
        if isinstance(item, Sign):
            parts.append(_sign(item, x))
            x += max(SIGN, 6 * len(item.note)) if item.note else SIGN - 12
            continue
        drawing, wide, high = _panel(item, shared if one_scale else limit((item,)))
        parts.append(f'<g transform="translate({x:g} {HEAD})">{drawing}</g>')
        x += max(wide, LETTER * len(item.label)) + GAP
        height = max(height, high)
    size = f"{x:g} {height + HEAD + 2:g}"
    named = ", ".join(panel.label for panel in equation.panels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{x:g}" role="img" '
        f'aria-label="{escape(f"{equation.title}: {named}")}" font-family="system-ui, sans-serif">'
        f"{HATCHES if first else ''}{''.join(parts)}</svg>"
    )


def _sign(sign: Sign, x: float) -> str:
    note = (
        f'<text x="{x:g}" y="{HEAD + 48}" font-size="10" fill="#5a626d">{escape(sign.note)}</text>' if sign.note else ""
    )
    return f'<text x="{x + 4:g}" y="{HEAD + 32}" font-size="20" fill="#16191d">{escape(sign.symbol)}</text>{note}'


def _panel(panel: Panel, end: float) -> tuple[str, float, float]:
    """Return a panel's drawing, its width and its height."""
    rows = panel.values.double().cpu().tolist()
    side = min(CELL, WIDEST / max(len(rows), len(rows[0])))
    wide, high = side * len(rows[0]), side * len(rows)
    head = (
        f'<text y="-22" font-size="12.5" font-weight="650" fill="#16191d">{escape(panel.label)}</text>'
        f'<text y="-7" font-size="11" fill="#5a626d">{escape(str(list(panel.shape)))}</text>'
    )
    small = max(len(rows), len(rows[0])) <= GRID_LIMIT
    cells = _numbered(rows, end, side) if small else _image(rows, end, wide, high)
    frame = f'<rect width="{wide:g}" height="{high:g}" fill="none" stroke="#5a626d"/>'
    return head + cells + _bands(panel, side, wide, high) + frame, wide, high


def _color(value: float, end: float) -> tuple[int, int, int]:
    share = 0.5 if value != value else min(max((value / end + 1) / 2, 0.0), 1.0)
    red, green, blue = color_at(SCALE, share)
    return round(red), round(green), round(blue)


def _numbered(rows: list[list[float]], end: float, side: float) -> str:
    parts = []
    for r, row in enumerate(rows):
        for c, value in enumerate(row):
            color = _color(value, end)
            ink = INKS[luminance(color) < 0.179]
            text = format_number(value)
            place = f'x="{c * side:g}" y="{r * side:g}" width="{side:g}" height="{side:g}"'
            parts.append(f'<rect {place} fill="#{bytes(color).hex()}" stroke="#d5d9e0" stroke-width=".5"/>')
            middle = f'x="{(c + 0.5) * side:g}" y="{(r + 0.5) * side + 3.6:g}"'
            size = 10 if len(text) <= 4 else 8
            parts.append(f'<text {middle} font-size="{size}" text-anchor="middle" fill="{ink}">{text}</text>')
    return "".join(parts)


def _image(rows: list[list[float]], end: float, wide: float, high: float) -> str:
    """Return the colours alone, as a picture: numbers would not be read at this size."""
    zoom = max(int(2 * wide / len(rows[0])), 1)  # enlarged here, because some printers smooth what they enlarge
    lines = []
    for row in rows:
        line = b"".join(bytes(_color(value, end)) * zoom for value in row)
        lines += [b"\0" + line] * zoom
    picture = base64.b64encode(_png(zoom * len(rows[0]), zoom * len(rows), b"".join(lines))).decode()
    return f'<image width="{wide:g}" height="{high:g}" href="data:image/png;base64,{picture}"/>'


def _png(width: int, height: int, lines: bytes) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")


def _bands(panel: Panel, side: float, wide: float, high: float) -> str:
    """Return patterns over the rows and columns that are not data."""
    roles, parts = panel.roles, []
    for letters, unread, rows in ((roles.rows, roles.unread_rows, True), (roles.columns, roles.unread_columns, False)):
        for index, letter in enumerate(letters):
            if letter in (DATA, INSERTED) and index not in unread:
                continue
            pattern = "u" if index in unread or letter == REMAINDER else "p"
            at = (
                f'y="{index * side:g}" width="{wide:g}" height="{side:g}"'
                if rows
                else (f'x="{index * side:g}" width="{side:g}" height="{high:g}"')
            )
            parts.append(f'<rect {at} fill="url(#cv-hatch-{pattern})" opacity=".55"/>')
    return "".join(parts)
