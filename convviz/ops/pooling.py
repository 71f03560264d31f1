"""What both poolings share: their geometry, and the table of taps with a weight of its own in each row.

A pooling is the convolution of each channel with itself alone, in which the weight of a tap is no parameter: it is 1 at
the largest cell of a window and 0 at the others, or one part of an average. The rows are read as always::

    output[o]     += weight[t] * input[i]        read by o
    grad_input[i] += weight[t] * grad_output[o]  read by i

It keeps one weight a row of the table, channel and sample, so it is for small images, as ``by_taps``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from convviz.geometry.spec import AXES, ConvSpec
from convviz.geometry.taps import taps
from convviz.geometry.whole_numbers import Pair, pair, unwrapped
from convviz.ops.arguments import in_given_dtype
from convviz.ops.half_precision import widened
from convviz.ops.memory_format import in_layout_of


def pool_spec(
    input_shape: Sequence[int], kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> ConvSpec:
    """Return the geometry of a pooling of ``[N, C, H, W]``: a group for each channel; N may be 0.

    With ``ceil_mode`` the padding after the input is wider, by what the last window needs.
    """
    _, channels, *input_size = input_shape
    if 0 in input_shape[1:]:
        raise ValueError(
            f"input must have 1 or more channels, rows and columns: got the shape {list(input_shape)}; only the batch "
            "may be empty"
        )
    kernel = pair("kernel_size", unwrapped(kernel_size))
    step = kernel if stride is None else pair("stride", unwrapped(stride))
    gap, border = pair("dilation", unwrapped(dilation)), pair("padding", unwrapped(padding), 0)
    if not isinstance(ceil_mode, bool):
        raise ValueError(f"ceil_mode is True or False: got {ceil_mode!r}")
    sides = []
    for axis, name in enumerate(AXES):
        if border[axis] > kernel[axis] // 2:
            raise ValueError(
                f"padding is at most half of kernel_size, as in torch: got {border[axis]} along the {name} for "
                f"kernel_size {kernel[axis]}; use at most {kernel[axis] // 2}, or pad the input first"
            )
        span = gap[axis] * (kernel[axis] - 1) + 1
        more = _more_for_ceil(input_size[axis], span, step[axis], border[axis]) if ceil_mode else 0
        sides.append((border[axis], border[axis] + more))
    spec = ConvSpec(input_size, channels, channels, kernel, step, sides, gap, channels)
    if any(len({o for o, _, _ in spec.axis_taps(axis)}) < spec.output_size[axis] for axis in range(2)):
        raise ValueError(
            f"every window must read a cell of the input: got one that reads the border alone, for the input "
            f"{list(input_shape)}, kernel_size {kernel}, stride {step}, padding {border} and dilation {gap}; use less "
            "padding or dilation"
        )
    return spec


def _more_for_ceil(size: int, span: int, step: int, border: int) -> int:
    """Return how many cells ``ceil_mode`` reaches beyond the padding: its last window starts before that begins."""
    windows = -(-(size + 2 * border - span) // step) + 1
    if (windows - 1) * step >= size + border:
        windows -= 1
    return max((windows - 1) * step + span - size - 2 * border, 0) if windows > 0 else 0


def cells_of_windows(spec: ConvSpec, counts_border: Pair | None = None) -> torch.Tensor:
    """Return how many cells of the input each window reads, ``[H_out * W_out]``.

    ``counts_border``: the rows and columns of padding, on either side, whose cells count as well.
    """
    if counts_border:
        sides = [(0, sides[1] - border) for sides, border in zip(spec.padding, counts_border, strict=True)]
        size = [cells + 2 * border for cells, border in zip(spec.input_size, counts_border, strict=True)]
        spec = spec.replace(input_size=size, padding=sides)
    return torch.bincount(taps(spec)[:, 0], minlength=spec.output_size[0] * spec.output_size[1])


class Pooling(torch.autograd.Function):
    """The table with a weight for each row, read by o: (input, weight) to output."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input: torch.Tensor, weight: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
        o, _, i = taps(spec).to(input.device).unbind(1)
        return _read(input, weight, i, o, spec.output_size)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        _, weight, ctx.spec = inputs
        ctx.save_for_backward(weight)

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return PoolingBackward.apply(grad_output, *ctx.saved_tensors, ctx.spec), None, None


class PoolingBackward(torch.autograd.Function):
    """The same table, read by i: (grad_output, weight) to grad_input. Each is the derivative of the other."""

    generate_vmap_rule = True

    @staticmethod
    def forward(grad_output: torch.Tensor, weight: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
        o, _, i = taps(spec).to(grad_output.device).unbind(1)
        return _read(grad_output, weight, o, i, spec.input_size)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        _, weight, ctx.spec = inputs
        ctx.save_for_backward(weight)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return Pooling.apply(gradient, *ctx.saved_tensors, ctx.spec), None, None


def _read(plane: torch.Tensor, weight: torch.Tensor, by: torch.Tensor, to: torch.Tensor, size: Pair) -> torch.Tensor:
    """Multiply row by row, and add each product to the cell that it belongs to: ``[N, C, *size]``."""
    with in_given_dtype(plane):
        cells = widened(plane).flatten(2)[..., by]
        # A weight of 0 takes nothing, where 0 · inf would be nan.
        products = torch.where(weight == 0, 0, cells * weight.to(cells.dtype))
        sums = products.new_zeros(*products.shape[:2], size[0] * size[1]).index_add(2, to, products)
        return in_layout_of(sums.unflatten(2, size).to(plane.dtype), plane)
