"""The output by a recipe: pad the input, slide the kernel over it, add the bias."""

from __future__ import annotations

import torch

from convviz.check.recipes.choices import ORIENTATIONS, Recipe, axes, complete, factor
from convviz.check.recipes.planes import correlate, padded
from convviz.geometry.spec import ConvSpec
from convviz.ops.padding import pad_input


def output(
    recipe: Recipe, spec: ConvSpec, input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor | None:
    """Return the output by a recipe, in whatever shape it comes out; None where it cannot be computed at all.

    Args:
        recipe: the choices that differ from the right ones.
        spec: the geometry.
        input: ``[N, C_in, H, W]``.
        weight: ``[C_out, C_in / groups, kH, kW]``.
        bias: ``[C_out]``.
    """
    chosen = complete("output", recipe)
    rows, columns = axes(chosen, spec)
    if chosen["border"] == "own" and spec.padding_mode != "zeros":
        images = pad_input(input, spec)
    else:
        sides = [(line[chosen["lead"]], line[chosen["trail"]]) for line in (columns, rows)]
        images = padded(input, [*sides[0], *sides[1]])
    kernel = ORIENTATIONS[chosen["kernel"]](weight)
    kernel = kernel.transpose(0, 1) if chosen["channels"] == "exchanged" else kernel
    step, spacing = (
        (rows[chosen["step"]], columns[chosen["step"]]),
        (rows[chosen["spacing"]], columns[chosen["spacing"]]),
    )
    result = correlate(images, kernel, step, spacing, spec.groups)
    if result is None:
        return None
    result = result * factor(chosen, spec)
    if result.shape[1] != bias.shape[0] or chosen["bias"] == "0":
        return result
    times = spec.in_channels // spec.groups if chosen["bias"] == "once a channel" else 1
    return result + times * bias[:, None, None]
