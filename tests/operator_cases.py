"""What the tests of the operators share: arguments drawn at random, the answers of others, and the comparison."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F

import convviz
from convviz import ConvSpec, conv2d, conv2d_input, conv2d_weight, conv_transpose2d, linear
from tests.geometries import conv2d_by_definition, integers

METHODS = ("taps", "unfold", "rotate", "aten")


def drawn(spec: ConvSpec, seed: int, make: Callable[..., torch.Tensor] = integers) -> tuple[torch.Tensor, ...]:
    """Draw (input, weight, bias, grad_output)."""
    shapes = (spec.input_shape, spec.weight_shape, (spec.out_channels,), spec.output_shape)
    return tuple(make(shape, 4 * seed + number) for number, shape in enumerate(shapes))


def spelled(spec: ConvSpec, seed: int) -> dict[str, Any]:
    """Write the geometry as arguments of conv2d, each in one of the forms that mean the same."""
    draw = random.Random(seed)
    (top, bottom), (left, right) = spec.padding
    paddings: list[Any] = [spec.padding, [list(side) for side in spec.padding]]
    if (top, left) == (bottom, right):
        paddings += [*pairs((top, left)), *pairs((top, left))]
    if top == bottom == left == right == 0:
        paddings += ["valid"] * 4
    if spec.stride == (1, 1) and spec.replace(padding="same", padding_mode="zeros").padding == spec.padding:
        paddings += ["same"] * 4
    return {
        "stride": draw.choice(pairs(spec.stride)),
        "padding": draw.choice(paddings),
        "dilation": draw.choice(pairs(spec.dilation)),
        "groups": spec.groups,
        "padding_mode": spec.padding_mode,
    }


def pairs(pair: tuple[int, int]) -> list[Any]:
    """Return the forms of a pair; two equal numbers may be one, and one may stand in a list, as torch allows."""
    return [pair, list(pair), *([pair[0], [pair[0]], (pair[0],)] if pair[0] == pair[1] else [])]


def torch_conv2d(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, spec: ConvSpec, padding: Any = None
) -> torch.Tensor:
    """Ask torch, as torch.nn.Conv2d does: F.pad for what F.conv2d does not pad itself."""
    (top, bottom), (left, right) = spec.padding
    if spec.padding_mode == "zeros" and (isinstance(padding, str) or (top, left) == (bottom, right)):
        sides = padding if isinstance(padding, str) else (top, left)
        return F.conv2d(input, weight, bias, spec.stride, sides, spec.dilation, spec.groups)
    mode = "constant" if spec.padding_mode == "zeros" else spec.padding_mode
    padded = F.pad(input, (left, right, top, bottom), mode=mode)
    return F.conv2d(padded, weight, bias, spec.stride, 0, spec.dilation, spec.groups)


def definition(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, spec: ConvSpec) -> torch.Tensor:
    """Compute by the definition, for one sample without a batch as well."""
    if input.dim() == 4:
        return conv2d_by_definition(input, weight, bias, spec)
    return conv2d_by_definition(input[None], weight, bias, spec)[0]


def definition_of_grad_input(weight: torch.Tensor, grad_output: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Differentiate the definition to the input; differentiable itself."""
    x = grad_output.new_zeros(*grad_output.shape[:-3], *spec.input_shape[1:]).requires_grad_()
    (gradient,) = torch.autograd.grad(definition(x, weight, None, spec), x, grad_output, create_graph=True)
    return gradient


def definition_of_grad_weight(input: torch.Tensor, grad_output: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Differentiate the definition to the weight; differentiable itself."""
    w = input.new_zeros(spec.weight_shape).requires_grad_()
    (gradient,) = torch.autograd.grad(definition(input, w, None, spec), w, grad_output, create_graph=True)
    return gradient


class Transposed(NamedTuple):
    """One call of conv_transpose2d; the fields after the shapes are its arguments, both numbers of every pair."""

    input_shape: tuple[int, ...]
    weight_shape: tuple[int, ...]
    stride: tuple[int, int]
    padding: tuple[int, int]
    output_padding: tuple[int, int]
    groups: int
    dilation: tuple[int, int]

    @property
    def out_channels(self) -> int:
        return self.weight_shape[1] * self.groups

    @property
    def output_size(self) -> list[int]:
        return [
            (self.input_shape[-2 + axis] - 1) * self.stride[axis]
            - 2 * self.padding[axis]
            + self.dilation[axis] * (self.weight_shape[2 + axis] - 1)
            + self.output_padding[axis]
            + 1
            for axis in range(2)
        ]

    @property
    def output_shape(self) -> tuple[int, ...]:
        return (*self.input_shape[:-3], self.out_channels, *self.output_size)


def random_transposed(seed: int, count: int) -> Iterator[Transposed]:
    """Yield valid calls of conv_transpose2d, odd on purpose: a quarter has an output_padding of the stride and more."""
    draw = random.Random(seed)
    for _ in range(count):
        groups = draw.choice((1, 1, 2, 3))
        channels = (groups * draw.choice((1, 1, 2)), draw.randint(1, 2))
        while True:
            size, kernel, stride, dilation, padding = (
                (draw.randint(1, limit), draw.randint(1, limit)) for limit in (5, 4, 4, 3, 4)
            )
            padding = (padding[0] - 1, padding[1] - 1)
            rooms = [max(step, gap) for step, gap in zip(stride, dilation, strict=True)]
            extra = (draw.randrange(rooms[0]), draw.randrange(rooms[1]))
            shape = (draw.randint(1, 2), channels[0], *size)
            call = Transposed(shape, (*channels, *kernel), stride, padding, extra, groups, dilation)
            if min(call.output_size) > 0:
                break
        yield call


def conv_transpose2d_by_definition(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, call: Transposed
) -> torch.Tensor:
    """Let every input cell leave a copy of the kernel, add the copies up, and cut the padding off."""
    images = input if input.dim() == 4 else input[None]
    batch, _, height, width = images.shape
    by_group = images.reshape(batch, call.groups, -1, height, width)
    kernels = weight.reshape(call.groups, -1, *weight.shape[1:])
    size = [length + 2 * crop for length, crop in zip(call.output_size, call.padding, strict=True)]
    canvas = images.new_zeros(batch, call.groups, weight.shape[1], *size)
    for u in range(weight.shape[2]):
        for v in range(weight.shape[3]):
            copies = torch.einsum("ngchw,gco->ngohw", by_group, kernels[..., u, v])
            (y, x), (step_y, step_x) = (u * call.dilation[0], v * call.dilation[1]), call.stride
            rows, columns = (
                slice(y, y + (height - 1) * step_y + 1, step_y),
                slice(x, x + (width - 1) * step_x + 1, step_x),
            )
            place = torch.zeros_like(canvas)
            place[..., rows, columns] = copies
            canvas = canvas + place
    (top, left), (rows_left, columns_left) = call.padding, call.output_size
    output = canvas.flatten(1, 2)[..., top : top + rows_left, left : left + columns_left]
    output = output if bias is None else output + bias[:, None, None]
    return output if input.dim() == 4 else output[0]


def results(
    function: Callable[..., torch.Tensor], tensors: Sequence[torch.Tensor | None], grad_output: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Return the output, and the gradient to each of the tensors that is there."""
    leaves = [None if tensor is None else tensor.detach().requires_grad_() for tensor in tensors]
    output = function(*leaves)
    asked = [leaf for leaf in leaves if leaf is not None]
    return output.detach(), *torch.autograd.grad(output, asked, grad_output)


def same(found: Sequence[torch.Tensor], expected: Sequence[torch.Tensor], tolerance: float = 0) -> bool:
    """Say whether shapes and dtypes agree, and the numbers to the last bit, or to a part of the largest of them."""
    return len(found) == len(expected) and all(
        ours.shape == theirs.shape
        and ours.dtype == theirs.dtype
        and (torch.equal(ours, theirs) or bool((ours - theirs).abs().max() <= tolerance * theirs.abs().max()))
        for ours, theirs in zip(found, expected, strict=True)
    )


def padded(input, mode, top, bottom, left, right):
    return F.pad(input, (left, right, top, bottom), mode=mode)


def flat(gradients):
    return torch.cat([gradient.flatten() for gradient in gradients])


def transposed(x, w, b, stride, padding, extra, groups=1, dilation=1):
    """conv_transpose2d with its output_padding added by F.pad: with torch's own, third derivatives fail (2.13)."""
    output = F.conv_transpose2d(x, w, None, stride, 0, 0, groups, dilation)
    return F.pad(output, (-padding, extra[1] - padding, -padding, extra[0] - padding)) + b[:, None, None]


def backward(forward, g, x, w):
    """All three gradients of a function of (input, weight, bias) in one row, to be differentiated again."""
    return flat(torch.func.vjp(forward, x, w, x.new_zeros(g.shape[1]))[1](g))


# name → (ours, given the method; torch's own; the shapes of the tensors)
OPS = {
    "conv2d": (
        lambda x, w, b, **m: conv2d(x, w, b, (2, 1), 1, (1, 2), 2, **m),
        lambda x, w, b: F.conv2d(x, w, b, (2, 1), 1, (1, 2), 2),
        [(2, 2, 4, 3), (4, 1, 2, 2), (4,)],
    ),
    "conv2d, same": (
        lambda x, w, b, **m: conv2d(x, w, b, 1, "same", **m),
        lambda x, w, b: F.conv2d(padded(x, "constant", 0, 1, 1, 1), w, b),
        [(1, 2, 3, 4), (2, 2, 2, 3), (2,)],
    ),
    "conv2d, reflect": (
        lambda x, w, b, **m: conv2d(x, w, b, 2, ((2, 1), (0, 1)), padding_mode="reflect", **m),
        lambda x, w, b: F.conv2d(padded(x, "reflect", 2, 1, 0, 1), w, b, 2),
        [(1, 1, 4, 3), (2, 1, 3, 2), (2,)],
    ),
    "conv2d, replicate, one sample": (
        lambda x, w, **m: conv2d(x, w, None, 2, 1, padding_mode="replicate", **m),
        lambda x, w: F.conv2d(padded(x, "replicate", 1, 1, 1, 1), w, None, 2),
        [(1, 3, 3), (2, 1, 3, 2)],
    ),
    "conv2d, circular": (
        lambda x, w, b, **m: conv2d(x, w, b, 1, (1, 2), padding_mode="circular", **m),
        lambda x, w, b: F.conv2d(padded(x, "circular", 1, 1, 2, 2), w, b),
        [(1, 1, 3, 3), (1, 1, 3, 2), (1,)],
    ),
    "conv2d, circular, but no padding": (
        lambda x, w, b, **m: conv2d(x, w, b, 2, padding_mode="circular", **m),
        lambda x, w, b: F.conv2d(x, w, b, 2),
        [(1, 1, 4, 3), (1, 1, 2, 2), (1,)],
    ),
    "conv_transpose2d": (
        lambda x, w, b, **m: conv_transpose2d(x, w, b, (2, 3), 1, (1, 2), 2, **m),
        lambda x, w, b: transposed(x, w, b, (2, 3), 1, (1, 2), 2),
        [(1, 2, 3, 2), (2, 2, 2, 3), (4,)],
    ),
    "conv_transpose2d, output_padding of the stride": (
        lambda x, w, b, **m: conv_transpose2d(x, w, b, 1, 1, (1, 2), 1, 3, **m),
        lambda x, w, b: transposed(x, w, b, 1, 1, (1, 2), 1, 3),
        [(1, 1, 2, 3), (1, 2, 2, 2), (2,)],
    ),
    "conv2d_input": (
        lambda w, g, **m: conv2d_input((1, 2, 5, 4), w, g, 2, 1, 1, 2, **m),
        lambda w, g: torch.nn.grad.conv2d_input((1, 2, 5, 4), w, g, 2, 1, 1, 2),
        [(4, 1, 2, 3), (1, 4, 3, 2)],
    ),
    "conv2d_weight": (
        lambda x, g, **m: conv2d_weight(x, (4, 1, 2, 3), g, 2, 1, 1, 2, **m),
        lambda x, g: torch.nn.grad.conv2d_weight(x, (4, 1, 2, 3), g, 2, 1, 1, 2),
        [(1, 2, 5, 4), (1, 4, 3, 2)],
    ),
    "convolution_backward": (
        lambda g, x, w, **m: flat(
            convviz.convolution_backward(g, x, w, [2], [2], [1], [1], False, [0], 1, [True] * 3, **m)
        ),
        lambda g, x, w: backward(lambda *t: F.conv2d(*t, 2, 1), g, x, w),
        [(1, 2, 2, 2), (1, 1, 3, 3), (2, 1, 2, 2)],
    ),
    "convolution_backward, transposed": (
        lambda g, x, w, **m: flat(
            convviz.convolution_backward(g, x, w, [2], [1], [1], [2], True, [1], 1, [True] * 3, **m)
        ),
        lambda g, x, w: backward(lambda *t: transposed(*t, 1, 1, (1, 1), 1, 2), g, x, w),
        [(1, 2, 4, 3), (1, 1, 3, 2), (1, 2, 2, 2)],
    ),
    "linear": (linear, F.linear, [(2, 3), (4, 3), (4,)]),
}


def prepared(op, method, make=integers, copies=0):
    """Return (ours, torch's, tensors); with copies, each tensor is so many of them along a new first axis."""
    ours, theirs, shapes = OPS[op]
    shapes = [(copies, *shape) if copies else shape for shape in shapes]
    return lambda *t: ours(*t, method=method), theirs, [make(shape, seed) for seed, shape in enumerate(shapes)]
