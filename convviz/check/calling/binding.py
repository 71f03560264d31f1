"""A student's signature: which argument stands for what, by its name, else by its place."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from dataclasses import dataclass
from typing import Any

import torch

from convviz.check.calling.names import role_of
from convviz.check.calling.source import is_function
from convviz.check.tasks import GEOMETRY, Task

TENSORS = ("grad_output", "input", "weight", "bias")
KNOWN = (*TENSORS, *GEOMETRY, "output_padding", "input_size", "weight_size", "cache", "params")


@dataclass(frozen=True)
class Argument:
    """One argument of a call: what it is called, what it stands for (None: its default), and how it is handed over."""

    name: str
    role: str | None
    by_name: bool = False
    default: Any = None


@dataclass(frozen=True)
class Binding:
    """What a function is called with.

    Attributes:
        arguments: in the order of the signature.
        placed: roles that were given by place, because a name says nothing.
        open: whether it takes any further name (``**kwargs``).
    """

    arguments: tuple[Argument, ...]
    placed: tuple[str, ...] = ()
    open: bool = False

    @property
    def roles(self) -> frozenset[str]:
        """What the function is given; of ``stride.0`` the part before the dot as well."""
        found = {argument.role for argument in self.arguments if argument.role}
        return frozenset(found | {role.split(".")[0] for role in found})


def bindings(fn: Any, task: Task) -> list[Binding]:
    """Return in how many ways a function may be called for a task, the likeliest first."""
    target, skip = _signed(fn)
    try:
        parameters = list(inspect.signature(target).parameters.values())[skip:]
    except (TypeError, ValueError):
        parameters = []
    plain = [each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    is_open = any(each.kind == each.VAR_KEYWORD for each in parameters)
    if not plain and not is_open:  # a built-in function, or *args alone: nothing says how many it takes
        counts = range(len(task.arguments), 0, -1)
        return [_in_order(task.arguments[:count]) for count in counts]
    takes_rest = any(each.kind == each.VAR_POSITIONAL for each in parameters)
    first = _bind(plain, is_open, takes_rest, task)
    tensors = [role for role in first.placed if role in TENSORS]
    orders = itertools.permutations(tensors) if 1 < len(tensors) < 4 else iter([tensors])
    return [_exchanged(first, dict(zip(tensors, order, strict=True))) for order in orders]


def _in_order(roles: tuple[str, ...]) -> Binding:
    return Binding(tuple(Argument(role, role) for role in roles), roles)


def _exchanged(binding: Binding, roles: dict[str, str]) -> Binding:
    def other(role: str | None) -> str | None:
        return roles.get(role, role) if role in binding.placed else role

    arguments = tuple(dataclasses.replace(each, role=other(each.role)) for each in binding.arguments)
    return dataclasses.replace(
        binding, arguments=arguments, placed=tuple(roles.get(role, role) for role in binding.placed)
    )


def _bind(plain: list[inspect.Parameter], is_open: bool, takes_rest: bool, task: Task) -> Binding:
    roles = _by_name(plain, task)
    placed = _by_place(plain, roles, task)
    arguments = [
        Argument(each.name, role, each.kind == each.KEYWORD_ONLY, each.default)
        for each, role in zip(plain, roles, strict=True)
        if role is not None or each.default is not inspect.Parameter.empty
    ]
    if takes_rest and not {"cache", "params"} & set(roles):  # (dout, x, w, b, *geometry)
        arguments += [Argument(role, role) for role in task.arguments if role not in roles]
    elif is_open:
        held = {argument.role for argument in arguments}
        arguments += [Argument(role, role, True) for role in task.arguments if role in GEOMETRY and role not in held]
    return Binding(tuple(arguments), placed, is_open)


def _signed(fn: Any) -> tuple[Any, int]:
    """Return what has the signature, and how many of its parameters are not given by the caller."""
    if not is_function(fn):
        return fn, 0
    new_style = fn.setup_context is not torch.autograd.Function.setup_context
    return fn.forward, 0 if new_style else 1


def _by_name(parameters: list[inspect.Parameter], task: Task) -> list[str | None]:
    among = task.arguments if task.kind == "Module" else tuple(dict.fromkeys((*task.arguments, *KNOWN)))
    if task.name == "conv_transpose2d":
        among = tuple(role for role in among if role not in ("grad_output", "padding_mode"))
    found: list[str | None] = []
    for each in parameters:
        role = role_of(each.name, among)
        foreign = role == "padding_mode" and each.default in ("valid", "full", "same")
        found.append(None if role in found or foreign else role)
    return found


def _by_place(parameters: list[inspect.Parameter], roles: list[str | None], task: Task) -> tuple[str, ...]:
    """Fill in, in the task's order, what has no name that says something; return what was filled in."""
    unknown = [
        number
        for number, each in enumerate(parameters)
        if roles[number] is None and each.default is inspect.Parameter.empty
    ]
    left = [role for role in task.arguments if role not in roles]
    tensors = [role for role in left if role in TENSORS]
    if "cache" in roles:
        left = tensors = [role for role in left if role == "grad_output"]
    chosen = tensors if len(unknown) == len(tensors) else left
    filled = list(zip(unknown, chosen, strict=False))
    for number, role in filled:
        roles[number] = role
    return tuple(role for _, role in filled)
