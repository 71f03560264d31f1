"""What the templates of the rotated kernel are filled in with: zeros between and around, the swap of channels."""

from convviz.explanation.border import has_border, own_padding
from convviz.explanation.snippet_setting import Setting, options, rows_and_columns, section
from convviz.features.code.read_template import Value
from convviz.geometry.spec import ConvSpec, Pair, Sides
from convviz.ops.by_rotate import backward_padding

HIDDEN = "those windows lay wholly in the padding"
HIDDEN_TRANSPOSED = "what comes of these cells is cut off whole"


def values(setting: Setting) -> dict[str, Value]:
    return {**_between(setting.spec), **_around(setting), **_exchange(setting)}


def _between(spec: ConvSpec) -> dict[str, Value]:
    factors = [step if cells > 1 else 1 for step, cells in zip(spec.stride, spec.output_size, strict=True)]
    return {
        "dilated": factors != [1, 1],
        "dilated_size": _dilated_size(spec),
        "dilated_places": ", ".join(f"::{step}" if step > 1 else ":" for step in factors),
    }


def _dilated_size(spec: ConvSpec) -> Pair:
    rows, columns = (step * (cells - 1) + 1 for step, cells in zip(spec.stride, spec.output_size, strict=True))
    return rows, columns


def _around(setting: Setting) -> dict[str, Value]:
    """Pad and crop so that the rotated kernel produces exactly the input's size."""
    spec = setting.spec
    sides, size = backward_padding(spec), _dilated_size(spec)
    crops, zeros = _positive(sides, -1), _positive(sides, 1)
    # F.pad crops before it pads: too early where less is there than it would take away.
    late = any(cells <= sum(crop) for cells, crop in zip(size, crops, strict=True))
    padded = (size[0] + sum(zeros[0]), size[1] + sum(zeros[1]))
    (top, bottom), (left, right) = zeros if late else sides
    grown = (0, 0) if late else spec.remainder
    ends = [f"{end - more} + {more}" if more else f"{end}" for end, more in zip((bottom, right), grown, strict=True)]
    reach = "kernel size - 1" if spec.dilation == (1, 1) else "dilation * (kernel size - 1)"
    less = " - padding" if spec.padding_mode == "zeros" and has_border(spec) else ""
    return {
        "padded": any(map(any, sides)),
        "around": f"{left}, {ends[1]}, {top}, {ends[0]}",
        "cropped_early": not late and any(map(any, crops)),
        "cropped_late": late,
        "crop": section(crops, padded),
        "hidden": HIDDEN_TRANSPOSED if setting.transposed else HIDDEN,
        "reach": reach + less,
    }


def _positive(sides: Sides, sign: int) -> Sides:
    (top, bottom), (left, right) = sides
    return (max(sign * top, 0), max(sign * bottom, 0)), (max(sign * left, 0), max(sign * right, 0))


def _exchange(setting: Setting) -> dict[str, Value]:
    """Rotate the kernels; for grad_weight, stride and dilation change places, samples and channels too."""
    spec = setting.spec
    # The window goes on over the remainder, as often as its step, the dilation, fits.
    rows, columns = (left // step for left, step in zip(spec.remainder, spec.dilation, strict=True))
    met = (spec.kernel_size[0] + rows, spec.kernel_size[1] + columns)
    return {
        "flip": ".flip(-2, -1)" if spec.kernel_size != (1, 1) else "",
        "options_to_input": ", ".join(options(dilation=spec.dilation, groups=spec.groups)),
        "options_to_weight": ", ".join(options(spec.dilation, own_padding(spec), spec.stride, spec.groups)),
        "groups_batch": spec.groups * spec.batch,
        "swap": ".transpose(0, 1)" if max(setting.in_per_group, spec.out_channels) > 1 else "",
        "kernel_cells": section(((0, rows), (0, columns)), met),
        "too_many": rows_and_columns((rows, columns)),
    }
