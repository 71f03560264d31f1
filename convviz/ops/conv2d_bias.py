"""The gradient to the bias: every output cell used it once, so its gradient is a sum."""

import torch

from convviz.ops.arguments import check_tensors
from convviz.ops.half_precision import wide_dtype


def conv2d_bias(grad_output: torch.Tensor) -> torch.Tensor:
    """Return the gradient of the loss with respect to the bias.

    Args:
        grad_output: ``[N, C_out, H_out, W_out]`` or, for one sample, ``[C_out, H_out, W_out]``.

    Returns:
        grad_bias ``[C_out]``; entry o is the sum of grad_output over the samples and the cells of channel o.

    Raises:
        ValueError: grad_output is no batch of images.
        TypeError: grad_output is no tensor of real floating-point numbers.
    """
    check_tensors(grad_output=grad_output)
    if grad_output.dim() not in (3, 4):
        raise ValueError(
            "grad_output must be [N, C_out, H_out, W_out], or [C_out, H_out, W_out] for one sample: got the shape "
            f"{list(grad_output.shape)}"
        )
    # Apart from the samples: several times as fast as all three axes at once.
    per_sample = grad_output.sum((-2, -1), dtype=wide_dtype(grad_output))
    gradient = per_sample.sum(0) if grad_output.dim() == 4 else per_sample
    return gradient.to(grad_output.dtype)
