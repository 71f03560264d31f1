"""The one idea of convviz: a convolution is a table of taps.

The index formula ``i = o * stride - padding + k * dilation`` stands here and nowhere else in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from convviz.spec import ConvSpec

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def source(position: int, size: int, padding_mode: str) -> int | None:
    """Which input row (or column) a padded row is a copy of.

    Args:
        position: row of the padded input counted from the first row of the input, so the rows above it are
            negative and the rows below it are ``size`` and more.
        size: number of rows of the input.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.

    Returns:
        The input row whose value stands there, or None where a padding zero stands.
    """
    if 0 <= position < size:
        return position
    if padding_mode == "reflect":
        return -position if position < 0 else 2 * (size - 1) - position
    if padding_mode == "replicate":
        return 0 if position < 0 else size - 1
    if padding_mode == "circular":
        return position % size
    return None


def axis_taps(
    input_size: int,
    output_size: int,
    kernel_size: int,
    stride: int,
    padding: int,
    dilation: int,
    padding_mode: str,
) -> list[tuple[int, int, int]]:
    """List the taps of one axis.

    Args:
        input_size: rows of the input, without padding.
        output_size: rows of the output.
        kernel_size: rows of the kernel.
        stride: step of the window, in rows of the padded input.
        padding: rows added *before* the input; those after it follow from ``output_size``.
        dilation: distance of two neighbouring kernel rows, in rows of the padded input.
        padding_mode: how the border is filled.

    Returns:
        Triples ``(o, k, i)``: output row o receives ``weight[k] * input[i]``. Taps that fall on a padding
        zero are left out, because they add nothing to any sum.
    """
    table = []
    for o in range(output_size):
        for k in range(kernel_size):
            i = source(o * stride - padding + k * dilation, input_size, padding_mode)
            if i is not None:
                table.append((o, k, i))
    return table


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
    import torch  # here: the geometry above it is plain ints, for those who need no torch

    width, out_width, kernel_width = spec.input_size[1], spec.output_size[1], spec.kernel_size[1]
    rows = torch.tensor(spec.axis_taps(0), dtype=torch.int64).reshape(-1, 1, 3)
    columns = torch.tensor(spec.axis_taps(1), dtype=torch.int64).reshape(1, -1, 3)
    table = (rows * torch.tensor([out_width, kernel_width, width]) + columns).reshape(-1, 3)  # [T, 3]
    cells_of_kernel = spec.kernel_size[0] * kernel_width
    return table[torch.argsort(table[:, 0] * cells_of_kernel + table[:, 1], stable=True)]
