"""A convolution and its gradients as matrix products, for one sample and one group of channels.

Every window of the padded input is written as a column (im2col), every kernel as a row; then

    output       = weight @ columns
    grad_columns = weight.T @ grad_output, and col2im adds its entries up where they were copied from: grad_input
    grad_weight  = grad_output @ columns.T, summed over the samples

What is not among the stages is computed in float64, so that every digit is right whatever the dtype.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from convviz.facts.words import sentences
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.geometry.taps import taps
from convviz.ops.stages import Stages

say = sentences("features/matrix")

MAX_COLUMN_ROWS = 128  # rows of columns: with more, they are those of one input channel
MAX_MATRIX_ENTRIES = 4096  # of one matrix that is drawn: 64 x 64


@dataclass(frozen=True, eq=False)  # tensors have no one answer to ==
class Matrices:
    """The matrices of one sample and one group, float64 on the CPU.

    K counts kernel cells, channel by channel and row by row; L counts windows, row by row; C the group's output
    channels.
    """

    in_channels: tuple[int, ...]  # of the K rows, counted over all groups
    out_channels: tuple[int, ...]
    weight: torch.Tensor  # [C, K]
    columns: torch.Tensor  # [K, L]: the number of the padded input under kernel cell k in window l
    output: torch.Tensor  # [C, L], the bias included
    grad_output: torch.Tensor  # [C, L]
    grad_columns: torch.Tensor  # [K, L]
    grad_weight_of_sample: torch.Tensor  # [C, K]
    grad_weight: torch.Tensor  # [C, K], summed over the samples
    grad_image: torch.Tensor  # col2im of the chosen channel's grad_columns, [H + p, W + p]
    overlap: torch.Tensor  # in how many columns each cell stands, [H + p, W + p]
    grad_input: torch.Tensor  # of the chosen channel, [H, W]


@dataclass(frozen=True, eq=False)
class OneMatrix:
    """The convolution between one input channel and one output channel as one matrix, float64 on the CPU."""

    matrix: torch.Tensor  # [H_out * W_out, H * W]: the weight with which output cell o reads input cell i
    input: torch.Tensor  # [H * W]
    product: torch.Tensor  # matrix @ input, the input channel's share of the output
    grad_output: torch.Tensor  # [H_out * W_out]
    gradient: torch.Tensor  # matrix.T @ grad_output, the output channel's share of grad_input


def matrices(stages: Stages, plane: Plane) -> Matrices:
    spec = stages.spec
    at = plane.within(spec)
    ins, outs = _channels(spec, at)
    first = outs.start // (spec.out_channels // spec.groups) * (spec.in_channels // spec.groups)
    within = slice(ins.start - first, ins.stop - first)  # the weight counts its input channels within the group
    weight = _exact(stages.weight[outs.start : outs.stop, within]).flatten(1)
    grad_output = _exact(stages.grad_output[at.sample, outs.start : outs.stop]).flatten(1)
    columns = im2col(_exact(stages.padded_input[at.sample, ins.start : ins.stop]), spec)
    grad_columns = weight.T @ grad_output
    cells = math.prod(spec.kernel_size)
    own = (at.in_channel - ins.start) * cells  # the first row of the chosen channel
    return Matrices(
        in_channels=tuple(ins),
        out_channels=tuple(outs),
        weight=weight,
        columns=columns,
        output=_exact(stages.output[at.sample, outs.start : outs.stop]).flatten(1),
        grad_output=grad_output,
        grad_columns=grad_columns,
        grad_weight_of_sample=grad_output @ columns.T,
        grad_weight=_exact(stages.grad_weight[outs.start : outs.stop, within]).flatten(1),
        grad_image=col2im(grad_columns[own : own + cells], spec)[0],
        overlap=col2im(torch.ones(cells, columns.shape[1], dtype=torch.float64), spec)[0],
        grad_input=_exact(stages.grad_input[at.sample, at.in_channel]),
    )


def im2col(images: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Write every window of the padded input ``[C, H + p, W + p]`` as a column of ``[C * kH * kW, H_out * W_out]``."""
    columns: torch.Tensor = F.unfold(images[None], spec.kernel_size, spec.dilation, 0, spec.stride)
    return columns[0]


def col2im(columns: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Add every entry of ``im2col``'s columns to its cell of the padded input."""
    images: torch.Tensor = F.fold(columns[None], spec.padded_size, spec.kernel_size, spec.dilation, 0, spec.stride)
    return images[0]


def one_matrix(stages: Stages, plane: Plane) -> OneMatrix:
    spec = stages.spec
    outputs, inputs = math.prod(spec.output_size), math.prod(spec.input_size)
    if outputs * inputs > MAX_MATRIX_ENTRIES:
        raise ValueError(say("refused.entries", most=MAX_MATRIX_ENTRIES, rows=outputs, columns=inputs))
    at = plane.within(spec)
    in_group = at.in_channel % (spec.in_channels // spec.groups)
    matrix = toeplitz(_exact(stages.weight[at.out_channel, in_group]), spec)
    x = _exact(stages.input[at.sample, at.in_channel]).flatten()
    g = _exact(stages.grad_output[at.sample, at.out_channel]).flatten()
    return OneMatrix(matrix, x, matrix @ x, g, matrix.T @ g)


def toeplitz(kernel: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Write a kernel ``[kH, kW]`` as the matrix ``[H_out * W_out, H * W]`` that does the same.

    One entry a tap; padding zeros have no column, taps that meet in a copied border's entry add up.
    """
    o, k, i = taps(spec).unbind(1)
    matrix = kernel.new_zeros(math.prod(spec.output_size), math.prod(spec.input_size))
    return matrix.index_put_((o, i), kernel.flatten()[k], accumulate=True)


def _channels(spec: ConvSpec, at: Plane) -> tuple[range, range]:
    """Return the input and output channels: the group's, or the chosen input channel alone."""
    ins, outs = spec.in_channels // spec.groups, spec.out_channels // spec.groups
    group = at.out_channel // outs
    out_channels = range(group * outs, (group + 1) * outs)
    if ins * math.prod(spec.kernel_size) > MAX_COLUMN_ROWS:
        return range(at.in_channel, at.in_channel + 1), out_channels
    return range(group * ins, (group + 1) * ins), out_channels


def _exact(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().to("cpu", torch.float64)
