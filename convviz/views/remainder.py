"""The remainder, told for one geometry: what no window reaches, which inputs share the output, what leads back."""

from __future__ import annotations

from dataclasses import dataclass

from convviz.settings.state import MOST
from convviz.spec import AXES, ConvSpec, Pair
from convviz.views.theme import MINUS

LINES = ("row", "column")  # what an axis is made of
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
        beyond = "zeros at the end of grad_input" if spec.padding_mode == "zeros" else "lines of the input uncovered"
        left_over.append(
            f"The remainder takes the {_border(spec)} behind the input first, because that lies outermost: "
            f"only what goes beyond it leaves {beyond}."
        )
    paragraphs = (" ".join(left_over), f"{_shared(spec)} {_way_back(spec)}")
    return Story(paragraphs, _sizes(spec, linked), "Input sizes near this one")


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


def or_(sizes: list[int]) -> str:
    """Return ``7, 8 or 9``."""
    numbers = [str(size) for size in sizes]
    return " or ".join([", ".join(numbers[:-1]), numbers[-1]] if len(numbers) > 1 else numbers)


def _with_size(spec: ConvSpec, axis: int, size: int) -> ConvSpec | None:
    pair = (size, spec.input_size[1]) if axis == 0 else (spec.input_size[0], size)
    try:
        return spec.replace(input_size=pair)
    except ValueError:  # below 1, or smaller than what the padding mode copies
        return None


def _symmetric(spec: ConvSpec) -> bool:
    return all(before == after for before, after in spec.padding)


def _by_axis(texts: list[str]) -> str:
    return texts[0] if texts[0] == texts[1] else f"{texts[0]} for the height and {texts[1]} for the width"


def _count(spec: ConvSpec) -> str:
    sums = [
        f"({spec.input_size[axis]} + {sum(spec.padding[axis])} {MINUS} {spec.effective_kernel[axis] - 1} {MINUS} 1) "
        f"mod {spec.stride[axis]} = {spec.remainder[axis]}"
        for axis in (0, 1)
    ]
    padding = "2p" if _symmetric(spec) else "p"
    both = "" if _symmetric(spec) else ", p counting both sides"
    return f"Remainder: (N + {padding} {MINUS} d(K{MINUS}1) {MINUS} 1) mod s = {_by_axis(sums)}{both}."


def _where(spec: ConvSpec) -> str:
    parts = [_last(count, LINES[axis]) for axis, count in enumerate(spec.remainder) if count]
    if not parts:
        return "The last window ends where padded_input ends: nothing is left over."
    return f"No window reaches {' and '.join(parts)} of padded_input (hatched)."


def _last(count: int, what: str) -> str:
    return f"the last {what}" if count == 1 else f"the last {count} {what}s"


def _losses(spec: ConvSpec) -> list[str]:
    axes = [axis for axis in (0, 1) if spec.remainder[axis]]
    spared = [axis for axis in axes if spec.remainder[axis] <= spec.padding[axis][1]]
    if len(spared) < 2:
        return [_lost(spec, axis) for axis in axes]
    return [f"Both lie in the {_border(spec)}, so the remainder takes nothing of the input."]


def _border(spec: ConvSpec) -> str:
    return "padding" if spec.padding_mode == "zeros" else "border of copies"


def _lost(spec: ConvSpec, axis: int) -> str:
    """Say for one axis whether the remainder lies in the padding or takes lines of the input."""
    line, rest, after, border = LINES[axis], spec.remainder[axis], spec.padding[axis][1], _border(spec)
    lost = rest - after
    if lost <= 0:
        lies = f"The last {line} lies" if rest == 1 else f"The last {rest} {line}s lie"
        return f"{lies} in the {border}, so the remainder takes no {line} of the input."
    whole = lost >= spec.input_size[axis]
    lost = min(lost, spec.input_size[axis])  # what is more takes the padding before the input as well
    all_of_it = f"the only {line}" if lost == 1 else f"all {lost} {line}s"
    of_input = f"{all_of_it if whole else _last(lost, line)} of the input"
    if after:
        others = "the other is" if rest - after == 1 else f"the other {rest - after} {'hold' if whole else 'are'}"
        told = f"The {border} takes {after} of the {rest} {line}s; {others} {of_input}"
    else:
        told = f"There is no padding behind the last window, so {'this is' if lost == 1 else 'these are'} {of_input}"
    unread = (spec.unread_rows, spec.unread_columns)[axis]
    through_copies = sum(i not in unread for i in range(spec.input_size[axis] - lost, spec.input_size[axis]))
    if not through_copies:
        return f"{told}: never read, with a gradient of exactly 0."
    which = "" if through_copies == lost else f" of {through_copies}"
    return f"{told}: under no window, but copies{which} in the border at the other end are read, and bring a gradient."


def _shared(spec: ConvSpec) -> str:
    sizes = [same_output(spec, axis) for axis in (0, 1)]
    words = [or_(each) for each in sizes]
    which = f"size {words[0]}" if words[0] == words[1] else f"height {words[0]} and width {words[1]}"
    if all(len(each) == 1 for each in sizes):
        return f"Only an input of {which} has this output size: the output alone tells that it was this one."
    return f"Inputs of {which} share this output size: the output alone does not tell which of them it was."


def _way_back(spec: ConvSpec) -> str:
    """Say how conv_transpose2d, which knows the output only, comes back to this input."""
    rows, columns = spec.remainder
    told = str(rows) if rows == columns else f"({rows}, {columns})"
    if spec.padding_mode == "zeros" and _symmetric(spec):
        return f"output_padding={told} leads conv_transpose2d back to this one."
    height, width = spec.padded_size
    border = "cut off" if spec.padding_mode == "zeros" else "folded back"
    return (
        f"output_padding={told} with padding=0 leads conv_transpose2d back to padded_input's {height} × {width}; "
        f"its border is then {border}."
    )


def _sizes(spec: ConvSpec, linked: bool) -> tuple[Size, ...]:
    found = []
    for axis in (0,) if linked else (0, 1):
        offers = sorted({*_offers(spec, 0), *_offers(spec, 1)}) if linked else _offers(spec, axis)
        for size in offers:
            pair = (size, size) if linked else (size, spec.input_size[1]) if axis == 0 else (spec.input_size[0], size)
            try:
                there = spec.replace(input_size=pair)
            except ValueError:  # the other axis cannot follow
                continue
            label = f"size {size}" if linked else f"{AXES[axis]} {size}"
            found.append(Size(label, _note(spec, there), pair, pair == spec.input_size))
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
    note = f"remainder {rows}" if rows == columns else f"remainder {rows}, {columns}"
    height, width = there.output_size
    return note if there.output_size == spec.output_size else f"{note}, output {height} × {width}"
