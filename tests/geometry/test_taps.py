"""The table of taps against torch, cell by cell, and the three sums of its docstring against autograd."""

import torch

from convviz import ConvSpec, taps
from tests.geometries import EDGE_CASES, MODES, integers, random_specs, window_cells
from tests.operator_cases import torch_conv2d

RANDOM = [spec for mode in MODES for spec in random_specs(seed=3, count=60, modes=(mode,))]


def plane(spec: ConvSpec) -> ConvSpec:
    """Return the same geometry with one sample and one channel: what the table is about."""
    return spec.replace(in_channels=1, out_channels=1, groups=1, batch=1)


def test_the_table_is_the_windows_read_aloud():
    """Row by row, order included: windows of numpy's padding, read left to right, without the padding zeros."""
    for spec in [*EDGE_CASES.values(), *RANDOM]:
        cells = window_cells(spec).flatten(2).flatten(0, 1)  # [O, K]
        outside = spec.input_size[0] * spec.input_size[1]
        rows = [[o, k, i] for o, window in enumerate(cells.tolist()) for k, i in enumerate(window) if i != outside]
        table = taps(spec)
        assert (table.dtype, table.shape) == (torch.int64, (len(rows), 3)), spec
        assert table.tolist() == rows, spec


def test_axis_taps_are_the_two_factors_of_the_table():
    for spec in RANDOM:
        rows, columns = spec.axis_taps(0), spec.axis_taps(1)
        product = [
            (o * spec.output_size[1] + p, k * spec.kernel_size[1] + m, i * spec.input_size[1] + j)
            for o, k, i in rows
            for p, m, j in columns
        ]
        assert sorted(product) == sorted(map(tuple, taps(spec).tolist())), spec


def test_the_three_sums_are_the_convolution_and_its_gradients():
    """The docstring's three lines, executed as they stand, against F.conv2d and autograd: whole numbers, bit by bit."""
    for number, spec in enumerate(map(plane, [*EDGE_CASES.values(), *RANDOM[::2]])):
        x, w = (
            integers(shape, number + n).requires_grad_()
            for n, shape in enumerate((spec.input_shape, spec.weight_shape))
        )
        y = torch_conv2d(x, w, None, spec)
        g = integers(spec.output_shape, number + 2)
        expected = (y.detach(), *torch.autograd.grad(y, (x, w), g))
        input, weight, grad_output = x.detach().flatten(), w.detach().flatten(), g.flatten()
        output, grad_input, grad_weight = (torch.zeros(t.numel(), dtype=t.dtype) for t in expected)
        for o, k, i in taps(spec).tolist():
            output[o] += weight[k] * input[i]
            grad_input[i] += grad_output[o] * weight[k]
            grad_weight[k] += grad_output[o] * input[i]
        for ours, theirs in zip((output, grad_input, grad_weight), expected, strict=True):
            assert torch.equal(ours, theirs.flatten()), spec
