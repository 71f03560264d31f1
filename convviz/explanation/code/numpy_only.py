"""NumPy alone: windows are a view of the input, and every kernel cell stamps grad_output back."""

from __future__ import annotations

from convviz.explanation.code.border import copied_cells, copies, drop_border, grad_read, has_border, padded_axes
from convviz.explanation.code.setting import Setting, numbers, times
from convviz.explanation.code.shared import bias_added, grad_bias
from convviz.explanation.code.steps import (
    BLANK,
    GRAD_INPUT,
    GRAD_OUTPUT,
    GRAD_WEIGHT,
    INPUT,
    OUTPUT,
    WEIGHT,
    Part,
    Step,
    Value,
    assign,
    call,
    indented,
    note,
    step,
)
from convviz.spec import ConvSpec

IMPORTS = (step("import numpy as np"), step("from numpy.lib.stride_tricks import sliding_window_view"))
GRADIENTS = Value("gradients", GRAD_OUTPUT.panels)
KERNELS = Value("kernels", WEIGHT.panels)
SORTED = note("the channels, sorted into g groups")
MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def steps(setting: Setting) -> list[Step]:
    """Return the whole snippet."""
    spec, grouped = setting.spec, setting.spec.groups > 1
    padding, image = pad(spec)
    windows, gradients = Value("windows", image.panels), GRADIENTS if grouped else GRAD_OUTPUT
    target = grad_read(spec, has_border(spec))
    return [
        *IMPORTS,
        BLANK,
        *padding,
        note("n sample, c input channel, h w output cell, u v kernel cell"),
        *windows_of(spec, windows, image),
        *([SORTED, by_group(setting, windows, windows)] if grouped else []),
        *([by_group(setting, KERNELS, WEIGHT), by_group(setting, GRADIENTS, GRAD_OUTPUT)] if grouped else []),
        *to_output(setting, windows, *bias_added(setting)),
        *to_weight(setting, gradients, windows),
        BLANK,
        note("every kernel cell stamps grad_output, scaled, on the cells that it met"),
        assign(target, f"np.zeros_like({image.text})"),
        *stamps(setting, target, gradients),
        *_give_back(spec),
        *grad_bias(setting),
    ]


def pad(spec: ConvSpec) -> tuple[list[Step], Value]:
    """Return the step that pads the input, if there is padding, and what the windows lie on."""
    if not has_border(spec):
        return [], INPUT.shown_as("padded_input")
    padded = Value("padded_input", ("padded_input",))
    mode = [f'mode="{MODES[spec.padding_mode]}"'] if copies(spec) else []
    rows, columns = (f"({numbers(side)})" for side in spec.padding)
    arguments: list[Part] = [INPUT, f"((0, 0), (0, 0), {rows}, {columns})", *mode]
    return [call([padded, " = np.pad"], arguments)], padded


def windows_of(spec: ConvSpec, windows: Value, image: Value) -> list[Step]:
    """Show every window as a view, of the axes [n, c, h, w, u, v]."""
    size = f"({numbers(spec.effective_kernel)})"
    cut = "".join(f", ::{step}" if step > 1 else ", :" for step in (*spec.stride, *spec.dilation))
    while cut.endswith(", :"):
        cut = cut.removesuffix(", :")
    names = [name for name, pair in (("stride", spec.stride), ("dilation", spec.dilation)) if pair != (1, 1)]
    why = "the steps of stride and dilation" if len(names) == 2 else f"the steps of the {''.join(names)}"
    return [
        call([windows, " = sliding_window_view"], [image, size, "axis=(2, 3)"]),
        *([assign(windows, windows, f"[:, :{cut}]", comment=why)] if cut else []),
    ]


def by_group(setting: Setting, target: Value, source: Value) -> Step:
    """Sort the channels of the windows, of the weight or of grad_output into groups."""
    spec, groups = setting.spec, setting.spec.groups
    shapes = {
        WEIGHT.text: (groups, setting.out_per_group, setting.in_per_group, *spec.kernel_size),
        GRAD_OUTPUT.text: (spec.batch, groups, setting.out_per_group, *spec.output_size),
    }
    windows = (spec.batch, groups, setting.in_per_group, *spec.output_size, *spec.kernel_size)
    return assign(target, source, f".reshape({numbers(shapes.get(source.text, windows))})")


def to_output(setting: Setting, windows: Value, *added: Part) -> list[Step]:
    """Add up over every letter that is not in the result."""
    if setting.spec.groups == 1:
        return [call([OUTPUT, " = np.einsum"], ['"nchwuv,ocuv->nohw"', windows, WEIGHT], *added)]
    return [
        call([OUTPUT, " = np.einsum"], ['"ngchwuv,gocuv->ngohw"', windows, KERNELS]),
        assign(OUTPUT, OUTPUT, f".reshape({numbers(setting.spec.output_shape)})", *added),
    ]


def to_weight(setting: Setting, gradients: Value, windows: Value) -> list[Step]:
    """Add up over the samples and the cells."""
    if setting.spec.groups == 1:
        return [call([GRAD_WEIGHT, " = np.einsum"], ['"nohw,nchwuv->ocuv"', gradients, windows])]
    return [
        call([GRAD_WEIGHT, " = np.einsum"], ['"ngohw,ngchwuv->gocuv"', gradients, windows]),
        assign(GRAD_WEIGHT, GRAD_WEIGHT, f".reshape({numbers(setting.spec.weight_shape)})"),
    ]


def stamps(setting: Setting, target: Value, gradients: Value) -> list[Step]:
    """Write grad_output, scaled by one kernel cell after the other, where that cell met the input."""
    spec = setting.spec
    stamp = Value("stamp")
    if spec.groups == 1:
        products: list[Part] = ['"nohw,oc->nchw"', gradients, WEIGHT.then("[:, :, u, v]")]
        reshaped = []
    else:
        products = ['"ngohw,goc->ngchw"', gradients, KERNELS.then("[..., u, v]")]
        shape = numbers((spec.batch, spec.in_channels, *spec.output_size))
        reshaped = [assign(stamp, stamp, f".reshape({shape})")]
    return [
        step(f"for u, v in np.ndindex({numbers(spec.kernel_size)}):"),
        *indented(
            [
                call([stamp, " = np.einsum"], products),
                *reshaped,
                step(target.then(f"[..., {_met(spec, 0)}, {_met(spec, 1)}]"), " += ", stamp),
            ]
        ),
    ]


def _met(spec: ConvSpec, axis: int) -> str:
    """Return the slice of input cells that one kernel cell met, one in every window."""
    start = times(spec.dilation[axis], "uv"[axis])
    end = spec.stride[axis] * (spec.output_size[axis] - 1) + 1
    return f"{start} : {start} + {end}" + (f" : {spec.stride[axis]}" if spec.stride[axis] > 1 else "")


def _give_back(spec: ConvSpec) -> list[Step]:
    if not copies(spec):
        return [drop_border(spec)] if has_border(spec) else []
    index = {
        (0, 1): "(..., source_rows[:, None], source_columns)",
        (0,): "(..., source_rows, slice(None))",
        (1,): "(..., source_columns)",
    }
    gradient = grad_read(spec, apart=True)
    return [
        *copied_cells(spec, "np.arange"),
        assign(GRAD_INPUT, "np.zeros_like(input)"),
        call(["np.add.at"], [GRAD_INPUT, index[tuple(padded_axes(spec))], gradient]),
    ]
