"""output, grad_weight and grad_bias by a recipe: correlations of padded planes, and sums; and binary weights.

``"signs"``: the layer computes with sign(w), sign(0) = +1. Straight through, the gradient of w is that of the signs
where |w| <= 1, and 0 elsewhere (BinaryNet). ``"scaled signs"``: the layer computes with alpha * sign(w), alpha the mean
of |w| over the filter; there is an exact gradient through alpha as well (BWN), so that the gradient of w is
``sign(w_i) / n * sum_j g_j B_j + alpha * g_i * 1[|w_i| <= 1]`` over the n entries j of the filter.
"""

from __future__ import annotations

import torch

from convviz.geometry.spec import ConvSpec
from convviz.mistakes.recipe_steps import ORIENTATIONS, Recipe, axes, complete, correlate, factor, padded, samples
from convviz.ops.padding import pad_input


def output(
    recipe: Recipe, spec: ConvSpec, input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor | None:
    """Return the output by a recipe, in whatever shape it comes out; None where it cannot be computed at all.

    Shapes are ``[N, C_in, H, W]``, ``[C_out, C_in / groups, kH, kW]`` and ``[C_out]``.
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
    step, spacing = ((rows[chosen[name]], columns[chosen[name]]) for name in ("step", "spacing"))
    result = correlate(images, kernel, step, spacing, spec.groups)
    if result is None:
        return None
    result = result * factor(chosen, spec)
    if result.shape[1] != bias.shape[0] or chosen["bias"] == "0":
        return result
    times = spec.in_channels // spec.groups if chosen["bias"] == "once a channel" else 1
    return result + times * bias[:, None, None]


FILTER = (1, 2, 3)  # the axes of one filter in [C_out, C_in / groups, kH, kW]


def weight_in_use(recipe: Recipe, rule: str, weight: torch.Tensor) -> torch.Tensor:
    """Return the weight that the layer computes with, ``[C_out, C_in / groups, kH, kW]``."""
    chosen = complete("quantised", recipe)
    signs = weight.sign() if chosen["sign of 0"] == "0" else torch.where(weight >= 0, 1.0, -1.0).to(weight.dtype)
    return signs * _alpha(weight) if rule == "scaled signs" else signs


def weight_behind(recipe: Recipe, weight: torch.Tensor, in_use: torch.Tensor) -> torch.Tensor:
    """Return the weight with which grad_input is computed: the one in use, or by mistake the one that is kept."""
    return in_use if complete("quantised", recipe)["grad_input"] == "weight in use" else weight


def to_kept_weight(recipe: Recipe, rule: str, gradient: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Return the gradient of the weight that is kept, from the gradient of the weight in use."""
    chosen = complete("quantised", recipe)
    if chosen["through"] == "nothing":
        return torch.zeros_like(gradient)
    mask = (weight.abs() <= 1).to(weight.dtype) if chosen["mask"] == "|w| <= 1" else torch.ones_like(weight)
    passed = gradient * mask
    if rule != "scaled signs":
        return passed
    passed = passed * _alpha(weight)
    if chosen["alpha"] == "constant":
        return passed
    signs = torch.where(weight >= 0, 1.0, -1.0).to(weight.dtype)
    return passed + weight.sign() / weight[0].numel() * (gradient * signs).sum(FILTER, keepdim=True)


def _alpha(weight: torch.Tensor) -> torch.Tensor:
    return weight.abs().mean(FILTER, keepdim=True)


def grad_weight(recipe: Recipe, spec: ConvSpec, grad_output: torch.Tensor, input: torch.Tensor) -> torch.Tensor | None:
    """Return grad_weight by a recipe, in whatever shape it comes out; None where it cannot be computed at all.

    grad_output is ``[N, C_out, H_out, W_out]``, the input ``[N, C_in, H, W]``.
    """
    chosen = complete("grad_weight", recipe)
    rows, columns = axes(chosen, spec)
    if chosen["pad"] == "p" and chosen["axes"] == "own":
        images = pad_input(input, spec)
    else:
        images = padded(input, [columns[chosen["pad"]]] * 2 + [rows[chosen["pad"]]] * 2)
    images, gradient = images[samples(chosen)], ORIENTATIONS[chosen["gradient"]](grad_output)[samples(chosen)]
    step, gap = ((rows[chosen[name]], columns[chosen[name]]) for name in ("step", "gap"))
    if chosen["groups"] == "first channels":
        images = images[:, : spec.in_channels // spec.groups]
    groups = spec.groups if chosen["groups"] == "own" else 1
    # The samples of all groups are the channels of this correlation: it gives [C_in of a group, C_out, H, W].
    sums = images.unflatten(1, (groups, -1)).permute(2, 1, 0, 3, 4).flatten(1, 2)
    found = correlate(sums, gradient.transpose(0, 1), step, gap, groups)
    if found is None:
        return None
    result = found.transpose(0, 1)
    if chosen["channels"] != "out, in":
        result = found.unflatten(1, (groups, -1)).transpose(0, 1).flatten(0, 1)
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
    shapes = {"[1]": (1,), "[C]": (spec.out_channels,)}
    return found.expand(shapes[chosen["shape"]]) if chosen["shape"] in shapes else found
