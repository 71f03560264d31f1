"""The steps of a gradient, and what can be chosen in each.

A *recipe* names one choice for every step; ``facts/recipes.json`` holds the right ones. A mistake is a recipe that
differs in a choice or two (``facts/mistakes``), and two mistakes at once are both differences. The right recipes are
held against autograd by the tests; nothing here computes a gradient that anybody relies on.

grad_input: put ``inserted`` zeros between the cells of grad_output, around it ``reach`` less ``crop``, ``lead`` more
before it and ``rest`` more after it; slide the ``kernel`` over it, its cells ``spacing`` apart, by ``step``; take
``cut`` rows off the end, put ``fill`` rows of zeros there. grad_weight: slide grad_output, cells ``gap`` apart, over
the input with ``pad`` zeros around it, by ``step``; keep K rows from the ``start``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch

from convviz.facts import facts
from convviz.spec import ConvSpec

Recipe = Mapping[str, str]
Numbers = Mapping[str, int]


def complete(of: str, recipe: Recipe) -> Recipe:
    """Return a recipe with every choice that it leaves open made rightly.

    Args:
        of: ``"grad_input"``, ``"grad_weight"`` or ``"grad_bias"``.
        recipe: the choices that differ from the right ones.
    """
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


def numbers(spec: ConvSpec, axis: int) -> dict[str, int]:
    """Return the numbers of one axis by the names that recipes give them."""
    size, kernel, stride = spec.input_size[axis], spec.kernel_size[axis], spec.stride[axis]
    padding, dilation, rest = spec.padding[axis][0], spec.dilation[axis], spec.remainder[axis]
    return {
        "0": 0, "1": 1, "N": size, "K": kernel, "K - 1": kernel - 1, "s": stride, "s - 1": stride - 1, "p": padding,
        "2 * p": 2 * padding, "d": dilation, "d - 1": dilation - 1, "d * (K - 1)": dilation * (kernel - 1), "r": rest,
    }  # fmt: skip


def axes(chosen: Recipe, spec: ConvSpec) -> tuple[Numbers, Numbers]:
    """Return the numbers of rows and of columns; exchanged, the rows have those of the columns."""
    lines = (numbers(spec, 0), numbers(spec, 1))
    return lines if chosen["axes"] == "own" else (lines[1], lines[0])


def samples(chosen: Recipe) -> slice:
    """Return which samples of the batch count."""
    return {"first": slice(0, 1), "last": slice(-1, None)}.get(chosen["batch"], slice(None))


def factor(chosen: Recipe, spec: ConvSpec) -> float:
    """Return the number that a gradient is multiplied by; 1 in a right one."""
    area = math.prod(spec.output_size)
    return {
        "1": 1.0, "-1": -1.0, "2": 2.0, "1/2": 0.5, "1/N": 1 / spec.batch, "1/(H W)": 1 / area,
        "1/(N H W)": 1 / (spec.batch * area),
    }[chosen["times"]]  # fmt: skip
