"""Geometries that a caller states for a function to be asked at: ``at=``, as ConvSpecs or as dicts of shapes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from convviz.cases.battery import Case, make_case
from convviz.cases.pooled_geometries import fit_pooling
from convviz.cases.random_cases import named
from convviz.cases.tasks import Task, forward_of
from convviz.geometry.spec import ConvSpec
from convviz.ops.pooling import pool_spec

Stated = ConvSpec | Mapping[str, Any]
FIELDS = tuple(inspect.signature(ConvSpec).parameters)
SHAPES = ("input", "weight")
POOLED = '{"input": (2, 3, 32, 32), "kernel_size": 3, "stride": 2}'
EXAMPLE = '{"input": (2, 3, 32, 32), "weight": (8, 3, 5, 5), "stride": 2}'


def stated_cases(at: Stated | Sequence[Stated], task: Task, seed: int) -> list[Case]:
    """Return a case for each geometry that is stated, with random numbers.

    Args:
        at: a ConvSpec, or a dict of its arguments in which ``input`` and ``weight`` may stand for sizes and channels,
            as shapes of the task's tensors in torch's order, and ``padding`` may be F.pad's four numbers (left, right,
            top, bottom); or several of them.
        task: what is asked there.
        seed: of the numbers.

    Raises:
        ValueError: there is none, or one of them is no geometry; the message says which rule it breaks.
    """
    several = [at] if isinstance(at, ConvSpec | Mapping) else at
    if not isinstance(several, Sequence) or isinstance(several, str) or not several:
        raise ValueError(f"at is a ConvSpec, a dict such as {EXAMPLE}, or a list of them: got {at!r}")
    specs = dict.fromkeys(each if isinstance(each, ConvSpec) else _spec(each, task) for each in several)
    if task.pooling:
        _check_pooled(specs, task)
    elif any(task.fit(spec) != spec for spec in specs):
        raise ValueError(f"at: for {task.name} a ConvSpec has one row, and kernels and paddings of one row: got {at!r}")
    cases = (make_case(f"{n}", spec, seed * 1009 + 700 + n, task.rule) for n, spec in enumerate(specs))
    return [named(task, case, found=False) for case in cases]


def sides_of(at: Stated | Sequence[Stated]) -> str:
    """Return how paddings are stated, a ``Plan.sides``."""
    several = [at] if isinstance(at, ConvSpec | Mapping) else at
    paddings = [each.get("padding") for each in several if isinstance(each, Mapping)]
    if any(map(_are_four, paddings)):
        return "four"
    pairs = any(isinstance(each, Sequence) and each and isinstance(each[0], Sequence) for each in paddings)
    return "pairs" if pairs else "uneven"


def _are_four(padding: Any) -> bool:
    return isinstance(padding, Sequence) and len(padding) == 4 and all(type(side) is int for side in padding)


def _check_pooled(specs: Iterable[ConvSpec], task: Task) -> None:
    for spec in specs:
        if fit_pooling(spec, task.pooling == "average") != spec:
            raise ValueError(
                f"at: a ConvSpec of {task.name} has as many channels in as out, one group, zeros around it, a "
                f"padding of up to half the window, in an average no dilation: got {spec}; a dict such as {POOLED} does"
            )


def _pooled(given: Mapping[str, Any], task: Task) -> ConvSpec:
    known = ("input", *(name for name in forward_of(task).arguments[1:] if name != "count_include_pad"))
    for key in given:
        if key not in known:
            raise ValueError(f"at has the keys {', '.join(known)}: got {key!r}")
    if not {"input", "kernel_size"} <= given.keys():
        raise ValueError(f"at has an input and a kernel_size, as in {POOLED}: got {given!r}")
    shape = _shape("input", given["input"], task)
    plain = {"stride": None, "padding": 0, "dilation": 1, "ceil_mode": False}
    settings = {name: given.get(name, value) for name, value in plain.items()}
    return pool_spec(shape, given["kernel_size"], **settings).replace(groups=1, batch=shape[0])


def _spec(given: object, task: Task) -> ConvSpec:
    if not isinstance(given, Mapping):
        raise ValueError(f"at is a ConvSpec, a dict such as {EXAMPLE}, or a list of them: got {given!r}")
    if task.pooling:
        return _pooled(given, task)
    fields = dict(given)
    known = (*SHAPES, *FIELDS, *["output_padding"] * task.is_transposed)
    for key in fields:
        if key not in known:
            raise ValueError(f"at has the keys {', '.join(known)}: got {key!r}")
    if task.is_row:
        fields |= _in_a_row(fields, task.is_transposed)
    elif _are_four(fields.get("padding")):
        left, right, top, bottom = fields["padding"]
        fields["padding"] = ((top, bottom), (left, right))
    shapes = {name: _shape(name, fields.pop(name), task) for name in SHAPES if name in fields}
    if task.is_transposed and shapes:
        return _transposed(shapes, fields)
    if "input" in shapes:
        fields["batch"], fields["in_channels"], *size = shapes["input"]
        fields["input_size"] = size
    if "weight" in shapes:
        fields["out_channels"], within, *kernel = shapes["weight"]
        fields["kernel_size"] = kernel
        groups = fields.get("groups", 1)
        channels = fields.setdefault("in_channels", within * groups)
        if channels != within * groups:
            raise ValueError(
                f"at: a weight is [C_out, C_in / groups, kH, kW], so with groups {groups} it takes {within * groups} "
                f"channels: got an input of {channels}"
            )
    if "input_size" not in fields:
        raise ValueError(f"at has an input or an input_size, as in {EXAMPLE}: got {given!r}")
    return ConvSpec(**fields)


def _in_a_row(fields: Mapping[str, Any], transposed: bool) -> dict[str, Any]:
    """Return those settings that a height of 1 changes; a padding is a number, (left, right), or ends with that."""
    sides = fields.get("padding", 0)
    sides = sides if isinstance(sides, Sequence) else (sides, sides)
    pairs = ((0, 0), sides[-1] if isinstance(sides[-1], Sequence) else sides)
    made: dict[str, Any] = {"padding": (0, sides[0]) if transposed else pairs}
    made |= {name: (1, fields[name]) for name in ("input_size", "kernel_size") if name in fields}
    return made | ({"output_padding": (0, fields["output_padding"])} if "output_padding" in fields else {})


def _shape(name: str, value: Any, task: Task) -> tuple[int, ...]:
    axes = 4 - len(task.lacks)
    sizes = tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else ()
    if len(sizes) != axes or any(type(size) is not int or size < 1 for size in sizes):
        raise ValueError(f"at[{name!r}] is a shape of {axes} whole numbers from 1: got {value!r}")
    return sizes if axes == 4 else (*sizes[:2], 1, *(sizes[2:] or (1,)))


def _transposed(shapes: Mapping[str, tuple[int, ...]], fields: dict[str, Any]) -> ConvSpec:
    """Return the convolution whose output is what is put in: a transposed one gives the gradient of its input."""
    if len(shapes) < 2:
        raise ValueError("at: a transposed convolution has an input and a weight, or all sizes: give both shapes")
    (batch, out, *size), (also, within, *kernel) = shapes["input"], shapes["weight"]
    groups, rests = fields.pop("groups", 1), _pair(fields.pop("output_padding", 0))
    if out != also:
        raise ValueError(
            f"at: a transposed convolution's weight is [C_in, C_out / groups, kH, kW]: got {also} for {out}"
        )
    steps: dict[str, Any] = {
        name: _pair(fields.get(name, plain)) for name, plain in (("stride", 1), ("padding", 0), ("dilation", 1))
    }
    rows = [
        (n - 1) * s - 2 * p + d * (k - 1) + 1 + rest
        for n, s, p, d, k, rest in zip(size, *steps.values(), kernel, rests, strict=True)
    ]
    return ConvSpec(rows, within * groups, out, kernel, groups=groups, batch=batch, **steps)


def _pair(value: Any) -> tuple[int, int]:
    rows, columns = value if isinstance(value, Sequence) else (value, value)
    return rows, columns
