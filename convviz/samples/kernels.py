"""Kernels with a name, for every kernel size.

For sizes other than 3 x 3 each is what its idea gives there: smoothing is a row of binomial coefficients, a derivative
a ramp through zero. ``facts/data/settings.json`` has these rows, and each kernel as a sum of outer products.
"""

import torch

from convviz.facts import facts

KERNELS: dict[str, list[list[str]]] = facts("settings")["kernels"]
AVERAGES: list[str] = facts("settings")["kernels_that_average"]  # whose numbers add up to 1

ROWS: dict[str, list[list[int]]] = facts("settings")["kernel_rows"]  # of 1 cell, of 2, … up to the board's most


def make_kernel(name: str, size: tuple[int, int]) -> torch.Tensor:
    """Make one kernel ``[kH, kW]``, float64, by a name in ``KERNELS`` or ``"counting"``; torch does not rotate it."""
    if name == "counting":  # 1, 2, 3 … in reading order
        return torch.arange(1, size[0] * size[1] + 1, dtype=torch.float64).reshape(size)
    kernel = torch.zeros(size, dtype=torch.float64)
    for rows in KERNELS[name]:
        down, across = (torch.tensor(ROWS[row][cells - 1]) for row, cells in zip(rows, size, strict=True))
        kernel += torch.outer(down, across)
    return kernel / kernel.sum() if name in AVERAGES else kernel
