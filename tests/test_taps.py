"""The table of taps against torch, cell by cell, and the three sums of its docstring against autograd."""

import pytest
import torch
import torch.nn.functional as F

from convviz import ConvSpec, taps
from tests.geometries import EDGE_CASES, MODES, integers, random_specs, reals, window_cells

RANDOM = list(random_specs(seed=3, count=120))


def plane(spec: ConvSpec) -> ConvSpec:
    """Return the same geometry with one sample and one channel: what the table is about."""
    return spec.replace(in_channels=1, out_channels=1, groups=1, batch=1)


def torch_counts(spec: ConvSpec) -> torch.Tensor:
    """Let torch say what each output cell reads: one-hot inputs through F.pad, one-hot kernels through F.conv2d.

    Returns:
        ``[O, K, I]``, how often output cell o receives ``weight[k] * input[i]``.
    """
    height, width = spec.input_size
    kernel_height, kernel_width = spec.kernel_size
    inputs = torch.eye(height * width, dtype=torch.float64).reshape(-1, 1, height, width)
    kernels = torch.eye(kernel_height * kernel_width, dtype=torch.float64).reshape(-1, 1, kernel_height, kernel_width)
    (top, bottom), (left, right) = spec.padding
    mode = "constant" if spec.padding_mode == "zeros" else spec.padding_mode
    padded = F.pad(inputs, (left, right, top, bottom), mode=mode)
    lit = F.conv2d(padded, kernels, None, spec.stride, 0, spec.dilation)  # [I, K, H_out, W_out]
    return lit.flatten(2).permute(2, 1, 0).contiguous()


def table_counts(spec: ConvSpec) -> torch.Tensor:
    table = taps(spec)
    shape = [size[0] * size[1] for size in (spec.output_size, spec.kernel_size, spec.input_size)]
    counts = torch.zeros(shape, dtype=torch.float64)
    counts.index_put_(tuple(table.T), torch.ones(len(table), dtype=torch.float64), accumulate=True)
    return counts


@pytest.mark.parametrize("name", EDGE_CASES)
def test_edge_cases_are_what_torch_reads(name):
    spec = plane(EDGE_CASES[name])
    assert torch.equal(table_counts(spec), torch_counts(spec))


def test_random_geometries_are_what_torch_reads():
    for spec in map(plane, RANDOM):
        assert torch.equal(table_counts(spec), torch_counts(spec)), spec


@pytest.mark.parametrize("mode", MODES)
def test_the_table_is_the_windows_read_aloud(mode):
    """Row by row, order included: windows of numpy's padding, read left to right, without the padding zeros."""
    for spec in random_specs(seed=4, count=100, modes=(mode,)):
        cells = window_cells(spec).flatten(2).flatten(0, 1)  # [O, K]
        outside = spec.input_size[0] * spec.input_size[1]
        rows = [(o, k, i) for o, window in enumerate(cells.tolist()) for k, i in enumerate(window) if i != outside]
        assert taps(spec).tolist() == [list(row) for row in rows], spec


def test_form_of_the_table():
    for spec in [*EDGE_CASES.values(), *RANDOM]:
        table = taps(spec)
        assert table.dtype == torch.int64
        assert table.shape == (len(table), 3)
        cells = [size[0] * size[1] for size in (spec.output_size, spec.kernel_size, spec.input_size)]
        assert (table >= 0).all(), spec
        assert (table < torch.tensor(cells)).all(), spec
        order = table[:, 0] * cells[1] + table[:, 1]
        assert (order[1:] > order[:-1]).all(), spec  # sorted by o, then k; no (o, k) twice
        if spec.padding_mode != "zeros":
            assert len(table) == cells[0] * cells[1], spec  # every border cell is a copy of something


def test_a_copied_cell_stands_under_several_kernel_cells():
    """In a padding mode the same (o, i) appears with different k; with zeros it never does."""
    for mode in MODES:
        table = taps(ConvSpec(2, kernel_size=3, padding=1, padding_mode=mode))
        pairs = [(o, i) for o, _, i in table.tolist()]
        assert (len(set(pairs)) < len(pairs)) == (mode != "zeros"), mode


def test_a_window_wholly_inside_the_padding_has_no_tap():
    spec = ConvSpec(1, kernel_size=1, padding=1)
    assert taps(spec).tolist() == [[4, 0, 0]]


def test_a_geometry_that_reads_nothing_has_an_empty_table():
    spec = ConvSpec(1, kernel_size=2, padding=3, stride=10, dilation=2)
    assert taps(spec).shape == (0, 3)
    assert taps(spec).dtype == torch.int64


def test_channels_and_batch_play_no_part():
    for spec in RANDOM:
        assert torch.equal(taps(spec), taps(plane(spec)))


def test_axis_taps_are_the_two_factors_of_the_table():
    for spec in RANDOM:
        rows, columns = spec.axis_taps(0), spec.axis_taps(1)
        product = [
            (o * spec.output_size[1] + p, k * spec.kernel_size[1] + m, i * spec.input_size[1] + j)
            for o, k, i in rows
            for p, m, j in columns
        ]
        assert sorted(product) == sorted(map(tuple, taps(spec).tolist())), spec


@pytest.mark.parametrize("make", [integers, reals])
def test_the_three_sums_are_the_convolution_and_its_gradients(make):
    """The docstring's three lines, executed as they stand, against F.conv2d and autograd in float64."""
    for number, spec in enumerate(map(plane, [*EDGE_CASES.values(), *RANDOM])):
        x, w = make(spec.input_shape, number).requires_grad_(), make(spec.weight_shape, number + 1).requires_grad_()
        (top, bottom), (left, right) = spec.padding
        mode = "constant" if spec.padding_mode == "zeros" else spec.padding_mode
        y = F.conv2d(F.pad(x, (left, right, top, bottom), mode=mode), w, None, spec.stride, 0, spec.dilation)
        g = make(spec.output_shape, number + 2)
        expected = (y.detach(), *torch.autograd.grad(y, (x, w), g))
        input, weight, grad_output = x.detach().flatten(), w.detach().flatten(), g.flatten()
        output, grad_input, grad_weight = (torch.zeros(t.numel(), dtype=t.dtype) for t in expected)
        for o, k, i in taps(spec).tolist():
            output[o] += weight[k] * input[i]
            grad_input[i] += grad_output[o] * weight[k]
            grad_weight[k] += grad_output[o] * input[i]
        for ours, theirs in zip((output, grad_input, grad_weight), expected, strict=True):
            torch.testing.assert_close(
                ours, theirs.flatten(), rtol=1e-12, atol=1e-12, msg=lambda m, s=spec: f"{s}: {m}"
            )
            assert make is reals or torch.equal(ours, theirs.flatten()), spec
