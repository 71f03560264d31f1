"""What one race is: a frozen value, checked when it is made."""

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypedDict

import torch

from convviz.lab.network import REPLACED
from convviz.ops.devices_and_dtypes import check_device, has_float64

DTYPES = {"float32": torch.float32, "float64": torch.float64}
TAPS_IMAGES = 256


@dataclass(frozen=True)
class RaceSettings:
    """How to train: the same for every entrant.

    Attributes:
        epochs: how often each image is learnt from.
        seeds: how many times the race is run, each time from other initial values, in another order.
        seed: the first of them, which also splits the data.
        batch_size: images a step; the last step of an epoch takes what is left.
        lr: learning rate of SGD at the first step; it falls in equal parts towards 0 at the end of the run.
        momentum: of SGD.
        replaced: ``"all"`` convolutions and linear layers are the entrant's, or the ``"first"`` layer alone, as in the
            article.
        device: where torch computes.
        dtype: ``"float32"``, or ``"float64"`` to see that two layers are the same algorithm.
    """

    epochs: int = 5
    seeds: int = 1
    seed: int = 0
    batch_size: int = 64
    lr: float = 0.02
    momentum: float = 0.9
    replaced: str = "all"
    device: str = "cpu"
    dtype: str = "float32"

    def __post_init__(self) -> None:
        for name in ("epochs", "seeds", "batch_size"):
            _check(name, getattr(self, name), Integral, "a whole number, 1 or more", lambda value: value >= 1)
        _check("seed", self.seed, Integral, "a whole number, 0 or more", lambda value: value >= 0)
        _check("lr", self.lr, Real, "a number above 0", lambda value: 0 < value < math.inf)
        _check("momentum", self.momentum, Real, "a number from 0 to below 1", lambda value: 0 <= value < 1)
        for name, known in (("replaced", REPLACED), ("dtype", DTYPES)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is one of {', '.join(known)}: got {getattr(self, name)!r}")
        device = check_device(self.device)
        object.__setattr__(self, "device", str(device))
        if self.dtype == "float64" and not has_float64(device):
            raise ValueError(f"the {device.type} device has no float64: got dtype float64; use float32, or the cpu")

    def check_images(self, train: int, names: tuple[str, ...]) -> None:
        """Check that there are images for a batch, and not too many for a slow entrant."""
        if self.batch_size > train:
            raise ValueError(
                f"batch_size is at most the number of images to learn from, {train}: got {self.batch_size}; take a "
                "smaller batch or more images"
            )
        if "taps" in names and train > TAPS_IMAGES:
            raise ValueError(
                f"taps adds up its products one by one, so it takes at most {TAPS_IMAGES} images to learn from: got "
                f"{train}; pass train={TAPS_IMAGES} (--train {TAPS_IMAGES}), or leave taps out"
            )


class RaceKeywords(TypedDict, total=False):
    """The same by name, for who hands them on."""

    epochs: int
    seeds: int
    seed: int
    batch_size: int
    lr: float
    momentum: float
    replaced: str
    device: str
    dtype: str


def _check(name: str, value: Any, kind: type, rule: str, holds: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, kind) or not holds(value):
        raise ValueError(f"{name} is {rule}: got {value!r}")
