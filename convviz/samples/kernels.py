"""Kernels with a name, for every kernel size.

The names are known for 3 x 3. For other sizes each kernel is what its idea gives there: smoothing is a row of
binomial coefficients, a derivative is a ramp through zero. ``facts/settings.json`` has each kernel as a sum of outer
products of such rows, the one down the column first.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from convviz.facts import facts
from convviz.samples.inputs import random_tensor

KERNELS: dict[str, list[list[str]]] = facts("settings")["kernels"]
AVERAGES: list[str] = facts("settings")["kernels_that_average"]  # whose numbers add up to 1

# A row's number at k of size cells; board/js/rules/samples.js has the same.
ROWS: dict[str, Callable[[int, int], float]] = {
    "ones": lambda k, size: 1,
    "first": lambda k, size: k == 0,
    "last": lambda k, size: k == size - 1,
    "centre": lambda k, size: k == (size - 1) // 2,
    "binomial": lambda k, size: math.comb(size - 1, k),
    # -1, 0, 1 for three cells; -1, 1 for two; a single cell has no slope and keeps its value.
    "slope": lambda k, size: (2 * k - size + 1) / (1 + size % 2) if size > 1 else 1,
    "rise": lambda k, size: ROWS["slope"](k, size) if size > 1 else 0,
    # The neighbours minus as many times the centre, so that a constant image gives zero.
    "second": lambda k, size: abs(k - (size - 1) // 2) == 1 or -min(size - 1, 2) * ROWS["centre"](k, size),
    "bump": lambda k, size: -ROWS["second"](k, size),
}


def make_kernel(name: str, size: tuple[int, int], *, seed: int = 0) -> torch.Tensor:
    """Make one kernel plane by name.

    Args:
        name: a name in ``KERNELS``, ``"counting"`` or ``"random"``.
        size: (kH, kW).
        seed: of the random kernel; numbers in steps of 0.1.

    Returns:
        float64 ``[kH, kW]``, as torch correlates with it: not rotated.

    Raises:
        ValueError: there is no such kernel.
    """
    if name == "random":
        return random_tensor(size, seed).clamp(-3, 3)
    if name == "counting":  # 1, 2, 3 … in reading order
        return torch.arange(1, size[0] * size[1] + 1, dtype=torch.float64).reshape(size)
    if name not in KERNELS:
        raise ValueError(f"a kernel is one of counting, random, {', '.join(KERNELS)}: got {name!r}")
    kernel = torch.zeros(size, dtype=torch.float64)
    for rows in KERNELS[name]:
        kernel += torch.outer(*(_row(row, cells) for row, cells in zip(rows, size, strict=True)))
    return kernel / kernel.sum() if name in AVERAGES else kernel


def _row(name: str, size: int) -> torch.Tensor:
    return torch.tensor([ROWS[name](k, size) for k in range(size)], dtype=torch.float64)
