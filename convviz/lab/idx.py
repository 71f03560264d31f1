"""IDX, the form in which MNIST is given away: a magic number, the length of each axis, then one byte a number."""

import gzip
import hashlib
import math
import zlib
from pathlib import Path
from typing import IO

import torch

# The four files of MNIST → MD5 of what they hold, unpacked: as its mirrors state it (torchvision those of the .gz).
MNIST = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}
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
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            head, shape = _head(file, 3 if "images" in name else 1, path)
            promised, written = math.prod(shape), " × ".join(map(str, shape))
            if promised > MAX_BYTES:
                raise ValueError(
                    f"the head of {path} promises {written} bytes, and at most {MAX_BYTES} are read: it is damaged, "
                    "or not an IDX file of digits; get it again"
                )
            content = file.read(promised + 1)  # no more: 3 MB can unpack to gigabytes of zeros
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is truncated or no gzip file ({error}); get it again") from error
    if len(content) != promised:
        what, found = ("truncated", len(content)) if len(content) < promised else ("too long", "more")
        raise ValueError(f"{path} is {what}: its head promises {written} bytes, and {found} follow; get it again")
    if verify and (found := hashlib.md5(head + content, usedforsecurity=False).hexdigest()) != MNIST[name]:
        raise ValueError(
            f"{path} is not MNIST's own: the MD5 of its content is {found}, not {MNIST[name]}; get it again, or pass "
            "verify=False (--no-verify) if these digits are your own"
        )
    return torch.frombuffer(bytearray(content), dtype=torch.uint8).reshape(shape)


def _head(file: IO[bytes] | gzip.GzipFile, axes: int, path: Path) -> tuple[bytes, list[int]]:
    """Return the head of a file of so many axes, and the shape that it states."""
    size, magic = 4 + 4 * axes, bytes([0, 0, UNSIGNED_BYTE, axes])
    head = file.read(size)
    if len(head) < size or not head.startswith(magic):
        raise ValueError(
            f"an IDX file of {axes} axes begins with the bytes {' '.join(map(str, magic))} and has a head of {size} "
            f"bytes: {path} begins with {' '.join(map(str, head[:4])) or 'nothing'}"
        )
    return head, [int.from_bytes(head[at : at + 4], "big") for at in range(4, size, 4)]
