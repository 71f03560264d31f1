"""IDX, the form in which MNIST is given away: a magic number, the length of each axis, then one byte a number."""

import gzip
import hashlib
import math
import zlib
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch

# The four files of MNIST → MD5 of what they hold, unpacked: as its mirrors state it (torchvision those of the .gz).
MNIST = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}
PART = 2**20  # bytes that are unpacked at a time
MAX_BYTES = 2**30  # of one file: twenty times MNIST's training set, since a head may lie
UNSIGNED_BYTE = 8  # IDX's name of the type of its numbers


def read_folder(folder: Path, verify: bool = True) -> tuple[torch.Tensor, ...]:
    """Return MNIST's four files, gzipped or not, as bytes: train ``[N, 28, 28]`` and ``[N]``, then test."""
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
    axes = 3 if "images" in name else 1
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = _promised(file, axes, str(path))
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is truncated or no gzip file ({error}); get it again") from error
    numbers = parse(content, str(path), axes)
    if verify and (found := hashlib.md5(content, usedforsecurity=False).hexdigest()) != MNIST[name]:
        raise ValueError(
            f"{path} is not MNIST's own: the MD5 of its content is {found}, not {MNIST[name]}; get it again, or pass "
            "verify=False (--no-verify) if these digits are your own"
        )
    return numbers


def _promised(file: BinaryIO | gzip.GzipFile, axes: int, name: str) -> bytearray:
    """Read what the head promises, and one byte more: 3 MB can unpack to gigabytes of zeros."""
    content = bytearray(file.read(4 + 4 * axes))
    if not _begins(content, axes):
        return content
    promised = math.prod(_shape(content))
    if promised > MAX_BYTES:
        raise ValueError(
            f"the head of {name} promises {' × '.join(map(str, _shape(content)))} bytes, and at most {MAX_BYTES} are "
            "read: it is damaged, or not an IDX file of digits; get it again"
        )
    end = len(content) + promised + 1
    while part := file.read(min(PART, end - len(content))):
        content += part
    return content


def _begins(content: bytes | bytearray, axes: int) -> bool:
    return len(content) >= 4 + 4 * axes and content[:4] == bytes([0, 0, UNSIGNED_BYTE, axes])


def _shape(content: bytes | bytearray) -> list[int]:
    return [int.from_bytes(content[at : at + 4], "big") for at in range(4, 4 + 4 * content[3], 4)]


def parse(content: bytes | bytearray, name: str, axes: int) -> torch.Tensor:
    """Return the bytes of an unpacked IDX file, of so many axes, in the shape that it states."""
    head = 4 + 4 * axes
    if not _begins(content, axes):
        raise ValueError(
            f"an IDX file of {axes} axes begins with the bytes 0 0 {UNSIGNED_BYTE} {axes} and has a head of {head} "
            f"bytes: {name} begins with {' '.join(map(str, content[:4])) or 'nothing'}"
        )
    shape = _shape(content)
    if len(content) - head != math.prod(shape):
        follow = len(content) - head
        what, found = ("truncated", follow) if follow < math.prod(shape) else ("too long", "more")
        raise ValueError(
            f"{name} is {what}: its head promises {' × '.join(map(str, shape))} bytes, and {found} follow; get it again"
        )
    return torch.from_numpy(np.frombuffer(content, np.uint8, offset=head).reshape(shape).copy())
