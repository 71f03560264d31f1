"""The matrix view's numbers: by definition from numpy's padding and windows, and by autograd; never from our taps."""

import math
from functools import partial

import pytest
import torch

from convviz.features.matrix.matrices import MAX_COLUMN_ROWS, MAX_MATRIX_ENTRIES, im2col, matrices, one_matrix, toeplitz
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.ops.stages import stages
from tests.geometries import EDGE_CASES, conv2d_by_definition, integers, random_specs, source_plane, window_cells

SPECS = [*EDGE_CASES.values(), *random_specs(seed=61, count=120)]
SMALL = [spec for spec in SPECS if math.prod((*spec.output_size, *spec.input_size)) <= MAX_MATRIX_ENTRIES]
PLANE = Plane(sample=1, out_channel=99, in_channel=99)  # the last of each


def pass_of(spec, seed=0, **options):
    """Return stages of whole numbers, so that no sum is rounded, and grad_output in its own right."""
    x, w, g = (
        integers(shape, seed + n) for n, shape in enumerate((spec.input_shape, spec.weight_shape, spec.output_shape))
    )
    return stages(spec, x, w, grad_output=g, dtype="float64", **options)


def gradients_by_definition(result, sample=None):
    """Return (grad_input, grad_weight) of autograd through the definition, of all samples or one."""
    chosen = slice(None) if sample is None else slice(sample, sample + 1)
    spec = result.spec
    x = result.input[chosen].clone().requires_grad_()
    w = result.weight.clone().requires_grad_()
    output = conv2d_by_definition(x, w, None, spec)
    return torch.autograd.grad(output, (x, w), result.grad_output[chosen])


def group_of(spec, plane):
    """Return the group's input and output channels as lists."""
    ins, outs = spec.in_channels // spec.groups, spec.out_channels // spec.groups
    group = plane.out_channel // outs
    return [*range(group * ins, (group + 1) * ins)], [*range(group * outs, (group + 1) * outs)]


def columns_by_loops(result, channels, sample):
    """Return [K, L]: what each kernel cell of each channel meets in each window, index by index."""
    cells = window_cells(result.spec)
    rows, columns, *kernel = cells.shape
    made = torch.zeros(len(channels) * math.prod(kernel), rows * columns, dtype=torch.float64)
    for c, channel in enumerate(channels):
        values = [*result.input[sample, channel].flatten().tolist(), 0.0]
        for row in range(rows):
            for column in range(columns):
                for u in range(kernel[0]):
                    for v in range(kernel[1]):
                        k = (c * kernel[0] + u) * kernel[1] + v
                        made[k, row * columns + column] = values[cells[row, column, u, v]]
    return made


def padded_places(spec):
    """Return int64 [K, L] of flat cells of the padded input, by cutting windows out of their numbers."""
    bare = spec.replace(
        input_size=spec.padded_size, padding=0, padding_mode="zeros", in_channels=1, out_channels=1, groups=1
    )
    return window_cells(bare).flatten(2).flatten(0, 1).T


def test_every_matrix_is_what_the_definition_says():
    for spec in SPECS:
        result = pass_of(spec)
        plane = PLANE.within(spec)
        made = matrices(result, plane)
        ins, outs = group_of(spec, plane)
        n = plane.sample
        assert (list(made.in_channels), list(made.out_channels)) == (ins, outs), spec
        assert torch.equal(made.columns, columns_by_loops(result, ins, n)), spec
        assert torch.equal(made.weight @ made.columns, made.output), f"output = weight · columns: {spec}"
        columns = made.columns.clone().requires_grad_()
        (to_columns,) = torch.autograd.grad(made.weight @ columns, columns, made.grad_output)
        assert torch.equal(made.grad_columns, to_columns), spec
        by_definition = conv2d_by_definition(result.input, result.weight, None, spec)
        assert torch.equal(made.output, by_definition[n, outs].flatten(1)), spec

        to_input, to_weight = gradients_by_definition(result)
        own = (result.grad_output[n, outs].flatten(1), made.grad_output)
        assert torch.equal(*own), spec
        assert torch.equal(made.grad_weight, to_weight[outs].flatten(1)), spec
        of_sample = gradients_by_definition(result, n)[1]
        assert torch.equal(made.grad_weight_of_sample, of_sample[outs].flatten(1)), spec
        assert torch.equal(made.grad_input, to_input[n, plane.in_channel]), spec


def test_col2im_adds_up_where_the_entries_were_copied_from():
    for spec in SPECS:
        result = pass_of(spec, seed=7)
        plane = PLANE.within(spec)
        made = matrices(result, plane)
        ins, _ = group_of(spec, plane)
        places = padded_places(spec)
        cells = places.shape[0]
        first = ins.index(plane.in_channel) * cells
        image, overlap = torch.zeros(2, math.prod(spec.padded_size), dtype=torch.float64)
        for k in range(cells):
            for window in range(places.shape[1]):
                image[places[k, window]] += made.grad_columns[first + k, window]
                overlap[places[k, window]] += 1
        assert torch.equal(made.grad_image.flatten(), image), spec
        assert torch.equal(made.overlap.flatten(), overlap), spec
        # Back through the border: every cell of the image goes to the input cell that it is a copy of.
        sums = torch.zeros(math.prod(spec.input_size) + 1, dtype=torch.float64)
        sums.index_add_(0, source_plane(spec).flatten(), image)
        assert torch.equal(made.grad_input.flatten(), sums[:-1]), spec


def test_one_matrix_is_the_derivative_of_the_output_by_the_input():
    for spec in SMALL:
        result = pass_of(spec, seed=11)
        plane = PLANE.within(spec)
        made = one_matrix(result, plane)
        in_group = plane.in_channel % (spec.in_channels // spec.groups)
        single = spec.replace(in_channels=1, out_channels=1, groups=1, batch=1)
        kernel = result.weight[plane.out_channel, in_group][None, None]
        x = result.input[plane.sample, plane.in_channel][None, None]
        g = result.grad_output[plane.sample, plane.out_channel]
        by_autograd = torch.autograd.functional.jacobian(
            partial(conv2d_by_definition, weight=kernel, bias=None, spec=single), x
        ).flatten(0, 3)
        assert torch.equal(made.matrix, by_autograd.flatten(1)), spec
        assert torch.equal(made.product, conv2d_by_definition(x, kernel, None, single).flatten()), spec
        x = x.clone().requires_grad_()
        (expected,) = torch.autograd.grad(conv2d_by_definition(x, kernel, None, single)[0, 0], x, g)
        assert torch.equal(made.gradient, expected.flatten()), spec


def test_the_textbook_example():
    spec = ConvSpec((3, 3), kernel_size=2)
    made = toeplitz(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), spec)
    assert made.tolist() == [
        [1, 2, 0, 3, 4, 0, 0, 0, 0],
        [0, 1, 2, 0, 3, 4, 0, 0, 0],
        [0, 0, 0, 1, 2, 0, 3, 4, 0],
        [0, 0, 0, 0, 1, 2, 0, 3, 4],
    ]
    columns = im2col(torch.arange(9.0).reshape(1, 3, 3), spec)
    assert columns.tolist() == [[0, 1, 3, 4], [1, 2, 4, 5], [3, 4, 6, 7], [4, 5, 7, 8]]


def test_many_rows_become_those_of_the_chosen_channel():
    spec = ConvSpec((16, 16), 8, 2, 5, padding=2)
    assert spec.in_channels * 25 > MAX_COLUMN_ROWS
    result = pass_of(spec)
    made = matrices(result, Plane(0, 1, 6))
    assert made.in_channels == (6,)
    assert torch.equal(made.columns, columns_by_loops(result, [6], 0))
    assert torch.equal(made.weight, result.weight[:, 6].flatten(1))
    to_input, to_weight = gradients_by_definition(result)
    assert torch.equal(made.grad_input, to_input[0, 6])
    assert torch.equal(made.grad_image[2:-2, 2:-2], to_input[0, 6])
    assert torch.equal(made.grad_weight_of_sample, to_weight[:, 6].flatten(1))


def test_one_matrix_has_a_limit_and_says_so():
    at_limit = pass_of(ConvSpec(8, kernel_size=3, padding=1))
    assert one_matrix(at_limit, Plane()).matrix.numel() == MAX_MATRIX_ENTRIES
    beyond = pass_of(ConvSpec((8, 9), kernel_size=3, padding=1))
    with pytest.raises(ValueError, match=r"at most 4096 entries.*72 × 72.*make the input smaller"):
        one_matrix(beyond, Plane())


def test_low_precision_is_not_rounded_again():
    spec = ConvSpec(6, 2, 2, 3)
    result = stages(spec, integers(spec.input_shape, 1) / 3, integers(spec.weight_shape, 2) / 7, dtype="bfloat16")
    made = matrices(result, Plane())
    assert made.grad_columns.dtype is torch.float64
    assert torch.equal(
        made.grad_columns, result.weight.double().flatten(1).T @ result.grad_output.double()[0].flatten(1)
    )


def test_a_transposed_convolution_reads_the_same_matrices_the_other_way():
    spec = ConvSpec((8, 7), 2, 3, 3, 2, 1)
    x, w = integers(spec.output_shape, 1), integers(spec.weight_shape, 2)
    result = stages(spec, x, w, loss="sum", dtype="float64", transposed=True)
    made = matrices(result, Plane(0, 0, 1))
    expected = torch.nn.functional.conv_transpose2d(x, w, None, 2, 1, spec.remainder)
    assert torch.equal(made.grad_image[1:-1, 1:-1], expected[0, 1])
    assert torch.equal(made.grad_input, expected[0, 1])
