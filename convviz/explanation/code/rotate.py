"""Both gradients as convolutions: inserted zeros, padding, rotated kernel."""

from __future__ import annotations

from convviz.explanation.code.border import copies, give_back, grad_read, pad_input, read_size
from convviz.explanation.code.setting import Setting, numbers, options, rows_and_columns, section
from convviz.explanation.code.shared import FUNCTIONAL, TORCH, forward, grad_bias
from convviz.explanation.code.steps import (
    BLANK,
    GRAD_OUTPUT,
    GRAD_WEIGHT,
    WEIGHT,
    Part,
    Step,
    Value,
    assign,
    call,
    note,
)
from convviz.ops.by_rotate import backward_padding
from convviz.spec import ConvSpec, Pair, Sides

DILATED = Value("dilated_grad_output", ("dilated_grad_output",))
PADDED = Value("padded_grad_output", ("padded_grad_output",))
ROTATED = Value("rotated_weight", ("rotated_weight",))
HIDDEN = "those windows lay wholly in the padding"


def steps(setting: Setting) -> list[Step]:
    """Return the whole snippet."""
    spec = setting.spec
    pad, image, padding = pad_input(spec)
    return [
        *([TORCH] if copies(spec) else []),
        FUNCTIONAL,
        BLANK,
        *pad,
        forward(setting, image, padding),
        BLANK,
        *to_input(setting, grad_read(spec, copies(spec))),
        *(give_back(setting) if copies(spec) else []),
        BLANK,
        *to_weight(setting, image, padding),
        *grad_bias(setting),
    ]


def to_input(setting: Setting, gradient: Value) -> list[Step]:
    """Return the steps to grad_input, or to grad_padded_input where the border is made of copies."""
    spec = setting.spec
    dilate, dilated = _dilate(spec)
    pad, padded = _pad(spec, dilated)
    rotate, rotated = _rotate(setting)
    arguments: list[Part] = [padded, rotated, *options(dilation=spec.dilation, groups=spec.groups)]
    return [*dilate, *pad, *rotate, call([gradient, " = F.conv2d"], arguments)]


def to_weight(setting: Setting, image: Value, padding: Pair) -> list[Step]:
    """Return the steps to grad_weight: what was read meets grad_output."""
    spec = setting.spec
    steps, images, kernels = _exchange(setting, image)
    if spec.stride != spec.dilation:
        steps.append(note("stride and dilation change places"))
    arguments: list[Part] = [images, kernels, *options(spec.dilation, padding, spec.stride, spec.groups)]
    steps.append(call([GRAD_WEIGHT, " = F.conv2d"], arguments))
    swap = ".transpose(0, 1)" if max(setting.in_per_group, spec.out_channels) > 1 else ""
    # The window goes on over the remainder, as often as its step, the dilation, fits.
    rows, columns = (left // step for left, step in zip(spec.remainder, spec.dilation, strict=True))
    crop, why = "", ""
    if rows or columns:
        crop = section(((0, rows), (0, columns)), (spec.kernel_size[0] + rows, spec.kernel_size[1] + columns))
        why = f"the window went on over the remainder: {rows_and_columns((rows, columns))} too many"
    return [*steps, assign(GRAD_WEIGHT, GRAD_WEIGHT, swap, crop, comment=why)] if swap or crop else steps


def _dilate(spec: ConvSpec) -> tuple[list[Step], Value]:
    """Insert the stride's zeros where there are cells to insert them between."""
    factors = [step if cells > 1 else 1 for step, cells in zip(spec.stride, spec.output_size, strict=True)]
    if factors == [1, 1]:
        return [], GRAD_OUTPUT.shown_as("dilated_grad_output")
    shape = numbers((spec.batch, spec.out_channels, *_dilated_size(spec)))
    places = ", ".join(f"::{step}" if step > 1 else ":" for step in factors)
    return [
        note("between the cells of grad_output: stride - 1 zeros"),
        assign(DILATED, f"grad_output.new_zeros({shape})"),
        assign(DILATED.then(f"[..., {places}]"), GRAD_OUTPUT),
    ], DILATED


def _dilated_size(spec: ConvSpec) -> Pair:
    rows, columns = (step * (cells - 1) + 1 for step, cells in zip(spec.stride, spec.output_size, strict=True))
    return rows, columns


def _pad(spec: ConvSpec, dilated: Value) -> tuple[list[Step], Value]:
    """Pad and crop so that the rotated kernel produces exactly the input's size."""
    sides = backward_padding(spec)
    if not any(map(any, sides)):
        return [], dilated.shown_as("padded_grad_output")
    size = _dilated_size(spec)
    crops: Sides = (_crop(sides[0]), _crop(sides[1]))
    why = _why_padding(spec, dilated)
    if any(cells <= sum(crop) for cells, crop in zip(size, crops, strict=True)):
        # F.pad crops before it pads, and here less is there than it would take away.
        return [*why, *_pad_then_crop(spec, dilated, crops)], PADDED
    if any(map(any, crops)):
        why.append(note(f"a negative number crops: {HIDDEN}"))
    ends = [
        f"{side[1] - left} + {left}" if left else f"{side[1]}" for side, left in zip(sides, spec.remainder, strict=True)
    ]
    amounts = f"({sides[1][0]}, {ends[1]}, {sides[0][0]}, {ends[0]})"
    return [*why, call([PADDED, " = F.pad"], [dilated, amounts])], PADDED


def _crop(side: Pair) -> Pair:
    return (max(-side[0], 0), max(-side[1], 0))


def _pad_then_crop(spec: ConvSpec, dilated: Value, crops: Sides) -> list[Step]:
    (top, bottom), (left, right) = (tuple(max(cells, 0) for cells in side) for side in backward_padding(spec))
    height, width = _dilated_size(spec)
    cut = section(crops, (height + top + bottom, width + left + right))
    amounts = f"({numbers((left, right, top, bottom))})"
    return [
        note(f"below zero that is a crop: {HIDDEN}"),
        call([PADDED, " = F.pad"], [dilated, amounts]),
        assign(PADDED, PADDED, cut, comment="after padding: before it, less is there than is cut away"),
    ]


def _why_padding(spec: ConvSpec, dilated: Value) -> list[Step]:
    reach = "kernel size - 1" if spec.dilation == (1, 1) else "dilation * (kernel size - 1)"
    padding = " - padding" if spec.padding_mode == "zeros" and any(map(any, spec.padding)) else ""
    what = "it" if dilated is DILATED else "grad_output"
    steps = [note(f"zeros around {what}: {reach}{padding}")]
    if any(spec.remainder):
        steps.append(note(f"and after it the remainder: {rows_and_columns(spec.remainder)} that no window read"))
    return steps


def _rotate(setting: Setting) -> tuple[list[Step], Value]:
    """Turn the kernels by 180 degrees and swap their channels within each group."""
    spec, outs, ins = setting.spec, setting.out_per_group, setting.in_per_group
    turned = WEIGHT.then(".flip(-2, -1)") if spec.kernel_size != (1, 1) else WEIGHT
    if outs == ins == 1:
        return ([assign(ROTATED, turned)], ROTATED) if turned is not WEIGHT else ([], WEIGHT.shown_as("rotated_weight"))
    if spec.groups == 1:
        return [assign(ROTATED, turned.then(".transpose(0, 1)"))], ROTATED
    size = numbers(spec.kernel_size)
    shape = f"{spec.in_channels}, {outs}, {size}"
    if 1 in (outs, ins):
        return [assign(ROTATED, turned.then(f".reshape({shape})"))], ROTATED
    groups = Value("by_group", WEIGHT.panels)
    return [
        note(f"the channels are swapped within each of the {spec.groups} groups"),
        assign(groups, turned.then(f".reshape({spec.groups}, {outs}, {ins}, {size})")),
        assign(ROTATED, groups.then(f".transpose(1, 2).reshape({shape})")),
    ], ROTATED


def _exchange(setting: Setting, image: Value) -> tuple[list[Step], Value, Value]:
    """Put the samples, over which grad_weight sums, in the place of the channels."""
    spec = setting.spec
    steps: list[Step] = []
    images, kernels = Value("images", image.panels), GRAD_OUTPUT.shown_as("dilated_grad_output")
    moves = _moves(setting)
    for place, move in enumerate(moves):
        steps.append(assign(images, (images if place else image).then(move)))
    if max(spec.batch, spec.out_channels) > 1:
        steps.append(assign(Value("kernels", kernels.panels), kernels.then(".transpose(0, 1)")))
        kernels = Value("kernels", kernels.panels)
    if spec.batch > 1:
        steps.insert(0, note("grad_weight sums over the samples: they take the place of the channels"))
    return steps, images if moves else image, kernels


def _moves(setting: Setting) -> list[str]:
    """Return how the input becomes ``[C_in / groups, groups * N, H, W]``."""
    spec, ins = setting.spec, setting.in_per_group
    size = numbers(read_size(spec))
    if spec.groups == 1:
        return [".transpose(0, 1)"] if max(spec.batch, ins) > 1 else []
    merged = f".reshape({ins}, {spec.groups * spec.batch}, {size})"
    if ins == 1:
        return [f".transpose(0, 1){merged}"] if spec.batch > 1 else []
    if spec.batch == 1:
        return [f".reshape({spec.groups}, {ins}, {size}).transpose(0, 1)"]
    return [f".reshape({spec.batch}, {spec.groups}, {ins}, {size})", f".permute(2, 1, 0, 3, 4){merged}"]
