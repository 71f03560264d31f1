"""The steps of a gradient, and what can be chosen in each.

A *recipe* names one choice for every step; ``facts/recipes.json`` holds the right ones. A mistake is a recipe that
differs in a choice or two (``facts/mistakes``), and two mistakes at once are both differences. The right recipes are
held against autograd by the tests; nothing here computes a gradient that anybody relies on.

grad_input: put ``inserted`` zeros between the cells of grad_output, around it ``reach`` less ``crop``, ``lead`` more
before it and ``rest`` more after it; slide the ``kernel`` over it, its cells ``spacing`` apart, by ``step``; take
``cut`` rows off the end, put ``fill`` rows of zeros there and ``top`` rows before the first. grad_weight: slide
``gradient``, which is grad_output with its cells ``gap`` apart, over the input with ``pad`` zeros around it, by
``step``; keep K rows from the ``start``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping

import torch

from convviz.facts import facts
from convviz.geometry.spec import ConvSpec

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


@functools.lru_cache(maxsize=256)  # a search asks for the same few again and again
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
