"""What is wrong for many channels, rows or samples alone, and what keeps its first weight of each shape."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from convviz.cases.random_cases import MAX_LARGE, large_cases
from convviz.cases.tasks import TASKS
from convviz.check import report


def conv2d_when(spoilt):
    """Return a conv2d that is wrong where that holds."""

    def conv2d(input, weight, bias, stride=1, padding=0, dilation=1, groups=1):
        output = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
        return output * 1.5 if spoilt(input.shape, weight.shape, groups) else output

    return conv2d


LARGE = {
    "24 groups": lambda x, w, groups: groups == x[1] == 24,
    "64 groups": lambda x, w, groups: groups == 64,
    "more than 16 rows": lambda x, w, groups: x[2] >= 17,
    "more than 40 columns": lambda x, w, groups: x[3] > 40,
    "input channels beyond a block": lambda x, w, groups: groups == 1 and x[1] > 32,
    "output channels beyond a block": lambda x, w, groups: w[0] > 32,
    "samples": lambda x, w, groups: x[0] > 32,
}


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("what", LARGE)
def test_wrong_for_large_ones_alone(what, seed):
    found = report(conv2d_when(LARGE[what]), "conv2d", seed=seed)
    assert not found.passed
    assert sum(not case.passed for case in found.cases) == 1
    assert found.diagnoses, found.text()


def test_it_says_which_ones():
    title = report(conv2d_when(LARGE["24 groups"]), "conv2d").diagnoses[0].title
    assert title == "With 24 groups it is wrong, with 23 and with 25 it is right, everything else as in the case shown."
    title = report(conv2d_when(LARGE["samples"]), "conv2d").diagnoses[0].title
    assert (
        title
        == "With up to 32 samples it is right, with 33 and more it is wrong, everything else as in the case shown."
    )
    found = report(conv2d_when(LARGE["more than 16 rows"]), "conv2d")
    assert "rows" in found.diagnoses[0].title, found.text()
    shape = found.cases[-1].shapes["output"][0]
    assert shape[0] == 1, "the smallest of them"


def test_the_text_says_up_to_which_sizes_it_asked():
    found = report(F.conv2d, "conv2d")
    assert found.passed
    line = next(line for line in found.text().splitlines() if "random" in line)
    assert "64 channels" in line
    assert "64 rows" in line
    assert line in found._repr_html_()

    def backward(grad_output, input, weight, bias, stride=1, padding=0):  # loops, as a beginner writes them
        padded = np.pad(input, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
        dx, dw = np.zeros_like(padded), np.zeros_like(weight)
        for n, o, i, j in np.ndindex(grad_output.shape):
            for c, k, m in np.ndindex(weight.shape[1:]):
                at = (n, c, i * stride + k, j * stride + m)
                dx[at] += grad_output[n, o, i, j] * weight[o, c, k, m]
                dw[o, c, k, m] += grad_output[n, o, i, j] * padded[at]
        rows, columns = input.shape[2:]
        return dx[:, :, padding:, padding:][:, :, :rows, :columns], dw, grad_output.sum((0, 2, 3))

    found = report(backward, "conv2d_backward")
    assert found.passed, found.text()
    assert any("random" in line for line in found.text().splitlines())
    assert "random" not in report(F.conv2d, "conv2d", cases="battery").text()


def test_large_cases_are_large_in_every_respect_and_cost_little():
    for name in ("conv2d_backward", "conv_transpose2d", "linear_backward"):
        cases = list(large_cases(TASKS[name], 3, lambda spec: spec))
        specs = [case.spec for case in cases]
        assert max(spec.products for spec in specs) <= MAX_LARGE
        most = 1024 if name == "linear_backward" else 64
        assert max(spec.in_channels for spec in specs) == max(spec.out_channels for spec in specs) == most
        assert max(spec.batch for spec in specs) >= 32
        if name != "linear_backward":
            assert {24, 32, 64} <= {spec.groups for spec in specs}
            assert all(max(spec.input_size[axis] for spec in specs) >= 64 for axis in (0, 1))
            assert max(math.prod(spec.input_shape) for spec in specs) > 2**15, "more than two bytes count"
        again = [case.spec for case in large_cases(TASKS[name], 3, lambda spec: spec)]
        assert again == specs


class Keeps:
    """A layer that is given its weight at every forward pass, and keeps the first of each shape."""

    def __init__(self, stride=1, padding=0):
        self.stride, self.padding, self.kept = stride, padding, {}

    def forward(self, input, weight, bias):
        self.weight = self.kept.setdefault(weight.shape, weight)
        self.input = input
        return F.conv2d(input, self.weight, bias, self.stride, self.padding)

    def backward(self, grad_output):
        dx = torch.nn.grad.conv2d_input(self.input.shape, self.weight, grad_output, self.stride, self.padding)
        dw = torch.nn.grad.conv2d_weight(self.input, self.weight.shape, grad_output, self.stride, self.padding)
        return dx, dw, grad_output.sum((0, 2, 3))


class KeepsNothing(Keeps):
    def forward(self, input, weight, bias):
        self.kept = {}
        return super().forward(input, weight, bias)


class OfItsOwn(Keeps):
    """The same with a weight among its attributes."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0):
        super().__init__(stride, padding)
        size = kernel_size if isinstance(kernel_size, tuple) else (kernel_size, kernel_size)
        self.W, self.b = torch.zeros(out_channels, in_channels, *size), torch.zeros(out_channels)

    def forward(self, input):
        return super().forward(input, self.W.clone(), self.b)


class Given(Keeps):
    """The same with a weight that its constructor takes."""

    def __init__(self, weight, bias, stride=1, padding=0):
        super().__init__(stride, padding)
        self.W, self.b = weight, bias

    def forward(self, input):
        return super().forward(input, self.W.clone(), self.b)


class Module(torch.nn.Conv2d):
    kept: dict = {}  # noqa: RUF012

    def forward(self, input):
        weight = self.kept.setdefault(self.weight.shape, self.weight)
        return F.conv2d(input, weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


@pytest.mark.parametrize("made", [Keeps, OfItsOwn, Given])
def test_a_layer_that_keeps_its_first_weight_of_each_shape(made):
    for task in ("conv2d_backward", "conv2d"):
        found = report(made, task)
        assert not found.passed, made
        assert "weights" in found.text(), found.text()
    assert report(KeepsNothing, "conv2d_backward").passed


def test_a_module_and_a_function_that_keep_their_first_weight_of_each_shape():
    assert not report(Module, "conv2d_module").passed
    kept = {}

    def conv2d(input, weight, bias, stride=1):
        return F.conv2d(input, kept.setdefault(weight.shape, weight), bias, stride)

    assert not report(conv2d, "conv2d").passed
