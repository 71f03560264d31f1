"""Which part of a layer's numbers the board shows, cut so that its output is a convolution of what is shown.

Every window of output is shown with all the input that it reads. Padding stands only where the layer pads.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from convviz.explanation.layer.record_run import Recorded
from convviz.geometry.spec import ConvSpec, Pair
from convviz.ops.padding import pad_input
from convviz.settings.state import MAX_BOARD_PRODUCTS, MAX_SIZES

KEYS = ("samples", "in_channels", "out_channels", "rows", "columns")
MAX_SHOWN_CELLS = 2**15  # of an input or output: more numbers than this make the page slow
CHOSEN_CELLS = 32  # rows and columns of a window that nobody asked for


@dataclass(frozen=True)
class Window:
    """A part of a layer: rows and columns of output, those of input (with ``border`` padded) that these read."""

    samples: range
    in_channels: range
    out_channels: range
    rows: range
    columns: range
    input_rows: range
    input_columns: range
    spec: ConvSpec
    border: bool

    def is_whole(self, made: Recorded) -> bool:
        batch, out_channels, height, width = made.output.shape
        shown = (self.samples, self.out_channels, self.rows, self.columns, self.in_channels)
        return tuple(map(len, shown)) == (batch, out_channels, height, width, made.input.shape[1])


def choose_window(made: Recorded, asked: Mapping[str, Any] | None = None, near: Sequence[int] | None = None) -> Window:
    """Return the part that was asked for, or as much as the board shows well, with the cell ``near`` of the output.

    Args:
        made: what the layer did.
        asked: any of ``KEYS``; of what it does not name, all that fits is shown.
        near: ``[sample, channel, row, column]`` of the output, which stands in the middle of what does not all fit;
            default: the first.
    """
    if asked is not None and (not isinstance(asked, Mapping) or set(asked) - set(KEYS)):
        raise ValueError(f"window is a dict with any of {', '.join(KEYS)}, each a number or a slice: got {asked!r}")
    batch, channels, *size = made.output.shape
    counts = dict(zip(KEYS, (batch, made.input.shape[1], channels, *size), strict=True))
    spans = {name: _span(name, value, counts[name]) for name, value in (asked or {}).items()}
    sample, channel, *place = near or (0, 0, 0, 0)
    in_channels, out_channels, groups = _channels(made, spans, channel)
    many = batch > MAX_SIZES["batch"] or _too_much(made, len(in_channels), len(out_channels))
    samples = spans.get("samples", range(sample, sample + 1) if many else range(batch))
    cuts = [_axis(made, axis, spans.get(("rows", "columns")[axis]), place[axis]) for axis in (0, 1)]
    whole = all(cut.whole for cut in cuts)
    border = not whole and made.spec.padding_mode != "zeros" and any(map(any, made.spec.padding))
    if border:  # copies of cells far away cannot be cut: the border is shown as input
        cuts = [_axis(made, axis, spans.get(("rows", "columns")[axis]), place[axis], padded=True) for axis in (0, 1)]
    read = (len(cuts[0].input), len(cuts[1].input))
    shown = (len(cuts[0].output), len(cuts[1].output))
    own = (len(in_channels), len(out_channels))
    spec = made.spec.replace(
        input_size=shown if made.transposed else read,
        in_channels=own[made.transposed],
        out_channels=own[not made.transposed],
        padding=(cuts[0].padding, cuts[1].padding),
        padding_mode="zeros" if border else made.spec.padding_mode,
        groups=groups,
        batch=len(samples),
    )
    rows, columns = cuts
    return Window(
        samples, in_channels, out_channels, rows.output, columns.output, rows.input, columns.input, spec, border
    )


def cut(made: Recorded, window: Window) -> dict[str, torch.Tensor | None]:
    image = pad_input(made.input, made.spec) if window.border else made.input
    own = {"input": (window.in_channels, window.input_rows, window.input_columns, image)}
    for name, tensor in (("output", made.output), ("grad_output", made.grad_output)):
        own[name] = (window.out_channels, window.rows, window.columns, tensor)
    parts: dict[str, torch.Tensor | None] = {
        name: tensor[_slice(window.samples), _slice(channels), _slice(rows), _slice(columns)]
        for name, (channels, rows, columns, tensor) in own.items()
    }
    first, second = window.out_channels, window.in_channels
    if made.transposed:
        first, second = second, first
    per_group = made.weight.shape[1]
    within = range(second.start % per_group, second.start % per_group + len(second))
    parts["weight"] = made.weight[_slice(first), _slice(within) if window.spec.groups == 1 else slice(None)]
    parts["bias"] = None if made.bias is None else made.bias[_slice(window.out_channels)]
    return parts


@dataclass(frozen=True)
class _Cut:
    """One axis of a window: rows of the layer's output, of the input that they read, the padding."""

    output: range
    input: range
    padding: Pair
    whole: bool


def _axis(made: Recorded, axis: int, asked: range | None, near: int, padded: bool = False) -> _Cut:
    """Padded, the rows of input are the padded input's."""
    spec = made.spec
    last = made.output.shape[2 + axis]
    read = spec.padded_size[axis] if padded else made.input.shape[2 + axis]
    fits = max(last, read) <= MAX_SIZES["input_size"]
    # An output_padding of the stride or more is not one that the board's geometry can hold: such rows are left out.
    held = not made.transposed or spec.output_size[axis] == read
    if held and fits and asked in (None, range(last)):
        return _Cut(range(last), range(read), (0, 0) if padded else spec.padding[axis], True)
    make = _transposed_cut if made.transposed else _cut
    if asked is not None:
        return _checked(make(made, axis, asked, padded), axis)
    chosen = min(last, CHOSEN_CELLS if not fits else last)
    while chosen > 1:
        span = range(chosen) if fits and near < chosen else _around(near, chosen, last)
        found = make(made, axis, span, padded)
        if found is not None and len(found.input) <= (MAX_SIZES["input_size"] if fits else CHOSEN_CELLS):
            return found
        chosen -= 1
    return _checked(make(made, axis, range(near, near + 1), padded), axis)


def _around(near: int, chosen: int, count: int) -> range:
    """Return so many of ``count``, with ``near`` in their middle where they have room on both sides."""
    start = max(min(near - chosen // 2, count - chosen), 0)
    return range(start, start + chosen)


def _checked(found: _Cut | None, axis: int) -> _Cut:
    word = ("rows", "columns")[axis]
    if found is None:
        raise ValueError(
            f"a window needs {word} of the output that some of the input reaches: these lie in the padding; ask for "
            f"others, such as window={{'{word}': slice(0, {CHOSEN_CELLS})}}"
        )
    most, size = MAX_SIZES["input_size"], max(len(found.input), len(found.output))
    if size > most:
        raise ValueError(
            f"the board shows up to {most} {word}: these {len(found.output)} {word} of the output read "
            f"{len(found.input)} of the input; ask for fewer, such as window={{'{word}': slice(0, 8)}}"
        )
    return found


def _cut(made: Recorded, axis: int, output: range, padded: bool) -> _Cut | None:
    spec = made.spec
    before, after = (0, 0) if padded else spec.padding[axis]
    size = spec.padded_size[axis] if padded else spec.input_size[axis]
    first = output.start * spec.stride[axis] - before
    end = (output.stop - 1) * spec.stride[axis] - before + spec.effective_kernel[axis]
    if output.stop == spec.output_size[axis]:
        end = size + after  # the remainder belongs to the last window
    rows = range(max(first, 0), min(end, size))
    return _Cut(output, rows, (max(-first, 0), max(end - size, 0)), False) if rows else None


def _transposed_cut(made: Recorded, axis: int, output: range, _: bool) -> _Cut | None:
    """Return the rows of input that reach these rows of output; what else they write is cropped."""
    spec = made.spec
    stride, reach, before = spec.stride[axis], spec.effective_kernel[axis], spec.padding[axis][0]
    # In rows counted before the crop, input row r writes to r * stride and the reach from there.
    first, end = output.start + before, output.stop + before
    size = made.input.shape[2 + axis]
    earliest = min(-(-(first - reach + 1) // stride), first // stride)  # the latter where the stride leaves gaps
    rows = range(max(0, earliest), min(size, (end - 1) // stride + 1))
    if not rows:
        return None
    start, stop = rows.start * stride, (rows.stop - 1) * stride + reach
    if end - stop >= stride:  # so much output_padding is none that the board's geometry can hold
        return None
    return _Cut(output, rows, (first - start, max(stop - end, 0)), False)


def _channels(made: Recorded, spans: Mapping[str, range], near: int) -> tuple[range, range, int]:
    """Return channels in, channels out and groups: whole groups, or a part of one, with the output channel ``near``."""
    groups = made.spec.groups
    each = {"in_channels": made.input.shape[1] // groups, "out_channels": made.output.shape[1] // groups}
    asked = {name: spans[name] for name in each if name in spans}
    if asked:
        first = min(span.start // each[name] for name, span in asked.items())
        stop = max((span.stop - 1) // each[name] + 1 for name, span in asked.items())
    else:
        fit = min(max(1, MAX_SIZES["in_channels"] // max(each.values())), groups)
        shown = _around(near // each["out_channels"], fit, groups)
        first, stop = shown.start, shown.stop
    own = {name: range(first * count, stop * count) for name, count in each.items()}
    if stop - first == 1:
        most, (into, out) = MAX_SIZES["in_channels"], own.values()
        part = out[_slice(_around(near - out.start, most, len(out)))]
        return asked.get("in_channels", into[:most]), asked.get("out_channels", part), 1
    if any(span != own[name] for name, span in asked.items()):
        raise ValueError(
            f"with groups={groups} a window takes channels of one group, or whole groups of {each['in_channels']} in "
            f"and {each['out_channels']} out: got "
            + ", ".join(f"{name} {span.start} to {span.stop - 1}" for name, span in asked.items())
        )
    return own["in_channels"], own["out_channels"], stop - first


def _too_much(made: Recorded, into: int, out: int) -> bool:
    batch = made.output.shape[0]
    cells = [min(math.prod(tensor.shape[2:]), MAX_SIZES["input_size"] ** 2) for tensor in (made.input, made.output)]
    products = batch * min(cells) * into * out * math.prod(made.spec.kernel_size)
    return max(batch * into * cells[0], batch * out * cells[1]) > MAX_SHOWN_CELLS or products > MAX_BOARD_PRODUCTS


def _span(name: str, value: Any, count: int) -> range:
    if type(value) is int:
        found = range(count)[value : value + 1 or None] if -count <= value < count else range(0)
    elif isinstance(value, slice) and value.step in (None, 1):
        found = range(count)[value]
    else:
        raise ValueError(f"window[{name!r}] is a number or a slice without a step: got {value!r}")
    if not found:
        raise ValueError(f"window[{name!r}] must hold some of the {count} there are, counted from 0: got {value!r}")
    return found


def _slice(span: range) -> slice:
    return slice(span.start, span.stop)
