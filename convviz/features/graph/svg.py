"""The drawing of a graph as one SVG element, readable without anything else."""

import re
from collections import defaultdict
from xml.sax.saxutils import escape, quoteattr

from convviz.facts import facts
from convviz.facts.join_lists import semicolon
from convviz.facts.words import sentences
from convviz.features.graph.box_text import (
    box_lines,
    columns,
    derivative,
    details,
    factor,
    gradient_numbers,
    shortened,
)
from convviz.features.graph.layout import Arrangement
from convviz.features.graph.nodes_and_edges import Edge, Node, Parts

say = sentences("features/graph")

Place = tuple[float, float]  # x, y in pixels


# Of each theme the colours by their use: of text, of arrows and gradients, and of the kinds of boxes.
PALETTES: dict[str, dict[str, str]] = {
    theme: {"paper": of["card"], "ink": of["ink"], "muted": of["muted"], **of["graph"], "rest": of["card"]}
    for theme, of in facts("colours").items()
}
ROUNDING = {"output": 4, "function": 4, "leaf": 20, "rest": 4}  # of corners, so that colour is not the only difference
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SIZE, CHARACTER, LINE = 12, 7.3, 17  # of the font, the width of its widest kin, and a line's height, in pixels
LABEL_SIZE = 13
MAX_LINE_CHARS = 38  # in a line of a box
MAX_LABEL_CHARS = 30  # which are larger, and leave room for the step
PADDING = 10
HEIGHT = 4 * LINE + 2 * PADDING
GAP_X, GAP_Y = 26, 46
MARGIN, CAPTION = 16, 28
_REST_OUTLINE = ' stroke-dasharray="6 4"'  # no box of the graph: what lies outside the picture


def draw(graph: Parts, theme: str, summary: str, paths: dict[str, str], arrangement: Arrangement) -> str:
    """Return the SVG text, with what ``Graph`` says and works out of its parts; see ``Graph.to_svg``."""
    if theme not in PALETTES:
        raise ValueError(f"theme is one of {', '.join(PALETTES)}: got {theme!r}")
    return _Drawing(graph, PALETTES[theme], paths, arrangement).text(summary)


class _Drawing:
    """One drawing: the measures that all its parts share."""

    def __init__(self, graph: Parts, palette: dict[str, str], paths: dict[str, str], arrangement: Arrangement) -> None:
        self.graph, self.palette, self.caption = graph, palette, say("caption")
        self.paths, self.arranged = paths, arrangement
        self.nodes = {node.id: node for node in graph.nodes}
        self.step = {id: number for number, id in enumerate(graph.steps, start=1)}
        self.lines = {node.id: _lines(node) for node in graph.nodes}
        self.slots: dict[str, list[int]] = defaultdict(list)  # of each node, those that arrows leave from
        for edge in sorted(graph.edges, key=lambda edge: edge.output_slot):
            if edge.output_slot not in self.slots[edge.source]:
                self.slots[edge.source].append(edge.output_slot)
        self.width = self._box_width()
        places = self.arranged.positions.values()
        across = [x for x, _ in places] + [x for route in self.arranged.routes.values() for x in route]
        self.total_width = max(
            (max(across) + 1) * (self.width + GAP_X) - GAP_X + 2 * MARGIN,
            columns(self.caption) * CHARACTER + 2 * MARGIN,
        )
        self.total_height = self.top(max(y for _, y in places)) + HEIGHT + MARGIN

    def _box_width(self) -> float:
        """Return a width that holds every line, and the step beside the bold label."""
        longest = max(
            max(columns(label) * LABEL_SIZE / SIZE + 5, *map(columns, others)) for label, *others in self.lines.values()
        )
        return round(longest * CHARACTER + 2 * PADDING)

    def middle(self, x: float) -> float:
        return MARGIN + self.width / 2 + x * (self.width + GAP_X)

    def top(self, layer: float) -> float:
        return MARGIN + CAPTION + layer * (HEIGHT + GAP_Y)

    def text(self, summary: str) -> str:
        palette, size = self.palette, f"{_n(self.total_width)} {_n(self.total_height)}"
        width, height = size.split()
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {size}" '
            f'role="img" font-family="{FONT}" font-size="{SIZE}">',
            f"<title>{_escape(say('drawing.title', summary=summary))}</title>",
            f"<desc>{_escape(self._description())}</desc>",
            f'<rect width="{width}" height="{height}" fill="{palette["paper"]}"/>',
            f'<text x="{MARGIN}" y="{MARGIN + 10}" fill="{palette["muted"]}">{_escape(self.caption)}</text>',
            *self._arrows(),
            *(self._box(node) for node in self.graph.nodes),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _description(self) -> str:
        visits = [
            say("visit", step=number, label=self.nodes[id].label, gradient=box_lines(self.nodes[id])[2])
            for id, number in self.step.items()
        ]
        return " ".join([say("visits", visits=semicolon(visits)), self.graph.note]).strip()

    def _box(self, node: Node) -> str:
        x, layer = self.arranged.positions[node.id]
        left, top = self.middle(x) - self.width / 2, self.top(layer)
        start, end, line = left + PADDING, left + self.width - PADDING, top + PADDING + 11
        label, *others = self.lines[node.id]
        muted, ink = self.palette["muted"], self.palette["ink"]
        attributes = f'data-node="{node.id}" data-kind="{node.kind}"'
        if node.id in self.step:
            attributes += f' data-step="{self.step[node.id]}"'
        if node.opens_into:
            attributes += f" data-opens-into={quoteattr(' '.join(node.opens_into))}"
        parts = [
            f"<g {attributes}><title>{_escape(details(node, self.paths.get(node.id, '')))}</title>",
            f'<rect x="{_n(left)}" y="{_n(top)}" width="{_n(self.width)}" height="{HEIGHT}" rx="{ROUNDING[node.kind]}" '
            f'fill="{self.palette[node.kind]}" stroke="{self.palette["arrow"]}" '
            f'stroke-width="{2 if node.kind == "output" else 1}"{_REST_OUTLINE if node.kind == "rest" else ""}/>',
            _text(start, line, label, ink, f' font-size="{LABEL_SIZE}" font-weight="600"'),
        ]
        if node.id in self.step:
            parts.append(_text(end, line, str(self.step[node.id]), muted, ' text-anchor="end"'))
        for text, colour in zip(others, (muted, ink, self.palette["gradient"]), strict=True):
            line += LINE
            parts += [_text(start, line, text, colour)] if text else []
        return "".join([*parts, "</g>"])

    def _arrows(self) -> list[str]:
        into: dict[str, list[Edge]] = defaultdict(list)
        for edge in self.graph.edges:
            into[edge.target].append(edge)
        drawn = []
        for edges in into.values():
            edges.sort(key=lambda edge: (self._last_x(edge), edge.input_slot))
            for place, edge in enumerate(edges, start=1):
                drawn.append(self._arrow(edge, place / (len(edges) + 1)))
        return drawn

    def _last_x(self, edge: Edge) -> float:
        route = self.arranged.routes[edge.source, edge.target]
        return route[-1] if route else self.arranged.positions[edge.source][0]

    def _arrow(self, edge: Edge, share: float) -> str:
        (from_x, from_layer), (to_x, to_layer) = (self.arranged.positions[id] for id in (edge.source, edge.target))
        slots = self.slots[edge.source]
        leave = (slots.index(edge.output_slot) + 1) / (len(slots) + 1)
        start = self.middle(from_x) + (leave - 0.5) * self.width, self.top(from_layer) + HEIGHT
        end = self.middle(to_x) + (share - 0.5) * self.width, self.top(to_layer)
        layers = enumerate(self.arranged.routes[edge.source, edge.target], start=1)
        bends = [(self.middle(x), self.top(from_layer + layer)) for layer, x in layers]
        ends = self.nodes[edge.source], self.nodes[edge.target]
        local, known = ("", "") if ends[1].kind == "output" else (factor(edge, *ends), derivative(edge, *ends))
        title = _escape(" ".join([say("arrow", gradient=gradient_numbers(edge.gradient)), known]).strip())
        # At the right of the arrow's head, under the curve of one that comes from there.
        beside = end[0] + 6 + 0.12 * max(0, (bends[-1] if bends else start)[0] - end[0])
        halo = f' stroke="{self.palette["paper"]}" stroke-width="3" paint-order="stroke"'
        label = _text(beside, end[1] - 4, f"× {local.strip('()')}", self.palette["gradient"], halo) if local else ""
        dashes = ' stroke-dasharray="4 3"' if edge.gradient is None else ""
        line = self.palette["arrow"]
        return (
            f'<g data-edge="{edge.source} {edge.target} {edge.input_slot}"><title>{title}</title>'
            f'<path d="{_path(start, bends, end)}" fill="none" stroke="{line}" stroke-width="1.5"{dashes}/>'
            f'<path d="M{_n(end[0])} {_n(end[1])}l-4 -8h8z" fill="{line}"/>{label}</g>'
        )


def _path(start: Place, bends: list[Place], end: Place) -> str:
    """Return a line that is straight at its bends, and curves only between the layers."""
    (x, y), path = start, f"M{_n(start[0])} {_n(start[1])}"
    drawn_to = y  # what stands straight below itself is one line, however many layers it passes
    for to_x, to_y in [*bends, end]:
        if (to_x, to_y) == end or abs(to_x - x) >= 0.01:
            path += f"V{_n(y)}" if y > drawn_to else ""
            half = (y + to_y) / 2
            path += f"C{_n(x)} {_n(half)} {_n(to_x)} {_n(half)} {_n(to_x)} {_n(to_y)}"
            drawn_to = to_y
        x, y = to_x, to_y + HEIGHT
    return path


def _lines(node: Node) -> tuple[str, ...]:
    label = shortened(node.label, MAX_LABEL_CHARS)
    return (
        label if node.spec is None else f"{label} ▸",
        *(shortened(line, MAX_LINE_CHARS) for line in box_lines(node)),
    )


def _text(x: float, y: float, text: str, ink: str, attributes: str = "") -> str:
    return f'<text x="{_n(x)}" y="{_n(y)}" fill="{ink}"{attributes}>{_escape(text)}</text>'


def _escape(text: str) -> str:
    """Characters that XML does not have become �."""
    return escape(re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", text))


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
