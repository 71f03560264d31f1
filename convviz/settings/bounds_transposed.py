"""The sliders of a transposed convolution: its input and output_padding are set, its output's size follows.

The geometry stays that of the convolution that is read the other way, whose input is the layer's output.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from convviz.facts.words import sentences
from convviz.settings.moved import Moved, axis_name, moved
from convviz.spec import ConvSpec, Pair, Sides

say = sentences("rules")

MOST_CELLS = 64  # rows and columns of an output that a slider may make


def layer_pair(spec: ConvSpec, name: str) -> Any:
    """Return a setting as the layer has it, for both axes: its own input_size and its output_padding."""
    own = {"input_size": spec.output_size, "output_padding": spec.remainder}
    return own[name] if name in own else getattr(spec, name)


def layer_spec(spec: ConvSpec, input_size: Sequence[int], output_padding: Sequence[int], **changes: Any) -> ConvSpec:
    """Return the geometry of the layer with these sizes, and with these changes.

    Args:
        spec: what is not changed.
        input_size: (H, W) of the layer's input.
        output_padding: of the layer, each less than the stride.
        changes: other fields of ConvSpec, in their full form.

    Raises:
        ValueError: the output would have no row or column, or the output_padding is too large.
    """
    changed = {name: changes.get(name, getattr(spec, name)) for name in ("stride", "padding", "dilation")}
    for axis in (0, 1):
        if not 0 <= output_padding[axis] < changed["stride"][axis]:
            got = {"value": output_padding[axis], "axis": axis_name(axis), "stride": changed["stride"][axis]}
            raise ValueError(say("refused.output_padding", **got))
    kernel = changes.get("kernel_size", spec.kernel_size)
    size = output_size(input_size, kernel, output_padding, **changed)
    if min(size) < 1:
        raise ValueError(say("refused.output", size=list(size)))
    return spec.replace(input_size=size, **changes)


def output_size(
    input_size: Sequence[int],
    kernel_size: Sequence[int],
    output_padding: Sequence[int],
    stride: Sequence[int],
    padding: Sides,
    dilation: Sequence[int],
) -> Pair:
    """Return (H_out, W_out) of the layer, which may be less than 1: then the padding cuts everything off."""
    rows, columns = (
        (input_size[axis] - 1) * stride[axis]
        - sum(padding[axis])
        + dilation[axis] * (kernel_size[axis] - 1)
        + 1
        + output_padding[axis]
        for axis in (0, 1)
    )
    return rows, columns


def with_layer_value(spec: ConvSpec, name: str, axis: int, value: int, linked: bool) -> ConvSpec:
    """Return the geometry with one slider of the layer moved, on both axes if they are linked.

    A smaller stride takes an output_padding that it no longer allows with it.

    Raises:
        ValueError: the geometry is impossible, or its output too large for the board.
    """
    pairs = {each: list(layer_pair(spec, each)) for each in (name, "input_size", "output_padding", "stride")}
    for changed in (0, 1) if linked else (axis,):
        pairs[name][changed] = (value, value) if name == "padding" else value
    extra = [min(cells, step - 1) for cells, step in zip(pairs["output_padding"], pairs["stride"], strict=True)]
    wanted = pairs["output_padding"] if name == "output_padding" else extra
    own = {} if name in ("input_size", "output_padding") else {name: tuple(pairs[name])}
    made = layer_spec(spec, pairs["input_size"], wanted, **own)
    for side in (0, 1):
        if made.input_size[side] > max(MOST_CELLS, spec.input_size[side]):
            raise ValueError(say("refused.output_size", most=MOST_CELLS, size=list(made.input_size)))
    return made


def mend_layer(spec: ConvSpec, moves: list[Moved], changes: dict[str, Any]) -> ConvSpec:
    """Apply changes to a layer whose groups are right already, and make room for its output.

    Args:
        spec: before.
        moves: takes every setting that was moved.
        changes: fields of ConvSpec, and output_padding.
    """
    sizes = list(spec.output_size)
    extra = list(changes.pop("output_padding", spec.remainder))
    pairs = {name: changes.get(name, getattr(spec, name)) for name in ("kernel_size", "stride", "padding", "dilation")}
    sides = [list(side) for side in pairs["padding"]]
    for axis in (0, 1):
        if extra[axis] >= pairs["stride"][axis]:
            moves.append(moved("moved.output_padding", axis, extra[axis], pairs["stride"][axis] - 1))
            extra[axis] = pairs["stride"][axis] - 1
        before = max(sides[axis])
        while _size(sizes, extra, pairs, sides)[axis] < 1:
            larger = sides[axis].index(max(sides[axis]))
            sides[axis][larger] -= 1
        if max(sides[axis]) != before:
            moves.append(moved("moved.padding", axis, before, max(sides[axis])))
        before = sizes[axis]
        while _size(sizes, extra, pairs, sides)[axis] > max(MOST_CELLS, spec.input_size[axis]) and sizes[axis] > 1:
            sizes[axis] -= 1
        if sizes[axis] != before:
            moves.append(moved("moved.input_size", axis, before, sizes[axis], most=MOST_CELLS))
    changes["padding"] = tuple(tuple(side) for side in sides)
    return layer_spec(spec, sizes, extra, **changes)


def output_padding_moved(before: ConvSpec, after: ConvSpec) -> list[Moved]:
    """Return every output_padding that a smaller stride took with it."""
    if before.stride == after.stride:
        return []
    return [
        moved("moved.output_padding", axis, before.remainder[axis], after.remainder[axis])
        for axis in (0, 1)
        if before.remainder[axis] != after.remainder[axis]
    ]


def _size(sizes: list[int], extra: list[int], pairs: dict[str, Any], sides: list[list[int]]) -> Pair:
    padding = ((sides[0][0], sides[0][1]), (sides[1][0], sides[1][1]))
    return output_size(sizes, pairs["kernel_size"], extra, pairs["stride"], padding, pairs["dilation"])
