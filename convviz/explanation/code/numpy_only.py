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

GRADIENTS = Value("gradients", GRAD_OUTPUT.panels)
KERNELS = Value("kernels", WEIGHT.panels)
MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def steps(setting: Setting) -> list[Step]:
    """Return the whole snippet."""
    spec = setting.spec
    pad, image = _pad(spec)
    return [
        step("import numpy as np"),
        step("from numpy.lib.stride_tricks import sliding_window_view"),
        BLANK,
        *pad,
        *_windows(spec, image),
        *_products(setting, Value("windows", image.panels)),
        BLANK,
        *_stamps(setting, image),
        *_give_back(spec),
        *grad_bias(setting),
    ]


def _pad(spec: ConvSpec) -> tuple[list[Step], Value]:
    if not has_border(spec):
        return [], INPUT.shown_as("padded_input")
    padded = Value("padded_input", ("padded_input",))
    mode = [f'mode="{MODES[spec.padding_mode]}"'] if copies(spec) else []
    rows, columns = (f"({numbers(side)})" for side in spec.padding)
    arguments: list[Part] = [INPUT, f"((0, 0), (0, 0), {rows}, {columns})", *mode]
    return [call([padded, " = np.pad"], arguments)], padded


def _windows(spec: ConvSpec, image: Value) -> list[Step]:
    """Show every window as a view, of the axes [n, c, h, w, u, v]."""
    windows = Value("windows", image.panels)
    size = f"({numbers(spec.effective_kernel)})"
    cut = "".join(f", ::{step}" if step > 1 else ", :" for step in (*spec.stride, *spec.dilation))
    while cut.endswith(", :"):
        cut = cut.removesuffix(", :")
    names = [name for name, pair in (("stride", spec.stride), ("dilation", spec.dilation)) if pair != (1, 1)]
    why = "the steps of stride and dilation" if len(names) == 2 else f"the steps of the {''.join(names)}"
    return [
        note("n sample, c input channel, h w output cell, u v kernel cell"),
        call([windows, " = sliding_window_view"], [image, size, "axis=(2, 3)"]),
        *([assign(windows, windows, f"[:, :{cut}]", comment=why)] if cut else []),
    ]


def _products(setting: Setting, windows: Value) -> list[Step]:
    """Add up over every letter that is not in the result."""
    spec, added = setting.spec, bias_added(setting)
    if spec.groups == 1:
        return [
            call([OUTPUT, " = np.einsum"], ['"nchwuv,ocuv->nohw"', windows, WEIGHT], *added),
            call([GRAD_WEIGHT, " = np.einsum"], ['"nohw,nchwuv->ocuv"', GRAD_OUTPUT, windows]),
        ]
    groups, outs, ins = spec.groups, setting.out_per_group, setting.in_per_group
    shapes = [
        (spec.batch, groups, ins, *spec.output_size, *spec.kernel_size),
        (groups, outs, ins, *spec.kernel_size),
        (spec.batch, groups, outs, *spec.output_size),
    ]
    cut = [f".reshape({numbers(shape)})" for shape in shapes]
    output, grad_weight = (f".reshape({numbers(shape)})" for shape in (spec.output_shape, spec.weight_shape))
    return [
        note("the channels, sorted into g groups"),
        assign(windows, windows, cut[0]),
        assign(KERNELS, WEIGHT, cut[1]),
        assign(GRADIENTS, GRAD_OUTPUT, cut[2]),
        call([OUTPUT, " = np.einsum"], ['"ngchwuv,gocuv->ngohw"', windows, KERNELS]),
        assign(OUTPUT, OUTPUT, output, *added),
        call([GRAD_WEIGHT, " = np.einsum"], ['"ngohw,ngchwuv->gocuv"', GRADIENTS, windows]),
        assign(GRAD_WEIGHT, GRAD_WEIGHT, grad_weight),
    ]


def _stamps(setting: Setting, image: Value) -> list[Step]:
    """Write grad_output, scaled by one kernel cell after the other, where that cell met the input."""
    spec = setting.spec
    target = grad_read(spec, has_border(spec))
    stamp = Value("stamp")
    if spec.groups == 1:
        products: list[Part] = ['"nohw,oc->nchw"', GRAD_OUTPUT, WEIGHT.then("[:, :, u, v]")]
        reshaped = []
    else:
        products = ['"ngohw,goc->ngchw"', GRADIENTS, KERNELS.then("[..., u, v]")]
        shape = numbers((spec.batch, spec.in_channels, *spec.output_size))
        reshaped = [assign(stamp, stamp, f".reshape({shape})")]
    return [
        note("every kernel cell stamps grad_output, scaled, on the cells that it met"),
        assign(target, f"np.zeros_like({image.text})"),
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
