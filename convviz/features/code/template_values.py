"""What the templates fill in and ask for, for one setting: shapes, options, and what the tensors are drawn with."""

import math

from convviz.explanation.border import copies, own_padding, padded_apart
from convviz.explanation.snippet_setting import Setting, options, rows_and_columns, section, short, times
from convviz.features.code import border_template_values, definition_template_values, rotate_template_values
from convviz.features.code.read_template import Value

# gradcheck computes one row of the Jacobian for every input number, one column for every output number.
JACOBIAN_LIMIT = 100_000


def values(setting: Setting) -> dict[str, Value]:
    return {
        **_shapes(setting),
        **_bias(setting),
        **_options(setting),
        **_given(setting),
        **_windows(setting),
        **_check(setting),
        **border_template_values.values(setting),
        **rotate_template_values.values(setting),
        **definition_template_values.values(setting),
    }


def _shapes(setting: Setting) -> dict[str, Value]:
    spec, ins = setting.spec, setting.in_per_group
    return {
        "transposed": setting.transposed,
        "batch": spec.batch,
        "groups": spec.groups,
        "in_channels": spec.in_channels,
        "out_channels": spec.out_channels,
        "ins": ins,
        "outs": setting.out_per_group,
        "taps": math.prod((ins, *spec.kernel_size)),
        "cells": math.prod(spec.output_size),
        "output_size": spec.output_size,
        "kernel_size": spec.kernel_size,
        "padded_size": spec.padded_size,
        "output_shape": spec.output_shape,
        "weight_shape": spec.weight_shape,
        "remainder": spec.remainder,
        "remainder_words": rows_and_columns(spec.remainder),
        "over_samples": ".sum(0)" if spec.batch > 1 else "",
    }


def _bias(setting: Setting) -> dict[str, Value]:
    bias, channels = setting.bias, setting.shapes["grad_output"][1]
    return {
        "has_bias": str(bias),
        "bias": "bias" if bias else "",
        "grad_bias": "grad_bias" if bias else "",
        "plus_bias": " + bias[:, None, None]" if bias else "",
        "bias_or_none": "bias" if bias else "None",
        "grad_bias_or_blank": "grad_bias" if bias else "_",
        "bias_size": channels,
        "bias_sizes": f"[{channels}]" if bias else "None",
    }


def _options(setting: Setting) -> dict[str, Value]:
    spec, padding = setting.spec, own_padding(setting.spec)
    apart = padded_apart(spec)
    return {
        "stride": spec.stride,
        "padding": padding,
        "dilation": spec.dilation,
        "options": ", ".join(options(spec.stride, padding, spec.dilation, spec.groups)),
        "output_padding": f"output_padding={short(spec.remainder)}" if any(spec.remainder) else "",
        "window": ", ".join([short(spec.kernel_size), *options(spec.stride, padding, spec.dilation)]),
        "cut": f"[..., {section(spec.padding, spec.padded_size)}]" if apart else "",
    }


def _given(setting: Setting) -> dict[str, Value]:
    dtype, device = setting.dtype, setting.device
    return {
        "given_input": setting.shapes["input"],
        "given_output": setting.shapes["grad_output"],
        "dtype": dtype,
        "dtype_option": f"dtype=torch.{dtype}" if dtype != "float32" else "",
        "dtype_numpy": "float64" if dtype == "float64" else "float32",
        "to_device": f'.to("{device}")' if device != "cpu" else "",
    }


def _windows(setting: Setting) -> dict[str, Value]:
    """Return how NumPy's views are cut: windows [n, c, h, w, u, v], and the cells that one kernel cell met."""
    spec = setting.spec
    names = [name for name, pair in (("stride", spec.stride), ("dilation", spec.dilation)) if pair != (1, 1)]
    cut = "".join(f", ::{step}" if step > 1 else ", :" for step in (*spec.stride, *spec.dilation))
    met = []
    for name, stride, dilation, cells in zip("uv", spec.stride, spec.dilation, spec.output_size, strict=True):
        start = times(dilation, name)
        met.append(f"{start} : {start} + {stride * (cells - 1) + 1}" + (f" : {stride}" if stride > 1 else ""))
    return {
        "span": spec.effective_kernel,
        "window_cut": cut.rstrip(", :") if names else "",
        "window_steps": "stride and dilation" if len(names) == 2 else f"the {''.join(names)}",
        "met_rows": met[0],
        "met_columns": met[1],
    }


def _check(setting: Setting) -> dict[str, Value]:
    name = "ConvTranspose2dFunction" if setting.transposed else "Conv2dFunction"
    copied = copies(setting.spec)
    shapes = setting.shapes
    outputs = math.prod(shapes.pop("grad_output"))
    inputs = sum(map(math.prod, shapes.values()))
    return {
        "function": "conv2d" if copied else f"{name}.apply",
        "first": "padded_input" if copied else "input",
        # Apple's device has no float64.
        "to_cpu": ".cpu()" if setting.device.startswith("mps") else "",
        "fast_mode": "fast_mode=True" if inputs * outputs > JACOBIAN_LIMIT else "",
    }
