"""What a student's function gave, brought to the names and the order of axes of torch."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from convviz.cases.tasks import Task
from convviz.check.calling.arrays import NotNumbers, take_back
from convviz.check.calling.call_plan import Plan
from convviz.check.calling.names_and_layouts import DATA, KERNEL, bias_shape, from_layout, role_of
from convviz.facts.words import sentences

say = sentences("calling_student_code")


def take_apart(
    returned: Any, task: Task, plan: Plan, optional: Sequence[str] = (), remarks: set[str] | None = None
) -> dict[str, torch.Tensor]:
    """Return the results of a task by name, in the order of axes of torch.

    Those that are optional may be missing at the end, such as the gradient of a bias that it never got; ``remarks`` is
    added to if something was taken in another form than torch's.

    Raises:
        NotNumbers: it is something else.
    """
    keys = as_keys(returned)
    named = _named(keys or {}, task)
    if isinstance(returned, Mapping) or set(task.results) <= named.keys():
        parts = _by_key(keys or {}, named, task, optional)
    elif len(task.results) == 1:
        parts = {task.results[0]: _single(returned)}
    else:
        parts = _in_order(returned, task.results, optional, remarks)
    found = {}
    for name, value in parts.items():
        try:
            found[name] = _in_torch_order(name, take_back(value), task, plan, set() if remarks is None else remarks)
        except NotNumbers as error:
            raise NotNumbers(say("result", name=name, why=str(error))) from error
    return found


def as_keys(returned: Any) -> Mapping[Any, Any] | None:
    """Return what has keys or the names of fields as a mapping, None of anything else."""
    if isinstance(returned, tuple) and hasattr(returned, "_asdict"):
        return dict(returned._asdict())
    return returned if isinstance(returned, Mapping) else None


def _named(returned: Mapping[Any, Any], task: Task) -> dict[str | None, Any]:
    """Return what has the name of a result under that name."""
    roles = {str(key): role_of(str(key), task.results) for key in returned}
    if not any(roles.values()):  # {"input": ..., "weight": ...}: whose gradients are meant is the task
        whose = {f"grad_{role}": role for role in ("input", "weight", "bias") if f"grad_{role}" in task.results}
        roles = {key: f"grad_{role}" for key in roles if (role := role_of(key, tuple(whose.values())))}
    return {roles.get(str(key)): value for key, value in returned.items()}


def _by_key(
    returned: Mapping[Any, Any], named: Mapping[str | None, Any], task: Task, optional: Sequence[str]
) -> dict[str, Any]:
    missing = [name for name in task.results if name not in named and name not in optional]
    if missing:
        raise NotNumbers(say("keys", got=", ".join(map(str, returned)) or "-", missing=", ".join(missing)))
    return {name: named[name] for name in task.results if name in named}


def _single(returned: Any) -> Any:
    """Return the array; a forward pass may give what it keeps for backward as well: ``out, cache``."""
    if isinstance(returned, tuple) and returned and _is_array(returned[0]):
        keeps = len(returned) == 2 and isinstance(returned[1], tuple | Mapping)
        if len(returned) == 1 or keeps or all(part is None for part in returned[1:]):
            return returned[0]
    return returned


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") or isinstance(value, list)


def apart(returned: Any) -> tuple[Any, Any]:
    """Return the output, and what is kept for going back."""
    if isinstance(returned, tuple) and len(returned) > 1 and _is_array(returned[0]):
        return returned[0], returned[1] if len(returned) == 2 else returned[1:]
    return returned, None


@functools.lru_cache(maxsize=64)  # each call asks for it
def only(task: Task, *names: str) -> Task:
    """Return a task with some of its results."""
    return dataclasses.replace(task, results=names)


def with_bias(output: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return an output with the bias that its maker has no place for: all are held against the same truth."""
    if output.dim() < 2 or output.shape[1] != bias.numel():
        return output
    return output + bias.to(output.dtype).reshape(1, -1, *[1] * (output.dim() - 2))


def _in_order(returned: Any, names: Sequence[str], optional: Sequence[str], remarks: set[str] | None) -> dict[str, Any]:
    is_row = isinstance(returned, tuple | list)
    parts = list(returned) if is_row else [returned] * (returned is not None)
    if len(parts) < len(names):  # some are in an inner list, as in dx, [dw, db]
        inner = [
            part if isinstance(part, tuple | list) and hasattr(part[:1] and part[0], "shape") else [part]
            for part in parts
        ]
        parts = [each for row in inner for each in row]
    # None, as a Function's backward gives it for stride and padding; a dict of what else was computed; a norm.
    while is_row and len(parts) > len(names) and isinstance(parts[-1], Mapping | str | int | float | None):
        parts.pop()
    if is_row and len(parts) > len(names) and remarks is not None:
        remarks.add("further")
        del parts[len(names) :]
    least = len(names) - len(optional)
    while len(parts) > least and parts[-1] is None:
        parts.pop()
    if not is_row or not least <= len(parts) <= len(names):
        raise NotNumbers(say("count", count=len(parts), wanted=len(names), names=", ".join(names)))
    return dict(zip(names, parts, strict=False))


def _in_torch_order(name: str, tensor: torch.Tensor, task: Task, plan: Plan, remarks: set[str]) -> torch.Tensor:
    if name == "grad_weight":
        return from_layout(tensor, KERNEL[plan.kernel], task.lacks)
    if name == "grad_bias":
        own = tuple(tensor.shape) == bias_shape(plan.bias, tensor.numel())
        if own or (plan.data == "HW" and tensor.numel() == 1):
            return tensor.reshape(-1)
        if tensor.dim() > 1 and tensor.numel() == max(tensor.shape) > 0:
            remarks.add("bias_shape")
            return tensor.reshape(-1)
        return tensor
    return from_layout(tensor, DATA[plan.data], task.lacks)
