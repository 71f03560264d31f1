"""Binary weights by a recipe: what the layer computes with, and what reaches the weights that it keeps.

``"signs"``: the layer computes with sign(w), sign(0) = +1. Straight through, the gradient of w is that of the signs
where |w| <= 1, and 0 elsewhere (BinaryNet). ``"scaled signs"``: the layer computes with alpha * sign(w), alpha the mean
of |w| over the filter; there is an exact gradient through alpha as well (BWN), so that the gradient of w is
``sign(w_i) / n * sum_j g_j B_j + alpha * g_i * 1[|w_i| <= 1]`` over the n entries j of the filter.
"""

from __future__ import annotations

import torch

from convviz.check.recipes.choices import Recipe, complete

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
