"""What each action does to the settings: plain functions from settings to settings."""

from __future__ import annotations

import math
from typing import Any

import torch

from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.ops.by_rotate import backward_padding
from convviz.ops.losses import GIVEN, kinds_taken, losses_with
from convviz.samples.kernels import make_kernel
from convviz.settings.bounds import mend, per_axis, with_value
from convviz.settings.bounds_transposed import layer_pair, output_padding_moved
from convviz.settings.moved import moved, said
from convviz.settings.names import shown_name
from convviz.settings.state import MOST_NUMBER, MOST_PLANES, PRESETS, Settings, Source, is_number

say = sentences("rules")

DEFAULT_BIAS = (0.5, -0.5, 1.0, -1.0)


def set_axis(settings: Settings, name: str, axis: int, value: int) -> Settings:
    """Move one per-axis slider.

    Raises:
        ValueError: the geometry would be impossible.
    """
    spec = with_value(settings.spec, name, axis, value, settings.link_axes, settings.transposed)
    return settings.replace(spec=spec)


def set_geometry(settings: Settings, **changes: Any) -> tuple[Settings, list[str]]:
    """Change padding_mode, groups, channels or batch; what has to give way is moved, and said."""
    spec, moves = mend(settings.spec, settings.transposed, **changes)
    return settings.replace(spec=spec), said(moves)


def set_transposed(settings: Settings, wanted: bool) -> tuple[Settings, list[str]]:
    """Read the same geometry as a transposed convolution, or as a convolution again."""
    spec, notices = settings.spec, []
    if wanted and spec.padding_mode != "zeros":
        notices = [say("moved.padding_mode", old=spec.padding_mode)]
        spec = spec.replace(padding_mode="zeros")
    return settings.replace(spec=spec, transposed=wanted), notices


def set_size(settings: Settings, height: int, width: int) -> tuple[Settings, list[str]]:
    """Give the convolution's input another size; what no longer fits is moved, and said. Linked axes move together.

    Of a transposed convolution that is the output: it keeps its input, and output_padding makes the size.

    Raises:
        ValueError: a size below 1, or too large for the board.
    """
    if settings.transposed:
        smallest = [size - left for size, left in zip(settings.spec.input_size, settings.spec.remainder, strict=True)]
        return set_geometry(settings, output_padding=(height - smallest[0], width - smallest[1]))
    if settings.link_axes:
        moved = width if height == settings.spec.input_size[0] else height
        height = width = moved
    if min(height, width) < 1:
        raise ValueError(say("refused.size", height=height, width=width))
    return set_geometry(settings, input_size=(height, width))


def link_axes(settings: Settings, linked: bool) -> tuple[Settings, list[str]]:
    """Link height and width: the width then takes the height's values where it can."""
    if not linked:
        return settings.replace(link_axes=False), []
    heights = {name: pair[0] for name, pair in _pairs(settings).items() if name != "input_size"}
    changes = {name: (height, height) for name, height in heights.items()}
    spec, moves = mend(settings.spec, settings.transposed, **changes)
    made = settings.replace(spec=spec, link_axes=True)
    # What moved along the width is said once: that it is linked.
    return made, said(each for each in moves if each.axis != 1) + moved_along(settings, made)


def moved_along(before: Settings, after: Settings) -> list[str]:
    """Return a sentence for every setting that moved because it is linked to the one that was set."""
    moves = output_padding_moved(before.spec, after.spec) if after.transposed else []
    told = bool(moves)
    if not after.link_axes:
        return said(moves)
    for name, (height, old) in _pairs(before).items():
        new = _pairs(after)[name][1]
        if name == "output_padding" and told:
            continue
        if old != new and old != height:
            shown = [max(side) if isinstance(side, tuple) and len(set(side)) == 1 else side for side in (old, new)]
            moves.append(moved("moved.linked", 1, *shown, name=name))
    return said(moves)


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


def one_hot_panels(settings: Settings) -> tuple[str, ...]:
    """Return the panels in which a click moves the 1 of a one-hot target or grad_output."""
    if _one_hot_field(settings) is None:
        return ()
    return ("grad_input", "input") if settings.transposed else ("output", "grad_output")


def _one_hot_field(settings: Settings) -> str | None:
    """Return which of target and grad the loss is given as a one-hot, if it is."""
    given = (name for name in GIVEN if kinds_taken(settings.loss, name))
    return next((name for name in given if getattr(settings, name).kind == "one_hot"), None)


def one_hot(settings: Settings, row: int, column: int) -> Settings:
    """Move the 1 of the loss's one-hot to one cell of the plane that is shown; without one, grad_output becomes it.

    Raises:
        ValueError: it has no such cell.
    """
    plane, (height, width) = settings.plane, settings.output_shape[2:]
    field = _one_hot_field(settings)
    name = "target" if field == "target" else "grad_output"
    if row >= height or column >= width:
        raise ValueError(say("refused.one_hot", name=name, height=height, width=width, row=row, column=column))
    channel = plane.in_channel if settings.transposed else plane.out_channel
    place = (float(plane.sample), float(channel), float(row), float(column))
    moved_to = Source("one_hot", place)
    if field is None:
        return settings.replace(loss=losses_with("grad")[0], grad=moved_to)
    return settings.replace(**{field: moved_to})


def edited(transposed: bool) -> dict[str, str]:
    """Return the panels that can be typed into, with the setting that each edits."""
    return dict(facts("settings")["edited"]["transposed" if transposed else "convolution"])


def edit_cell(
    settings: Settings, panel: str, row: int, column: int, value: float, grad_output: torch.Tensor
) -> Settings:
    """Write a number into a cell of a panel.

    Args:
        settings: before.
        panel: one of ``edited``.
        row: as shown in the panel.
        column: as shown in the panel.
        value: the new number.
        grad_output: as it is now: typing into it keeps the other cells, and ends its being made by a loss.

    Raises:
        ValueError: the panel follows from others, the cell is not the input's, or the number is not finite.
    """
    fields = edited(settings.transposed)
    if panel not in fields:
        names = dict.fromkeys(shown_name(name, settings.transposed) for name in fields)
        name = shown_name(panel, settings.transposed)
        raise ValueError(say("refused.follows", name=name, panels=", ".join(names)))
    if not is_number(value):
        raise ValueError(say("refused.number", most=f"{MOST_NUMBER:g}", value=f"{value!r:.80}"))
    field = fields[panel]
    tensor = _edited_tensor(settings, field, grad_output)
    index = _place(settings, panel, row, column)
    if not all(0 <= at < size for at, size in zip(index, tensor.shape, strict=True)):
        raise ValueError(say("refused.zero" if panel == "padded_grad_output" else "refused.border"))
    tensor[index] = float(value)
    changed: dict[str, Any] = {field: Source.of(tensor.flatten() if field == "bias" else tensor)}
    if field == "grad":
        changed["loss"] = losses_with("grad")[0]
    return settings.replace(**changed)


def _edited_tensor(settings: Settings, field: str, grad_output: torch.Tensor) -> torch.Tensor:
    """Return a copy of the numbers that an edit goes into, over four axes."""
    if field == "input":
        return settings.input_tensor()
    if field == "weight":
        return settings.weight_tensor()
    if field == "grad":
        own = settings.grad_tensor()  # by hand already: its own digits, not those that the dtype left of them
        return (grad_output.double().cpu() if own is None else own).clone()
    bias = settings.bias_tensor()
    if bias is None:
        raise ValueError(say("refused.bias"))
    return bias.reshape(1, 1, 1, -1)


def _place(settings: Settings, panel: str, row: int, column: int) -> tuple[int, int, int, int]:
    """Return the index of a panel's cell in the tensor that it edits; outside of it for a cell that is not data."""
    spec = settings.spec
    n, o, c = settings.plane.sample, settings.plane.out_channel, settings.plane.in_channel
    if panel == "padded_input":
        return n, c, row - spec.padding[0][0], column - spec.padding[1][0]
    if panel == "padded_grad_output":
        starts = [before for before, _ in backward_padding(spec)]
        places = [divmod(at - start, step) for at, start, step in zip((row, column), starts, spec.stride, strict=True)]
        inside = [at if rest == 0 else -1 for at, rest in places]  # -1 stands for a zero of the stride
        return n, o, inside[0], inside[1]
    if panel == "weight":
        return o, c % spec.weight_shape[1], row, column
    if panel == "bias":
        return 0, 0, row, column
    return n, c if panel == "input" else o, row, column


def _pairs(settings: Settings) -> dict[str, Any]:
    """Return every setting that each axis has of its own, as (height, width)."""
    names = per_axis(settings.transposed)
    return {
        name: layer_pair(settings.spec, name) if settings.transposed else getattr(settings.spec, name) for name in names
    }
