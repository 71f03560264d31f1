"""A student's layer with the weight and the bias of a case in it."""

from __future__ import annotations

from typing import Any

import torch

from convviz.check.battery import Case
from convviz.check.calling.arrays import NotNumbers
from convviz.check.calling.layouts import KERNEL, sizes_in
from convviz.check.calling.names import role_of
from convviz.check.calling.plan import Plan
from convviz.facts.words import sentences

say = sentences("calling")


def make_layer(made: Any, case: Case, plan: Plan) -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    """Return a layer in the case's dtype, its weight and its bias (if it has one) set to the case's.

    Raises:
        NotNumbers: it is no layer, or has no parameter of the weight's shape.
    """
    if not isinstance(made, torch.nn.Module):
        raise NotNumbers(say("no_layer", what=type(made).__name__))
    layer = made.to(getattr(torch, plan.dtype))
    parameters = dict(layer.named_parameters())
    # One order of axes at a time: with equal sizes a shape fits several, and the search tells which it is.
    shape = sizes_in(case.spec.weight_shape, KERNEL[plan.kernel])
    weight = _named("weight", [name for name, value in parameters.items() if value.shape == shape], parameters)
    if weight is None:
        raise NotNumbers(say("no_parameter", shape=list(shape)))
    left = [name for name, value in parameters.items() if name != weight and value.numel() == case.bias.numel()]
    bias = _named("bias", left, parameters)
    wanted: dict[str, torch.Tensor] = {"weight": parameters[weight]}
    with torch.no_grad():
        parameters[weight].copy_(case.weight.permute(KERNEL[plan.kernel]))
        if bias is not None:
            parameters[bias].copy_(case.bias.reshape(parameters[bias].shape))
            wanted["bias"] = parameters[bias]
    return layer, wanted


def _named(role: str, names: list[str], parameters: dict[str, torch.nn.Parameter]) -> str | None:
    """Return the parameter whose name says what it is, else the first that fits."""
    found = [name for name in names if role_of(name.rpartition(".")[2], (role,))]
    return next(iter(found or names), None)
