"""Padding the input, and folding the gradient of the padding back."""

import torch
import torch.nn.functional as F

from convviz.geometry.axis_taps import source
from convviz.geometry.spec import ConvSpec
from convviz.ops.half_precision import widened


def pad_input(input: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Add the border of zeros or copies that the padding mode asks for, ``[N, C_in, H + p, W + p]``."""
    (top, bottom), (left, right) = spec.padding
    if not (top or bottom or left or right):
        return input
    mode = "constant" if spec.padding_mode == "zeros" else spec.padding_mode
    return F.pad(input, (left, right, top, bottom), mode=mode)


def fold_padding(grad_padded_input: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Give every border cell's gradient to the input cell that it is a copy of; the adjoint of ``pad_input``.

    Entry ``[n, c, i, j]`` is the sum over all cells of padded_input that are copies of ``input[n, c, i, j]``; a padding
    zero is a copy of nothing, so its gradient is dropped.
    """
    gradient = widened(grad_padded_input)
    for axis, dim in ((0, -2), (1, -1)):
        before, size = spec.padding[axis][0], spec.input_size[axis]
        folded = gradient.narrow(dim, before, size).clone()
        for padded_row in range(spec.padded_size[axis]):
            row = padded_row - before
            target = source(row, size, spec.padding_mode)
            if target is not None and not 0 <= row < size:
                folded.select(dim, target).add_(gradient.select(dim, padded_row))
        gradient = folded
    return gradient.to(grad_padded_input.dtype)
