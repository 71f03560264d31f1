"""Kernels with a name, for every kernel size.

The names are known for 3 x 3. For other sizes each kernel is what its idea gives there: smoothing is a row of
binomial coefficients, a derivative is a ramp through zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from convviz.samples.inputs import random_tensor

Size = tuple[int, int]


def _binomial(size: int) -> torch.Tensor:
    return torch.tensor([math.comb(size - 1, k) for k in range(size)], dtype=torch.float64)


def _ramp(size: int) -> torch.Tensor:
    """-1, 0, 1 for three cells; -1, 1 for two; a single cell has no slope and keeps its value."""
    if size == 1:
        return torch.ones(1, dtype=torch.float64)
    offsets = torch.arange(size, dtype=torch.float64) - (size - 1) / 2
    return offsets * 2 if size % 2 == 0 else offsets


def _identity(size: Size) -> torch.Tensor:
    kernel = torch.zeros(size, dtype=torch.float64)
    kernel[(size[0] - 1) // 2, (size[1] - 1) // 2] = 1
    return kernel


def _box(size: Size) -> torch.Tensor:
    return torch.full(size, 1 / (size[0] * size[1]), dtype=torch.float64)


def _gaussian(size: Size) -> torch.Tensor:
    kernel = torch.outer(_binomial(size[0]), _binomial(size[1]))
    return kernel / kernel.sum()


def _laplacian(size: Size) -> torch.Tensor:
    """Neighbours in the cross minus as many times the centre, so that a constant image gives zero."""
    kernel = torch.zeros(size, dtype=torch.float64)
    row, column = (size[0] - 1) // 2, (size[1] - 1) // 2
    for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
        if 0 <= r < size[0] and 0 <= c < size[1]:
            kernel[r, c] = 1
    kernel[row, column] = 0 - kernel.sum()
    return kernel


def _sharpen(size: Size) -> torch.Tensor:
    return _identity(size) - _laplacian(size)


def _sobel_x(size: Size) -> torch.Tensor:
    return torch.outer(_binomial(size[0]), _ramp(size[1]))


def _sobel_y(size: Size) -> torch.Tensor:
    return torch.outer(_ramp(size[0]), _binomial(size[1]))


def _emboss(size: Size) -> torch.Tensor:
    """A light from the upper left: the sum of both slopes, with the image itself left in."""
    kernel = _ramp(size[0])[:, None] * (size[0] > 1) + _ramp(size[1])[None, :] * (size[1] > 1)
    return kernel + _identity(size)


def _off_centre(size: Size) -> torch.Tensor:
    """One 1 in the first row, last column: it only shifts, so a kernel that was not rotated is seen at once."""
    kernel = torch.zeros(size, dtype=torch.float64)
    kernel[0, size[1] - 1] = 1
    return kernel


KERNELS: dict[str, Callable[[Size], torch.Tensor]] = {
    "identity": _identity,
    "box": _box,
    "gaussian": _gaussian,
    "sharpen": _sharpen,
    "sobel_x": _sobel_x,
    "sobel_y": _sobel_y,
    "laplacian": _laplacian,
    "emboss": _emboss,
    "off_centre": _off_centre,
}


def make_kernel(name: str, size: Size, *, seed: int = 0) -> torch.Tensor:
    """Make one kernel plane by name.

    Args:
        name: a name in ``KERNELS``, or ``"random"``.
        size: (kH, kW).
        seed: of the random kernel; numbers in steps of 0.1.

    Returns:
        float64 ``[kH, kW]``, as torch correlates with it: not rotated.

    Raises:
        ValueError: there is no such kernel.
    """
    if name == "random":
        return random_tensor(size, seed).clamp(-3, 3)
    if name not in KERNELS:
        raise ValueError(f"a kernel is one of random, {', '.join(KERNELS)}: got {name!r}")
    return KERNELS[name](size)
