r"""A scene as TikZ, to \input into a paper."""

from __future__ import annotations

import itertools
import operator

from convviz.export.scene import Box, Mosaic, Scene, Shape, Strokes, Words, colors

POINT = 0.75  # points of the paper for a pixel of the scene
WRITTEN = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "#": r"\#", "%": r"\%", "&": r"\&", "$": r"\$",
    "^": r"\^{}", "~": r"\~{}", "−": "$-$", "∞": r"$\infty$", "×": r"$\times$", "·": r"$\cdot$", "Σ": r"$\Sigma$",
    "→": r"$\rightarrow$",
}  # fmt: skip


def tikz(scene: Scene) -> str:
    r"""Return a scene as a ``tikzpicture`` that needs ``\usepackage{tikz}`` and nothing else.

    Its structure is tested; that LaTeX compiles it was not tried, because no LaTeX was at hand.
    """
    lines = [
        "% " + _one_line(scene.title),
        "% Needs \\usepackage{tikz} in the preamble.",
        f"\\begin{{tikzpicture}}[x={POINT}pt, y=-{POINT}pt, line cap=butt]",
        *(f"\\definecolor{{{_name(color)}}}{{HTML}}{{{color[1:].upper()}}}" for color in sorted(colors(scene))),
        f"\\fill[{_name(scene.paper)}] (0,0) rectangle ({_short(scene.width)},{_short(scene.height)});",
        *itertools.chain.from_iterable(map(_shape, scene.shapes)),
        "\\end{tikzpicture}",
    ]
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _name(color: str) -> str:
    return f"cv{color[1:]}"


def _short(number: float) -> str:
    return f"{round(number, 2):f}".rstrip("0").rstrip(".")


def _width(pixels: float) -> str:
    return f"line width={_short(pixels * POINT)}pt"


def _dashes(shape: Box | Strokes) -> list[str]:
    if not shape.dash:
        return []
    on, off = (_short(pixels * POINT) for pixels in shape.dash)
    return [f"dash pattern=on {on}pt off {off}pt"]


def _shape(shape: Shape) -> list[str]:
    if isinstance(shape, Box):
        return [_box(shape)]
    if isinstance(shape, Words):
        return [_words(shape)]
    if isinstance(shape, Strokes):
        # A line of the file each: TeX reads long lines badly.
        return [
            f"\\draw[{', '.join([_name(shape.color), _width(shape.width), *_dashes(shape)])}]",
            *(f"  ({_short(a)},{_short(b)}) -- ({_short(c)},{_short(d)})" for a, b, c, d in shape.segments),
            "  ;",
        ]
    return _mosaic(shape)


def _corners(x: float, y: float, width: float, height: float) -> str:
    return f"({_short(x)},{_short(y)}) rectangle ({_short(x + width)},{_short(y + height)})"


def _box(box: Box) -> str:
    options = [f"fill={_name(box.fill)}"] if box.fill else []
    if box.stroke:
        options += [f"draw={_name(box.stroke)}", _width(box.line)]
    return f"\\path[{', '.join(options + _dashes(box))}] {_corners(box.x, box.y, box.width, box.height)};"


def _words(words: Words) -> str:
    size, skip = _short(words.size * POINT), _short(words.size * POINT * 1.2)
    font = f"\\fontsize{{{size}pt}}{{{skip}pt}}\\selectfont\\sffamily" + ("\\bfseries" if words.bold else "")
    anchor = "base" if words.centred else "base west"
    text = "".join(WRITTEN.get(letter, letter) for letter in words.text)
    options = f"anchor={anchor}, inner sep=0pt, text={_name(words.color)}, font={{{font}}}"
    return f"\\node[{options}] at ({_short(words.x)},{_short(words.y)}) {{{text}}};"


def _mosaic(mosaic: Mosaic) -> list[str]:
    """Return neighbours of one colour as one rectangle."""
    wide, high = mosaic.width / len(mosaic.rows[0]), mosaic.height / len(mosaic.rows)
    lines = []
    for r, row in enumerate(mosaic.rows):
        for color, group in itertools.groupby(enumerate(row), key=operator.itemgetter(1)):
            columns = [column for column, _ in group]
            at = _corners(mosaic.x + columns[0] * wide, mosaic.y + r * high, len(columns) * wide, high)
            lines.append(f"\\fill[{_name(color)}] {at};")
    return lines
