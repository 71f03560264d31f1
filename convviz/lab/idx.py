"""IDX, the form in which MNIST is given away: a magic number, the length of each axis, then one byte a number."""

from __future__ import annotations

import gzip
import hashlib
import math
import zlib
from pathlib import Path

import numpy as np
import torch

# The four files of MNIST → MD5 of what they hold, unpacked: as its mirrors state it (torchvision those of the .gz).
MNIST = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}
UNSIGNED_BYTE = 8  # IDX's name of the type of its numbers


def read_folder(folder: Path, verify: bool = True) -> tuple[torch.Tensor, ...]:
    """Return MNIST's four files as bytes: train images ``[N, 28, 28]``, train labels ``[N]``, and those of the test.

    Args:
        folder: where they stand, each as it is or with ``.gz`` behind its name.
        verify: whether they must be MNIST's own; otherwise any digits in this form will do.

    Raises:
        OSError: a file is missing or cannot be read.
        ValueError: a file is truncated, is no IDX, is not MNIST's own, or does not fit to the others.
    """
    train_images, train_labels, test_images, test_labels = (_read(folder, name, verify) for name in MNIST)
    for images, labels, part in ((train_images, train_labels, "train"), (test_images, test_labels, "t10k")):
        if len(images) != len(labels):
            raise ValueError(
                f"every image has one label: got {len(images)} images and {len(labels)} labels in the {part} files of "
                f"{folder}; take both from one data set"
            )
        if images.shape[1:] != (28, 28) or not len(images):
            raise ValueError(
                f"the network takes images of 28 × 28, one or more: got {list(images.shape)} in the {part} files of "
                f"{folder}"
            )
        if labels.max() > 9:
            raise ValueError(f"a label is a digit, 0 to 9: got {labels.max()} in the {part} files of {folder}")
    return train_images, train_labels, test_images, test_labels


def _read(folder: Path, name: str, verify: bool) -> torch.Tensor:
    path = next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)
    if path is None:
        raise FileNotFoundError(
            f"a folder of MNIST has {', '.join(MNIST)}, each with or without .gz: {folder} has no {name}"
        )
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is truncated or no gzip file ({error}); get it again") from error
    numbers = parse(content, str(path), axes=3 if "images" in name else 1)
    if verify and (found := hashlib.md5(content, usedforsecurity=False).hexdigest()) != MNIST[name]:
        raise ValueError(
            f"{path} is not MNIST's own: the MD5 of its content is {found}, not {MNIST[name]}; get it again, or pass "
            "verify=False (--no-verify) if these digits are your own"
        )
    return numbers


def parse(content: bytes, name: str, axes: int) -> torch.Tensor:
    """Return the numbers of an IDX file, as bytes, in the shape that it states.

    Args:
        content: the file's, unpacked.
        name: of the file, for errors.
        axes: how many it must have.

    Raises:
        ValueError: it begins as no such file does, or has more or fewer numbers than it states.
    """
    head = 4 + 4 * axes
    if len(content) < head or content[:4] != bytes([0, 0, UNSIGNED_BYTE, axes]):
        raise ValueError(
            f"an IDX file of {axes} axes begins with the bytes 0 0 {UNSIGNED_BYTE} {axes} and has a head of {head} "
            f"bytes: {name} has {len(content)} bytes and begins with {' '.join(map(str, content[:4])) or 'nothing'}"
        )
    shape = [int.from_bytes(content[4 + 4 * axis : 8 + 4 * axis], "big") for axis in range(axes)]
    if len(content) - head != math.prod(shape):
        what = "truncated" if len(content) - head < math.prod(shape) else "too long"
        raise ValueError(
            f"{name} is {what}: its head promises {' × '.join(map(str, shape))} bytes, and {len(content) - head} "
            "follow; get it again"
        )
    return torch.from_numpy(np.frombuffer(content, np.uint8, offset=head).reshape(shape).copy())
