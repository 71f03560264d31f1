"""What an object of a student's own holds: its weights, which are put there, and its gradients, which are found."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from convviz.cases.battery import Case
from convviz.cases.tasks import GRADIENTS, Task
from convviz.check.call_outcome import ratio_of
from convviz.check.calling.arrays import NotNumbers, changed, hand_over
from convviz.check.calling.call_plan import Plan
from convviz.check.calling.inspect_source import is_own
from convviz.check.calling.names_and_layouts import DATA, KERNEL, bias_shape, role_of, sizes_in, to_layout
from convviz.check.calling.results import as_keys
from convviz.facts.words import sentences

say = sentences("calling_student_code")

_Place = tuple[Any, str, Any]  # who holds it, under which name, what stands there


def fill(made: Any, task: Task, case: Case, plan: Plan) -> dict[str, Any]:
    """Put a case's weight and bias among a layer's parameters or attributes; return them, the bias if it has one.

    Raises:
        NotNumbers: nothing there is called like a weight or has its shape.
    """
    is_module = isinstance(made, torch.nn.Module)
    made = _of_dtype(made, getattr(torch, plan.dtype)) if is_module else made
    # One order of axes at a time: with equal sizes a shape fits several, and the search finds which it is.
    shape = sizes_in(case.spec.weight_shape, KERNEL[plan.kernel])
    places = list(_places(made))
    weight = _fitting("weight", [each for each in places if _shape(each[2]) in (shape, None)])
    if weight is None:
        raise NotNumbers(say("no_parameter" if is_module else "no_weight", shape=list(shape)))
    late = (None,) if weight[2] is None else ()  # filled at the first forward pass
    numbers = task.tensor(case, "bias")
    count = numbers.numel()
    lengths = [None if (sizes := _shape(each[2])) is None else int(np.prod(sizes)) for each in places]
    fitting = [each for each, n in zip(places, lengths, strict=True) if each is not weight and n in (count, *late)]
    bias = _fitting("bias", fitting)
    found = {"weight": _put(weight, to_layout(case.weight, KERNEL[plan.kernel]), plan)}
    if bias is not None:
        found["bias"] = _put(bias, numbers.reshape(_shape(bias[2]) or bias_shape(plan.bias, count)), plan)
    else:
        sizes = case.spec.input_size if task.is_transposed else case.spec.output_size
        cells = to_layout(numbers.reshape(1, -1, 1, 1).expand(1, -1, *sizes), DATA[plan.data])
        if (bias := _per_cell(places, tuple(cells.shape))) is not None:
            found["bias"] = _put(bias, cells.reshape(_shape(bias[2]) or ()), plan)
    return found


def is_unbuilt(made: Any) -> bool:
    """Return whether there is no weight yet: some layers make theirs when they first see an input."""
    places = list(_places(made))
    none = [name for _, name, value in places if value is None and role_of(name, ("weight",))]
    return bool(none) or not any(len(_shape(value) or ()) > 1 for _, _, value in places)


def _per_cell(places: list[_Place], shape: tuple[int, ...]) -> _Place | None:
    """Return the bias that has a number for each cell of an output, as some from-scratch layers have it."""
    named = [each for each in places if role_of(each[1], ("bias",)) and _shape(each[2]) in (shape, shape[1:])]
    return next(iter(named), None)


def weights_of(layer: Any) -> dict[str, Any]:
    """Return copies of the arrays that are called weight and bias, by the names of their gradients."""
    named = ((role_of(name, ("weight", "bias")), value) for _, name, value in _places(layer))
    plain = ((role, value.detach() if isinstance(value, torch.Tensor) else value) for role, value in named)
    return {f"grad_{role}": copy.deepcopy(value) for role, value in plain if role and hasattr(value, "shape")}


def moved(before: Mapping[str, Any], layer: Any) -> dict[str, float | None]:
    """Return which weights are others than before, by their gradients' names, each with the factor if it is one."""
    now = weights_of(layer)
    found = {role: now[role] for role, was in before.items() if role in now and _shape(now[role]) == _shape(was)}
    pairs = {role: (_tensor(value), _tensor(before[role])) for role, value in found.items()}
    return {role: ratio_of(*pair) for role, pair in pairs.items() if not torch.equal(*pair)}


def _tensor(value: Any) -> torch.Tensor:
    return torch.as_tensor(np.asarray(value.detach() if isinstance(value, torch.Tensor) else value)).double()


def _of_dtype(made: torch.nn.Module, dtype: torch.dtype) -> torch.nn.Module:
    """Return a layer in a dtype, with the tensors that it keeps as plain attributes, which ``to`` leaves alone."""
    for module in made.to(dtype).modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype != dtype:
                setattr(module, name, value.detach().to(dtype).requires_grad_(value.requires_grad))
    return made


def _places(made: Any) -> Iterator[_Place]:
    """Yield each array among an object's attributes and in the dicts among them, and what is None."""
    if isinstance(made, torch.nn.Module):
        yield from ((made, name.rpartition(".")[2], value) for name, value in made.named_parameters())
        return
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
    others = [each for each in places if each[2] is not None and not role_of(each[1], GRADIENTS)]
    return next(iter(named or others), None)


def _put(place: _Place, tensor: torch.Tensor, plan: Plan) -> Any:
    owner, name, was = place
    if isinstance(owner, torch.nn.Module):
        with torch.no_grad():
            return was.copy_(tensor)
    value = hand_over(tensor, plan.arrays, getattr(torch, plan.dtype))
    if isinstance(was, torch.nn.Parameter):
        value = torch.nn.Parameter(torch.as_tensor(value))
    if isinstance(owner, dict):
        owner[name] = value
    else:
        setattr(owner, name, value)
    return value


def _shape(value: Any) -> tuple[int, ...] | None:
    """Return the shape of an array, None of None, and that of nothing for rows of several lengths."""
    try:
        return None if value is None else tuple(np.shape(value))
    except ValueError:
        return (-1,)


def holding(layer: Any, weight: Any) -> list[Any]:
    """Return the arrays among an object's attributes that have the very numbers of the weight."""
    if isinstance(weight, list):
        return []
    arrays = (value for _, _, value in _places(layer) if isinstance(value, type(weight)))
    return [array for array in arrays if array.dtype == weight.dtype and not changed(weight, array)]


def zero(layer: Any, at_all: bool) -> None:
    """Set the gradients to zero where a user could: in .grad torch adds up, too, and some have a method for it."""
    held = [layer, *vars(layer).values()]
    at_all = at_all or any(
        "zero" in name or "reset" in name for each in held for name in dir(type(each)) if is_own(type(each))
    )
    sums = [each.grad for each in held if getattr(each, "grad", None) is not None]
    for _, value in _kept(layer, GRADIENTS[1:]):
        if at_all or any(value is each for each in sums):
            value *= 0


def gathered(
    returned: Any,
    layer: Any,
    names: tuple[str, ...],
    optional: tuple[str, ...],
    before: Mapping[str, Any],
    is_moved: bool,
    remarks: set[str],
) -> Any:
    """Return the gradients; those that backward does not return are attributes, or how it changed the weights.

    ``before`` are the weights as they were, of a layer that updates them itself; where they have to be others now,
    ``is_moved``, and are not, it does no such thing.
    """
    inner, depth = returned, 0
    while isinstance(inner, list) and inner:
        inner, depth = inner[0], depth + 1
    is_array = 2 <= depth <= 4 and isinstance(inner, int | float)  # a list of lists of numbers, and no row of gradients
    if isinstance(as_keys(returned), Mapping) or (isinstance(returned, tuple | list) and not is_array):
        return returned
    now = {role: value for role, value in weights_of(layer).items() if _shape(value) == _shape(before.get(role))}
    updated = {}
    if not is_moved or any(changed(before[role], value) for role, value in now.items()):
        updated = {role: before[role] - value for role, value in now.items()}
    kept = {**updated, **dict(_kept(layer, names))}
    first = "grad_input" if "grad_input" in names else next((name for name in names if name not in kept), None)
    if returned is not None and first is not None:
        kept[first] = returned
    missing = [name for name in names if name not in kept and name not in optional]
    if missing:
        raise NotNumbers(say("no_attribute", missing=", ".join(missing)))
    if any(kept[role] is value for role, value in updated.items()):
        remarks.add("updated")
    return {name: kept[name] for name in names if name in kept}


def summed_cells(gradients: Any, output: Any, data: str, remarks: set[str]) -> Any:
    """Return gradients, that of a bias for each cell of an output summed over the cells."""
    found: Any = gradients.get("grad_bias") if isinstance(gradients, dict) and "N" not in data else None
    if not hasattr(found, "shape") or found.ndim < 2 or tuple(found.shape) != tuple(np.shape(output)):
        return gradients
    remarks.add("cells")
    return gradients | {"grad_bias": found.sum(tuple(axis for axis, letter in enumerate(data) if letter != "C"))}


def plain_bias(layer: Any, count: int) -> list[torch.Tensor]:
    """Return a layer's bias that is no parameter, and let autograd say whether it is used."""
    held = [(name, value) for name, value in (*vars(layer).items(), *layer.named_buffers()) if role_of(name, ("bias",))]
    found = [value for _, value in held if isinstance(value, torch.Tensor) and value.numel() == count]
    return [value.requires_grad_() for value in found if value.is_leaf and value.is_floating_point()]


def _kept(layer: Any, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the gradients among an object's attributes: ``dW``, ``grads["W"]``, ``W.grad``."""
    for name, value in vars(layer).items():
        role = role_of(name, names)
        if role and value is not None:
            yield role, value
        plain = role_of(name, ("weight", "bias"))
        if plain and f"grad_{plain}" in names and getattr(value, "grad", None) is not None:
            yield f"grad_{plain}", value.grad
        if isinstance(value, Mapping):
            yield from _in_dict(name, value, names)
        elif isinstance(value, list | tuple) and name.strip("_").lower().startswith("grad") and role is None:
            yield from zip((each for each in names if each != "grad_input"), value, strict=False)
        elif is_within(value, layer):
            yield from _kept(value, names)


def _in_dict(name: str, held: Mapping[Any, Any], names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for key, value in held.items():
        role = role_of(str(key), names)
        plain = role_of(str(key), ("weight", "bias", "input")) if "grad" in name.lower() else None
        role = role or (f"grad_{plain}" if plain else None)
        if role in names and value is not None:
            yield role, value
