"""What a picture is made of, before anybody writes it as SVG, PNG or GIF: everything is drawn once, here."""

import dataclasses
import itertools
from dataclasses import dataclass

from convviz.views.theme import COLOURS

Segment = tuple[float, float, float, float]  # x and y of both ends


@dataclass(frozen=True)
class Look:
    """The colours of a picture; the board's, of board.css."""

    paper: str
    ink: str
    muted: str
    line: str
    accent: str
    padding: str
    zero: str
    input: str
    weight: str
    output: str
    theme: str


OF_THE_PAGE = ("ink", "muted", "line", "accent", "padding", "zero", "input", "weight", "output")
LOOKS = {
    theme: Look(**{name: of[name] for name in OF_THE_PAGE}, paper=of["card"], theme=theme)
    for theme, of in COLOURS.items()
}


@dataclass(frozen=True)
class Box:
    """A rectangle, filled, outlined or both; the SVG keeps its kind, such as ``"lit"``, as a class."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    stroke: str = ""
    line: float = 1.0
    dash: tuple[float, ...] = ()
    kind: str = ""


@dataclass(frozen=True)
class Words:
    """One line of text; x is its start, or its middle where it is centred, y its base line."""

    x: float
    y: float
    text: str
    size: float
    color: str
    centred: bool = False
    bold: bool = False


@dataclass(frozen=True)
class Strokes:
    """Straight lines of one colour and width."""

    segments: tuple[Segment, ...]
    color: str
    width: float
    dash: tuple[float, ...] = ()  # pixels drawn and left out; empty for whole lines


@dataclass(frozen=True)
class Mosaic:
    """Cells too small for numbers: their colours alone, row by row."""

    x: float
    y: float
    width: float
    height: float
    rows: tuple[tuple[str, ...], ...]


Shape = Box | Words | Strokes | Mosaic


@dataclass(frozen=True)
class Scene:
    """A whole picture, in pixels of a page; what comes later lies on top."""

    width: float
    height: float
    paper: str
    shapes: tuple[Shape, ...]
    title: str


def moved(shape: Shape, right: float, down: float) -> Shape:
    if isinstance(shape, Strokes):
        segments = tuple((a + right, b + down, c + right, d + down) for a, b, c, d in shape.segments)
        return dataclasses.replace(shape, segments=segments)
    return dataclasses.replace(shape, x=shape.x + right, y=shape.y + down)


def colors(scene: Scene) -> set[str]:
    found = {scene.paper}
    for shape in scene.shapes:
        if isinstance(shape, Box):
            found |= {color for color in (shape.fill, shape.stroke) if color}
        elif isinstance(shape, Mosaic):
            found |= set(itertools.chain.from_iterable(shape.rows))
        else:
            found.add(shape.color)
    return found
