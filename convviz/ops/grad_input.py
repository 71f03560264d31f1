"""The gradient to the input: a convolution of grad_output with the rotated kernel.

Four steps, each a picture of its own: put zeros between the cells of grad_output, pad it, rotate the kernel,
correlate with stride 1.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from convviz.ops.padding import fold_padding
from convviz.spec import ConvSpec, Pair, Sides


def dilate_grad_output(grad_output: torch.Tensor, stride: Pair) -> torch.Tensor:
    """Insert ``stride - 1`` zeros between neighbouring cells, as the stride had left out windows.

    Args:
        grad_output: ``[N, C_out, H_out, W_out]``.
        stride: of the forward pass.

    Returns:
        dilated_grad_output ``[N, C_out, s (H_out - 1) + 1, s (W_out - 1) + 1]``.
    """
    if stride == (1, 1):
        return grad_output
    *leading, height, width = grad_output.shape
    dilated = grad_output.new_zeros(*leading, stride[0] * (height - 1) + 1, stride[1] * (width - 1) + 1)
    dilated[..., :: stride[0], :: stride[1]] = grad_output
    return dilated


def backward_padding(spec: ConvSpec) -> Sides:
    """How many cells the backward pass adds around dilated_grad_output; a negative number crops.

    ``d (k - 1) - p`` before, ``d (k - 1) - p' + remainder`` after. The remainder belongs after: these are the
    rows at the end of the padded input that no window reached. In a padding mode other than zeros the border
    has a gradient as well, which is folded back afterwards, so there p counts as 0.
    """
    sides = []
    for axis in range(2):
        before, after = spec.padding[axis] if spec.padding_mode == "zeros" else (0, 0)
        reach = spec.effective_kernel[axis] - 1
        sides.append((reach - before, reach - after + spec.remainder[axis]))
    return (sides[0], sides[1])


def pad_grad_output(dilated_grad_output: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Pad dilated_grad_output so that the rotated kernel produces exactly the input's size.

    Args:
        dilated_grad_output: from ``dilate_grad_output``.
        spec: the geometry.

    Returns:
        padded_grad_output, the "padded deconvolution": the tensor over which the rotated kernel slides.
    """
    (top, bottom), (left, right) = backward_padding(spec)
    # Pad first, crop second: F.pad crops first, and fails when the crop is larger than what is there.
    padded = F.pad(dilated_grad_output, (max(left, 0), max(right, 0), max(top, 0), max(bottom, 0)))
    height, width = padded.shape[-2:]
    return padded[..., max(-top, 0) : height - max(-bottom, 0), max(-left, 0) : width - max(-right, 0)]


def rotate_weight(weight: torch.Tensor, groups: int) -> torch.Tensor:
    """Turn every kernel by 180 degrees and swap its input and output channels within each group.

    Args:
        weight: ``[C_out, C_in / groups, kH, kW]``.
        groups: number of channel groups.

    Returns:
        rotated_weight ``[C_in, C_out / groups, kH, kW]``; entry ``[c, o, u, v]`` is
        ``weight[o, c, kH - 1 - u, kW - 1 - v]``, o and c counted within the group.
    """
    out_channels, in_per_group, height, width = weight.shape
    by_group = weight.flip(-2, -1).reshape(groups, out_channels // groups, in_per_group, height, width)
    return by_group.transpose(1, 2).reshape(groups * in_per_group, out_channels // groups, height, width)


def correlate(padded_grad_output: torch.Tensor, rotated_weight: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Slide the rotated kernel over padded_grad_output, stride 1, the forward pass's dilation.

    Returns:
        The gradient ``[N, C_in, H, W]`` of the input, or of padded_input when the padding mode is not zeros.
    """
    return F.conv2d(padded_grad_output, rotated_weight, dilation=spec.dilation, groups=spec.groups)


def grad_input(grad_output: torch.Tensor, weight: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Return the gradient of the loss with respect to the input.

    Args:
        grad_output: ``[N, C_out, H_out, W_out]``.
        weight: ``[C_out, C_in / groups, kH, kW]``.
        spec: the geometry.

    Returns:
        grad_input ``[N, C_in, H, W]``; entry ``[n, c, i, j]`` is the sum of ``grad_output[o] * weight[k]``
        over the taps (o, k) that read this input cell, and over the output channels of the group.
    """
    padded = pad_grad_output(dilate_grad_output(grad_output, spec.stride), spec)
    gradient = correlate(padded, rotate_weight(weight, spec.groups), spec)
    return gradient if spec.padding_mode == "zeros" else fold_padding(gradient, spec)
