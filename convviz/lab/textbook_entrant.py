"""The textbook entrant: forward unfold and einsum, backward zero-padding, rot90 and the same function.

Formulas as they are taught, nothing saved and nothing shared. Only stride 1, no padding, no dilation, one group: that
is where the published formulas end.
"""

from typing import Any

import torch
import torch.nn.functional as F


def correlate(input: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Return ``[N, C_out, H - kH + 1, W - kW + 1]`` of ``[N, C_in, H, W]`` and a weight ``[C_out, C_in, kH, kW]``."""
    batch, channels, height, width = input.shape
    rows, columns = weight.shape[2:]
    size = (height - rows + 1, width - columns + 1)
    windows = F.unfold(input, (rows, columns)).view(batch, channels, rows * columns, *size)
    return torch.einsum("nckhw,ock->nohw", windows, weight.flatten(2))


class Article(torch.autograd.Function):
    """That convolution plus a bias, (input, weight, bias) to the output, with its backward pass written by hand."""

    @staticmethod
    def forward(ctx: Any, input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """Return the output ``[N, C_out, H_out, W_out]``."""
        ctx.save_for_backward(input, weight)
        return correlate(input, weight) + bias[:, None, None]

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return all three gradients, also where nobody asked: the first layer pays for a gradient of the images."""
        input, weight = ctx.saved_tensors
        rows, columns = weight.shape[2:]
        padded = torch.nn.ZeroPad2d((columns - 1, columns - 1, rows - 1, rows - 1))(grad_output)
        grad_input = correlate(padded, torch.rot90(weight, 2, (2, 3)).transpose(0, 1))
        grad_weight = correlate(input.transpose(0, 1), grad_output.transpose(0, 1)).transpose(0, 1)
        return grad_input, grad_weight, grad_output.sum((0, 2, 3))
