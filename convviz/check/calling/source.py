"""What a student's source says before it is called: which arrays it wants, what it unpacks, which sizes it reads."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import itertools
import textwrap
from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch

from convviz.check.calling.names_and_layouts import KERNEL, role_of


def is_function(fn: Any) -> bool:
    """Return whether this is a subclass of ``torch.autograd.Function``."""
    return isinstance(fn, type) and issubclass(fn, torch.autograd.Function)


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


def takes_square_kernels(codes: Sequence[Any], kernel: str) -> bool:
    """Return whether code reads one size for both axes of a kernel: ``(f, f, c_in, c_out) = W.shape``.

    ``kernel`` is the order of the weight's axes, a key of ``KERNEL``.
    """
    order = KERNEL[kernel]
    if len(order) < 4:
        return False
    read: set[int] = set()
    for code in codes:
        tree = source_of(code) or ast.Pass()
        parts = _walked(tree)  # a part of a kernel has other axes
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and _is_shape(node.value):
                names = [each.id if isinstance(each, ast.Name) else "_" for each in node.targets[0].elts]
                told = [name for name in names if name.strip("_")]
                if len(told) != len(set(told)):
                    return True
                if len(names) == 4 and _is_shape(node.value, "weight"):
                    read |= {order[at] for at, name in enumerate(names) if name.strip("_")}
            elif isinstance(node, ast.Subscript) and _is_shape(node.value, "weight", parts):
                at = _number(node.slice)
                read |= {2, 3} if at is None or not -4 <= at < 4 else {order[at]}
    return len(read & {2, 3}) == 1


def unzeroed(codes: Sequence[Any]) -> str:
    """Return the name of an array that code makes by ``empty``, adds to and never sets; empty if there is none."""
    for code in codes:
        made: set[str] = set()
        added: set[str] = set()
        filled: set[str] = set()
        for node in ast.walk(source_of(code) or ast.Pass()):
            if isinstance(node, ast.Assign):
                targets, values = (
                    each.elts if isinstance(each, ast.Tuple) else [each] for each in (node.targets[0], node.value)
                )
                for target, value in itertools.zip_longest(targets, values, fillvalue=values[-1]):
                    named = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
                    (made if "empty" in named.split(".")[-1] else filled).add(_base(target))
            elif isinstance(node, ast.AugAssign):
                added.add(_base(node.target))
            elif isinstance(node, ast.Call):  # dx.fill(0), np.copyto(dx, 0), f(dx)
                filled.update(map(_base, (*node.args, *(each.value for each in node.keywords), node.func)))
        if left := sorted(made & added - filled):
            return left[0]
    return ""


def _base(node: ast.AST) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _walked(tree: ast.AST) -> set[str]:
    """Return the names that loops and comprehensions give to what they go through."""
    targets = (node.target for node in ast.walk(tree) if isinstance(node, ast.For | ast.comprehension))
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def _is_shape(node: ast.AST, of: str = "", parts: Collection[str] = ()) -> bool:
    """Return whether this is something's shape: that of what has a certain role and is no part, if one is named."""
    if not isinstance(node, ast.Attribute) or node.attr != "shape":
        return False
    owner = node.value
    name = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return not of or (name not in parts and role_of(name, (of,)) is not None)


def _number(node: ast.AST) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) else None


def libraries(fn: Any) -> list[str]:
    """Return the kinds of arrays that a function may want, the likeliest first, by what its code names."""
    names, modules = _names(code_of(fn), 3, set())
    uses: list[str] = [kind for kind in ("torch", "numpy") if kind in modules]
    if not names:  # a built-in function
        uses = ["torch", "numpy"]
    elif not uses:
        uses = ["torch", "numpy"] if names & {"shape", "reshape", "sum", "T", "ndim", "size", "dim"} else ["lists"]
    return uses + [kind for kind in ("torch", "numpy", "lists") if kind not in uses]


def _names(fn: Any, depth: int, seen: set[int]) -> tuple[set[str], set[str]]:
    """Return the names in a function's code and the libraries behind them, those of functions that it calls as well."""
    code = getattr(fn, "__code__", None)
    if code is None or id(code) in seen or depth < 0:
        return set(), set()
    seen.add(id(code))
    names, inner = set(), [code]
    for one in inner:
        names |= {*one.co_names, *one.co_freevars}
        inner += [each for each in one.co_consts if inspect.iscode(each)]
    modules = names & {"torch", "numpy"}
    known = dict(fn.__globals__)
    for name, cell in zip(code.co_freevars, fn.__closure__ or (), strict=False):
        with contextlib.suppress(ValueError):  # a cell that nothing was put in
            known[name] = cell.cell_contents
    for value in [known[name] for name in sorted(names) if name in known]:
        owner = str(value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)).split(".")[0]
        modules |= {"numpy" if owner == "scipy" else owner} & {"torch", "numpy"}
        if inspect.isfunction(value):
            further = _names(value, depth - 1, seen)
            names, modules = names | further[0], modules | further[1]
    return names, modules


def mentions(made: Any, word: str) -> bool:
    """Return whether code says a word: of a class all methods but torch's, and whatever of the student's is called."""
    queue, seen = [made], set()
    for each in queue:
        if isinstance(each, type):
            queue += [value for base in each.__mro__ if is_own(base) for value in vars(base).values()]
            continue
        fn = getattr(each, "__func__", getattr(each, "fget", each))
        code = getattr(fn, "__code__", None)
        if code is None or id(code) in seen or not is_own(fn):
            continue
        seen.add(id(code))
        said = _words(code)
        if word in said:
            return True
        queue += [fn.__globals__[name] for name in sorted(said & fn.__globals__.keys())]
    return False


def is_own(value: Any) -> bool:
    """Return whether a class or a function is somebody's own, and none of a library."""
    return str(getattr(value, "__module__", None)).split(".")[0] not in ("torch", "numpy", "scipy", "builtins")


def _words(code: Any) -> set[str]:
    said, left = {*code.co_names, *code.co_varnames}, list(code.co_consts)
    for const in left:
        if inspect.iscode(const):
            said |= _words(const)
        elif isinstance(const, tuple):
            left += const
        elif isinstance(const, str):
            said.add(const)
    return said


def knows_words(codes: Sequence[Any]) -> bool:
    """Return whether code has the word "same" or "valid" in it, other than to hand it on to what it calls."""
    nodes = [node for code in codes if (tree := source_of(code)) for node in ast.walk(tree)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    handed = {id(value) for call in calls for value in (*call.args, *(each.value for each in call.keywords))}
    words = (node for node in nodes if isinstance(node, ast.Constant) and node.value in ("same", "valid"))
    return any(id(word) not in handed for word in words)
