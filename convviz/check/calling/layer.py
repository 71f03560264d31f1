"""A student's layer with the weight and the bias of a case in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from convviz.check.battery import Case
from convviz.check.calling.arrays import NotNumbers, hand_over
from convviz.check.calling.layouts import KERNEL, bias_shape, sizes_in, to_layout
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


_GRADIENTS = ("grad_input", "grad_weight", "grad_bias")
_Place = tuple[Any, str, Any]  # who holds it, under which name, what stands there


def fill(made: Any, case: Case, plan: Plan) -> bool:
    """Put a case's weight and bias among the attributes of a plain object; return whether it has a place for a bias.

    Raises:
        NotNumbers: nothing there is called like a weight or has its shape.
    """
    shape = sizes_in(case.spec.weight_shape, KERNEL[plan.kernel])
    places = list(_places(made))
    weight = _fitting("weight", [each for each in places if _shape(each[2]) in (shape, None)])
    if weight is None:
        raise NotNumbers(say("no_weight", shape=list(shape)))
    late = weight[2] is None  # filled at the first forward pass
    channels = case.bias.numel()
    fits = [
        each for each in places if each is not weight and _length(each[2]) in (channels, *((None,) if late else ()))
    ]
    bias = _fitting("bias", fits)
    _put(weight, to_layout(case.weight, KERNEL[plan.kernel]), plan)
    if bias is not None:
        _put(bias, case.bias.reshape(_shape(bias[2]) or bias_shape(plan.bias, channels)), plan)
    return bias is not None


def _places(made: Any) -> Iterator[_Place]:
    """Yield each array among an object's attributes and in the dicts among them, and what is None."""
    for name, value in vars(made).items():
        if isinstance(value, dict) and role_of(name, ("params",)):
            yield from ((value, str(key), inner) for key, inner in value.items() if isinstance(key, str))
        elif value is None or isinstance(value, np.ndarray | torch.Tensor | list):
            yield made, name, value
        elif is_within(value, made):
            yield from _places(value)


def is_within(value: Any, made: Any) -> bool:
    """Return whether an attribute is an object of the student's own, such as a layer within a layer."""
    return type(value).__module__ == type(made).__module__ and hasattr(value, "__dict__") and value is not made


def _fitting(role: str, places: list[_Place]) -> _Place | None:
    """Return the place whose name says what it is for, else the first array that fits and is no gradient."""
    named = [each for each in places if role_of(each[1], (role,))]
    others = [each for each in places if each[2] is not None and not role_of(each[1], _GRADIENTS)]
    return next(iter(named or others), None)


def _put(place: _Place, tensor: torch.Tensor, plan: Plan) -> None:
    owner, name, was = place
    value = hand_over(tensor, plan.arrays, getattr(torch, plan.dtype))
    if isinstance(was, torch.nn.Parameter):
        value = torch.nn.Parameter(torch.as_tensor(value))
    if isinstance(owner, dict):
        owner[name] = value
    else:
        setattr(owner, name, value)


def _shape(value: Any) -> tuple[int, ...] | None:
    """Return the shape of an array, None of None, and that of nothing for rows of several lengths."""
    if value is None:
        return None
    try:
        return tuple(np.shape(value))
    except ValueError:
        return (-1,)


def _length(value: Any) -> int | None:
    shape = _shape(value)
    return None if shape is None else int(np.prod(shape))
