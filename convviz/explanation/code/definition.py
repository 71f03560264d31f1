"""The definition: one loop over every product, and the three sums that it is part of."""

from __future__ import annotations

from convviz.explanation.code.border import copied_cell
from convviz.explanation.code.setting import Setting, times
from convviz.explanation.code.shared import TORCH, bias_added, grad_bias
from convviz.explanation.code.steps import (
    BLANK,
    GRAD_INPUT,
    GRAD_OUTPUT,
    GRAD_WEIGHT,
    INPUT,
    OUTPUT,
    WEIGHT,
    Step,
    assign,
    call,
    indented,
    note,
    step,
)
from convviz.spec import ConvSpec

OUTSIDE = {
    "reflect": "outside: mirrored at the edge",
    "replicate": "outside: the nearest cell",
    "circular": "outside: from the other side",
}


def steps(setting: Setting) -> list[Step]:
    """Return the whole snippet."""
    added = bias_added(setting)
    return [
        step("from itertools import product"),
        BLANK,
        TORCH,
        BLANK,
        assign(OUTPUT, "torch.zeros_like(grad_output)"),
        assign(GRAD_INPUT, "torch.zeros_like(input)"),
        assign(GRAD_WEIGHT, "torch.zeros_like(weight)"),
        BLANK,
        *_loop(setting),
        *indented([*_input_cell(setting.spec), *_channel(setting), *_sums(setting)]),
        *([BLANK, step(OUTPUT, " += ", *added[1:]), *grad_bias(setting)] if added else []),
    ]


def _loop(setting: Setting) -> list[Step]:
    """Return the head of the loop, with a variable for everything that there is more than one of."""
    spec = setting.spec
    leading = {"n": spec.batch, "o": spec.out_channels, "c": setting.in_per_group}
    of_group = " of its group" if spec.groups > 1 else ""
    words = {"n": "sample n", "o": "output channel o", "c": f"input channel c{of_group}"}
    several = [name for name, count in leading.items() if count > 1]
    ranges = [*(leading[name] for name in several), *spec.output_size, *spec.kernel_size]
    comments = [note("every output cell (y, x) meets every kernel cell (u, v)")]
    if several:
        comments.append(note(f"for every {', '.join(words[name] for name in several)}"))
    names = ", ".join([*several, "y", "x", "u", "v"])
    return [*comments, call([f"for {names} in product"], [f"range({count})" for count in ranges], ":")]


def _input_cell(spec: ConvSpec) -> list[Step]:
    """Return the index formula, and what to do where it points outside of the input."""
    formulas, outside, inside = [], [], []
    for axis, (cell, out, kernel) in enumerate((("i", "y", "u"), ("j", "x", "v"))):
        before, size = spec.padding[axis][0], spec.input_size[axis]
        formula = f"{times(spec.stride[axis], out)} + {times(spec.dilation[axis], kernel)}"
        formulas.append(formula + (f" - {before}" if before else ""))
        last = (spec.output_size[axis] - 1) * spec.stride[axis] + spec.effective_kernel[axis] - 1 - before
        if before == 0 and last < size:
            continue
        if spec.padding_mode == "zeros":
            inside.append(f"0 <= {cell} < {size}")
        else:
            source = copied_cell(spec.padding_mode, cell, size, (before > 0, last >= size))
            outside.append(step(f"{cell} = {source}", comment=OUTSIDE[spec.padding_mode]))
    steps = [step(f"i, j = {', '.join(formulas)}"), *outside]
    if inside:
        condition = f"not {inside[0]}" if len(inside) == 1 else f"not ({' and '.join(inside)})"
        steps += [step(f"if {condition}:"), *indented([step("continue", comment="a padding zero adds nothing")])]
    return steps


def _channel(setting: Setting) -> list[Step]:
    """Return how an output channel finds the input channels of its group, if there are groups."""
    outs, ins = setting.out_per_group, setting.in_per_group
    if setting.spec.groups == 1 or outs == ins == 1:
        return []
    group = f"o // {outs}" if outs > 1 else "o"
    channel = group if ins == 1 else f"{group} * {ins} + c"
    return [step(f"channel = {channel}", comment="of the input, in the group of o")]


def _sums(setting: Setting) -> list[Step]:
    """Return the three sentences, side by side."""
    spec, ins = setting.spec, setting.in_per_group
    n, o, c = "n" if spec.batch > 1 else "0", "o" if spec.out_channels > 1 else "0", "c" if ins > 1 else "0"
    channel = c
    if spec.groups > 1:
        channel = "o" if setting.out_per_group == ins == 1 else "channel"
    at_output, at_kernel, at_input = f"[{n}, {o}, y, x]", f"[{o}, {c}, u, v]", f"[{n}, {channel}, i, j]"
    image, kernel = INPUT.shown_as("padded_input").then(at_input), WEIGHT.then(at_kernel)
    gradient = GRAD_OUTPUT.then(at_output)
    return [
        step(OUTPUT.then(at_output), " += ", kernel, " * ", image),
        step(GRAD_INPUT.then(at_input), " += ", gradient, " * ", kernel),
        step(GRAD_WEIGHT.then(at_kernel), " += ", gradient, " * ", image),
    ]
