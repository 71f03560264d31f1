"""Which of the numbers of a window are the layer's own, told in a few sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from convviz.explanation.layer.record import Recorded
from convviz.explanation.layer.window import Window


def layer_story(made: Recorded, window: Window, loss: Callable[[Any], torch.Tensor] | None, dtype: torch.dtype) -> str:
    """Return what the app shows of a layer, and how far its numbers are those of the model.

    Args:
        made: what the layer did.
        window: what is shown of it.
        loss: the caller's, or None for the sum of the output.
        dtype: that the app computes with.
    """
    layer = f"layer {made.name!r} ({made.kind})" if made.name else f"your {made.kind}"
    given = "input and weight" if made.bias is None else "input, weight and bias"
    whose = "your loss" if loss is not None else "the sum of the model's output"
    parts = [f"These are the numbers of {layer}: its {given}, and as grad_output the gradient of {whose}."]
    parts += ["All of it is shown."] if window.is_whole(made) else [_place(made, window), *_shares(made, window)]
    if made.runs > 1:
        parts.append(
            f"It runs {made.runs} times in the model: this is run {made.run}, counted from 0, and the gradients are "
            "this run's share."
        )
    if made.quantised:
        parts.append("weight is the quantised weight; grad_weight is its gradient, before the straight-through step.")
    if window.border:
        parts.append(
            f"input holds the border that padding_mode={made.spec.padding_mode!r} copies, and grad_input does not "
            "fold it back."
        )
    if made.output.dtype is not dtype:
        own, used = (str(each).removeprefix("torch.") for each in (made.output.dtype, dtype))
        parts.append(f"The layer computes in {own}, which the board shows in {used}.")
    return " ".join(parts)


def own_rows(made: Recorded, window: Window, axis: int) -> range:
    """Return the rows (or columns) of grad_input, counted as shown, that get all that the layer's own gets."""
    shown, read = ((window.rows, window.input_rows), (window.columns, window.input_columns))[axis]
    spec, last = made.spec, made.output.shape[2 + axis]
    stride, reach = spec.stride[axis], spec.effective_kernel[axis]
    before = 0 if window.border else spec.padding[axis][0]
    own = []
    for index, row in enumerate(read):
        if made.transposed:  # the rows of output that it writes to
            first, end = row * stride - before, row * stride - before + reach
        else:  # the rows of output that read it
            first, end = -(-(row + before - reach + 1) // stride), (row + before) // stride + 1
        first, end = max(first, 0), min(end, last)
        if first >= end or (first >= shown.start and end <= shown.stop):
            own.append(index)
    return range(own[0], own[-1] + 1) if own else range(0)


def _place(made: Recorded, window: Window) -> str:
    batch, out_channels, height, width = made.output.shape
    spans = (
        ("sample", window.samples, batch),
        ("input channel", window.in_channels, made.input.shape[1]),
        ("output channel", window.out_channels, out_channels),
        ("output row", window.rows, height),
        ("output column", window.columns, width),
    )
    cut = [f"{_span(word, span)} of {count}" for word, span, count in spans if len(span) < count]
    return f"A window of it is shown: {', '.join(cut)}; choose another with window=."


def _shares(made: Recorded, window: Window) -> list[str]:
    """One sentence a tensor: whether it is the layer's own, or a part of the sum."""
    groups = made.spec.groups
    into, out = made.input.shape[1] // groups, made.output.shape[1] // groups
    shown_into, shown_out = (len(each) // window.spec.groups for each in (window.in_channels, window.out_channels))
    parts = []
    if shown_into < into:
        parts.append(f"output adds up {shown_into} of {into} input channels, so it is not the layer's own.")
    else:
        parts.append("output is the layer's own.")
    rows, columns = own_rows(made, window, 0), own_rows(made, window, 1)
    all_rows, all_columns = len(rows) == len(window.input_rows), len(columns) == len(window.input_columns)
    if shown_out < out:
        parts.append(f"grad_input adds up {shown_out} of {out} output channels, so it is not the layer's own.")
    elif all_rows and all_columns:
        parts.append("grad_input is the layer's own.")
    elif rows and columns:
        parts.append(
            f"grad_input is the layer's own in {_span('row', rows)} and {_span('column', columns)}; nearer to the edge "
            "it lacks what lies outside."
        )
    else:
        parts.append("grad_input lacks what lies outside.")
    batch, _, height, width = made.output.shape
    counts = (len(window.samples), len(window.rows), len(window.columns))
    share = counts != (batch, height, width)
    parts.append("grad_weight is this window's share." if share else "grad_weight is the layer's own.")
    return parts


def _span(word: str, span: range) -> str:
    return f"{word} {span.start}" if len(span) == 1 else f"{word}s {span.start} to {span.stop - 1}"
