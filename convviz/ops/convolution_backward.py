"""PyTorch's convolution_backward, answered by any method."""

from collections.abc import Sequence

import torch

from convviz.geometry.spec import ConvSpec
from convviz.geometry.whole_numbers import is_whole
from convviz.ops.arguments import cast_for_autocast, check_shape, check_tensors, conv_spec, sizes_of
from convviz.ops.autograd_functions import convolve, gradients
from convviz.ops.by_aten import Gradients
from convviz.ops.conv2d_bias import conv2d_bias
from convviz.ops.conv_transpose2d import match_output, transposed_spec
from convviz.ops.methods import Mask, check_method


def convolution_backward(
    grad_output: torch.Tensor,
    input: torch.Tensor,
    weight: torch.Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
    *,
    method: str = "rotate",
) -> Gradients:
    """Return all gradients of a convolution: ``torch.ops.aten.convolution_backward``, for two spatial axes.

    Args:
        grad_output: gradient with respect to the output, of its shape.
        input: ``[N, C_in, H, W]``.
        weight: ``[C_out, C_in / groups, kH, kW]``; ``[C_in, C_out / groups, kH, kW]`` when transposed.
        bias_sizes: ``[C_out]`` or None. As in torch the mask alone decides whether there is a gradient.
        stride: as in the forward pass, like all that follow; a list of one or two numbers, here and below, as in torch.
        padding: zeros on both sides.
        dilation: see stride.
        transposed: whether the forward pass was conv_transpose2d.
        output_padding: of conv_transpose2d; ``[0, 0]`` for conv2d.
        groups: see stride.
        output_mask: whether grad_input, grad_weight and grad_bias are wanted.
        method: see ``conv2d``.

    Returns:
        (grad_input, grad_weight, grad_bias), None where the mask is False. Differentiable.

    Raises:
        ValueError, TypeError: as ``conv2d``.
    """
    check_method(method)
    grad_output, input, weight = cast_for_autocast(grad_output, input, weight)  # type: ignore[assignment]
    check_tensors(grad_output=grad_output, input=input, weight=weight)
    mask = _mask(output_mask)
    for name, pair in (
        ("stride", stride),
        ("padding", padding),
        ("dilation", dilation),
        ("output_padding", output_padding),
    ):
        _check_pair(name, pair)
    if not isinstance(transposed, bool):
        raise ValueError(f"transposed must be True, for conv_transpose2d, or False: got {transposed!r}")
    if input.dim() != 4:
        raise ValueError(f"input must be [N, C_in, H, W]: got the shape {list(input.shape)}")
    if transposed:
        spec = transposed_spec(input.shape, weight.shape, stride, padding, output_padding, groups, dilation)
        output_shape, channels = (input.shape[0], *spec.input_shape[1:]), spec.in_channels
    else:
        spec = conv_spec(input.shape, weight.shape, stride, padding, dilation, groups)
        output_shape, channels = (input.shape[0], *spec.output_shape[1:]), spec.out_channels
        if any(output_padding):
            raise ValueError(
                f"output_padding belongs to transposed=True: got {output_padding!r} for conv2d; use [0, 0]"
            )
    check_shape("grad_output", grad_output, output_shape, f"of the output's shape for input {list(input.shape)}")
    if bias_sizes is not None and tuple(sizes_of("bias_sizes", bias_sizes, "[C_out] or None", (1,))) != (channels,):
        raise ValueError(f"bias_sizes must be [C_out], [{channels}], or None: got {bias_sizes!r}")
    if transposed:
        return _transposed(grad_output, input, weight, spec, method, mask)
    return gradients(grad_output, input, weight, spec, method, mask)


def _transposed(
    grad_output: torch.Tensor, input: torch.Tensor, weight: torch.Tensor, spec: ConvSpec, method: str, mask: Mask
) -> Gradients:
    """Differentiate conv_transpose2d, which is linear in its input and in its weight, like the convolution it reverses.

    Its gradient to the input is that convolution, of grad_output. Its gradient to the weight is that convolution's,
    with the two tensors in each other's place.
    """
    to_input = to_weight = None
    if mask[0]:
        # The rows beyond the input are those of an output_padding of the stride and more.
        to_input = convolve(grad_output, weight, None, spec, method)[..., : input.shape[-2], : input.shape[-1]]
    if mask[1]:
        _, to_weight, _ = gradients(match_output(input, spec), grad_output, None, spec, method, (False, True, False))
    return to_input, to_weight, conv2d_bias(grad_output) if mask[2] else None


def _check_pair(name: str, pair: Sequence[int]) -> None:
    whole = isinstance(pair, (tuple, list)) and all(is_whole(part, 0) for part in pair)
    if not whole or len(pair) not in (1, 2):
        raise ValueError(
            f"{name} must be a list of one or two whole numbers of 0 or more, as torch.ops.aten.convolution_backward "
            f"takes it: got {pair!r}; write [1, 1] for 1"
        )


def _mask(output_mask: Sequence[bool]) -> Mask:
    booleans = isinstance(output_mask, (tuple, list)) and all(isinstance(wanted, bool) for wanted in output_mask)
    if not booleans or len(output_mask) != 3:
        raise ValueError(
            "output_mask must be three booleans, for grad_input, grad_weight and grad_bias: got "
            f"{output_mask!r}; for example [True, True, False]"
        )
    to_input, to_weight, to_bias = output_mask
    return to_input, to_weight, to_bias
