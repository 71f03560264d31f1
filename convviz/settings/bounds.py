"""How far each slider may go without breaking a rule of conv2d, and how to mend a geometry that does."""

from __future__ import annotations

import math
from typing import Any

from convviz.facts import facts
from convviz.settings.bounds_transposed import layer_pair, mend_layer, with_layer_value
from convviz.settings.moved import Moved, moved
from convviz.spec import ConvSpec

# What the app offers. A geometry from outside may lie beyond; its own value is then allowed as well.
FACTS = facts("settings")
LIMITS: dict[str, list[int]] = FACTS["limits"]["controls"]
PER_AXIS_TRANSPOSED = tuple(FACTS["per_axis"])
PER_AXIS = tuple(name for name in PER_AXIS_TRANSPOSED if name not in FACTS["per_axis_of_the_transposed_alone"])


def per_axis(transposed: bool) -> tuple[str, ...]:
    """Return the settings that each axis has of its own."""
    return PER_AXIS_TRANSPOSED if transposed else PER_AXIS


def value_of(spec: ConvSpec, name: str, axis: int, transposed: bool = False) -> int:
    """Return a per-axis setting as the one number of its slider; of an asymmetric padding the larger side."""
    value = (layer_pair(spec, name) if transposed else getattr(spec, name))[axis]
    return max(value) if name == "padding" else int(value)


def with_value(spec: ConvSpec, name: str, axis: int, value: int, linked: bool, transposed: bool = False) -> ConvSpec:
    """Return the geometry with one slider moved, on both axes if they are linked.

    Raises:
        ValueError: the geometry is impossible.
    """
    if transposed:
        return with_layer_value(spec, name, axis, value, linked)
    values = [value_of(spec, name, 0), value_of(spec, name, 1)] if name != "padding" else list(spec.padding)
    new: Any = (value, value) if name == "padding" else value
    for changed in (0, 1) if linked else (axis,):
        values[changed] = new
    return spec.replace(**{name: tuple(values)})


def bounds(spec: ConvSpec, linked: bool, transposed: bool = False) -> dict[tuple[str, int], tuple[int, int]]:
    """Return the smallest and largest value of every per-axis slider, all others held.

    The range is walked outwards from the current value, so every value between the bounds is possible.
    """
    names = per_axis(transposed)
    return {(name, axis): _range(spec, name, axis, linked, transposed) for name in names for axis in (0, 1)}


def group_choices(spec: ConvSpec) -> tuple[int, ...]:
    """Return the numbers of groups that divide both channel numbers."""
    channels = math.gcd(spec.in_channels, spec.out_channels)
    return tuple(groups for groups in range(1, channels + 1) if channels % groups == 0)


def mend(spec: ConvSpec, transposed: bool = False, **changes: Any) -> tuple[ConvSpec, list[Moved]]:
    """Apply changes that no slider can guard, moving other settings where a rule demands it.

    Args:
        spec: before.
        transposed: whether it is read as a transposed convolution, whose input then keeps its size.
        changes: fields of ConvSpec; of a transposed convolution also output_padding.

    Returns:
        The geometry, and every setting that was moved.
    """
    moves: list[Moved] = []
    in_channels, out_channels = (changes.get(n, getattr(spec, n)) for n in ("in_channels", "out_channels"))
    groups = changes.get("groups", spec.groups)
    possible = max(g for g in range(1, groups + 1) if in_channels % g == 0 and out_channels % g == 0)
    if possible != groups:
        moves.append(moved("moved.groups", None, groups, possible, into=in_channels, out=out_channels))
    changes["groups"] = possible
    if transposed:
        return mend_layer(spec, moves, changes), moves
    mode = changes.get("padding_mode", spec.padding_mode)
    sides = [list(side) for side in changes.pop("padding", spec.padding)]
    for axis, size in enumerate(changes.get("input_size", spec.input_size)):
        most = {"reflect": size - 1, "circular": size}.get(mode, max(sides[axis]))
        if max(sides[axis]) > most:
            moves.append(moved("moved.copies", axis, max(sides[axis]), most, mode=mode, size=size))
            sides[axis] = [min(side, most) for side in sides[axis]]
    changes["padding"] = tuple(tuple(side) for side in sides)
    return _shrink_kernel(spec, changes, moves)


def _shrink_kernel(spec: ConvSpec, changes: dict[str, Any], moves: list[Moved]) -> tuple[ConvSpec, list[Moved]]:
    """Make the kernel fit: first a smaller dilation, then fewer kernel cells."""
    kernel, dilation = (list(changes.get(name, getattr(spec, name))) for name in ("kernel_size", "dilation"))
    sizes = changes.get("input_size", spec.input_size)
    for axis in (0, 1):
        room = sizes[axis] + sum(changes["padding"][axis])
        before = (dilation[axis], kernel[axis])
        while dilation[axis] * (kernel[axis] - 1) + 1 > room:
            if dilation[axis] > 1:
                dilation[axis] -= 1
            else:
                kernel[axis] -= 1
        for name, old, new in zip(("dilation", "kernel_size"), before, (dilation[axis], kernel[axis]), strict=True):
            if old != new:
                moves.append(moved("moved.kernel", axis, old, new, name=name, room=room))
    changes |= {"kernel_size": tuple(kernel), "dilation": tuple(dilation)}
    return spec.replace(**changes), moves


def _range(spec: ConvSpec, name: str, axis: int, linked: bool, transposed: bool) -> tuple[int, int]:
    low, high = LIMITS[name]
    current = value_of(spec, name, axis, transposed)
    bottom = top = current
    while bottom > low and _possible(spec, name, axis, bottom - 1, linked, transposed):
        bottom -= 1
    while top < high and _possible(spec, name, axis, top + 1, linked, transposed):
        top += 1
    return bottom, top


def _possible(spec: ConvSpec, name: str, axis: int, value: int, linked: bool, transposed: bool) -> bool:
    try:
        with_value(spec, name, axis, value, linked, transposed)
    except ValueError:
        return False
    return True
