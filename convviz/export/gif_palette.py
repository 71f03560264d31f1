"""The 256 colours of a GIF: Pillow's own choice of them would change the cells' colours."""

from collections.abc import Collection, Sequence

import numpy as np
from PIL import Image

MAX_COLORS = 255  # one is left for "as in the frame before"


class Palette:
    """One palette for all frames: the exact colours, then the most frequent soft edges."""

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
        """Return a picture with each colour replaced by the nearest of the palette."""
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
