"""Inputs to start from: real digits, and the patterns that make a mistake visible."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

from convviz.facts import facts


def digits() -> torch.Tensor:
    """Return ten handwritten digits of ``facts/data/digits.json``, float64 ``[10, 8, 8]``, 0 (paper) to 1 (ink)."""
    return torch.tensor(facts("digits")["digits"], dtype=torch.float64) / 16


def resize(plane: torch.Tensor, size: tuple[int, int]) -> torch.Tensor:
    """Resize one plane ``[H, W]``: averaging when it shrinks, interpolating when it grows."""
    larger = size[0] > plane.shape[0] or size[1] > plane.shape[1]
    return F.interpolate(plane[None, None], size=size, mode="bilinear" if larger else "area")[0, 0]


def fit(tensor: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """Crop each axis's end, or add zeros: what was typed stays where it was typed."""
    fitted = tensor.new_zeros(shape)
    overlap = tuple(slice(0, min(old, new)) for old, new in zip(tensor.shape, shape, strict=True))
    fitted[overlap] = tensor[overlap]
    return fitted


# A plane's number at row r and column c; web/rules/samples.js has the same.
PATTERNS: dict[str, Callable[[int, tuple[int, int], torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "delta": lambda plane, size, r, c: (
        (r == (size[0] // 2 + plane) % size[0]) & (c == (size[1] // 2 + plane) % size[1])
    ),
    # Every second plane counts down the columns, so that two channels differ in more than their offset.
    "ramp": lambda plane, size, r, c: ((c * size[0] + r if plane % 2 else r * size[1] + c) + plane) / 10,
    "checkerboard": lambda plane, size, r, c: (r + c + plane) % 2 == 0,
    # Whole numbers from 0 to 4 without a pattern that the eye finds: sums of them can be checked by heart.
    "whole": lambda plane, size, r, c: (r * r + c * c + r * c + c + plane) % 5,
}


def random_tensor(shape: tuple[int, ...], seed: int) -> torch.Tensor:
    """Return a seed's normal numbers, rounded to one decimal, for sums by hand."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator, dtype=torch.float64) * 10).round() / 10 + 0.0  # + 0.0: no -0


def make_input(kind: str, shape: tuple[int, int, int, int], *, digit: int = 3) -> torch.Tensor:
    """Make an input ``[N, C, H, W]`` by name; every plane has an image of its own: the next digit, a moved pattern."""
    (batch, channels), size = shape[:2], shape[2:]
    r, c = (torch.arange(cells, dtype=torch.float64) for cells in size)
    planes = [
        resize(digits()[(digit + n) % 10], size) if kind == "digit" else PATTERNS[kind](n, size, r[:, None], c[None])
        for n in range(batch * channels)
    ]
    return torch.stack(planes).to(torch.float64).reshape(shape)
