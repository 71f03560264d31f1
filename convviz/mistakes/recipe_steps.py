"""The steps of a gradient, and what can be chosen in each.

A *recipe* names one choice for every step; ``facts/data/recipes.json`` holds the right ones. A mistake is a recipe that
differs in a choice or two (``facts/data/mistakes``), and two mistakes at once are both differences. The right recipes
are held against autograd by the tests; nothing here computes a gradient that anybody relies on.

grad_input: put ``inserted`` zeros between the cells of grad_output, around it ``reach`` less ``crop``, ``lead`` more
before it and ``rest`` more after it; slide the ``kernel`` over it, its cells ``spacing`` apart, by ``step``; take
``cut`` rows off the end, put ``fill`` rows of zeros there and ``top`` rows before the first. grad_weight: slide
``gradient``, which is grad_output with its cells ``gap`` apart, over the input with ``pad`` zeros around it, by
``step``; keep K rows from the ``start``.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F

from convviz.facts import facts
from convviz.geometry.spec import ConvSpec, Pair, Sides

Recipe = Mapping[str, str]
Numbers = Mapping[str, int]


def complete(of: str, recipe: Recipe) -> Recipe:
    """Return a recipe, which has the choices that differ from the right ones, with all others made rightly."""
    return {**facts("recipes")[of], **recipe}


ORIENTATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "as it is": lambda plane: plane,
    "rotated 90°": lambda plane: plane.rot90(1, (-2, -1)),
    "rotated 180°": lambda plane: plane.flip(-2, -1),
    "rotated 270°": lambda plane: plane.rot90(3, (-2, -1)),
    "flipped left to right": lambda plane: plane.flip(-1),
    "flipped top to bottom": lambda plane: plane.flip(-2),
    "transposed": lambda plane: plane.transpose(-2, -1),
    "transposed and rotated": lambda plane: plane.transpose(-2, -1).flip(-2, -1),
}


PAIRS = ("stride", "padding", "dilation")


@functools.lru_cache(maxsize=1024)  # a search asks for the same few again and again
def numbers(spec: ConvSpec, axis: int, exchanged: tuple[str, ...] = ()) -> Numbers:
    """Return the numbers of one axis, 0 for rows, by the names that recipes give them.

    ``exchanged``: which of ``"stride"``, ``"padding"`` and ``"dilation"`` are those of the other axis.
    """
    size, kernel, rest = spec.input_size[axis], spec.kernel_size[axis], spec.remainder[axis]
    at = {name: 1 - axis if name in exchanged else axis for name in PAIRS}
    stride, (padding, after), dilation = (
        spec.stride[at["stride"]],
        spec.padding[at["padding"]],
        spec.dilation[at["dilation"]],
    )
    free = size + padding + after - dilation * (kernel - 1) - 1
    if exchanged:
        rest = free - (spec.output_size[axis] - 1) * stride
    return {
        "0": 0, "1": 1, "N": size, "K": kernel, "K - 1": kernel - 1, "s": stride, "s - 1": stride - 1, "p": padding,
        "2 * p": 2 * padding, "d": dilation, "d - 1": dilation - 1, "d * (K - 1)": dilation * (kernel - 1), "r": rest,
        "s if s > 1": stride if stride > 1 else 0, "own r": spec.remainder[axis],
        "r mod s": free % stride, "-1": -1, "1 if p": int(padding > 0),
    }  # fmt: skip


def axes(chosen: Recipe, spec: ConvSpec) -> tuple[Numbers, Numbers]:
    """Return the numbers of rows and of columns; those that ``axes`` names are the ones of the other axis."""
    if chosen["axes"] == "exchanged":
        return numbers(spec, 1), numbers(spec, 0)
    names = PAIRS if chosen["axes"] == "pairs" else tuple(name for name in PAIRS if name == chosen["axes"])
    return numbers(spec, 0, names), numbers(spec, 1, names)


def samples(chosen: Recipe) -> slice:
    """Return which samples of the batch count."""
    return {"first": slice(0, 1), "last": slice(-1, None)}.get(chosen["batch"], slice(None))


def factor(chosen: Recipe, spec: ConvSpec) -> float:
    """Return the number that a gradient is multiplied by; 1 in a right one."""
    area = math.prod(spec.output_size)
    by_name = {
        "1": 1.0, "-1": -1.0, "2": 2.0, "1/2": 0.5, "1/N": 1 / spec.batch, "1/(H W)": 1 / area,
        "1/(N H W)": 1 / (spec.batch * area),
    }  # fmt: skip
    return math.prod(by_name[name] for name in chosen["times"].split(" * "))


def spread(grad_output: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """Return grad_output with so many zeros between its rows and its columns."""
    height, width = grad_output.shape[-2:]
    shape = (*grad_output.shape[:-2], (height - 1) * (rows + 1) + 1, (width - 1) * (columns + 1) + 1)
    spread_out = grad_output.new_zeros(shape)
    spread_out[..., :: rows + 1, :: columns + 1] = grad_output
    return spread_out


def padded(plane: torch.Tensor, around: list[int]) -> torch.Tensor:
    """Return a plane with zeros around it, (left, right, top, bottom); negative numbers crop."""
    left, right, top, bottom = around
    height, width = plane.shape[-2:]
    if height + top + bottom <= 0 or width + left + right <= 0:
        return plane[..., :0, :0]
    plane = F.pad(plane, [max(cells, 0) for cells in around])  # first: a crop may reach beyond grad_output, into these
    return F.pad(plane, [min(cells, 0) for cells in around])


def correlate(input: torch.Tensor, kernel: torch.Tensor, step: Pair, spacing: Pair, groups: int) -> torch.Tensor | None:
    """Return the correlation; None where the kernel does not fit, or the channels do not meet."""
    fits = all(
        size >= gap * (cells - 1) + 1
        for size, gap, cells in zip(input.shape[-2:], spacing, kernel.shape[-2:], strict=True)
    )
    meets = input.shape[1] == kernel.shape[1] * groups and kernel.shape[0] % groups == 0
    return F.conv2d(input, kernel, None, step, 0, spacing, groups) if fits and meets else None


def overwritten(
    grad_output: torch.Tensor,
    kernel: torch.Tensor,
    groups: int,
    overlaps: str,
    pitch: Pair,
    spacing: Pair,
    around: Sides,
) -> torch.Tensor | None:
    """Return what a correlation with the spread and padded grad_output would be, if loops put = for +=.

    ``overlaps`` says whose product is written last: that of the last output cell or of the last tap, for all output
    channels at once or one after the other. ``pitch`` and ``spacing`` are those of grad_output, once it is spread, and
    of the kernel, which is ``[C_in, C_out / groups, kH, kW]`` as it slides; ``around`` are the zeros before and after.
    """
    out = kernel.shape[1]
    if grad_output.shape[1] != out * groups or kernel.shape[0] % groups:
        return None
    spans = [gap * (cells - 1) for gap, cells in zip(spacing, kernel.shape[2:], strict=True)]
    size = [(o - 1) * step + 1 + span for o, step, span in zip(grad_output.shape[2:], pitch, spans, strict=True)]
    top, bottom, left, right = (zeros - span for sides, span in zip(around, spans, strict=True) for zeros in sides)
    if size[0] + top + bottom <= 0 or size[1] + left + right <= 0:
        return None
    first = out - 1 if overlaps.endswith("last channel") else 0
    sent = grad_output.unflatten(1, (groups, out))[:, :, first:]
    taps = kernel.flip(-2, -1).unflatten(0, (groups, -1))[:, :, first:]  # who scatters does not rotate
    by_tap = overlaps.startswith("last tap")
    order, starts, steps = ("ngcklab", spacing, pitch) if by_tap else ("ngcabkl", pitch, spacing)
    terms = torch.einsum(f"ngoab,gcokl->{order}", sent, taps).flatten(1, 2)
    plane = terms.new_zeros((*terms.shape[:2], *size))
    for row, column in itertools.product(*map(range, terms.shape[2:4])):
        lines = zip((row, column), starts, steps, terms.shape[4:], strict=True)
        rows, columns = (slice(at * start, at * start + step * (n - 1) + 1, step) for at, start, step, n in lines)
        plane[..., rows, columns] = terms[:, :, row, column]
    return padded(plane, [left, right, top, bottom])
