"""A student's signature: which argument stands for what, by its name, else by its place."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from dataclasses import dataclass
from typing import Any

import torch

from convviz.cases.tasks import GEOMETRY, Task
from convviz.check.calling.inspect_source import code_of, is_function, is_own, mentions
from convviz.check.calling.names_and_layouts import role_of, stated_role

TENSORS = ("grad_output", "input", "weight", "bias")
POOLED = (
    "grad_output", "input", "kernel_size", "stride", "padding", "dilation", "ceil_mode", "count_include_pad",
    "input_size", "cache", "params",
)  # fmt: skip
KNOWN = (*TENSORS, *GEOMETRY, "output_padding", "input_size", "weight_size", "cache", "params", "learning_rate")


@dataclass(frozen=True)
class Argument:
    """One argument of a call: what it is called, what it stands for (None: its default), and how it is handed over."""

    name: str
    role: str | None
    by_name: bool = False
    default: Any = inspect.Parameter.empty


@dataclass(frozen=True)
class Binding:
    """What a function is called with, in the order of its signature."""

    arguments: tuple[Argument, ...]
    placed: tuple[str, ...] = ()  # roles that were given by place, because a name says nothing
    counted: bool = True  # whether the signature says how many it takes
    unknown: tuple[str, ...] = ()  # names that say nothing, of what it needs

    @functools.cached_property
    def roles(self) -> frozenset[str]:
        """What the function is given; of ``stride.0`` the part before the dot as well."""
        found = {argument.role for argument in self.arguments if argument.role}
        return frozenset(found | {role.split(".")[0] for role in found})


def known_of(task: Task) -> tuple[str, ...]:
    """Return what an argument may stand for, whatever the task's own are."""
    return POOLED if task.pooling else KNOWN


def binding_of(fn: Any, task: Task) -> Binding:
    """Return how a function is called for a task: by the names that say what they are, else in the task's order."""
    if task.kind == "Module" and isinstance(fn, type) and is_own(fn) and not mentions(fn, "padding_mode"):
        # What a subclass of torch's has from it, and never reads, is no argument of its own.
        task = dataclasses.replace(task, arguments=tuple(role for role in task.arguments if role != "padding_mode"))
    parameters = _parameters(fn)
    plain = [each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    is_open = any(each.kind == each.VAR_KEYWORD for each in parameters)
    takes_rest = any(each.kind == each.VAR_POSITIONAL for each in parameters)
    if not plain:  # *args, **named alone, or nothing that says how many it takes
        named = is_open and not takes_rest
        keys = _of_keys(fn, task) if named else ()
        every = keys or tuple(Argument(role, role, named) for role in task.arguments)
        return Binding(every, () if named else task.arguments, counted=named)
    roles = _by_name(plain, task)
    unknown = [each.name for each, role in zip(plain, roles, strict=True) if not role and each.default is each.empty]
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
    return Binding(tuple(arguments), placed, unknown=tuple(unknown))


def _of_keys(fn: Any, task: Task) -> tuple[Argument, ...]:
    """Return what a function of ``**named`` alone is given, as far as its own code says the keys."""
    consts = getattr(getattr(code_of(fn), "__code__", None), "co_consts", ())
    keys = {role_of(each, task.arguments): each for each in consts if isinstance(each, str)}
    return tuple(Argument(key, role, True) for role, key in keys.items() if role)


def takes_case(fn: Any) -> bool:
    """Return whether this is an adapter: a function of one argument that is called ``case``."""
    return not isinstance(fn, type) and [each.name for each in _parameters(fn)] == ["case"]


def _parameters(fn: Any) -> list[inspect.Parameter]:
    """Return what a function takes from its caller; nothing of a built-in one, which does not say it."""
    target, skip = (fn, 0)
    if is_function(fn):
        new_style = fn.setup_context is not torch.autograd.Function.setup_context
        target, skip = fn.forward, 0 if new_style else 1
    try:
        return list(inspect.signature(target).parameters.values())[skip:]
    except (TypeError, ValueError):
        return []


def _by_name(parameters: list[inspect.Parameter], task: Task) -> list[str | None]:
    among = task.arguments if task.kind == "Module" else tuple(dict.fromkeys((*task.arguments, *known_of(task))))
    if task.is_transposed:
        unknown = ("padding_mode", *["grad_output"] * ("grad_output" not in task.arguments))
        among = tuple(role for role in among if role not in unknown)
    found: list[str | None] = []
    for each in parameters:
        role = stated_role(each.name) or role_of(each.name, among)
        if role == "padding_mode" and isinstance(each.default, int):  # border=0: how wide it is
            role = "padding" if "padding" in among else None
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
    left = [role for role in task.arguments if role not in (*roles, "learning_rate")]
    tensors = [role for role in left if role in TENSORS]
    if "cache" in roles:
        left = tensors = [role for role in left if role == "grad_output"]
    chosen = tensors if len(unknown) == len(tensors) else left
    filled = list(zip(unknown, chosen, strict=False))
    for number, role in filled:
        roles[number] = role
    return tuple(role for _, role in filled)
