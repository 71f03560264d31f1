"""The remainder of a transposed convolution, its output_padding: which outputs go with the input, and what it adds."""

from __future__ import annotations

from collections.abc import Sequence

from convviz.settings.bounds_transposed import MOST_CELLS
from convviz.spec import ConvSpec, Pair
from convviz.views.remainder import MOST_SIZES, Size, Story, same_output
from convviz.views.say import lines, or_, pair, say


def layers_story(spec: ConvSpec, linked: bool) -> Story | None:
    """Tell the story of output_padding; None for stride 1, where every output has an input of its own.

    Args:
        spec: the geometry of the convolution that is read the other way.
        linked: whether height and width are set together.
    """
    if spec.stride == (1, 1):
        return None
    return Story((f"{_shared(spec)} {_effect(spec)}",), _sizes(spec, linked), say("layers.near_named"))


def _shared(spec: ConvSpec) -> str:
    sizes = [same_output(spec, axis) for axis in (0, 1)]
    heights, widths = map(or_, sizes)
    (rows, columns), (height, width) = spec.output_size, spec.input_size
    told = "layers.only" if all(len(each) == 1 for each in sizes) else "layers.several"
    if heights == widths:
        made = say(told, height=rows, width=columns, sizes=heights)
    else:
        made = say(f"{told}_axes", height=rows, width=columns, heights=heights, widths=widths)
    return f"{made} {say('layers.chosen', value=pair(spec.remainder), height=height, width=width)}"


def _effect(spec: ConvSpec) -> str:
    """Say which lines are there because of output_padding: the padding would cut some off, others are new."""
    kept, added = zip(*(_gained(spec, axis) for axis in (0, 1)), strict=True)
    if any(kept) and any(added):
        return say("layers.keeps_and_adds", kept=lines(kept), added=lines(added))
    if any(kept):
        return say("layers.keeps", kept=lines(kept))
    return say("layers.adds", added=lines(added)) if any(added) else say("layers.nothing")


def _gained(spec: ConvSpec, axis: int) -> Pair:
    """Return how many lines of the output would be cut off without output_padding, and how many would not be made."""
    (before, after), end = spec.padding[axis], spec.padding[axis][0] + spec.input_size[axis]
    stamped = spec.padded_size[axis] - spec.remainder[axis]  # lines before anything is cut off or added
    return max(min(stamped, end) - max(before, stamped - after), 0), max(end - max(before, stamped), 0)


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
            label = "layers.near" if linked else ("layers.near_height", "layers.near_width")[axes[0]]
            note = say("layers.near_output", height=height, width=width)
            found.append(Size(say(label, cells=cells), note, (height, width), wanted == spec.remainder))
    return tuple(found)


def _offers(spec: ConvSpec, axes: Sequence[int]) -> list[int]:
    """Return some values of output_padding below the strides of these axes."""
    most, now = min(spec.stride[axis] for axis in axes), spec.remainder[axes[0]]
    values = list(range(most)) if most > 1 else []
    return [value for value in values if value in (0, now - 1, now, now + 1, most - 1)] if most > MOST_SIZES else values
