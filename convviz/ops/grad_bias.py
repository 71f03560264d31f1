"""The gradient to the bias: grad_output, added up."""

from __future__ import annotations

import torch


def grad_bias(grad_output: torch.Tensor) -> torch.Tensor:
    """Return the gradient of the loss with respect to the bias.

    Args:
        grad_output: ``[N, C_out, H_out, W_out]``.

    Returns:
        grad_bias ``[C_out]``; entry ``[o]`` is the sum of ``grad_output[n, o, i, j]`` over n, i and j, because
        the bias is added to every one of these cells.
    """
    return grad_output.sum((0, 2, 3))
