"""The convolution as tutorials write it: unfold and einsum, and backward by zero-padding, rot90 and the same function.

Only stride 1, no padding, no dilation, one group: that is where the published formulas end.
"""

import torch
import torch.nn.functional as F


def correlate(input, weight):
    """Return the output of a plain convolution."""
    batch, channels, height, width = input.shape
    rows, columns = weight.shape[2:]
    size = (height - rows + 1, width - columns + 1)
    windows = F.unfold(input, (rows, columns)).view(batch, channels, rows * columns, *size)
    return torch.einsum("nckhw,ock->nohw", windows, weight.flatten(2))


class Textbook(torch.autograd.Function):
    """That convolution, with its backward pass written by hand."""

    @staticmethod
    def forward(ctx, input, weight, bias):
        ctx.save_for_backward(input, weight)
        return correlate(input, weight) + bias[:, None, None]

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        rows, columns = weight.shape[2:]
        padded = torch.nn.ZeroPad2d((columns - 1, columns - 1, rows - 1, rows - 1))(grad_output)
        grad_input = correlate(padded, torch.rot90(weight, 2, (2, 3)).transpose(0, 1))
        grad_weight = correlate(input.transpose(0, 1), grad_output.transpose(0, 1)).transpose(0, 1)
        return grad_input, grad_weight, grad_output.sum((0, 2, 3))
