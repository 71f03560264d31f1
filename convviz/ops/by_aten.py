"""A convolution and its gradients by PyTorch's own operators.

``aten::convolution`` chooses a backend (oneDNN, cuDNN, im2col, ...; see ``which_backend``), and
``aten::convolution_backward`` chooses it again and returns all three gradients. Its ``output_mask`` says which of them
are wanted. A backend may compute more: oneDNN computes grad_weight wherever grad_bias is wanted, and returns it.
"""

import torch

from convviz.geometry.spec import ConvSpec
from convviz.ops.memory_format import is_channels_last

Gradients = tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]


def conv2d(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, spec: ConvSpec) -> torch.Tensor:
    """Return the output ``[N, C_out, H_out, W_out]``."""
    output: torch.Tensor = torch.ops.aten.convolution.default(input, weight, bias, *_arguments(spec))
    return output


def backward(
    grad_output: torch.Tensor,
    input: torch.Tensor | None,
    weight: torch.Tensor | None,
    spec: ConvSpec,
    output_mask: tuple[bool, bool, bool],
) -> Gradients:
    """Return (grad_input, grad_weight, grad_bias), None where the mask is False, of a convolution padded with zeros."""
    batch = grad_output.shape[0]
    # The operator reads the shape of both, and the numbers of those it needs: one number stands for all others.
    x = grad_output.new_empty(1).expand(batch, *spec.input_shape[1:]) if input is None else input
    if input is not None and not is_channels_last(input):
        # One sample of a batch in channels_last has strides of neither layout. With a weight in channels_last and
        # groups, torch 2.13 then returns a wrong grad_weight on a CPU.
        x = input.contiguous()
    w = grad_output.new_empty(1).expand(spec.weight_shape) if weight is None else weight
    bias_sizes = [spec.out_channels]
    found = torch.ops.aten.convolution_backward.default(
        grad_output, x, w, bias_sizes, *_arguments(spec), list(output_mask)
    )
    # oneDNN returns grad_weight with every grad_bias, so the mask is applied once more.
    to_input, to_weight, to_bias = (
        gradient if wanted else None for gradient, wanted in zip(found, output_mask, strict=True)
    )
    return to_input, to_weight, to_bias


def _arguments(spec: ConvSpec) -> tuple[list[int], list[int], list[int], bool, list[int], int]:
    padding = [spec.padding[0][0], spec.padding[1][0]]
    return list(spec.stride), padding, list(spec.dilation), False, [0, 0], spec.groups
