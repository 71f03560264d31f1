"""What students call things, and the orders of axes in which they keep tensors; the way there and back from torch's."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from types import MappingProxyType

import torch

from convviz.facts.load_english_facts import english

# Of torch's axes [N, C, H, W] those that a layout has, in its order; what is left out has one entry.
DATA = {
    name: tuple(map("NCHW".index, name)) for name in ["NCHW", "NHWC", "CHW", "HWC", "HW", "NC", "CN", "C", "NCW", "NWC"]
}
# Of a kernel's [C_out, C_in / groups, kH, kW].
KERNEL = {
    name: tuple(map("OIHW".index, name))
    for name in ["OIHW", "HWIO", "OHWI", "HWOI", "IOHW", "HW", "OI", "IO", "OIW", "WIO"]
}
TORCH = (0, 1, 2, 3)  # the order in which most code has them


def _known(layouts: str) -> tuple[tuple[str, str, str], ...]:
    split = (each.split() for each in layouts.split(","))
    return tuple((data, kernel, bias) for data, kernel, bias in split)


# Tried in this order, so that what is torch's comes first. Of a bias: its shape, C standing for its channels.
CONV = _known(
    "NCHW OIHW C, NHWC HWIO C, NHWC HWIO 111C, CHW OIHW C, HW HW C, NHWC OHWI C, NHWC OIHW C, HWC HWIO C, HWC OHWI C, "
    "HWC OIHW C, NCHW HWIO C, NCHW OIHW C1, CHW OIHW C1"
)
# Only if they are stated: a kernel with its channels exchanged is a mistake that people make, and no layout of theirs.
STATED = _known("NHWC HWOI C, NCHW IOHW C")
LINEAR = _known("NC OI C, NC IO C, CN OI C1, CN OI C, NC IO 1C, C OI C, C IO C")
ROW = _known("NCW OIW C, NWC WIO C, NCW OIW C1")
POOLED = _known("NCHW OIHW C, NHWC HWIO C, CHW OIHW C, HW HW C, HWC HWIO C")
# A function that runs under one of the others, and gives wrong shapes, does not have that layout for it.
COMMON = (
    *((data, kernel) for data, kernel, _ in CONV[:5]),
    ("HWC", "HWIO"),
    *((data, kernel) for data, kernel, _ in LINEAR + ROW),
)


def to_layout(tensor: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    """Return a tensor of torch's four axes in another order; axes that the order lacks have one entry."""
    if order == TORCH:
        return tensor
    for axis in sorted(set(range(4)) - set(order), reverse=True):
        tensor = tensor.select(axis, 0)
    kept = sorted(order)
    return tensor.permute([kept.index(axis) for axis in order])


def from_layout(tensor: torch.Tensor, order: Sequence[int], lacks: Sequence[int] = ()) -> torch.Tensor:
    """Return what has the axes of an order in torch's, but for those in ``lacks``; another number of axes as it is."""
    if tensor.dim() != len(order):
        return tensor
    if order == TORCH:
        return tensor.contiguous()
    tensor = tensor.permute([order.index(axis) for axis in sorted(order)])
    for place, axis in enumerate(axis for axis in range(4) if axis not in lacks):
        if axis not in order:
            tensor = tensor.unsqueeze(place)
    return tensor.contiguous()


def sizes_in(shape: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Return a shape of torch's four axes in another order."""
    return tuple(shape[axis] for axis in order)


def bias_shape(kind: str, channels: int) -> tuple[int, ...]:
    """Return the shape of a bias: ``"111C"`` is [1, 1, 1, channels]."""
    return tuple(channels if letter == "C" else 1 for letter in kind)


# By role, the likeliest first: names of arguments and keys of dicts.
SYNONYMS: Mapping[str, str] = english("argument_names")
# The last part of a name says which axis it is of: stride_h, pad_w, kernel_height.
AXES = {"h": 0, "height": 0, "y": 0, "w": 1, "width": 1, "x": 1}

OF_AXES = ("stride", "padding", "dilation", "kernel_size")
# The caller's own: names=. In a variable of the context, as names are looked up wherever something has one.
_STATED: ContextVar[Mapping[str, str]] = ContextVar("names that the caller states", default=MappingProxyType({}))


@contextlib.contextmanager
def with_names(names: Mapping[str, str] | None) -> Iterator[None]:
    """Take a caller's names, each with what it stands for, before the known ones.

    Raises:
        ValueError: it is no dict of names, or there is nothing of the kind that one stands for.
    """
    known = tuple(dict.fromkeys((*SYNONYMS, *(f"{role}.{axis}" for role in OF_AXES for axis in (0, 1)))))
    if names is not None and not (isinstance(names, Mapping) and all(isinstance(each, str) for each in names)):
        raise ValueError(f'names is a dict such as {{"filters": "out_channels"}}: got {names!r}')
    for name, role in (names or {}).items():
        if role not in known:
            raise ValueError(f"names[{name!r}] is one of {', '.join(known)}: got {role!r}")
    token = _STATED.set(dict(names or {}))
    try:
        yield
    finally:
        _STATED.reset(token)


def stated_role(name: str) -> str | None:
    """Return what a name stands for as the caller states it, None where nothing is said of it."""
    return _STATED.get().get(name)


def names_of(role: str) -> list[str]:
    """Return what a role is called, the likeliest name first."""
    return [*(name for name, means in _STATED.get().items() if means == role), *SYNONYMS[role].split()]


@functools.cache
def _plain(names: str) -> frozenset[str]:
    return frozenset(names.replace("_", "").split())


def role_of(name: str, among: tuple[str, ...]) -> str | None:
    """Return what a name stands for, out of those it may stand for here; ``"stride.0"`` is that of the first axis."""
    if (stated := stated_role(name)) is not None:
        return stated if stated.split(".")[0] in among else None
    plain = name.lower().replace("_", "")
    for role in among:
        if plain in _plain(SYNONYMS[role]):
            return role
    for role in among:
        for part in (f"{role}.0", f"{role}.1"):
            if plain in _plain(SYNONYMS.get(part, "")):
                return part
    head, _, tail = name.lower().rpartition("_")
    if head and tail in AXES:
        for role in among:
            if role in OF_AXES and head.replace("_", "") in _plain(SYNONYMS[role]):
                return f"{role}.{AXES[tail]}"
    return None
