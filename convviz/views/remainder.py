"""The remainder, told for one geometry: what no window reaches, which inputs share the output, what leads back."""

from __future__ import annotations

from dataclasses import dataclass

from convviz.settings.state import MOST
from convviz.spec import ConvSpec, Pair
from convviz.views.say import LINES, lines, or_, pair, say
from convviz.views.theme import MINUS

MOST_SIZES = 6  # buttons an axis


@dataclass(frozen=True)
class Size:
    """An input size that one click sets.

    Attributes:
        label: what changes, such as ``"height 7"``.
        note: what it is good for: its remainder, and its output where that differs.
        size: (H, W) of the input.
        current: whether it is the present one.
    """

    label: str
    note: str
    size: Pair
    current: bool


@dataclass(frozen=True)
class Story:
    """What there is to say about the remainder.

    Attributes:
        paragraphs: what is left over and what that costs; which inputs share the output and what leads back.
        sizes: the inputs that share the output, and the nearest ones without a remainder.
        named: what the sizes are, in words.
    """

    paragraphs: tuple[str, ...]
    sizes: tuple[Size, ...]
    named: str


def story(spec: ConvSpec, linked: bool) -> Story | None:
    """Tell the story of the remainder; None for stride 1, where every input has an output of its own.

    Args:
        spec: the geometry.
        linked: whether height and width are set together.
    """
    if spec.stride == (1, 1):
        return None
    left_over = [_count(spec), _where(spec), *_losses(spec)]
    if any(rest and after for rest, (_, after) in zip(spec.remainder, spec.padding, strict=True)):
        left_over.append(say(f"remainder.first_{_border(spec)}"))
    paragraphs = (" ".join(left_over), f"{_shared(spec)} {_way_back(spec)}")
    return Story(paragraphs, _sizes(spec, linked), say("near.named"))


def inner_gaps(spec: ConvSpec) -> tuple[Pair, Pair]:
    """Return how many rows and columns of the input lie unread between windows, and how many inside them.

    Those behind the last window, which are the remainder, count as neither.
    """
    places = [_places(spec, axis) for axis in (0, 1)]
    (top, left), (holes_down, holes_across) = zip(*places, strict=True)
    return (top, left), (holes_down, holes_across)


def _places(spec: ConvSpec, axis: int) -> Pair:
    end = spec.padded_size[axis] - spec.remainder[axis]
    unread = [i + spec.padding[axis][0] for i in (spec.unread_rows, spec.unread_columns)[axis]]
    before_end = [at for at in unread if at < end]
    # The last window that starts at or before a line is the one that reaches furthest: it covers it, or none does.
    starts = [min(at // spec.stride[axis], spec.output_size[axis] - 1) * spec.stride[axis] for at in before_end]
    inside = sum(at < start + spec.effective_kernel[axis] for at, start in zip(before_end, starts, strict=True))
    return (len(before_end) - inside, inside)


def same_output(spec: ConvSpec, axis: int) -> list[int]:
    """Return the input sizes along one axis whose output is as large as this one's, smallest first."""
    smallest = spec.input_size[axis] - spec.remainder[axis]
    return [size for size in range(smallest, smallest + spec.stride[axis]) if _with_size(spec, axis, size)]


def _with_size(spec: ConvSpec, axis: int, size: int) -> ConvSpec | None:
    both = (size, spec.input_size[1]) if axis == 0 else (spec.input_size[0], size)
    try:
        return spec.replace(input_size=both)
    except ValueError:  # below 1, or smaller than what the padding mode copies
        return None


def _symmetric(spec: ConvSpec) -> bool:
    return all(before == after for before, after in spec.padding)


def _count(spec: ConvSpec) -> str:
    height, width = (
        f"({spec.input_size[axis]} + {sum(spec.padding[axis])} {MINUS} {spec.effective_kernel[axis] - 1} {MINUS} 1) "
        f"mod {spec.stride[axis]} = {spec.remainder[axis]}"
        for axis in (0, 1)
    )
    told = "remainder.count" if _symmetric(spec) else "remainder.count_sides"
    return say(told, sum=height) if height == width else say(f"{told}_axes", height=height, width=width)


def _where(spec: ConvSpec) -> str:
    if not any(spec.remainder):
        return say("remainder.nothing")
    return say("remainder.lines", lines=lines(spec.remainder, ".last"))


def _losses(spec: ConvSpec) -> list[str]:
    axes = [axis for axis in (0, 1) if spec.remainder[axis]]
    spared = [axis for axis in axes if spec.remainder[axis] <= spec.padding[axis][1]]
    if len(spared) < 2:
        return [_lost(spec, axis) for axis in axes]
    return [say(f"spared.both_{_border(spec)}")]


def _border(spec: ConvSpec) -> str:
    return "padding" if spec.padding_mode == "zeros" else "copies"


def _lost(spec: ConvSpec, axis: int) -> str:
    """Say for one axis whether the remainder lies in the padding or takes lines of the input."""
    rest, after, where = spec.remainder[axis], spec.padding[axis][1], f"{LINES[axis]}_{_border(spec)}"
    if rest <= after:
        return say(f"spared.{where}", count=rest)
    whole = rest - after >= spec.input_size[axis]
    lost = min(rest - after, spec.input_size[axis])  # what is more takes the padding before the input as well
    of_input = say(f"{LINES[axis]}.{'all' if whole else 'last'}", count=lost)
    if after:
        taken = {"count": rest - after, "after": after, "rest": rest, "lines": of_input}
        told = say(f"{'lost_whole' if whole else 'lost'}.{where}", **taken)
    else:
        told = say("lost.no_padding", count=lost, lines=of_input)
    unread = (spec.unread_rows, spec.unread_columns)[axis]
    through_copies = sum(i not in unread for i in range(spec.input_size[axis] - lost, spec.input_size[axis]))
    if not through_copies:
        return say("lost.unread", lost=told)
    if through_copies == lost:
        return say("lost.read", lost=told)
    return say("lost.read_partly", lost=told, copied=through_copies)


def _shared(spec: ConvSpec) -> str:
    sizes = [same_output(spec, axis) for axis in (0, 1)]
    heights, widths = map(or_, sizes)
    told = "shared.only" if all(len(each) == 1 for each in sizes) else "shared.several"
    return say(told, sizes=heights) if heights == widths else say(f"{told}_axes", heights=heights, widths=widths)


def _way_back(spec: ConvSpec) -> str:
    """Say how conv_transpose2d, which knows the output only, comes back to this input."""
    value = pair(spec.remainder)
    if spec.padding_mode == "zeros" and _symmetric(spec):
        return say("back.input", value=value)
    height, width = spec.padded_size
    return say("back.cut" if spec.padding_mode == "zeros" else "back.folded", value=value, height=height, width=width)


def _sizes(spec: ConvSpec, linked: bool) -> tuple[Size, ...]:
    found = []
    for axis in (0,) if linked else (0, 1):
        offers = sorted({*_offers(spec, 0), *_offers(spec, 1)}) if linked else _offers(spec, axis)
        for size in offers:
            both = (size, size) if linked else (size, spec.input_size[1]) if axis == 0 else (spec.input_size[0], size)
            try:
                there = spec.replace(input_size=both)
            except ValueError:  # the other axis cannot follow
                continue
            label = say("near.size" if linked else ("near.height", "near.width")[axis], size=size)
            found.append(Size(label, _note(spec, there), both, both == spec.input_size))
    return tuple(found)


def _offers(spec: ConvSpec, axis: int) -> list[int]:
    """Return some sizes that share the output, and the next larger one without a remainder."""
    size, shared = spec.input_size[axis], same_output(spec, axis)
    if spec.stride[axis] == 1:  # every size has an output of its own
        return []
    if len(shared) > MOST_SIZES:
        shared = [each for each in shared if each in (shared[0], size - 1, size, size + 1, shared[-1])]
    above = size - spec.remainder[axis] + spec.stride[axis]
    return [each for each in [*shared, above] if each <= MOST["input_size"]]


def _note(spec: ConvSpec, there: ConvSpec) -> str:
    rows, columns = there.remainder
    rest = str(rows) if rows == columns else f"{rows}, {columns}"
    if there.output_size == spec.output_size:
        return say("near.remainder", rest=rest)
    height, width = there.output_size
    return say("near.remainder_output", rest=rest, height=height, width=width)
