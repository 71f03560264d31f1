"""A convolution and its gradients as matrix products, for one sample and one group of channels.

Every window of the padded input is written as a column (im2col), every kernel as a row; then

    output       = weight @ columns
    grad_columns = weight.T @ grad_output, and col2im adds its entries up where they were copied from: grad_input
    grad_weight  = grad_output @ columns.T, summed over the samples

The numbers are the stages' own; what is not among the stages is computed from them in float64, so that every digit that
is shown is right whatever the dtype.
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

say = sentences("lessons")

MAX_COLUMN_ROWS = 128  # rows of columns: with more, they are those of one input channel
MAX_MATRIX_ENTRIES = 4096  # of one matrix that is drawn: 64 x 64


@dataclass(frozen=True, eq=False)  # tensors have no one answer to ==
class Matrices:
    """The matrices of one sample and one group, float64 on the CPU.

    K counts kernel cells, channel by channel and row by row; L counts windows, row by row, as the output's cells.

    Attributes:
        in_channels: the input channels whose kernel cells are the K rows, counted over all groups.
        out_channels: the output channels of the group, counted over all groups: C rows.
        weight: ``[C, K]``.
        columns: ``[K, L]``, entry ``[k, l]`` is the number of the padded input under kernel cell k in window l.
        output: ``[C, L]``, the bias included.
        grad_output: ``[C, L]``.
        grad_columns: ``[K, L]``.
        grad_weight_of_sample: ``[C, K]``, this sample's part of grad_weight.
        grad_weight: ``[C, K]``, summed over the samples.
        grad_image: col2im of the chosen channel's grad_columns, ``[H + p, W + p]`` with the border.
        overlap: in how many columns each cell of the padded input stands, ``[H + p, W + p]``.
        grad_input: of the chosen channel, ``[H, W]``.
    """

    in_channels: tuple[int, ...]
    out_channels: tuple[int, ...]
    weight: torch.Tensor
    columns: torch.Tensor
    output: torch.Tensor
    grad_output: torch.Tensor
    grad_columns: torch.Tensor
    grad_weight_of_sample: torch.Tensor
    grad_weight: torch.Tensor
    grad_image: torch.Tensor
    overlap: torch.Tensor
    grad_input: torch.Tensor


@dataclass(frozen=True, eq=False)
class OneMatrix:
    """The convolution between one input channel and one output channel as one matrix T, float64 on the CPU.

    Attributes:
        matrix: ``[H_out * W_out, H * W]``, entry ``[o, i]`` is the weight with which output cell o reads input cell i.
        input: the chosen plane as a vector, ``[H * W]``.
        product: ``matrix @ input``, the input channel's share of the output.
        grad_output: the chosen plane as a vector, ``[H_out * W_out]``.
        gradient: ``matrix.T @ grad_output``, the output channel's share of grad_input.
    """

    matrix: torch.Tensor
    input: torch.Tensor
    product: torch.Tensor
    grad_output: torch.Tensor
    gradient: torch.Tensor


def matrices(stages: Stages, plane: Plane) -> Matrices:
    """Write the stages of one sample and the group of a plane's channels as matrices."""
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
    """Write every window as a column.

    Args:
        images: channels of the padded input, ``[C, H + p, W + p]``.
        spec: the geometry.

    Returns:
        ``[C * kH * kW, H_out * W_out]``.
    """
    columns: torch.Tensor = F.unfold(images[None], spec.kernel_size, spec.dilation, 0, spec.stride)
    return columns[0]


def col2im(columns: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Add every entry of the columns to the cell of the padded input that it stands for.

    Args:
        columns: ``[C * kH * kW, H_out * W_out]``.
        spec: the geometry.

    Returns:
        ``[C, H + p, W + p]``.
    """
    images: torch.Tensor = F.fold(columns[None], spec.padded_size, spec.kernel_size, spec.dilation, 0, spec.stride)
    return images[0]


def one_matrix(stages: Stages, plane: Plane) -> OneMatrix:
    """Write the convolution between the chosen channels as one matrix.

    Raises:
        ValueError: it would have more entries than can be drawn.
    """
    spec = stages.spec
    outputs, inputs = math.prod(spec.output_size), math.prod(spec.input_size)
    if outputs * inputs > MAX_MATRIX_ENTRIES:
        raise ValueError(say("matrix.entries", most=MAX_MATRIX_ENTRIES, rows=outputs, columns=inputs))
    at = plane.within(spec)
    in_group = at.in_channel % (spec.in_channels // spec.groups)
    matrix = toeplitz(_exact(stages.weight[at.out_channel, in_group]), spec)
    x = _exact(stages.input[at.sample, at.in_channel]).flatten()
    g = _exact(stages.grad_output[at.sample, at.out_channel]).flatten()
    return OneMatrix(matrix, x, matrix @ x, g, matrix.T @ g)


def toeplitz(kernel: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Write a kernel as the matrix that does the same: one entry a tap.

    Args:
        kernel: ``[kH, kW]``.
        spec: the geometry; channels play no part.

    Returns:
        ``[H_out * W_out, H * W]``. Padding zeros have no column. Where a border copies input cells, several taps meet
        in one entry and add up.
    """
    o, k, i = taps(spec).unbind(1)
    matrix = kernel.new_zeros(math.prod(spec.output_size), math.prod(spec.input_size))
    return matrix.index_put_((o, i), kernel.flatten()[k], accumulate=True)


def _channels(spec: ConvSpec, at: Plane) -> tuple[range, range]:
    """Return the input and the output channels of the matrices: the group's, or only the chosen input channel."""
    ins, outs = spec.in_channels // spec.groups, spec.out_channels // spec.groups
    group = at.out_channel // outs
    out_channels = range(group * outs, (group + 1) * outs)
    if ins * math.prod(spec.kernel_size) > MAX_COLUMN_ROWS:
        return range(at.in_channel, at.in_channel + 1), out_channels
    return range(group * ins, (group + 1) * ins), out_channels


def _exact(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().to("cpu", torch.float64)
