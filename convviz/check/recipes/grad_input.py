"""grad_input by a recipe: zero-insert grad_output, pad it, rotate the kernel, correlate."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from convviz.check.recipes.choices import ORIENTATIONS, Numbers, Recipe, axes, complete, factor
from convviz.check.recipes.overwritten import overwritten
from convviz.check.recipes.planes import correlate, padded, spread
from convviz.ops.padding import fold_padding
from convviz.spec import ConvSpec


def grad_input(recipe: Recipe, spec: ConvSpec, grad_output: torch.Tensor, weight: torch.Tensor) -> torch.Tensor | None:
    """Return grad_input by a recipe, in whatever shape it comes out; None where it cannot be computed at all.

    Args:
        recipe: the choices that differ from the right ones.
        spec: the geometry.
        grad_output: ``[N, C_out, H_out, W_out]``.
        weight: ``[C_out, C_in / groups, kH, kW]``.
    """
    chosen = complete("grad_input", recipe)
    if spec.padding_mode != "zeros" and any(map(any, spec.padding)) and chosen["border"] == "folded":
        inner = spec.replace(input_size=spec.padded_size, padding=0, padding_mode="zeros")
        found = grad_input(recipe, inner, grad_output, weight)
        whole = found is not None and tuple(found.shape[-2:]) == spec.padded_size
        return fold_padding(found, spec) if found is not None and whole else found
    if chosen["overlaps"] != "add":
        return overwritten(chosen, spec, grad_output, weight)
    rows, columns = axes(chosen, spec)
    plane = spread(grad_output, rows[chosen["inserted"]], columns[chosen["inserted"]])
    plane = padded(plane, [*_around(chosen, columns), *_around(chosen, rows)])
    step, spacing = (
        (rows[chosen["step"]], columns[chosen["step"]]),
        (rows[chosen["spacing"]], columns[chosen["spacing"]]),
    )
    groups = 1 if chosen["groups"] == "ignored" else spec.groups
    result = correlate(plane, _kernel(chosen, groups, weight), step, spacing, groups)
    return None if result is None else _finished(chosen, result, rows, columns) * factor(chosen, spec)


def _kernel(chosen: Recipe, groups: int, weight: torch.Tensor) -> torch.Tensor:
    """Return the kernel that slides over grad_output, ``[C_in, C_out / groups, kH, kW]``."""
    weight = ORIENTATIONS[chosen["kernel"]](weight)
    if chosen["channels"] == "kept":
        return weight
    if chosen["channels"] == "reversed":
        weight = weight.flip(0, 1)
    blocks = list(weight.chunk(groups))
    if chosen["groups"] == "reversed":
        blocks.reverse()
    return torch.cat([block.transpose(0, 1) for block in blocks])


def _around(chosen: Recipe, line: Numbers) -> tuple[int, int]:
    """Return how many zeros go before and after grad_output along one axis; negative ones crop."""
    border = line[chosen["reach"]] - line[chosen["crop"]]
    if chosen["negative"] == "clamp":
        border = max(border, 0)
    return border + line[chosen["lead"]], border + line[chosen["rest"]]


def _finished(chosen: Recipe, result: torch.Tensor, rows: Numbers, columns: Numbers) -> torch.Tensor:
    """Cut and fill what the correlation gave."""
    height = max(result.shape[-2] - rows[chosen["cut"]], 0)
    width = max(result.shape[-1] - columns[chosen["cut"]], 0)
    result = result[..., :height, :width]
    result = F.pad(result, (0, columns[chosen["fill"]], 0, rows[chosen["fill"]]))
    if chosen["slice"] == "p:-p":
        down, across = rows["p"], columns["p"]
        result = result if down else result[..., :0, :]  # what -0 means to Python
        result = result if across else result[..., :0]
    return result
