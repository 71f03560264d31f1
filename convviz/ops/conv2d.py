"""conv2d, the forward pass, with a backward pass of our own."""

from collections.abc import Sequence

import torch

from convviz.ops.arguments import as_batch, cast_for_autocast, check_shape, check_tensors, conv_spec
from convviz.ops.autograd_functions import convolve
from convviz.ops.methods import check_method


def conv2d(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    *,
    padding_mode: str = "zeros",
    method: str = "rotate",
) -> torch.Tensor:
    """Slide the kernels over the input: ``torch.nn.functional.conv2d`` with the gradients by a chosen method.

    Args:
        input: ``[N, C_in, H, W]``, or ``[C_in, H, W]`` for one sample; N may be 0.
        weight: ``[C_out, C_in / groups, kH, kW]``.
        bias: ``[C_out]`` or None.
        stride: step of the window; an int or a pair (height, width), here and below.
        padding: cells added around the input; also ``"same"``, ``"valid"``, or a pair of pairs ((top, bottom),
            (left, right)).
        dilation: distance between neighbouring kernel cells.
        groups: number of independent channel groups.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        method: ``"taps"`` (the definition), ``"unfold"`` (im2col and col2im), ``"rotate"`` (pad, rotated kernel; the
            zeros that the stride inserts are left out) or ``"aten"`` (PyTorch's own ``convolution_backward``). Two
            differ from torch in where inf or nan makes a nan, because 0 · inf is one: rotate multiplies the zeros that
            it pads, so a weight that is inf or nan makes more cells of grad_input nan; taps leaves out the products
            with a border's zeros, so such a weight makes fewer cells of the output nan, and such a grad_output fewer
            of grad_weight.

    Returns:
        output ``[N, C_out, H_out, W_out]``; entry ``[n, o, i, j]`` is ``bias[o]`` plus the sum of
        ``weight[k] * input[i]`` over its taps and over the input channels of the group.

    Raises:
        ValueError: the shapes do not fit together, the geometry is impossible, or the devices differ.
        TypeError: something is no tensor of real floating-point numbers, or the dtypes differ.
    """
    check_method(method)
    input, weight, bias = cast_for_autocast(input, weight, bias)  # type: ignore[assignment]
    check_tensors(input=input, weight=weight, bias=bias)
    images = as_batch("input", input)
    spec = conv_spec(images.shape, weight.shape, stride, padding, dilation, groups, padding_mode)
    check_shape("bias", bias, (spec.out_channels,), "one number for every output channel, [C_out]")
    output = convolve(images, weight, bias, spec, method)
    return output if input.dim() == 4 else output.squeeze(0)
