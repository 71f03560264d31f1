"""The one idea of convviz: a convolution is a table of taps."""

import torch

from convviz.geometry.spec import ConvSpec


def taps(spec: ConvSpec) -> torch.Tensor:
    """Return every triple (output cell, kernel cell, input cell) of one channel plane.

    Read one row ``(o, k, i)`` aloud: *output cell o receives weight[k] · input[i]*. That is all a convolution
    does, and the three gradients are the same rows, read by another column::

        output[o]      += weight[k]      * input[i]        read by o
        grad_input[i]  += grad_output[o] * weight[k]       read by i
        grad_weight[k] += grad_output[o] * input[i]        read by k

    Nothing is rotated, dilated or cropped here: rotation appears when the rows are sorted by i, and the
    zeros between the grad_output cells appear when the stride leaves out some of the i.

    With ``padding_mode`` reflect, replicate or circular a border row is a copy of an input row, so its tap
    names the cell that was copied; the same (o, i) can then stand in several rows, with different k.

    Args:
        spec: the geometry. Channels play no part: every (sample, output channel, input channel of the same
            group) repeats this table.

    Returns:
        int64 tensor ``[T, 3]`` of flat indices, ``o = row * W_out + column`` and so on, sorted by o, then k.
    """
    width, out_width, kernel_width = spec.input_size[1], spec.output_size[1], spec.kernel_size[1]
    rows = torch.tensor(spec.axis_taps(0), dtype=torch.int64).reshape(-1, 1, 3)  # [T_rows, 1, 3]
    columns = torch.tensor(spec.axis_taps(1), dtype=torch.int64).reshape(1, -1, 3)  # [1, T_columns, 3]
    table = (rows * torch.tensor([out_width, kernel_width, width]) + columns).reshape(-1, 3)  # [T, 3]
    cells_of_kernel = spec.kernel_size[0] * kernel_width
    return table[torch.argsort(table[:, 0] * cells_of_kernel + table[:, 1], stable=True)]
