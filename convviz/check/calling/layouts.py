"""The orders of axes in which people keep tensors, and the way there and back from torch's."""

from __future__ import annotations

from collections.abc import Sequence

import torch

# Of torch's axes [N, C, H, W], those that a layout has, in its order; what is left out has one entry.
DATA: dict[str, tuple[int, ...]] = {
    "NCHW": (0, 1, 2, 3),
    "NHWC": (0, 2, 3, 1),
    "CHW": (1, 2, 3),
    "HWC": (2, 3, 1),
    "HW": (2, 3),
    "NC": (0, 1),
    "CN": (1, 0),
    "C": (1,),
}
# Of a kernel's [C_out, C_in / groups, kH, kW].
KERNEL: dict[str, tuple[int, ...]] = {
    "OIHW": (0, 1, 2, 3),
    "HWIO": (2, 3, 1, 0),
    "OHWI": (0, 2, 3, 1),
    "HWOI": (2, 3, 0, 1),
    "IOHW": (1, 0, 2, 3),
    "HW": (2, 3),
    "OI": (0, 1),
    "IO": (1, 0),
}
# Tried in this order, so that what is torch's comes first. Of a bias: its shape, C standing for its channels.
CONV = (
    ("NCHW", "OIHW", "C"),
    ("NHWC", "HWIO", "C"),
    ("NHWC", "HWIO", "111C"),
    ("CHW", "OIHW", "C"),
    ("HW", "HW", "C"),
    ("NHWC", "OHWI", "C"),
    ("NHWC", "OIHW", "C"),
    ("HWC", "HWIO", "C"),
    ("HWC", "OHWI", "C"),
    ("HWC", "OIHW", "C"),
    ("NCHW", "HWIO", "C"),
    ("NCHW", "OIHW", "C1"),
    ("CHW", "OIHW", "C1"),
)
# Only if they are stated: a kernel with its channels exchanged is a mistake that people make, and no layout of theirs.
STATED = (("NHWC", "HWOI", "C"), ("NCHW", "IOHW", "C"))
LINEAR = (
    ("NC", "OI", "C"),
    ("NC", "IO", "C"),
    ("CN", "OI", "C1"),
    ("CN", "OI", "C"),
    ("NC", "IO", "1C"),
    ("C", "OI", "C"),
    ("C", "IO", "C"),
)
# A function that runs under one of the others, and gives wrong shapes, does not have that layout for it.
COMMON = (
    *((data, kernel) for data, kernel, _ in CONV[:5]),
    ("HWC", "HWIO"),
    *((data, kernel) for data, kernel, _ in LINEAR),
)


def to_layout(tensor: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    """Return a tensor of torch's four axes in another order; axes that the order lacks have one entry."""
    for axis in sorted(set(range(4)) - set(order), reverse=True):
        tensor = tensor.select(axis, 0)
    kept = sorted(order)
    return tensor.permute([kept.index(axis) for axis in order])


def from_layout(tensor: torch.Tensor, order: Sequence[int], axes: int = 4) -> torch.Tensor:
    """Return what has the axes of an order in torch's; unchanged if it has another number of axes."""
    if tensor.dim() != len(order):
        return tensor
    tensor = tensor.permute([order.index(axis) for axis in sorted(order)])
    for axis in range(axes):
        if axis not in order:
            tensor = tensor.unsqueeze(axis)
    return tensor.contiguous()


def sizes_in(shape: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Return a shape of torch's four axes in another order."""
    return tuple(shape[axis] for axis in order)


def bias_shape(kind: str, channels: int) -> tuple[int, ...]:
    """Return the shape of a bias: ``"111C"`` is [1, 1, 1, channels]."""
    return tuple(channels if letter == "C" else 1 for letter in kind)
