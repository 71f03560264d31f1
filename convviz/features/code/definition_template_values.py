"""What the template of the definition is filled in with: the loop, and where its products lie."""

from convviz.explanation.snippet_setting import Setting, times
from convviz.features.code.border_template_values import copied_cell
from convviz.features.code.read_template import Value

OUTSIDE = {
    "zeros": "",
    "reflect": "outside: mirrored at the edge",
    "replicate": "outside: the nearest cell",
    "circular": "outside: from the other side",
}


def values(setting: Setting) -> dict[str, Value]:
    return {**_loop(setting), **_input_cell(setting), **_channels(setting)}


def _loop(setting: Setting) -> dict[str, Value]:
    spec = setting.spec
    leading = {"n": spec.batch, "o": spec.out_channels, "c": setting.in_per_group}
    several = [name for name, count in leading.items() if count > 1]
    o, c = ("input", "output") if setting.transposed else ("output", "input")
    of_group = " of its group" if spec.groups > 1 else ""
    words = {"n": "sample n", "o": f"{o} channel o", "c": f"{c} channel c{of_group}"}
    ranges = [*(leading[name] for name in several), *spec.output_size, *spec.kernel_size]
    return {
        "loop_words": ", ".join(words[name] for name in several),
        "loop_names": ", ".join([*several, "y", "x", "u", "v"]),
        "loop_ranges": ", ".join(f"range({count})" for count in ranges),
        **{name: name if name in several else "0" for name in leading},
    }


def _input_cell(setting: Setting) -> dict[str, Value]:
    """Return the index formulas, and what to do outside of the input."""
    spec = setting.spec
    formulas, sources, inside = [], [], []
    for axis, (cell, out, kernel) in enumerate((("i", "y", "u"), ("j", "x", "v"))):
        before, size = spec.padding[axis][0], spec.input_size[axis]
        formula = f"{times(spec.stride[axis], out)} + {times(spec.dilation[axis], kernel)}"
        formulas.append(formula + (f" - {before}" if before else ""))
        last = (spec.output_size[axis] - 1) * spec.stride[axis] + spec.effective_kernel[axis] - 1 - before
        sides = (before > 0, last >= size)
        copied = spec.padding_mode != "zeros" and any(sides)
        sources.append(copied_cell(spec.padding_mode, cell, size, sides) if copied else "")
        inside += [f"0 <= {cell} < {size}"] if spec.padding_mode == "zeros" and any(sides) else []
    return {
        "row_formula": formulas[0],
        "column_formula": formulas[1],
        "source_row": sources[0],
        "source_column": sources[1],
        "outside": OUTSIDE[spec.padding_mode],
        "inside": f"({' and '.join(inside)})" if len(inside) == 2 else "".join(inside),
    }


def _channels(setting: Setting) -> dict[str, Value]:
    outs, ins = setting.out_per_group, setting.in_per_group
    if setting.spec.groups == 1:
        return {"channel": "", "channel_index": "c" if ins > 1 else "0"}
    if outs == ins == 1:
        return {"channel": "", "channel_index": "o"}
    group = f"o // {outs}" if outs > 1 else "o"
    return {"channel": group if ins == 1 else f"{group} * {ins} + c", "channel_index": "channel"}
