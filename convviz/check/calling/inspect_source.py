"""What a student's source says before it is called: which arrays it wants, what it unpacks, which sizes it reads."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import itertools
import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import torch

from convviz.check.calling.names_and_layouts import KERNEL, role_of

MAX_FUNCTIONS = 200  # functions that are read
MADE = ("torch.zeros", "torch.empty", "torch.ones", "torch.full")


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
    """Return a function's source as a tree, None where it cannot be had; whoever reads the tree leaves it as it is."""
    with contextlib.suppress(OSError, TypeError, SyntaxError, ValueError):
        made = code_of(fn)
        code = getattr(made, "__code__", None)
        return _tree_of(code, code.co_filename) if inspect.iscode(code) else _parsed(made)
    return None


@functools.lru_cache(maxsize=256)  # each way of calling a function, and each scope, asks what its code says
def _tree_of(code: Any, _file: str) -> ast.AST:
    """Return the tree of a code's source; equal code of another file may have other words in it."""
    return _parsed(code)


def _parsed(made: Any) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(made)))


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
    read: set[int] = set()
    for code in codes:
        tree = source_of(code) or ast.Pass()
        walked = (node.target for node in ast.walk(tree) if isinstance(node, ast.For | ast.comprehension))
        # What loops go through: a part of a kernel has other axes.
        parts = {each.id for target in walked for each in ast.walk(target) if isinstance(each, ast.Name)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and _is_shape(node.value):
                names = [each.id if isinstance(each, ast.Name) else "_" for each in node.targets[0].elts]
                used_names = [name for name in names if name.strip("_")]
                if len(used_names) != len(set(used_names)):
                    return True
                if len(names) == 4 == len(order) and _is_shape(node.value, "weight"):
                    read |= {order[at] for at, name in enumerate(names) if name.strip("_")}
            elif len(order) == 4 and isinstance(node, ast.Subscript) and _is_shape(node.value, "weight", parts):
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


def libraries(parts: Sequence[Any]) -> list[str]:
    """Return the kinds of arrays that code may want, the likeliest first, by what its parts name."""
    names: set[str] = set()
    owners: set[str] = set()
    for _, codes, values in (each for part in parts for each in _written(code_of(part))):
        names.update(name for code in codes for name in (*code.co_names, *code.co_freevars))
        owners.update(_owner(value) for value in values)
    modules = names | {"numpy" if owner == "scipy" else owner for owner in owners}
    uses: list[str] = [kind for kind in ("torch", "numpy") if kind in modules]
    if not names:  # a built-in function
        uses = ["torch", "numpy"]
    elif not uses:
        uses = ["torch", "numpy"] if names & {"shape", "reshape", "sum", "T", "ndim", "size", "dim"} else ["lists"]
    return uses + [kind for kind in ("torch", "numpy", "lists") if kind not in uses]


def mentions(made: Any, *words: str) -> bool:
    """Return whether code says one of some words, as a name or within a string."""
    written = [code for _, codes, _ in _written(made) for code in codes]
    said = {word for code in written for word in (*code.co_names, *code.co_varnames)}
    consts = [const for code in written for const in code.co_consts]
    said.update(word for const in consts for word in (const if isinstance(const, tuple) else (const,)))
    return not said.isdisjoint(words)


def reverses(made: Any) -> bool:
    """Return whether code turns an array round: ``w[..., ::-1, ::-1]``, ``flip``, ``rot90``."""
    steps = (node.step for node in ast.walk(source_of(made) or ast.Pass()) if isinstance(node, ast.Slice))
    minus = any(step is not None and ast.unparse(step) == "-1" for step in steps)
    return minus or mentions(made, "flip", "fliplr", "flipud", "rot90")


def makes_float32(codes: Sequence[Any]) -> bool:
    """Return whether code makes arrays in torch's own dtype, ``torch.zeros(3, 3)``, that results are written into."""
    written = {id(fn): fn for code in codes for fn, _, _ in _written(code)}
    nodes = (node for fn in written.values() for node in ast.walk(source_of(fn) or ast.Pass()))
    made = (node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) in MADE)
    return any("dtype" not in [keyword.arg for keyword in call.keywords] for call in made)


def is_own(value: Any) -> bool:
    """Return whether a class or a function is somebody's own, and none of a library."""
    return _owner(value) not in ("torch", "numpy", "scipy", "builtins")


def _owner(value: Any) -> str:
    return str(value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)).split(".")[0]


def _written(made: Any) -> Iterator[tuple[Any, list[Any], list[Any]]]:
    """Yield a function, and those of its author that it calls, each with its codes and with what its names stand for.

    Of a class: of all methods but torch's.
    """
    queue: list[Any] = [made]
    seen: set[int] = set()
    for each in queue:
        if isinstance(each, type):
            queue += [value for base in each.__mro__ if is_own(base) for value in vars(base).values()]
            continue
        fn = getattr(each, "__func__", getattr(each, "fget", each))
        code = getattr(fn, "__code__", None)
        if code is None or id(code) in seen or len(seen) > MAX_FUNCTIONS or not (is_own(fn) or each is made):
            continue
        seen.add(id(code))
        codes = [code]
        for one in codes:
            codes += filter(inspect.iscode, one.co_consts)
        known = dict(fn.__globals__)
        for name, cell in zip(code.co_freevars, fn.__closure__ or (), strict=False):
            with contextlib.suppress(ValueError):  # a cell that nothing was put in
                known[name] = cell.cell_contents
        values = [known[name] for name in sorted({name for one in codes for name in one.co_names}) if name in known]
        values += [known[name] for name in code.co_freevars if name in known]
        yield fn, codes, values
        queue += values


def knows_words(codes: Sequence[Any], words: Sequence[str] = ("same", "valid", "SAME", "VALID")) -> bool:
    """Return whether code has the word "same" or "valid" in it, other than to hand it on to what it calls.

    What it calls counts as well where that compares a padding with such a word.
    """
    nodes = [node for code in codes if (tree := source_of(code)) for node in ast.walk(tree)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    handed = {id(value) for call in calls for value in (*call.args, *(each.value for each in call.keywords))}
    said = (node for node in nodes if isinstance(node, ast.Constant) and node.value in words)
    if any(id(word) not in handed for word in said):
        return True
    called = {id(fn): fn for code in codes for fn, _, _ in _written(code) if _module(fn) == _module(code)}
    trees = (source_of(fn) or ast.Pass() for fn in called.values())
    compared = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Compare))
    return any(_has_word(node, words) for node in compared)


def _module(fn: Any) -> Any:
    return getattr(fn, "__module__", None)


def _has_word(compared: ast.Compare, words: Sequence[str]) -> bool:
    """Return whether a padding is compared with one of the words."""
    nodes = list(ast.walk(compared))
    names = [str(getattr(node, "id", getattr(node, "attr", ""))) for node in nodes]
    is_padding = any(role_of(name, ("padding",)) for name in names)
    return is_padding and any(isinstance(node, ast.Constant) and node.value in words for node in nodes)
