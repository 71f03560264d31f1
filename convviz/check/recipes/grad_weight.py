"""grad_weight by a recipe, correlating the padded input with a grad_output that the stride dilates; grad_bias."""

from __future__ import annotations

import torch

from convviz.check.recipes.choices import ORIENTATIONS, Recipe, axes, complete, factor, samples
from convviz.check.recipes.planes import correlate, padded
from convviz.geometry.spec import ConvSpec
from convviz.ops.padding import pad_input


def grad_weight(recipe: Recipe, spec: ConvSpec, grad_output: torch.Tensor, input: torch.Tensor) -> torch.Tensor | None:
    """Return grad_weight by a recipe, in whatever shape it comes out; None where it cannot be computed at all.

    Args:
        recipe: the choices that differ from ``GRAD_WEIGHT``.
        spec: the geometry.
        grad_output: ``[N, C_out, H_out, W_out]``.
        input: ``[N, C_in, H, W]``.
    """
    chosen = complete("grad_weight", recipe)
    rows, columns = axes(chosen, spec)
    if chosen["pad"] == "p" and chosen["axes"] == "own":
        images = pad_input(input, spec)
    else:
        images = padded(input, [columns[chosen["pad"]]] * 2 + [rows[chosen["pad"]]] * 2)
    images, gradient = images[samples(chosen)], ORIENTATIONS[chosen["gradient"]](grad_output)[samples(chosen)]
    steps = (rows[chosen["step"]], columns[chosen["step"]])
    gaps = (rows[chosen["gap"]], columns[chosen["gap"]])
    if chosen["groups"] == "first channels":
        images = images[:, : spec.in_channels // spec.groups]
    groups = spec.groups if chosen["groups"] == "own" else 1
    per, out = images.shape[1] // groups, spec.out_channels // groups
    blocks = []
    for g in range(groups):
        block = correlate(
            images[:, g * per : (g + 1) * per].transpose(0, 1),
            gradient[:, g * out : (g + 1) * out].transpose(0, 1),
            steps,
            gaps,
            1,
        )
        if block is None:
            return None
        blocks.append(block)  # [C_in of the group, C_out of the group, H, W]
    if chosen["channels"] == "out, in":
        result = torch.cat([block.transpose(0, 1) for block in blocks])
    else:
        result = torch.cat(blocks)
    for axis, line in ((-2, rows), (-1, columns)):
        size, keep = result.shape[axis], line["K"]
        if chosen["start"] != "all" and size > keep:
            result = result.narrow(axis, 0 if chosen["start"] == "first" else size - keep, keep)
    result = ORIENTATIONS[chosen["result"]](result)
    return result * factor(chosen, spec)


def grad_bias(recipe: Recipe, spec: ConvSpec, grad_output: torch.Tensor) -> torch.Tensor:
    """Return grad_bias by a recipe, in whatever shape it comes out."""
    chosen = complete("grad_bias", recipe)
    over = [("N", "C", "H", "W").index(name) for name in chosen["sum"].split(", ")]
    found = grad_output[samples(chosen)].sum(over) * factor(chosen, spec)
    return found.reshape(1) if chosen["shape"] == "[1]" else found
