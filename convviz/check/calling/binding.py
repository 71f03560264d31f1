"""A student's signature: which argument stands for what, by its name, else by its place."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import itertools
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from convviz.check.calling.names import role_of
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


def is_function(fn: Any) -> bool:
    """Return whether this is a subclass of ``torch.autograd.Function``."""
    return isinstance(fn, type) and issubclass(fn, torch.autograd.Function)


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


def code_of(fn: Any) -> Any:
    """Return the function behind a function: of a class its forward, of a partial what it calls."""
    if is_function(fn):
        return fn.forward
    while isinstance(fn, functools.partial):
        fn = fn.func
    if isinstance(fn, type):
        return getattr(fn, "forward", fn)
    fn = inspect.unwrap(fn) if callable(fn) else fn
    fn = getattr(fn, "__func__", fn)
    return fn if hasattr(fn, "__code__") else getattr(type(fn).__call__, "__func__", type(fn).__call__)


def source_of(fn: Callable[..., Any]) -> ast.AST | None:
    """Return a function's source as a tree, None where it cannot be had."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(code_of(fn))))
    except (OSError, TypeError, SyntaxError, ValueError):
        return None


def unpacked(fn: Any, name: str) -> list[tuple[str, ...]]:
    """Return the names that a function unpacks one of its arguments to: ``x, w, b, conv_param = cache``."""
    tree = source_of(fn)
    found = []
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
            target = node.targets[0]
            if isinstance(target, ast.Tuple | ast.List) and all(isinstance(each, ast.Name) for each in target.elts):
                found.append(tuple(each.id for each in target.elts if isinstance(each, ast.Name)))
    return found


def takes_square_kernels(fn: Any) -> bool:
    """Return whether it reads one size for both axes of a kernel: ``(f, f, c_in, c_out) = W.shape``."""
    tree = source_of(fn)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            names = [each.id for each in node.targets[0].elts if isinstance(each, ast.Name) and each.id.strip("_")]
            if len(names) != len(set(names)) and "shape" in ast.unparse(node.value):
                return True
    return False


def libraries(fn: Any) -> list[str]:
    """Return the kinds of arrays that a function may want, the likeliest first, by what its code names."""
    code = code_of(fn)
    if not hasattr(code, "__code__"):  # a built-in function
        return ["torch", "numpy", "lists"]
    names, modules = _names(code, 3, set())
    uses: list[str] = [kind for kind in ("torch", "numpy") if kind in modules]
    if "torch" in uses and "numpy" in uses:
        uses = ["torch", "numpy"]
    if not uses:
        uses = ["torch", "numpy"] if names & {"shape", "reshape", "sum", "T", "ndim", "size", "dim"} else ["lists"]
    return uses + [kind for kind in ("torch", "numpy", "lists") if kind not in uses]


def _names(fn: Any, depth: int, seen: set[int]) -> tuple[set[str], set[str]]:
    code, scope = getattr(fn, "__code__", None), getattr(fn, "__globals__", {})
    if code is None or id(code) in seen or depth < 0:
        return set(), set()
    seen.add(id(code))
    names, modules, inner = set(), set(), [code]
    while inner:
        one = inner.pop()
        names |= set(one.co_names) | set(one.co_freevars)
        inner += [each for each in one.co_consts if inspect.iscode(each)]
    cells = dict(zip(code.co_freevars, getattr(fn, "__closure__", None) or (), strict=False))
    for name in sorted(names):
        try:
            value = cells[name].cell_contents if name in cells else scope.get(name)
        except ValueError:  # a cell that nothing was put in
            continue
        owner = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
        modules |= {str(owner).split(".")[0]} & {"torch", "numpy", "scipy"}
        if inspect.isfunction(value):
            further = _names(value, depth - 1, seen)
            names, modules = names | further[0], modules | further[1]
    modules |= {"numpy"} if "scipy" in modules else set()
    modules |= {name for name in ("torch", "numpy") if name in names}
    return names, modules
