"""avg_pool2d: the table of taps, with one part of an average in the weight's place."""

from collections.abc import Sequence

import torch

from convviz.geometry.spec import ConvSpec
from convviz.geometry.taps import taps
from convviz.geometry.whole_numbers import is_whole
from convviz.ops.arguments import as_batch, check_tensors
from convviz.ops.autograd_functions import run
from convviz.ops.half_precision import wide_dtype
from convviz.ops.pooling import Pooling, cells_of_windows, pool_spec


def avg_pool2d(
    input: torch.Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> torch.Tensor:
    """Take the mean of each window: ``torch.nn.functional.avg_pool2d``, with its gradient by the taps.

    Every cell of a window gets the same part of the window's gradient; a cell of several windows adds their parts up.

    Args:
        input: ``[N, C, H, W]``, or ``[C, H, W]`` for one sample; N may be 0.
        kernel_size: rows and columns of the window; an int or a pair (height, width), here and below.
        stride: step of the window; None for one as large as the window.
        padding: cells of 0 added around the input, at most half of kernel_size.
        ceil_mode: whether a last window may reach beyond the padding, if it starts before it.
        count_include_pad: whether the padding's cells count as cells of a window; those beyond it never do.
        divisor_override: what the sum of a window is divided by, in the place of the number of its cells.

    Returns:
        output ``[N, C, H_out, W_out]``; entry ``[n, c, i, j]`` is the sum of ``input[i]`` over its taps, divided by the
        number of the window's cells.

    Raises:
        ValueError: the geometry is impossible, or divisor_override is no whole number other than 0.
        TypeError: input is no tensor of real floating-point numbers.
    """
    check_tensors(input=input)
    images = as_batch("input", input)
    spec = pool_spec(images.shape, kernel_size, stride, padding, 1, ceil_mode)
    if not isinstance(count_include_pad, bool):
        raise ValueError(f"count_include_pad is True or False: got {count_include_pad!r}")
    if divisor_override is not None and (not is_whole(divisor_override, -(2**31)) or divisor_override == 0):
        raise ValueError(f"divisor_override is a whole number other than 0, or None: got {divisor_override!r}")
    parts = parts_of_average(spec, count_include_pad, divisor_override)
    weight = parts.to(images.device, wide_dtype(images)).expand(*images.shape[:2], -1)
    output: torch.Tensor = run(Pooling, images, weight, spec)
    return output if input.dim() == 4 else output.squeeze(0)


def parts_of_average(
    spec: ConvSpec, count_include_pad: bool = True, divisor_override: int | None = None
) -> torch.Tensor:
    """Return for each tap which part of its window's mean its cell is, ``[T]`` in float64."""
    o = taps(spec)[:, 0]
    if divisor_override is not None:
        return torch.full(o.shape, 1 / divisor_override, dtype=torch.float64)
    border = (spec.padding[0][0], spec.padding[1][0])
    return 1 / cells_of_windows(spec, border if count_include_pad else None)[o].double()
