"""Scenes as PNG and, one a frame, as an animated GIF. Pillow draws them with the font that it brings along."""

import functools
import io
import math
import re
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from convviz.export.primitives import Box, Mosaic, Scene, Segment, Strokes, Words, colors

MAX_COLORS = 255  # of a GIF: one is left for "as in the frame before"
ZOOM = 2  # pixels of the file for a pixel of the scene
# Pillow's own font has none of these: lines in a square of one letter's size, upwards from the base line.
LETTERS: dict[str, list[Segment]] = {
    "−": [(0.08, 0.33, 0.5, 0.33)],
    "×": [(0.12, 0.1, 0.46, 0.5), (0.12, 0.5, 0.46, 0.1)],
    "∞": [
        *((0.1, 0.33, 0.25, 0.5), (0.25, 0.5, 0.65, 0.16), (0.65, 0.16, 0.8, 0.33)),
        *((0.8, 0.33, 0.65, 0.5), (0.65, 0.5, 0.25, 0.16), (0.25, 0.16, 0.1, 0.33)),
    ],
}
ADVANCE = {"−": 0.58, "×": 0.58, "∞": 0.9}


def png(scene: Scene) -> bytes:
    file = io.BytesIO()
    paint(scene).save(file, "PNG")
    return file.getvalue()


def gif(scenes: Sequence[Scene], durations: Sequence[int]) -> bytes:
    """So many milliseconds each, endlessly."""
    size = max(scene.width for scene in scenes), max(scene.height for scene in scenes)
    palette = Palette([paint(scenes[0], size), paint(scenes[-1], size)], set().union(*map(colors, scenes)))
    frames = (palette.apply(paint(scene, size)) for scene in scenes)
    file = io.BytesIO()
    next(frames).save(file, "GIF", save_all=True, append_images=frames, duration=list(durations), loop=0, disposal=1)
    return file.getvalue()


def paint(scene: Scene, size: tuple[float, float] | None = None) -> Image.Image:
    width, height = size or (scene.width, scene.height)
    picture = Image.new("RGB", (math.ceil(width * ZOOM), math.ceil(height * ZOOM)), scene.paper)
    draw = ImageDraw.Draw(picture)
    for shape in scene.shapes:
        if isinstance(shape, Box):
            _box(draw, shape)
        elif isinstance(shape, Words):
            _words(draw, shape)
        elif isinstance(shape, Strokes):
            _strokes(draw, shape)
        else:
            _mosaic(draw, shape)
    return picture


def _corners(x: float, y: float, width: float, height: float) -> tuple[int, int, int, int]:
    """The first and the last pixel of a rectangle; neighbours share no pixel."""
    left, top = round(x * ZOOM), round(y * ZOOM)
    return left, top, max(round((x + width) * ZOOM) - 1, left), max(round((y + height) * ZOOM) - 1, top)


def _box(draw: ImageDraw.ImageDraw, box: Box) -> None:
    corners = _corners(box.x, box.y, box.width, box.height)
    line = max(round(box.line * ZOOM), 1)
    if box.fill:
        draw.rectangle(corners, box.fill)
    if box.stroke and not box.dash:
        out = line // 2 if box.kind in ("window", "now") else 0  # half of it outside, as in SVG
        left, top, right, bottom = corners
        draw.rectangle((left - out, top - out, right + out, bottom + out), None, box.stroke, line)
    elif box.stroke:
        x, y, end, foot = box.x, box.y, box.x + box.width, box.y + box.height
        sides = ((x, y, end, y), (end, y, end, foot), (x, foot, end, foot), (x, y, x, foot))
        _strokes(draw, Strokes(sides, box.stroke, box.line, box.dash))


def _strokes(draw: ImageDraw.ImageDraw, strokes: Strokes) -> None:
    for segment in strokes.segments:
        for part in _dashes(segment, strokes.dash):
            draw.line([ZOOM * end for end in part], strokes.color, max(round(ZOOM * strokes.width), 1))


def _dashes(segment: Segment, dash: tuple[float, ...]) -> Iterator[Segment]:
    if not dash:
        yield segment
        return
    a, b, c, d = segment
    length, (on, off) = math.hypot(c - a, d - b), dash
    across, down = (c - a) / length, (d - b) / length
    for number in range(math.ceil(length / (on + off))):
        start = number * (on + off)
        end = min(start + on, length)
        yield a + across * start, b + down * start, a + across * end, b + down * end


def _mosaic(draw: ImageDraw.ImageDraw, mosaic: Mosaic) -> None:
    wide, high = mosaic.width / len(mosaic.rows[0]), mosaic.height / len(mosaic.rows)
    for r, row in enumerate(mosaic.rows):
        for c, color in enumerate(row):
            draw.rectangle(_corners(mosaic.x + c * wide, mosaic.y + r * high, wide, high), color)


@functools.cache
def _font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _words(draw: ImageDraw.ImageDraw, words: Words) -> None:
    size = ZOOM * words.size
    font = _font(size)
    parts = list(filter(None, re.split(f"([{''.join(LETTERS)}])", words.text)))
    widths = [ADVANCE[part] * size if part in LETTERS else font.getlength(part) for part in parts]
    x = ZOOM * words.x - (sum(widths) / 2 if words.centred else 0)
    for part, width in zip(parts, widths, strict=True):
        if part in LETTERS:
            for a, b, c, d in LETTERS[part]:
                ends = [x + a * size, ZOOM * words.y - b * size, x + c * size, ZOOM * words.y - d * size]
                draw.line(ends, words.color, max(round(size / 11), 1))
        else:
            draw.text((x, ZOOM * words.y), part, words.color, font, "ls")  # Pillow brings no bold letters
        x += width


class Palette:
    """The colours of all frames of a GIF: the exact ones, which Pillow's own choice would change, then soft edges."""

    def __init__(self, examples: Sequence[Image.Image], exact: Collection[str]) -> None:
        """Choose the exact colours, ``#rrggbb``, as long as they fit, then those of the examples."""
        first = np.array(sorted(int(color[1:], 16) for color in exact), dtype=np.int64)
        if len(first) > MAX_COLORS:
            first = first[np.linspace(0, len(first) - 1, MAX_COLORS).round().astype(int)]
        found, counts = np.unique(np.concatenate([_codes(each).ravel() for each in examples]), return_counts=True)
        others = found[np.argsort(-counts, kind="stable")]
        others = others[~np.isin(others, first)][: MAX_COLORS - len(first)]
        self._colors = _split(np.concatenate([first, others]))  # [up to 255, 3]
        self._index = np.full(1 << 24, -1, dtype=np.int16)  # of every colour that was met so far

    def apply(self, picture: Image.Image) -> Image.Image:
        codes = _codes(picture)
        index = self._index[codes]
        missing = np.unique(codes[index < 0])
        if missing.size:
            distance = ((_split(missing)[:, None, :] - self._colors[None]) ** 2).sum(axis=2)
            self._index[missing] = distance.argmin(axis=1)
            index = self._index[codes]
        result = Image.fromarray(index.astype(np.uint8))
        result.putpalette(self._colors.astype(np.uint8).tobytes())
        return result


def _codes(picture: Image.Image) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    pixels = np.asarray(picture).astype(np.int64)
    codes: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]
    return codes


def _split(codes: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=1)
