"""Seeded random geometries and tensors for the tests. Nothing here touches the global random state."""

import random
from collections.abc import Iterator

import numpy as np
import torch

from convviz.geometry.spec import ConvSpec

MODES = ("zeros", "reflect", "replicate", "circular")

# Each is the smallest known geometry of its kind.
EDGE_CASES: dict[str, ConvSpec] = {
    "one cell": ConvSpec(1, kernel_size=1),
    "1x1 kernel": ConvSpec((4, 5), 2, 3, kernel_size=1),
    "1x1 kernel, stride 3": ConvSpec((5, 7), kernel_size=1, stride=3),
    "1x1 input inside padding": ConvSpec(1, kernel_size=3, padding=1),
    "stride larger than kernel": ConvSpec((11, 9), kernel_size=2, stride=(5, 3)),
    "remainder unread": ConvSpec(8, kernel_size=3, stride=3),
    "remainder read by padding": ConvSpec(8, kernel_size=3, stride=2, padding=1),
    "remainder wider than dilation": ConvSpec((10, 11), kernel_size=2, stride=4, dilation=1),
    "padding of the effective kernel": ConvSpec((3, 4), kernel_size=(2, 3), padding=(2, 3)),
    "padding larger than kernel": ConvSpec((2, 3), kernel_size=2, padding=((4, 3), (5, 6))),
    "crop larger than dilated grad_output": ConvSpec(3, kernel_size=1, stride=10, padding=2),
    "every axis different": ConvSpec((7, 10), 2, 3, (3, 2), (2, 3), ((1, 0), (2, 1)), (1, 2)),
    "causal": ConvSpec((6, 8), kernel_size=(3, 2), padding=((2, 0), (1, 0))),
    "grouped": ConvSpec((5, 6), 4, 6, 3, 2, 1, groups=2, batch=2),
    "depthwise": ConvSpec((6, 5), 3, 3, (3, 2), 1, 1, groups=3),
    "depthwise with multiplier": ConvSpec(6, 2, 6, 3, 2, 1, groups=2, batch=2),
    "dilation 3": ConvSpec((9, 8), kernel_size=(3, 2), dilation=3, stride=2),
    "reflect to the limit": ConvSpec((4, 5), 2, 2, 3, 2, ((3, 3), (4, 0)), padding_mode="reflect"),
    "replicate beyond the input": ConvSpec((2, 3), kernel_size=3, padding=(5, 4), padding_mode="replicate"),
    "circular to the limit": ConvSpec((3, 4), 2, 2, 3, 2, ((3, 2), (1, 4)), padding_mode="circular"),
    "circular, 1x1 input": ConvSpec(1, kernel_size=3, padding=1, padding_mode="circular"),
}


def random_specs(seed: int, count: int, modes: tuple[str, ...] = MODES) -> Iterator[ConvSpec]:
    """Yield valid geometries, small enough to brute-force and odd on purpose.

    Every quantity is drawn per axis (the padding per side), so equal values on both axes are the exception.
    Zeros is drawn as often as the three other modes together.
    """
    draw = random.Random(seed)
    for _ in range(count):
        mode = draw.choice(modes if draw.random() < 0.5 or "zeros" not in modes else ("zeros",))
        groups = draw.choice((1, 1, 1, 2, 3))
        depthwise = draw.random() < 0.3
        in_channels = groups * (1 if depthwise else draw.randint(1, 2))
        rows, columns = _random_axis(draw, mode), _random_axis(draw, mode)
        size, kernel, stride, padding, dilation = zip(rows, columns, strict=True)
        yield ConvSpec(
            size,
            in_channels,
            groups * draw.randint(1, 2),
            kernel,
            stride,
            padding,
            dilation,
            groups,
            mode,
            batch=draw.randint(1, 2),
        )


def _random_axis(draw: random.Random, mode: str) -> tuple[int, int, int, tuple[int, int], int]:
    """Draw (size, kernel, stride, padding, dilation) of one axis, until the kernel fits."""
    while True:
        size = draw.choice((1, 1, 2, 3, 4, 5, 6, 7, 8))
        kernel, stride, dilation = draw.choice((1, 1, 2, 3, 4)), draw.choice((1, 1, 2, 3, 4, 5, 10)), draw.randint(1, 3)
        limit = {"reflect": size - 1, "circular": size}.get(mode, 6)
        before, after = draw.randint(0, limit), draw.randint(0, limit)
        if draw.random() < 0.3:
            before = after = 0
        if dilation * (kernel - 1) + 1 <= size + before + after:
            return size, kernel, stride, (before, after), dilation


def integers(shape: tuple[int, ...], seed: int, limit: int = 4) -> torch.Tensor:
    """Whole numbers from -limit to limit in float64: sums of their products have no rounding at all."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-limit, limit + 1, shape, generator=generator).to(torch.float64)


def reals(shape: tuple[int, ...], seed: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Normally distributed numbers."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def source_plane(spec: ConvSpec) -> torch.Tensor:
    """Say which input cell each cell of the padded input is a copy of, by numpy, not by convviz.

    Returns:
        int64 ``[H + p, W + p]`` of flat input cells; ``H * W`` stands for a padding zero.
    """
    height, width = spec.input_size
    plane = np.arange(height * width).reshape(height, width)
    mode = {"zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}[spec.padding_mode]
    fill = {"constant_values": height * width} if mode == "constant" else {}
    return torch.from_numpy(np.pad(plane, spec.padding, mode=mode, **fill))


def window_cells(spec: ConvSpec) -> torch.Tensor:
    """Say which input cell each kernel cell meets in each window.

    Returns:
        int64 ``[H_out, W_out, kH, kW]`` of flat input cells; ``H * W`` stands for a padding zero.
    """
    plane = source_plane(spec)
    for axis in range(2):
        span = spec.dilation[axis] * (spec.kernel_size[axis] - 1) + 1
        windows = plane.unfold(axis, span, spec.stride[axis])  # [..., span], and one window a row of `axis`
        plane = windows[..., :: spec.dilation[axis]]
    return plane


def conv2d_by_definition(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, spec: ConvSpec
) -> torch.Tensor:
    """Compute the output window by window from the definition: no torch convolution, no padding function.

    Differentiable, so that autograd through it is an oracle that shares nothing with the code under test.
    """
    cells = window_cells(spec)
    with_zero = torch.cat([input.flatten(2), input.new_zeros(*input.shape[:2], 1)], 2)
    windows = with_zero[:, :, cells]  # [N, C_in, H_out, W_out, kH, kW]
    in_per_group, out_per_group = spec.in_channels // spec.groups, spec.out_channels // spec.groups
    outputs = []
    for group in range(spec.groups):
        seen = windows[:, group * in_per_group : (group + 1) * in_per_group]
        kernels = weight[group * out_per_group : (group + 1) * out_per_group]
        outputs.append(torch.einsum("nchwuv,ocuv->nohw", seen, kernels))
    output = torch.cat(outputs, 1)
    return output if bias is None else output + bias.reshape(1, -1, 1, 1)
