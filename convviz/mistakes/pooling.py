"""output and grad_input of a pooling by a recipe: what each window takes of its cells, and where its gradient goes.

All windows are read from the input with its border, in which every window has all of its cells. A window gives each of
its cells a weight, as ``ops/pooling.py`` has it: the right recipe, 1 at the first of the largest or a part of an
average. The tests hold it against autograd; nobody relies on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F

from convviz.geometry.spec import ConvSpec, Pair
from convviz.geometry.taps import taps
from convviz.mistakes.recipe_steps import Recipe, complete, factor, numbers


class Pooled(Protocol):
    """A geometry with its numbers, such as a case of the checker."""

    @property
    def spec(self) -> ConvSpec:
        """The geometry."""

    @property
    def input(self) -> torch.Tensor:
        """``[N, C, H, W]``."""

    @property
    def grad_output(self) -> torch.Tensor:
        """``[N, C, H_out, W_out]``."""

    @property
    def pooling(self) -> str:
        """``"max"``, ``"average"``, or ``"average inside"``, which does not count the padding's cells."""


@dataclass(frozen=True)
class _Windows:
    """All windows over the input with its border."""

    at: torch.Tensor  # [O, K] places in a plane of this size
    size: Pair  # rows and columns of that plane
    out: Pair  # rows and columns of windows
    kernel: Pair
    before: Pair  # rows and columns of border before the input
    cells: torch.Tensor  # [N, C, O, K], -inf in the border
    inside: torch.Tensor  # [O, K], whether a cell is one of the input
    counted: torch.Tensor  # [O, K], whether it is one of the input or of its padding on either side


def pooled(of: str, recipe: Recipe, case: Pooled) -> torch.Tensor | None:
    """Return a pooling's ``"output"`` or ``"grad_input"`` by a recipe; None where it cannot be computed at all."""
    chosen = complete("pooling", recipe)
    try:
        fixed = case.spec.output_size if of == "grad_input" and chosen["windows"] == "by the rule" else None
        windows = _windows(chosen, case, fixed)
    except ValueError:  # the window does not fit any more
        return None
    weight = _weights(chosen, case, windows)
    if weight is None:
        return None
    read = windows.cells.masked_fill(windows.cells.isinf(), 0)
    if of == "output":
        output: torch.Tensor = (weight * read).sum(3).unflatten(2, windows.out)
        return output * factor(chosen, case.spec)
    sent = case.grad_output[:, :, : windows.out[0], : windows.out[1]]
    if sent.shape[2:] != windows.out:
        return None
    sent = sent[:, :, :1, :1].expand_as(sent) if chosen["sent"] == "the first" else sent
    weight = weight * read if chosen["amount"] == "its value" else weight
    plane = _written(chosen["write"], sent.flatten(2)[..., None] * weight, weight, windows)
    (top, left), (height, width) = windows.before, case.input.shape[2:]
    if chosen["crop"] == "nothing":
        plane = plane[..., : height + 2 * top, : width + 2 * left]
    else:
        plane = plane[..., top : top + height, left : left + width]
    return plane * factor(chosen, case.spec)


def _windows(chosen: Recipe, case: Pooled, out: Pair | None) -> _Windows:
    """Return the windows, as many as ``out``; None for as many as fit.

    Raises:
        ValueError: none fits.
    """
    spec = case.spec
    exchanged = {"own": (), "all": ("stride", "padding", "dilation")}.get(chosen["axes"], (chosen["axes"],))
    lines = [numbers(spec, axis, exchanged) for axis in (0, 1)]
    kernel = spec.kernel_size[::-1] if chosen["kernel"] == "exchanged" else spec.kernel_size
    step = [line[chosen["step"]] for line in lines]
    gap, border = [line[chosen["spacing"]] for line in lines], [line[chosen["pad"]] for line in lines]
    counts, after = _counts(chosen, case, out, kernel, step, gap, border)
    sides = (border[1], after[1], border[0], after[0])
    plane = F.pad(case.input, sides, value=-torch.inf)
    whole = ConvSpec(plane.shape[2:], 1, 1, kernel, step, 0, gap)
    every = taps(whole)[:, 2].reshape(*whole.output_size, -1)[: counts[0], : counts[1]].flatten(0, 1)
    inside = F.pad(torch.ones(spec.input_size), sides).bool()
    counted = torch.zeros(plane.shape[2:])
    counted[: spec.input_size[0] + 2 * border[0], : spec.input_size[1] + 2 * border[1]] = 1
    cells = plane.flatten(2)[..., every]
    if chosen["border"] == "0":
        cells = cells.masked_fill(cells.isinf() & counted.flatten().bool()[every], 0)
    size, masks = whole.input_size, (inside.flatten()[every], counted.flatten().bool()[every])
    return _Windows(every, size, (counts[0], counts[1]), kernel, (border[0], border[1]), cells, *masks)


def _counts(
    chosen: Recipe,
    case: Pooled,
    out: Pair | None,
    kernel: Pair,
    step: Sequence[int],
    gap: Sequence[int],
    border: Sequence[int],
) -> tuple[list[int], list[int]]:
    """Return how many windows there are along each axis, and how many cells of border they need after the input."""
    is_ceil = any(before != after for before, after in case.spec.padding)
    counts, sides = [], []
    for axis, size in enumerate(case.spec.input_size):
        span = gap[axis] * (kernel[axis] - 1) + 1
        free = size + 2 * border[axis] - span
        if free < 0:
            raise ValueError("the window does not fit")
        count = free // step[axis] + 1
        if is_ceil and free % step[axis] and chosen["windows"] != "rounded down":
            count += chosen["windows"] == "rounded up" or count * step[axis] < size + border[axis]
        counts.append(count if out is None else out[axis])
        # Windows that a wrong step moves beyond the input are cut there, as slices are.
        sides.append(max((counts[axis] - 1) * step[axis] + span - size - border[axis], border[axis]))
    return counts, sides


def _weights(chosen: Recipe, case: Pooled, windows: _Windows) -> torch.Tensor | None:
    """Return what part each window takes of each of its cells, ``[N, C, O, K]``; None where there is no such thing."""
    takes = chosen["takes"]
    if takes == "its own":
        takes = "first" if case.pooling == "max" else "average"
    cells, count = windows.cells, windows.cells.shape[3]
    largest = (cells == cells.amax(3, keepdim=True)).to(cells.dtype)
    if takes == "average":
        return (1 / _divisor(chosen["divisor"], case, windows)).expand_as(cells)
    if takes == "all":
        return largest
    if takes == "shared":
        return largest / largest.sum(3, keepdim=True)
    if takes == "of the plane":
        return (cells == case.input.amax((2, 3))[..., None, None]).to(cells.dtype)
    if takes == "last":
        at = count - 1 - cells.flip(3).argmax(3)
    elif takes == "smallest":
        at = cells.masked_fill(cells.isinf(), torch.inf).argmin(3)
    elif takes == "absolute":
        at = cells.abs().masked_fill(cells.isinf(), -1).argmax(3)
    else:
        at = cells.argmax(3)
    if takes == "exchanged":
        rows, columns = windows.kernel
        if rows != columns:
            return None  # there is no such cell
        at = at % columns * columns + at // columns
    return F.one_hot(at, count).to(cells.dtype)


def _divisor(name: str, case: Pooled, windows: _Windows) -> torch.Tensor:
    """Return what a sum is divided by: ``[O, 1]``, or one number."""
    counts = case.pooling != "average inside"
    if name == "other":
        counts = not counts
    one = {"1": 1, "K": windows.kernel[0], "K * K": math.prod(windows.kernel)}.get(name)
    if one is not None:
        return torch.tensor(float(one), dtype=torch.float64)
    cells = windows.counted if counts else windows.inside
    return cells.sum(1, keepdim=True).clamp(min=1).double()


def _written(how: str, products: torch.Tensor, weight: torch.Tensor, windows: _Windows) -> torch.Tensor:
    """Return the plane with its border after every window has written its products, ``[N, C, *size]``."""
    plane = products.new_zeros(*products.shape[:2], math.prod(windows.size))
    if how == "+=":
        plane.index_add_(2, windows.at.flatten(), products.flatten(2))
    for at, cells in enumerate(windows.at if how != "+=" else ()):
        kept = weight[:, :, at] != 0 if how == "=" else torch.ones_like(weight[:, :, at]).bool()
        plane[:, :, cells] = torch.where(kept, products[:, :, at], plane[:, :, cells])
    whole: torch.Tensor = plane.unflatten(2, windows.size)
    return whole
