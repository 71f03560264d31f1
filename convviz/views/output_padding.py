"""The remainder of a transposed convolution, its output_padding: which outputs go with the input, and what it adds."""

from __future__ import annotations

from collections.abc import Sequence

from convviz.settings.bounds_transposed import MOST_CELLS
from convviz.spec import AXES, ConvSpec, Pair
from convviz.views.remainder import LINES, MOST_SIZES, Size, Story, or_, same_output


def layers_story(spec: ConvSpec, linked: bool) -> Story | None:
    """Tell the story of output_padding; None for stride 1, where every output has an input of its own.

    Args:
        spec: the geometry of the convolution that is read the other way.
        linked: whether height and width are set together.
    """
    if spec.stride == (1, 1):
        return None
    return Story((f"{_shared(spec)} {_effect(spec)}",), _sizes(spec, linked), "Values of output_padding")


def _shared(spec: ConvSpec) -> str:
    sizes = [same_output(spec, axis) for axis in (0, 1)]
    heights, widths = map(or_, sizes)
    which = f"size {heights}" if heights == widths else f"height {heights} and width {widths}"
    (rows, columns), (height, width) = spec.output_size, spec.input_size
    chosen = f"output_padding={_told(spec.remainder)} chooses {height} × {width}."
    if all(len(each) == 1 for each in sizes):
        only = f"conv2d makes {rows} × {columns} of an output of {which} alone, so the input tells which one to make."
        return f"{only} {chosen}"
    return (
        f"conv2d makes {rows} × {columns} of every output of {which}, so the input alone does not tell which of them "
        f"to make. {chosen}"
    )


def _effect(spec: ConvSpec) -> str:
    """Say which lines are there because of output_padding: the padding would cut some off, others are new."""
    kept, added = zip(*(_gained(spec, axis) for axis in (0, 1)), strict=True)
    parts = []
    if any(kept):
        parts.append(f"keeps {_lines(kept)} that the padding would cut off")
    if any(added):
        parts.append(f"adds {_lines(added)} behind the last stamp, which no input cell reaches")
    if not parts:
        return "It adds nothing: this is the smallest of them."
    return f"It {' and '.join(parts)}."


def _gained(spec: ConvSpec, axis: int) -> Pair:
    """Return how many lines of the output would be cut off without output_padding, and how many would not be made."""
    (before, after), end = spec.padding[axis], spec.padding[axis][0] + spec.input_size[axis]
    stamped = spec.padded_size[axis] - spec.remainder[axis]  # lines before anything is cut off or added
    return max(min(stamped, end) - max(before, stamped - after), 0), max(end - max(before, stamped), 0)


def _lines(counts: Sequence[int]) -> str:
    words = [f"{count} {LINES[axis]}{'s' * (count > 1)}" for axis, count in enumerate(counts) if count]
    return " and ".join(words)


def _told(pair: Pair) -> str:
    return str(pair[0]) if pair[0] == pair[1] else f"({pair[0]}, {pair[1]})"


def _sizes(spec: ConvSpec, linked: bool) -> tuple[Size, ...]:
    found = []
    for axes in ((0, 1),) if linked else ((0,), (1,)):
        for cells in _offers(spec, axes):
            wanted = tuple(cells if axis in axes else spec.remainder[axis] for axis in (0, 1))
            height, width = (
                size - old + new for size, old, new in zip(spec.input_size, spec.remainder, wanted, strict=True)
            )
            if max(height, width) > MOST_CELLS or min(height, width) < 1:
                continue
            label = f"output_padding {cells}" if linked else f"{AXES[axes[0]]}: output_padding {cells}"
            found.append(Size(label, f"output {height} × {width}", (height, width), wanted == spec.remainder))
    return tuple(found)


def _offers(spec: ConvSpec, axes: Sequence[int]) -> list[int]:
    """Return some values of output_padding below the strides of these axes."""
    most, now = min(spec.stride[axis] for axis in axes), spec.remainder[axes[0]]
    values = list(range(most)) if most > 1 else []
    return [value for value in values if value in (0, now - 1, now, now + 1, most - 1)] if most > MOST_SIZES else values
