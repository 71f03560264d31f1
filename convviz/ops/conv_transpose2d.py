"""conv_transpose2d: the gradient of a convolution with respect to its input, used as a forward pass."""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F

from convviz.geometry.spec import AXES, ConvSpec
from convviz.geometry.whole_numbers import check_tensor_size, count, pair, unwrapped
from convviz.ops.arguments import as_batch, cast_for_autocast, check_shape, check_tensors, conv_spec
from convviz.ops.autograd_functions import gradients
from convviz.ops.half_precision import widened
from convviz.ops.methods import check_method


def conv_transpose2d(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
    *,
    method: str = "rotate",
) -> torch.Tensor:
    """Run a convolution's backward pass to the input as a forward pass: ``torch.nn.functional.conv_transpose2d``.

    Args:
        input: ``[N, C_in, H, W]``, or ``[C_in, H, W]`` for one sample: what that convolution calls grad_output.
        weight: ``[C_in, C_out / groups, kH, kW]``: that convolution's weight, so C_in comes first.
        bias: ``[C_out]`` or None.
        stride: of that convolution; here it spreads the input apart. An int or a pair, here and below.
        padding: of that convolution; here it crops the output.
        output_padding: rows and columns at the end of the output that no window of that convolution reached: its
            remainder, which the sizes alone do not determine. Less than stride or less than dilation.
        groups: number of independent channel groups.
        dilation: distance between neighbouring kernel cells.
        method: see ``conv2d``.

    Returns:
        output ``[N, C_out, (H - 1) s - 2 p + d (kH - 1) + output_padding + 1, ...]``; entry ``[n, c, i, j]`` is
        ``bias[c]`` plus the sum of ``input[o] * weight[k]`` over the taps (o, k) that reach this cell.

    Raises:
        ValueError, TypeError: as ``conv2d``.
    """
    check_method(method)
    input, weight, bias = cast_for_autocast(input, weight, bias)  # type: ignore[assignment]
    check_tensors(input=input, weight=weight, bias=bias)
    images = as_batch("input", input)
    spec = transposed_spec(images.shape, weight.shape, stride, padding, output_padding, groups, dilation)
    check_shape("bias", bias, (spec.in_channels,), "one number for every output channel, [C_out]")
    spread = match_output(images, spec)
    if bias is not None:  # added before the sum is rounded, as in torch
        spread, weight = widened(spread), widened(weight)
    output, _, _ = gradients(spread, None, weight, spec, method, (True, False, False))
    assert output is not None
    output = output if bias is None else (output + bias[:, None, None]).to(input.dtype)
    return output if input.dim() == 4 else output.squeeze(0)


def transposed_spec(
    input_shape: Sequence[int],
    weight_shape: Sequence[int],
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: Any,
    dilation: Any,
) -> ConvSpec:
    """Return the geometry of the convolution whose backward pass conv_transpose2d is: its input is our output."""
    if len(weight_shape) != 4 or weight_shape[0] != input_shape[1]:
        raise ValueError(
            "weight must be [C_in, C_out / groups, kH, kW], with the input's channels first: got the weight "
            f"{list(weight_shape)} for the input {list(input_shape)}"
        )
    if 0 in weight_shape[:2]:
        raise ValueError(
            "weight must have channels, [C_in, C_out / groups, kH, kW] with 1 or more of each: got the shape "
            f"{list(weight_shape)}"
        )
    if weight_shape[0] % count("groups", groups):
        raise ValueError(
            f"groups must divide the input's channels: got groups={groups!r} for {weight_shape[0]} channels"
        )
    steps, gaps = pair("stride", unwrapped(stride)), pair("dilation", unwrapped(dilation))
    crops, extras = (
        pair(name, unwrapped(value), 0) for name, value in (("padding", padding), ("output_padding", output_padding))
    )
    whole, sizes = [], []
    for axis, name in enumerate(AXES):
        length, kernel = input_shape[2 + axis], weight_shape[2 + axis]
        step, gap, crop, extra = steps[axis], gaps[axis], crops[axis], extras[axis]
        if extra >= max(step, gap):
            raise ValueError(
                f"output_padding must be less than stride or dilation: got {extra} along the {name}, with stride "
                f"{step} and dilation {gap}"
            )
        whole.append((length - 1) * step + gap * (kernel - 1) + extra + 1)
        size = whole[axis] - 2 * crop
        if length < 1 or size < 1:
            raise ValueError(
                f"input and output must have a {name} of 1 or more: got {length}, which makes ({length} - 1) * {step} "
                f"- 2 * {crop} + {gap} * ({kernel} - 1) + {extra} + 1 = {size}; use less padding or a larger input"
            )
        sizes.append(size)
    channels = weight_shape[1] * int(groups)
    remedy = "use a smaller stride, dilation, kernel or input"
    check_tensor_size("the output, before padding crops it,", (channels, *whole), remedy)
    return conv_spec((1, channels, *sizes), weight_shape, steps, crops, gaps, groups)


def match_output(input: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Append the zeros that an output_padding of the stride and more stands for.

    So much output_padding makes room for another window of the convolution, which then belongs to no input cell.
    """
    height, width = spec.output_size
    missing = (height - input.shape[-2], width - input.shape[-1])
    return F.pad(input, (0, missing[1], 0, missing[0])) if any(missing) else input
