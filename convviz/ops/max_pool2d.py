"""max_pool2d: the table of taps, with a 1 at the largest cell of each window in the weight's place."""

from collections.abc import Sequence

import torch

from convviz.geometry.spec import ConvSpec
from convviz.geometry.taps import taps
from convviz.ops.arguments import as_batch, check_tensors
from convviz.ops.autograd_functions import run
from convviz.ops.pooling import Pooling, pool_spec


def max_pool2d(
    input: torch.Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> torch.Tensor:
    """Keep the largest cell of each window: ``torch.nn.functional.max_pool2d``, with its gradient by the taps.

    The window's gradient goes to that cell alone. Of several that are as large the first row by row gets it, as in
    torch; of several nans the last. Where windows overlap, a cell adds up what each of them sends.

    Args:
        input: ``[N, C, H, W]``, or ``[C, H, W]`` for one sample; N may be 0.
        kernel_size: rows and columns of the window; an int or a pair (height, width), here and below.
        stride: step of the window; None for one as large as the window.
        padding: cells of −∞ added around the input, at most half of kernel_size.
        dilation: distance between neighbouring cells of the window.
        ceil_mode: whether a last window may reach beyond the padding, if it starts before it.

    Returns:
        output ``[N, C, H_out, W_out]``; entry ``[n, c, i, j]`` is the largest ``input[i]`` of its taps. Differentiable
        as often as torch's own: the second derivative follows the same cells.

    Raises:
        ValueError: the geometry is impossible, or a window reads no cell of the input, for which torch's own
            gradient writes outside the tensor.
        TypeError: input is no tensor of real floating-point numbers.
    """
    check_tensors(input=input)
    images = as_batch("input", input)
    spec = pool_spec(images.shape, kernel_size, stride, padding, dilation, ceil_mode)
    output: torch.Tensor = run(Pooling, images, first_largest(images.detach(), spec), spec)
    return output if input.dim() == 4 else output.squeeze(0)


def first_largest(input: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Return for each tap whether it reads its window's largest cell, 1 or 0, ``[N, C, T]``: one 1 a window."""
    o, k, i = taps(spec).to(input.device).unbind(1)
    cells = input.flatten(2)[..., i]
    is_nan = cells.isnan()
    windows = (*cells.shape[:2], spec.output_size[0] * spec.output_size[1])
    to = o.expand(cells.shape)
    least = cells.new_full(windows, -torch.inf)
    largest = least.scatter_reduce(2, to, cells.masked_fill(is_nan, -torch.inf), "amax")
    # A nan counts as larger than any number, the last of them as the largest: so torch reads a window.
    last = spec.kernel_size[0] * spec.kernel_size[1]
    rank = torch.where(is_nan, -k, torch.where(cells == largest.gather(2, to), k, last))
    first = rank.new_full(windows, last).scatter_reduce(2, to, rank, "amin")
    return (rank == first.gather(2, to)).to(input.dtype)
