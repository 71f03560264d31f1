"""A picture of the user's as the input: chosen or dropped, checked, made grey, made small."""

from __future__ import annotations

import io
import itertools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.settings.tensor_source import Source

if TYPE_CHECKING:
    from PIL import Image

# Below the 10 MB at which Jupyter's server would cut the connection: the page looks at the size before it sends one.
MAX_PICTURE_BYTES: int = facts("settings")["limits"]["picture"]["bytes"]
MAX_PICTURE_PIXELS = 50_000_000
MAX_PICTURE_SIDE = 65_535  # as a JPEG has: decoders keep whole rows, several times over
TILE = 1024  # rows and columns that are converted at a time
ORIENTATION = 0x0112  # EXIF's number for how a camera was held
SIDE = 64  # most rows and columns that the board shows


say = sentences("app")


def picture_source(buffers: list[Any]) -> Source:
    """Return the picture in a message as an input, rounded to thousandths, which no eye can see."""
    data = bytes(buffers[0]) if buffers else b""
    return Source.of((read_picture(data) * 1000).round() / 1000, "image")


def read_picture(data: bytes) -> torch.Tensor:
    """Turn a PNG or JPEG file into one grey plane, float64 ``[H, W]``, at most 64 x 64, 0 (black) to 1 (white)."""
    if len(data) > MAX_PICTURE_BYTES:
        raise ValueError(say("upload.bytes", most=MAX_PICTURE_BYTES // 10**6, got=f"{len(data) / 10**6:.0f}"))
    grey = _grey(data)
    pixels = torch.frombuffer(bytearray(grey.tobytes()), dtype=torch.uint8)
    return pixels.reshape(grey.height, grey.width).double() / 255


def _grey(data: bytes) -> Image.Image:
    """Decode, put what is transparent on white paper, and reduce to at most SIDE x SIDE.

    The size that the file declares is read before a pixel is. A JPEG is then decoded small; a PNG cannot be, so of a
    large one a tile is converted at a time, and one decoded copy is the most that is there.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError  # a tenth of a second, only for those who upload

    too_large = say("upload.pixels", most=MAX_PICTURE_PIXELS // 10**6, side=MAX_PICTURE_SIDE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image: Image.Image = Image.open(io.BytesIO(data), formats=("PNG", "JPEG"))
        large = image.width * image.height > MAX_PICTURE_PIXELS or max(image.size) > MAX_PICTURE_SIDE
        if not large:
            image.draft(image.mode, (4 * SIDE, 4 * SIDE))  # JPEG: as small as an eighth, while decoding
            image.load()
    except UnidentifiedImageError as error:
        raise ValueError(say("upload.kind")) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ValueError(too_large) from error
    except Exception as error:  # a damaged file makes the decoders fail in many ways
        raise ValueError(say("upload.damaged", why=error)) from error
    if large:
        raise ValueError(too_large)
    grey = _reduced(image)
    grey.getexif()[ORIENTATION] = image.getexif().get(ORIENTATION, 1)
    grey = ImageOps.exif_transpose(grey)  # phones store a portrait lying on its side
    grey.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
    return grey


def _reduced(image: Image.Image) -> Image.Image:
    """Return a decoded picture in grey, reduced to a few times SIDE, tile by tile."""
    from PIL import Image

    factor = max(1, max(image.size) // (4 * SIDE))
    width, height = image.size
    grey = Image.new("L", (-(-width // factor), -(-height // factor)))
    side = max(1, TILE // factor) * factor  # whole rows and columns of the reduced picture
    for top, left in itertools.product(range(0, height, side), range(0, width, side)):
        tile = _on_paper(image.crop((left, top, min(left + side, width), min(top + side, height))))
        grey.paste(tile.reduce((min(factor, tile.width), min(factor, tile.height))), (left // factor, top // factor))
    return grey


def _on_paper(image: Image.Image) -> Image.Image:
    from PIL import Image

    if image.mode.startswith("I"):  # 16 bits a pixel: Pillow would cut them off at 255
        image = Image.fromarray((np.asarray(image).clip(0, 65535) / 257).round().astype(np.uint8))
    paper = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(paper, image.convert("RGBA")).convert("L")
