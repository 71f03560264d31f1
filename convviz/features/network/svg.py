"""The sizes of a network's gradients as a drawing for a paper: bars on a scale of powers of ten, from left to right."""

import math
import re
from xml.sax.saxutils import escape

from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.features.network.finding import sentence
from convviz.features.network.numbers import RAISED, power
from convviz.features.network.operations import Run

say = sentences("features/network")

BAR, GAP, HEIGHT, MARGIN = 10, 4, 160, 16
LEFT, LINE = 64, 16
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
CHARACTER = 6.2  # the width of one in a name, in pixels
MAX_NAME = 32
MIN_WIDTH = 480
FLOOR = 18  # powers of ten below the largest that have a length; smaller ones are drawn as the shortest


def draw(run: Run, theme: str) -> str:
    """Return the SVG text; see ``Network.to_svg``."""
    themes = facts("colours")
    if theme not in themes:
        raise ValueError(f"theme is one of {', '.join(themes)}: got {theme!r}")
    colours = themes[theme]
    ink, muted, paper = colours["ink"], colours["muted"], colours["card"]
    sizes = run.backs[0].rms
    low, high = _decades([size for size in sizes if size is not None])
    width = max(LEFT + len(sizes) * (BAR + GAP) + MARGIN, MIN_WIDTH)
    lines = _wrapped(sentence(run), int((width - 2 * MARGIN) / (CHARACTER * 1.1)))
    top = MARGIN + LINE * (len(lines) + 1)
    bottom = top + HEIGHT
    names = [_shortened(operation.title) for operation in run.operations]
    below = round(max(map(len, names)) * CHARACTER) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + below + MARGIN}" '
        f'viewBox="0 0 {width} {bottom + below + MARGIN}" role="img" font-family="{FONT}" font-size="11">',
        f"<title>{_escape(say('svg.title', model=run.model))}</title>",
        f"<desc>{_escape(sentence(run))}</desc>",
        f'<rect width="100%" height="100%" fill="{paper}"/>',
        *(
            f'<text x="{MARGIN}" y="{MARGIN + LINE * (number + 1)}" fill="{ink}" font-size="12">{_escape(line)}</text>'
            for number, line in enumerate(lines)
        ),
    ]
    for decade in range(low, high + 1, max(1, math.ceil((high - low) / 8))):
        y = _height(10.0**decade, low, high, top)
        label = f"10{str(decade).translate(RAISED)}"
        parts.append(f'<path d="M{LEFT - 4} {y:.1f}H{width - MARGIN}" stroke="{muted}" stroke-opacity="0.3"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" fill="{muted}" text-anchor="end">{label}</text>')
    for operation, name, size in zip(run.operations, names, sizes, strict=True):
        x = LEFT + operation.index * (BAR + GAP)
        what = say("svg.none") if size is None else power(size)
        parts.append(f"<g><title>{_escape(f'{operation.title}: {what}')}</title>")
        parts.append(_bar(x, size, low, high, top, bottom, colours["graph"]["gradient"], muted))
        parts.append(
            f'<text transform="translate({x + BAR - 1} {bottom + 8}) rotate(-90)" text-anchor="end" '
            f'fill="{ink if operation.weight is not None else muted}">{_escape(name)}</text></g>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _bar(x: int, size: float | None, low: int, high: int, top: int, bottom: int, colour: str, muted: str) -> str:
    """Return a bar; a ring where the gradient is 0, a dashed line where none came, a full outline for nan and inf."""
    middle = x + BAR / 2
    if size is None:
        return f'<path d="M{middle} {top}V{bottom}" stroke="{muted}" stroke-dasharray="2 4"/>'
    if not math.isfinite(size):
        return f'<rect x="{x}" y="{top}" width="{BAR}" height="{HEIGHT}" fill="none" stroke="{colour}"/>'
    if size == 0:
        return f'<circle cx="{middle}" cy="{bottom - 4}" r="3" fill="none" stroke="{colour}"/>'
    y = _height(size, low, high, top)
    return f'<rect x="{x}" y="{y:.1f}" width="{BAR}" height="{bottom - y:.1f}" fill="{colour}"/>'


def _decades(sizes: list[float]) -> tuple[int, int]:
    """Return the powers of ten between which all sizes lie."""
    found = [size for size in sizes if math.isfinite(size) and size > 0] or [1.0]
    high = math.ceil(math.log10(max(found)) + 1e-9)
    return max(math.floor(math.log10(min(found))), high - FLOOR) - 1, high


def _height(size: float, low: int, high: int, top: int) -> float:
    share = (math.log10(size) - low) / (high - low)
    return top + HEIGHT * (1 - max(share, 0.01))


def _shortened(name: str) -> str:
    return name if len(name) <= MAX_NAME else f"…{name[1 - MAX_NAME :]}"


def _wrapped(text: str, columns: int) -> list[str]:
    """Break a sentence into lines; one without spaces anywhere."""
    lines, line = [], ""
    for word in re.findall(r"\S+\s*|\s+", text):
        rest = word
        if len(line) + len(rest.rstrip()) > columns and line:
            lines.append(line.rstrip())
            line = ""
        while len(rest) > columns:
            lines.append(rest[:columns])
            rest = rest[columns:]
        line += rest
    return [*lines, line.rstrip()] if line.strip() else lines


def _escape(text: str) -> str:
    """Characters that XML does not have become �."""
    return escape(re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", text))
