"""The gradient of conv2d with respect to its weight."""

from collections.abc import Sequence

import torch

from convviz.ops.arguments import as_batch, cast_for_autocast, check_shape, check_tensors, conv_spec, sizes_of
from convviz.ops.autograd_functions import gradients
from convviz.ops.methods import check_method


def conv2d_weight(  # noqa: D417 - conv2d documents the rest
    input: torch.Tensor,
    weight_size: Sequence[int],
    grad_output: torch.Tensor,
    stride: int | Sequence[int] = 1,
    padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    *,
    padding_mode: str = "zeros",
    method: str = "rotate",
) -> torch.Tensor:
    """Return the gradient of the loss with respect to conv2d's weight; the weight's numbers play no part.

    Args:
        input: ``[N, C_in, H, W]``, or ``[C_in, H, W]`` for one sample.
        weight_size: the weight's shape, ``[C_out, C_in / groups, kH, kW]``.
        grad_output: gradient with respect to conv2d's output, of its shape.
        stride, padding, dilation, groups, padding_mode, method: as given to ``conv2d``.

    Returns:
        grad_weight of shape weight_size; entry ``[o, c, u, v]`` is the sum of ``grad_output[o] * input[i]`` over the
        taps (o, i) of kernel cell (u, v), and over the samples. Differentiable.

    Raises:
        ValueError, TypeError: as ``conv2d``.
    """
    check_method(method)
    input, grad_output = cast_for_autocast(input, grad_output)  # type: ignore[assignment]
    check_tensors(input=input, grad_output=grad_output)
    sizes = sizes_of("weight_size", weight_size, "(C_out, C_in / groups, kH, kW)", (4,))
    images = as_batch("input", input)
    spec = conv_spec(images.shape, sizes, stride, padding, dilation, groups, padding_mode)
    expected = (*input.shape[:-3], *spec.output_shape[1:])
    check_shape("grad_output", grad_output, expected, f"of the shape of conv2d's output for input {list(input.shape)}")
    _, to_weight, _ = gradients(as_batch("grad_output", grad_output), images, None, spec, method, (False, True, False))
    assert to_weight is not None
    return to_weight
