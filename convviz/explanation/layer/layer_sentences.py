"""Which of the numbers of a window are the layer's own, in a few sentences."""

from collections.abc import Callable
from typing import Any

import torch

from convviz.explanation.layer.crop_window import Window
from convviz.explanation.layer.record_run import Recorded
from convviz.facts.join_lists import comma, listed
from convviz.facts.words import sentences

say = sentences("layer")


def layer_story(
    made: Recorded,
    window: Window,
    loss: Callable[[Any], torch.Tensor] | None,
    dtype: torch.dtype,
    *,
    opened: bool = False,
) -> str:
    """Return what the app shows of a layer, and how far its numbers are the model's; ``opened``: by a cell of it."""
    parts = [_whose(made, loss is not None)]
    parts += [say("whole")] if window.is_whole(made) else [_place(made, window, opened), *_shares(made, window)]
    if made.runs > 1:
        parts.append(say("runs", count=made.runs, run=made.run))
    if made.quantised:
        parts.append(say("quantised"))
    if window.border:
        parts.append(say("border", mode=repr(made.spec.padding_mode)))
    if made.output.dtype is not dtype:
        own, used = (str(each).removeprefix("torch.") for each in (made.output.dtype, dtype))
        parts.append(say("dtype", own=own, used=used))
    return " ".join(parts)


def own_rows(made: Recorded, window: Window, axis: int) -> range:
    """Return the rows (or columns) of grad_input, as shown, that get all that the layer's own gets."""
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


def _whose(made: Recorded, own_loss: bool) -> str:
    tensors = listed(["input", "weight"] if made.bias is None else ["input", "weight", "bias"])
    if made.sent:
        return say("of.layer.sent", name=repr(made.name), kind=made.kind, tensors=tensors, sent=made.sent)
    if made.name:
        id = "of.layer.loss" if own_loss else "of.layer.sum"
        return say(id, name=repr(made.name), kind=made.kind, tensors=tensors)
    return say("of.module.loss" if own_loss else "of.module.sum", kind=made.kind, tensors=tensors)


def _place(made: Recorded, window: Window, opened: bool) -> str:
    batch, out_channels, height, width = made.output.shape
    spans = (
        ("window.samples", window.samples, batch),
        ("window.in_channels", window.in_channels, made.input.shape[1]),
        ("window.out_channels", window.out_channels, out_channels),
        ("window.rows", window.rows, height),
        ("window.columns", window.columns, width),
    )
    cut = [say(id, all=count, **_ends(span)) for id, span, count in spans if len(span) < count]
    return say("window.opened" if opened else "window", parts=comma(cut))


def _shares(made: Recorded, window: Window) -> list[str]:
    groups = made.spec.groups
    into, out = made.input.shape[1] // groups, made.output.shape[1] // groups
    shown_into, shown_out = (len(each) // window.spec.groups for each in (window.in_channels, window.out_channels))
    parts = []
    if shown_into < into:
        parts.append(say("output.part", shown=shown_into, count=into))
    else:
        parts.append(say("output.own"))
    rows, columns = own_rows(made, window, 0), own_rows(made, window, 1)
    all_rows, all_columns = len(rows) == len(window.input_rows), len(columns) == len(window.input_columns)
    if shown_out < out:
        parts.append(say("grad_input.part", shown=shown_out, count=out))
    elif all_rows and all_columns:
        parts.append(say("grad_input.own"))
    elif rows and columns:
        inside = say("grad_input.rows", **_ends(rows)), say("grad_input.columns", **_ends(columns))
        parts.append(say("grad_input.inside", rows=inside[0], columns=inside[1]))
    else:
        parts.append(say("grad_input.lacks"))
    batch, _, height, width = made.output.shape
    counts = (len(window.samples), len(window.rows), len(window.columns))
    share = counts != (batch, height, width)
    parts.append(say("grad_weight.part" if share else "grad_weight.own"))
    return parts


def _ends(span: range) -> dict[str, int]:
    return {"count": len(span), "first": span.start, "last": span.stop - 1}
