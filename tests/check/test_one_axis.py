"""Convolutions of one axis: the same table with a height of 1; and of three, which are not checked."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from convviz.cases.battery import battery
from convviz.cases.tasks import in_a_row, truth
from convviz.check import TASKS, check, report

grad = torch.nn.grad
SHAPES = {"input": (2, 4, 9), "weight": (4, 4, 3)}


def backward(add=True):
    """Return a backward pass in loops, in which overlapping windows add up or overwrite each other."""

    def conv1d_backward(dout, x, w, b, stride, padding):
        padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
        dx, dw = np.zeros_like(padded), np.zeros_like(w)
        for n, f, i in np.ndindex(dout.shape):
            window = slice(i * stride, i * stride + w.shape[2])
            dw[f] += dout[n, f, i] * padded[n, :, window]
            dx[n, :, window] = dout[n, f, i] * w[f] + add * dx[n, :, window]
        return dx[:, :, padding : padding + x.shape[2]], dw, dout.sum((0, 2))

    return conv1d_backward


class Layer:
    """A layer as courses ask for it."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1):
        self.W, self.b, self.stride = np.zeros((out_channels, in_channels, kernel_size)), np.zeros(out_channels), stride

    def forward(self, A):
        self.A = A
        starts = range(0, A.shape[2] - self.W.shape[2] + 1, self.stride)
        windows = [np.tensordot(A[:, :, i : i + self.W.shape[2]], self.W, ([1, 2], [1, 2])) + self.b for i in starts]
        return np.stack(windows, 2)

    def backward(self, dLdZ):
        dLdA, self.dLdW, self.dLdb = backward()(dLdZ, self.A, self.W, self.b, self.stride, 0)
        return dLdA


class Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
        ctx.save_for_backward(x, w)
        ctx.settings = (stride, padding, dilation, groups)
        return F.conv1d(x, w, b, *ctx.settings)

    @staticmethod
    def backward(ctx, dy):
        x, w = ctx.saved_tensors
        dx, dw = grad.conv1d_input(x.shape, w, dy, *ctx.settings), grad.conv1d_weight(x, w.shape, dy, *ctx.settings)
        return dx, dw, dy.sum((0, 2)) if ctx.needs_input_grad[2] else None, None, None, None, None


@pytest.mark.parametrize("name", ["conv1d", "conv1d_backward", "conv_transpose1d"])
def test_what_is_right_is_what_torch_computes_of_one_axis(name):
    task = TASKS[name]
    cases = in_a_row(battery("all", 0), task)
    assert len(cases) > 14
    for case in cases:
        spec, (before, after) = case.spec, case.spec.padding[1]
        if spec.padding_mode != "zeros":
            continue
        assert before == after
        given = [task.own(task.tensor(case, role)) if role != "bias" else task.tensor(case, role).clone()
                 for role in ("input", "weight", "bias")]  # fmt: skip
        given = [each.clone().requires_grad_() for each in given]
        steps = (spec.stride[1], before)
        if task.is_transposed:
            output = F.conv_transpose1d(*given, *steps, spec.remainder[1], spec.groups, spec.dilation[1])
        else:
            output = F.conv1d(*given, *steps, spec.dilation[1], spec.groups)
        sums = torch.autograd.grad(output, given, task.own(task.tensor(case, "grad_output")))
        wanted = dict(zip(("output", "grad_input", "grad_weight", "grad_bias"), (output, *sums), strict=True))
        for result, value in truth(task, case).items():
            torch.testing.assert_close(value, wanted[result].detach(), msg=f"{result} of {case.name}")


@pytest.mark.parametrize(
    ("fn", "task"),
    [
        (F.conv1d, "conv1d"),
        (lambda x, w, stride: F.conv1d(x.mT, w.permute(2, 1, 0), None, stride).mT, "conv1d"),
        (lambda case: F.conv1d(case.input, case.weight, case.bias, case.stride, case.padding), "conv1d"),
        (grad.conv1d_input, "conv1d_input"),
        (grad.conv1d_weight, "conv1d_weight"),
        (lambda dout: dout.sum((0, 2)), "conv1d_bias"),
        (backward(), "conv1d_backward"),
        (Layer, "conv1d_backward"),
        (Function, "conv1d_function"),
        (torch.nn.Conv1d, "conv1d_module"),
        (F.conv_transpose1d, "conv_transpose1d"),
        (torch.nn.ConvTranspose1d, "conv_transpose1d_module"),
    ],
)
def test_right_code_is_right(fn, task):
    found = report(fn, task)
    assert found.passed, found.text()
    assert "rows" not in found.text()


def test_mistakes_have_their_names_and_shapes_of_one_axis():
    def not_rotated(input_size, weight, grad_output):
        return F.conv1d(F.pad(grad_output, (weight.shape[2] - 1,) * 2), weight.transpose(0, 1))

    def no_remainder(input_size, weight, grad_output, stride=1, padding=0):
        return F.conv_transpose1d(grad_output, weight, None, stride, padding)

    found = report(not_rotated, "conv1d_input")
    assert [each.id for each in found.diagnoses] == ["I01"], "top and bottom there are none"
    assert "grad_input [4, 2, 5]" in found.text()
    assert report(no_remainder, "conv1d_input").diagnoses[0].id == "I10"
    assert report(backward(add=False), "conv1d_backward").diagnoses[0].id == "I22"
    large = report(lambda x, w: F.conv1d(x, w) * (2 if x.shape[2] > 40 else 1), "conv1d")
    assert "input columns" in large.text()


def test_geometries_and_scopes_of_ones_own():
    check(F.conv1d, "conv1d", at={**SHAPES, "stride": 2, "padding": 1})
    check(F.conv_transpose1d, "conv_transpose1d", at={**SHAPES, "stride": 2, "padding": 1, "output_padding": 1})
    check(lambda x, w, padding: F.conv1d(F.pad(x, padding), w), "conv1d", at={**SHAPES, "padding": (0, 2)})
    check(F.conv1d, "conv1d", scope={"kernel_size": 3, "padding": [0, 1]})
    assert report(lambda x, w: F.conv1d(F.pad(x, (0, w.shape[2] - 1)), w), "conv1d").diagnoses[0].of == "output"
    with pytest.raises(ValueError, match="shape of 3 whole numbers"):
        check(F.conv1d, "conv1d", at={"input": (2, 4, 9, 9), "weight": (4, 4, 3)})


def test_three_axes_are_refused_with_a_way_that_works():
    with pytest.raises(ValueError, match="three axes are not checked") as refused:
        report(F.conv3d, "conv3d")
    assert "case.input[:, :, None]" in str(refused.value)

    def adapter(case):
        return F.conv3d(case.input[:, :, None], case.weight[:, :, None], case.bias)[:, :, 0]

    assert report(adapter, "conv2d").passed
