"""The gradient to the weight: the padded input correlated with the dilated grad_output."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from convviz.spec import ConvSpec


def grad_weight(padded_input: torch.Tensor, dilated_grad_output: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Return the gradient of the loss with respect to the weight.

    Stride and dilation change places: the forward stride spreads grad_output apart, and the forward dilation
    becomes the step of the window. Samples are summed, so batch and channels change places as well. Nothing
    is rotated.

    Args:
        padded_input: ``[N, C_in, H + p, W + p]``.
        dilated_grad_output: grad_output with the stride's zeros inserted.
        spec: the geometry.

    Returns:
        grad_weight ``[C_out, C_in / groups, kH, kW]``; entry ``[o, c, u, v]`` is the sum of
        ``grad_output[o] * input[i]`` over the taps (o, i) of kernel cell (u, v), and over the samples.
    """
    batch, _, height, width = padded_input.shape
    in_per_group = spec.in_channels // spec.groups
    windows = (
        padded_input.reshape(batch, spec.groups, in_per_group, height, width)
        .permute(2, 1, 0, 3, 4)
        .reshape(in_per_group, spec.groups * batch, height, width)
    )
    kernels = dilated_grad_output.transpose(0, 1)  # [C_out, N, s (H_out - 1) + 1, s (W_out - 1) + 1]
    gradient = F.conv2d(
        windows, kernels, stride=spec.dilation, groups=spec.groups
    )  # [C_in / groups, C_out, >= kH, >= kW]
    # A remainder of at least the dilation lets the window move on past the kernel: those rows are not weights.
    return gradient.transpose(0, 1)[..., : spec.kernel_size[0], : spec.kernel_size[1]].contiguous()
