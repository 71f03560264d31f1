"""What each action does to the settings: plain functions from settings to settings."""

from __future__ import annotations

import math
from typing import Any

import torch

from convviz.samples.kernels import make_kernel
from convviz.settings.bounds import PER_AXIS, mend, with_value
from convviz.settings.state import MOST_PLANES, PRESETS, Settings, Source, number

DEFAULT_BIAS = (0.5, -0.5, 1.0, -1.0)
EDITED = {"padded_input": "input", "weight": "weight", "grad_output": "grad", "bias": "bias"}


def set_axis(settings: Settings, name: str, axis: int, value: int) -> Settings:
    """Move one per-axis slider.

    Raises:
        ValueError: the geometry would be impossible.
    """
    return settings.replace(spec=with_value(settings.spec, name, axis, value, settings.link_axes))


def set_geometry(settings: Settings, **changes: Any) -> tuple[Settings, list[str]]:
    """Change padding_mode, groups, channels or batch; what has to give way is moved, and said."""
    spec, notices = mend(settings.spec, **changes)
    return settings.replace(spec=spec), notices


def link_axes(settings: Settings, linked: bool) -> tuple[Settings, list[str]]:
    """Link height and width: the width then takes the height's values where it can."""
    if not linked:
        return settings.replace(link_axes=False), []
    heights = {name: getattr(settings.spec, name)[0] for name in PER_AXIS if name != "input_size"}
    spec, notices = mend(settings.spec, **{name: (height, height) for name, height in heights.items()})
    made = settings.replace(spec=spec, link_axes=True)
    return made, [notice for notice in notices if "width" not in notice] + moved_along(settings, made)


def moved_along(before: Settings, after: Settings) -> list[str]:
    """Return a sentence for every setting of the width that moved because it is linked to the height."""
    notices = []
    for name in PER_AXIS:
        height, old = getattr(before.spec, name)
        new = getattr(after.spec, name)[1]
        if old != new and old != height:
            shown = [max(side) if isinstance(side, tuple) and len(set(side)) == 1 else side for side in (old, new)]
            notices.append(f"{name} of the width moved from {shown[0]} to {shown[1]}: it is linked to the height.")
    return notices


def choose_kernel(settings: Settings, name: str) -> Settings:
    """Give the plane that is shown a kernel by name.

    The other planes follow in the list's order, unless some were typed: those keep their numbers.
    """
    if settings.weight.kind == "values" and math.prod(settings.spec.weight_shape[:2]) > 1:
        tensor = settings.weight_tensor()
        kernel = make_kernel(name, settings.spec.kernel_size, seed=settings.seed + 1)
        tensor.flatten(0, 1)[shown_weight_plane(settings)] = kernel
        return settings.replace(weight=Source.of(tensor))
    if name not in PRESETS:
        return settings.replace(weight=Source(name))
    first = (PRESETS.index(name) - shown_weight_plane(settings)) % len(PRESETS)
    return settings.replace(weight=Source(PRESETS[first]))


def kernel_name(settings: Settings) -> str:
    """Return the name of the kernel in the plane that is shown, ``"values"`` if it has none."""
    if settings.weight.kind == "values":
        plane = settings.weight_tensor().flatten(0, 1)[shown_weight_plane(settings)]
        same = (name for name in PRESETS if torch.equal(plane, make_kernel(name, settings.spec.kernel_size)))
        return next(same, "values")
    if settings.weight.kind not in PRESETS:
        return settings.weight.kind
    return PRESETS[(PRESETS.index(settings.weight.kind) + shown_weight_plane(settings)) % len(PRESETS)]


def shown_weight_plane(settings: Settings) -> int:
    """Return the index of the shown kernel, counted over all planes of the weight."""
    in_per_group = settings.spec.weight_shape[1]
    return settings.plane.out_channel * in_per_group + settings.plane.in_channel % in_per_group


def set_bias(settings: Settings, wanted: bool) -> Settings:
    """Switch the bias on, with numbers that differ also when channels are added later, or off."""
    values = tuple(DEFAULT_BIAS[channel % len(DEFAULT_BIAS)] for channel in range(MOST_PLANES["out_channels"]))
    return settings.replace(bias=Source("values", values, (len(values),)) if wanted else None)


def one_hot(settings: Settings, row: int, column: int) -> Settings:
    """Make grad_output 1 at one cell of the plane that is shown, 0 elsewhere."""
    plane = settings.plane
    place = (float(plane.sample), float(plane.out_channel), float(row), float(column))
    return settings.replace(loss="weighted_sum", grad=Source("one_hot", place))


def edit_cell(
    settings: Settings, panel: str, row: int, column: int, value: float, grad_output: torch.Tensor
) -> Settings:
    """Write a number into a cell of a panel.

    Args:
        settings: before.
        panel: padded_input (a cell of the input in it), weight, grad_output or bias.
        row: as shown in the panel.
        column: as shown in the panel.
        value: the new number.
        grad_output: as it is now: typing into it keeps the other cells, and ends its being made by a loss.

    Raises:
        ValueError: the panel follows from others, the cell is not the input's, or the number is not finite.
    """
    if panel not in EDITED:
        raise ValueError(f"{panel} follows from other panels; type into {', '.join(EDITED)} instead")
    value = number("a cell", value)
    n, o, c = settings.plane.sample, settings.plane.out_channel, settings.plane.in_channel
    if panel == "padded_input":
        row, column = row - settings.spec.padding[0][0], column - settings.spec.padding[1][0]
        tensor, index = settings.input_tensor(), (n, c, row, column)
    elif panel == "weight":
        tensor, index = settings.weight_tensor(), (o, c % settings.spec.weight_shape[1], row, column)
    elif panel == "grad_output":
        own = settings.grad_tensor()  # by hand already: its own digits, not those that the dtype left of them
        tensor, index = (grad_output.double().cpu() if own is None else own).clone(), (n, o, row, column)
    else:
        bias = settings.bias_tensor()
        if bias is None:
            raise ValueError("there is no bias to type into; switch it on first")
        tensor, index = bias.reshape(1, 1, 1, -1), (0, 0, row, column)
    if not all(0 <= at < size for at, size in zip(index, tensor.shape, strict=True)):
        raise ValueError("this cell belongs to the border, which follows from the input; type into a cell of the input")
    tensor[index] = value
    source = Source.of(tensor.flatten() if panel == "bias" else tensor)
    changed: dict[str, Any] = {EDITED[panel]: source}
    if panel == "grad_output":
        changed["loss"] = "weighted_sum"
    return settings.replace(**changed)
