"""Which index along one axis of an output reads which index of its source, as a matrix of 0 and 1.

All that reads by windows, slices and whole axes does so along each axis by itself.
"""

import functools
from collections.abc import Sequence
from typing import Any

import torch

from convviz.features.network.geometry import Reads

Matrix = torch.Tensor | None  # [out, in]; None: each index reads its own


def axis_matrices(reads: Reads, place: int, source: Sequence[int], out: Sequence[int]) -> list[Matrix] | None:
    """Return a matrix for each axis of the source, or None if it is not read axis by axis.

    ``place`` of the source among those of the operation; ``out`` has the rank of the source, see ``drop``.
    """
    how = reads["how"]
    if how == "same":
        return [None if size == of else every(of, size) for size, of in zip(source, out, strict=True)]
    if how == "window":
        return [_channels(reads, source, out), *_windows(reads, source, out)]
    if how == "adaptive":
        return [None, *(_adaptive(of, size) for size, of in zip(source[1:], out[1:], strict=True))]
    if how == "upsample":
        return [None, *_upsample(reads, source, out)]
    if how == "concat":
        start = [reads["offsets"][place] if axis == reads["axis"] else 0 for axis in range(len(out))]
        return [_moved(of, size, at) for size, of, at in zip(source, out, start, strict=True)]
    if how == "slice":
        places = zip(source, out, reads["start"], reads["step"], strict=True)
        return [_taken(of, size, start, step) for size, of, start, step in places]
    if how == "all":
        return _all(reads, source, out)
    return None


def every(of: int, size: int) -> torch.Tensor:
    """Return the matrix of what reads all of an axis: one number, seen as many; ``stride`` says how many."""
    return torch.ones(1, 1).expand(of, size)


def _all(reads: Reads, source: Sequence[int], out: Sequence[int]) -> list[Matrix]:
    axes = reads.get("axes", range(1, len(source)) if reads.get("per_channel") else range(len(source)))
    made: list[Matrix] = [
        every(of, size) if axis in axes else None for axis, (size, of) in enumerate(zip(source, out, strict=True))
    ]
    if "groups" in reads:
        made[0] = _blocks(source[0], out[0], reads["groups"])
    return made


def _channels(reads: Reads, source: Sequence[int], out: Sequence[int]) -> Matrix:
    return None if reads["per_channel"] else _blocks(source[0], out[0], reads["groups"])


def _blocks(size: int, of: int, groups: int) -> torch.Tensor:
    if groups == 1:
        return every(of, size)
    made: torch.Tensor = torch.block_diag(*[torch.ones(of // groups, size // groups)] * groups)
    return made


def _windows(reads: Reads, source: Sequence[int], out: Sequence[int]) -> list[torch.Tensor]:
    made = []
    for axis, (size, of) in enumerate(zip(source[1:], out[1:], strict=True)):
        kernel, stride, dilation = (reads[name][axis] for name in ("kernel_size", "stride", "dilation"))
        before = reads["padding"][axis][0]
        if reads["transposed"]:
            made.append(_window(size, of, kernel, stride, dilation, before, "zeros").T)
        else:
            made.append(_window(of, size, kernel, stride, dilation, before, reads["mode"]))
    return made


def _window(of: int, size: int, kernel: int, stride: int, dilation: int, before: int, mode: str) -> torch.Tensor:
    made = torch.zeros(of, size)
    for row in range(of):
        for tap in range(kernel):
            at = _wrapped(row * stride - before + tap * dilation, size, mode)
            if 0 <= at < size:
                made[row, at] = 1
    return made


def _wrapped(at: int, size: int, mode: str) -> int:
    """Return which cell a padding that is not of zeros copies."""
    if mode == "circular":
        return at % size
    if mode == "replicate":
        return min(max(at, 0), size - 1)
    if mode == "reflect":
        return size - 1 - abs(size - 1 - abs(at))
    return at


def _adaptive(of: int, size: int) -> torch.Tensor:
    made = torch.zeros(of, size)
    for row in range(of):
        made[row, row * size // of : -(-(row + 1) * size // of)] = 1
    return made


def _upsample(reads: Reads, source: Sequence[int], out: Sequence[int]) -> list[torch.Tensor]:
    found = []
    for axis, (size, of) in enumerate(zip(source[1:], out[1:], strict=True)):
        found.append(_resized(size, of, reads["scale"][axis], reads["mode"], bool(reads.get("align_corners"))))
    return found


@functools.lru_cache(maxsize=64)
def _resized(size: int, of: int, scale: float, mode: str, corners: bool) -> torch.Tensor:
    """Ask torch itself, along one axis, from which numbers it makes each."""
    exact = int(size * scale) == of and scale != of / size
    options: dict[str, Any] = {"scale_factor": (scale, 1.0)} if exact else {"size": (of, 1)}
    if mode in ("linear", "bilinear", "trilinear", "bicubic"):
        options |= {"mode": "bicubic" if mode == "bicubic" else "bilinear", "align_corners": corners}
    else:
        options |= {"mode": mode}
    ones = torch.eye(size, dtype=torch.float64)[:, None, :, None]
    with torch.no_grad():
        made: torch.Tensor = torch.nn.functional.interpolate(ones, **options)
    return (made[:, 0, :, 0].T != 0).float()


def _moved(of: int, size: int, start: int) -> torch.Tensor:
    made = torch.zeros(of, size)
    made[start : start + size] = torch.eye(size)
    return made


def _taken(of: int, size: int, start: int, step: int) -> torch.Tensor:
    made = torch.zeros(of, size)
    rows = torch.arange(of)
    made[rows, start + step * rows] = 1
    return made
