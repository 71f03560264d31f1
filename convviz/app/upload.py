"""A picture of the user's as the input: chosen or dropped, checked, made grey, made small."""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import anywidget
import torch
import traitlets

MOST_BYTES = 8_000_000  # below the 10 MB at which Jupyter's server would cut the connection
MOST_PIXELS = 50_000_000
SIDE = 64  # most rows and columns that the board shows


class Upload(anywidget.AnyWidget):
    """A button that takes a picture file and hands over its bytes.

    ipywidgets' FileUpload sends a file of any size; one above the server's limit ends the connection to the
    kernel, and with it the session. This one looks at the size first.
    """

    _esm = files("convviz.app").joinpath("upload.js").read_text(encoding="utf-8")
    most_bytes = traitlets.Int(MOST_BYTES).tag(sync=True)

    def __init__(self, on_file: Callable[[bytes], None], on_refusal: Callable[[str], None]) -> None:
        """Make the button.

        Args:
            on_file: called with the bytes of a file.
            on_refusal: called with a sentence when the page refuses one.
        """
        super().__init__()
        self._callbacks: tuple[Callable[[bytes], None], Callable[[str], None]] | None = (on_file, on_refusal)
        self.on_msg(self._receive)

    def _receive(self, _: object, message: dict[str, Any], buffers: list[Any]) -> None:
        if self._callbacks is None:
            return
        on_file, on_refusal = self._callbacks
        if message.get("type") == "file" and buffers:
            on_file(bytes(buffers[0]))
        elif message.get("type") == "refused":
            on_refusal(
                f"a picture may have up to {MOST_BYTES // 10**6} MB: got {message.get('megabytes')} MB; "
                "make it smaller first"
            )

    def close(self) -> None:
        """Close the widget and let go of its callbacks."""
        self._callbacks = None
        super().close()


def read_picture(data: bytes) -> torch.Tensor:
    """Turn a PNG or JPEG file into one grey plane.

    Args:
        data: the file's bytes.

    Returns:
        float64 ``[H, W]``, at most 64 x 64, 0 (black) to 1 (white), in steps of 1/255.

    Raises:
        ValueError: it is no PNG or JPEG, it is damaged, or it is too large.
    """
    from PIL import Image, UnidentifiedImageError  # a tenth of a second, only for those who upload

    if len(data) > MOST_BYTES:
        raise ValueError(
            f"a picture may have up to {MOST_BYTES // 10**6} MB: got {len(data) / 10**6:.0f} MB; make it smaller first"
        )
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
            if image.width * image.height > MOST_PIXELS:
                raise ValueError(
                    f"a picture may have up to {MOST_PIXELS // 10**6} million pixels: "
                    f"got {image.width} x {image.height}; make it smaller first"
                )
            grey = image.convert("L")
    except UnidentifiedImageError as error:
        raise ValueError(
            "an input picture is a PNG or JPEG file, and this file is neither; save it as one first"
        ) from error
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"this picture file is damaged and cannot be read ({error}); save it anew") from error
    grey.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
    pixels = torch.frombuffer(bytearray(grey.tobytes()), dtype=torch.uint8)
    return pixels.reshape(grey.height, grey.width).double() / 255
