"""A scene as SVG."""

import base64
import struct
import zlib
from html import escape

from convviz.export.primitives import Box, Mosaic, Scene, Shape, Strokes, Words


def svg(scene: Scene, *, alone: bool = True) -> str:
    """``alone``, as a file, it brings its ground along."""
    wide, high = _short(scene.width), _short(scene.height)
    size = f'width="{wide}" height="{high}"' if alone else f'width="{wide}"'
    ground = f'<rect width="{wide}" height="{high}" fill="{scene.paper}"/>' if alone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" {size} role="img" '
        f'aria-label="{escape(scene.title)}" font-family="system-ui, sans-serif">'
        f"{ground}{''.join(map(_shape, scene.shapes))}</svg>"
    )


def _short(number: float) -> str:
    return f"{round(number, 2):g}"


def _shape(shape: Shape) -> str:
    if isinstance(shape, Box):
        return _box(shape)
    if isinstance(shape, Words):
        return _words(shape)
    if isinstance(shape, Strokes):
        stroke = f'stroke="{shape.color}" stroke-width="{_short(shape.width)}"{_dashes(shape)}'
        return f'<path d="{_path(shape)}" fill="none" {stroke}/>'
    return _mosaic(shape)


def _dashes(shape: Box | Strokes) -> str:
    return f' stroke-dasharray="{" ".join(map(_short, shape.dash))}"' if shape.dash else ""


def _path(strokes: Strokes) -> str:
    """Return lines as steps from one to the next: hatching repeats itself, and packs well."""
    parts, x, y = [], 0.0, 0.0
    for segment in strokes.segments:
        a, b, c, d = (round(part, 2) for part in segment)
        parts.append(f"m{_short(a - x)} {_short(b - y)}l{_short(c - a)} {_short(d - b)}")
        x, y = c, d
    return "".join(parts)


def _place(shape: Box | Mosaic) -> str:
    sides = {"x": shape.x, "y": shape.y, "width": shape.width, "height": shape.height}
    return " ".join(f'{name}="{_short(value)}"' for name, value in sides.items())


def _box(box: Box) -> str:
    stroke = f' stroke="{box.stroke}" stroke-width="{_short(box.line)}"' if box.stroke else ""
    named = f' class="cv-{box.kind}"' if box.kind not in ("", "cell", "frame") else ""
    return f'<rect {_place(box)} fill="{box.fill or "none"}"{stroke}{_dashes(box)}{named}/>'


def _words(words: Words) -> str:
    middle = ' text-anchor="middle"' if words.centred else ""
    bold = ' font-weight="650"' if words.bold else ""
    at = f'x="{_short(words.x)}" y="{_short(words.y)}"'
    return f'<text {at} font-size="{_short(words.size)}"{bold}{middle} fill="{words.color}">{escape(words.text)}</text>'


def _mosaic(mosaic: Mosaic) -> str:
    """Return the cells as a picture: a rectangle each would be long."""
    columns = len(mosaic.rows[0])
    zoom = max(int(2 * mosaic.width / columns), 1)  # enlarged here, because some printers smooth what they enlarge
    lines = []
    for row in mosaic.rows:
        line = b"".join(bytes.fromhex(color[1:]) * zoom for color in row)
        lines += [b"\0" + line] * zoom
    source = png_source(zoom * columns, zoom * len(mosaic.rows), b"".join(lines))
    return f'<image {_place(mosaic)} href="{source}"/>'


def png_source(width: int, height: int, lines: bytes) -> str:
    """Return a picture as an address; each line is a 0 and three bytes a pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(lines, 9)), chunk(b"IEND", b"")
    file = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()
    return f"data:image/png;base64,{file}"
