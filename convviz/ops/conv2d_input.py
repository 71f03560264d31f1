"""The gradient of conv2d with respect to its input."""

from collections.abc import Sequence

import torch

from convviz.ops.arguments import as_batch, cast_for_autocast, check_shape, check_tensors, conv_spec, sizes_of
from convviz.ops.autograd_functions import gradients
from convviz.ops.methods import check_method


def conv2d_input(  # noqa: D417 - conv2d documents the rest
    input_size: Sequence[int],
    weight: torch.Tensor,
    grad_output: torch.Tensor,
    stride: int | Sequence[int] = 1,
    padding: int | str | Sequence[int] | Sequence[Sequence[int]] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    *,
    padding_mode: str = "zeros",
    method: str = "rotate",
) -> torch.Tensor:
    """Return the gradient of the loss with respect to conv2d's input; the input's numbers play no part.

    With a stride several input sizes lead to one output size: this is why the size has to be given.

    Args:
        input_size: the input's shape, ``[N, C_in, H, W]``, or ``[C_in, H, W]`` for one sample.
        weight: ``[C_out, C_in / groups, kH, kW]``.
        grad_output: gradient with respect to conv2d's output, of its shape.
        stride, padding, dilation, groups, padding_mode, method: as given to ``conv2d``.

    Returns:
        grad_input of shape input_size; entry ``[n, c, i, j]`` is the sum of ``grad_output[o] * weight[k]`` over the
        taps (o, k) that read this cell, and over the output channels of the group. Differentiable.

    Raises:
        ValueError, TypeError: as ``conv2d``.
    """
    check_method(method)
    weight, grad_output = cast_for_autocast(weight, grad_output)  # type: ignore[assignment]
    check_tensors(grad_output=grad_output, weight=weight)
    sizes = sizes_of("input_size", input_size, "(N, C_in, H, W) or (C_in, H, W)", (3, 4))
    batch = (1,) * (4 - len(sizes)) + sizes
    spec = conv_spec(batch, weight.shape, stride, padding, dilation, groups, padding_mode)
    expected = (*sizes[:-3], *spec.output_shape[1:])
    check_shape("grad_output", grad_output, expected, f"of the shape of conv2d's output for input_size {list(sizes)}")
    to_input, _, _ = gradients(as_batch("grad_output", grad_output), None, weight, spec, method, (True, False, False))
    assert to_input is not None
    return to_input if len(sizes) == 4 else to_input.squeeze(0)
