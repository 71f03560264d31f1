"""The border: padding the input where torch's operators cannot, and giving the border's gradient back."""

from __future__ import annotations

from convviz.explanation.code.setting import Setting, numbers, section
from convviz.explanation.code.steps import GRAD_INPUT, INPUT, Part, Step, Value, assign, call, note, step
from convviz.spec import ConvSpec, Pair

SOURCES = ("source_rows", "source_columns")


def has_border(spec: ConvSpec) -> bool:
    """Whether there is any padding."""
    return any(map(any, spec.padding))


def copies(spec: ConvSpec) -> bool:
    """Whether the border is made of copies, whose gradients have to be folded back."""
    return has_border(spec) and spec.padding_mode != "zeros"


def padded_apart(spec: ConvSpec) -> bool:
    """Whether the border needs a step of its own: an operator pads with zeros, as many before as after."""
    return copies(spec) or any(before != after for before, after in spec.padding)


def read_size(spec: ConvSpec) -> Pair:
    """Rows and columns of what ``pad_input`` makes the operator read."""
    return spec.padded_size if padded_apart(spec) else spec.input_size


def pad_input(spec: ConvSpec) -> tuple[list[Step], Value, Pair]:
    """Return the steps that pad, the value that the operator reads, and the padding that it has to do itself."""
    if not padded_apart(spec):
        return [], INPUT.shown_as("padded_input"), (spec.padding[0][0], spec.padding[1][0])
    padded = Value("padded_input", ("padded_input",))
    (top, bottom), (left, right) = spec.padding
    mode = [] if spec.padding_mode == "zeros" else [f'mode="{spec.padding_mode}"']
    arguments: list[Part] = [INPUT, f"({numbers((left, right, top, bottom))})", *mode]
    return [call([padded, " = F.pad"], arguments, comment="left, right, top, bottom")], padded, (0, 0)


def grad_read(spec: ConvSpec, apart: bool) -> Value:
    """Return the gradient of what an operator read.

    Args:
        spec: the geometry.
        apart: whether it read padded_input, so that the border's gradient has to be given back afterwards.
    """
    shown = () if spec.padding_mode == "zeros" else ("grad_padded_input",)
    return Value("grad_padded_input", shown) if apart else GRAD_INPUT.shown_as(*shown)


def give_back(setting: Setting) -> list[Step]:
    """Turn the gradient of padded_input into grad_input: drop that of zeros, fold that of copies."""
    spec = setting.spec
    if spec.padding_mode == "zeros":
        return [drop_border(spec)]
    gradient, axes = grad_read(spec, apart=True), padded_axes(spec)
    device = "" if setting.device == "cpu" else f', device="{setting.device}"'
    steps = copied_cells(spec, "torch.arange", device)
    if len(axes) == 2:
        folded = Value("folded", gradient.panels)
        shape = numbers((spec.batch, spec.in_channels, spec.input_size[0], spec.padded_size[1]))
        steps.append(call([folded, f" = input.new_zeros({shape}).index_add"], ["2", SOURCES[0], gradient]))
        gradient = folded
    arguments: list[Part] = [str(axes[-1] + 2), SOURCES[axes[-1]], gradient]
    return [*steps, call([GRAD_INPUT, " = torch.zeros_like(input).index_add"], arguments)]


def drop_border(spec: ConvSpec) -> Step:
    """Cut the border of zeros away from the gradient of padded_input."""
    cut = grad_read(spec, apart=True).then(section(spec.padding, spec.padded_size))
    return assign(GRAD_INPUT, cut, comment="a padding zero has no gradient")


def padded_axes(spec: ConvSpec) -> list[int]:
    """Return the axes that have a border: 0 for rows, 1 for columns."""
    return [axis for axis in range(2) if any(spec.padding[axis])]


def copied_cells(spec: ConvSpec, arange: str, device: str = "") -> list[Step]:
    """Write down which row and which column of the input each of padded_input's is a copy of.

    Args:
        spec: the geometry.
        arange: the function that counts, torch's or NumPy's.
        device: a further argument for it, from the comma on.
    """
    steps = [note("every border cell is a copy: its gradient goes to the cell that it copies")]
    for axis in padded_axes(spec):
        (before, after), size = spec.padding[axis], spec.input_size[axis]
        positions = f"{arange}({-before}, {size + after}{device})"
        if spec.padding_mode == "replicate":
            formula = f"{positions}.clip(0, {size - 1})"
        else:
            formula = copied_cell(spec.padding_mode, positions, size, (before > 0, after > 0))
        steps.append(step(f"{SOURCES[axis]} = {formula}"))
    return steps


def copied_cell(mode: str, position: str, size: int, outside: tuple[bool, bool]) -> str:
    """Return the index formula of a padding mode.

    Args:
        mode: ``"reflect"``, ``"replicate"`` or ``"circular"``.
        position: code for the position along the axis, counted from the input's first cell.
        size: cells of the input along the axis.
        outside: whether the position can lie before the first cell, and whether after the last.
    """
    before, after = outside
    last = size - 1
    if mode == "circular":
        return f"{position} % {size}"
    if mode == "replicate":
        nearest = f"max({position}, 0)" if before else position
        return f"min({nearest}, {last})" if after else nearest
    mirrored = f"abs({position})" if before else position
    return f"{last} - abs({last} - {mirrored})" if after else mirrored
