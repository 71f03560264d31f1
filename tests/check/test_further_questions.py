"""What is asked besides the settings, and what was said wrongly: no bias, twice differentiated, float32, NaN."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch.autograd.function import once_differentiable

import convviz
from convviz.cases.battery import make_case
from convviz.cases.further_questions import FLOAT32, NO_BIAS, SPEC, TWICE, probe, right_of
from convviz.cases.tasks import truth
from convviz.check import TASKS, report


def function_of(bias=True, cut="", marked=False, numpy=False):
    """Return an autograd.Function, right unless told otherwise.

    ``bias``: whether its backward pass looks whether there is one; ``cut``: the gradient that is detached.
    """

    class Conv2d(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
            ctx.save_for_backward(input, weight)
            ctx.geometry = (stride, padding, dilation, groups)
            ctx.has_bias = bias is not None
            return F.conv2d(input, weight, bias, *ctx.geometry)

        @staticmethod
        def backward(ctx, grad_output):
            input, weight = ctx.saved_tensors
            if numpy:
                grad_output = torch.from_numpy(np.array(grad_output.detach().numpy()))
                input, weight = input.detach(), weight.detach()
            dx = torch.nn.grad.conv2d_input(input.shape, weight, grad_output, *ctx.geometry)
            dw = torch.nn.grad.conv2d_weight(
                input.detach() if cut == "grad_weight" else input, weight.shape, grad_output, *ctx.geometry
            )
            db = grad_output.sum((0, 2, 3)) if ctx.has_bias or not bias else None
            dx = dx.detach() if cut == "grad_input" else dx
            return dx, dw, db, None, None, None, None

    if marked:
        Conv2d.backward = staticmethod(once_differentiable(Conv2d.backward))
    return Conv2d


def layer_of(function, bias=True):
    class Layer(torch.nn.Conv2d):
        def forward(self, input):
            geometry = (self.stride, self.padding, self.dilation, self.groups)
            return function.apply(input, self.weight, self.bias, *geometry)

    return Layer


MAKE = (lambda fn: fn, layer_of)


def failing(found):
    return [case.name for case in found.cases if not case.passed]


@pytest.mark.parametrize("make", MAKE)
def test_a_right_function_is_asked_all_three(make):
    found = report(make(function_of()), "conv2d_function")
    assert found.passed, found.text()
    assert {NO_BIAS, TWICE, FLOAT32} <= {case.name for case in found.cases}


@pytest.mark.parametrize("make", MAKE)
def test_a_gradient_for_a_bias_that_is_none(make):
    found = report(make(function_of(bias=False)), "conv2d_function")
    assert failing(found) == [NO_BIAS], found.text()
    assert "bias=None" in found.diagnoses[0].title, found.text()


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("cut", ["grad_input", "grad_weight"])
def test_a_gradient_that_is_cut_off(make, cut):
    found = report(make(function_of(cut=cut)), "conv2d_function")
    assert failing(found) == [TWICE], found.text()
    assert found.diagnoses[0].of == cut
    assert "once_differentiable" in found.diagnoses[0].fix, found.text()


def test_numpy_on_the_way_has_to_say_that_it_is_differentiated_once():
    found = report(function_of(numpy=True), "conv2d_function")
    assert failing(found) == [TWICE], found.text()
    found = report(function_of(numpy=True, marked=True), "conv2d_function")
    assert found.passed, found.text()
    assert "once_differentiable" in found.not_asked[TWICE]


def test_a_function_that_demands_a_bias_is_not_asked_without():
    class Conv2d(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input, weight, bias, stride, padding):
            ctx.save_for_backward(input, weight)
            ctx.geometry = (stride, padding)
            return F.conv2d(input, weight, None, stride, padding) + bias[:, None, None]

        @staticmethod
        def backward(ctx, grad_output):
            input, weight = ctx.saved_tensors
            dx = torch.nn.grad.conv2d_input(input.shape, weight, grad_output, *ctx.geometry)
            dw = torch.nn.grad.conv2d_weight(input, weight.shape, grad_output, *ctx.geometry)
            return dx, dw, grad_output.sum((0, 2, 3)), None, None

    found = report(Conv2d, "conv2d_function")
    assert found.passed, found.text()
    assert NO_BIAS in found.not_asked


def test_a_function_whose_own_default_fails():
    def conv2d(input, weight, bias=None, stride=1, padding=0):
        return F.conv2d(input, weight, None, stride, padding) + bias[:, None, None]

    found = report(conv2d, "conv2d")
    assert failing(found) == [NO_BIAS], found.text()

    def right(input, weight, bias=None, stride=1, padding=0):
        return F.conv2d(input, weight, bias, stride, padding)

    assert report(right, "conv2d").passed


def test_a_layer_that_cannot_do_without_a_bias():
    class Layer(torch.nn.Module):
        def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, bias=True):
            super().__init__()
            size = kernel_size if isinstance(kernel_size, tuple) else (kernel_size, kernel_size)
            self.weight = torch.nn.Parameter(torch.zeros(out_channels, in_channels, *size))
            self.bias = torch.nn.Parameter(torch.zeros(out_channels)) if bias else None
            self.geometry = (stride, padding)

        def forward(self, input):
            return F.conv2d(input, self.weight, None, *self.geometry) + self.bias.reshape(-1, 1, 1)

    assert failing(report(Layer, "conv2d_module")) == [NO_BIAS]


def in_half(values):
    return values.half().to(values.dtype) if values.dtype == torch.float32 else values


def test_sums_in_float16_for_float32_alone():
    def conv2d(input, weight, bias, stride=1, padding=0, dilation=1, groups=1):
        return in_half(F.conv2d(input, weight, bias, stride, padding, dilation, groups))

    found = report(conv2d, "conv2d")
    assert failing(found) == [FLOAT32], found.text()
    assert "float32" in found.diagnoses[0].title

    def by_hand(grad_output, input, weight, bias, stride=1, padding=0):
        dx = torch.nn.grad.conv2d_input(input.shape, weight, grad_output, stride, padding)
        dw = torch.nn.grad.conv2d_weight(input, weight.shape, grad_output, stride, padding)
        return dx, in_half(dw), grad_output.sum((0, 2, 3))

    found = report(by_hand, "conv2d_backward")
    assert failing(found) == [FLOAT32], found.text()
    assert found.diagnoses[0].of == "grad_weight"


def test_code_for_float64_alone_is_not_asked_in_float32():
    def conv2d(input, weight, bias, stride=1, padding=0):
        return F.conv2d(input, weight.double(), bias, stride, padding)

    found = report(conv2d, "conv2d")
    assert found.passed, found.text()
    assert FLOAT32 in found.not_asked

    def numpy64(grad_output, input_size, weight, stride=1, padding=0):
        total = np.zeros(input_size)
        total += torch.nn.grad.conv2d_input(
            tuple(input_size), torch.from_numpy(weight), torch.from_numpy(grad_output), stride, padding
        ).numpy()
        return total

    assert report(numpy64, "conv2d_input").passed


def test_the_library_itself():
    found = report(convviz.conv2d, "conv2d_function")
    assert found.passed, found.text()
    assert {NO_BIAS, TWICE, FLOAT32} <= {case.name for case in found.cases}
    for layer, task in (
        (torch.nn.Conv2d, "conv2d"),
        (convviz.nn.ConvTranspose2d, "conv_transpose2d"),
        (torch.nn.Linear, "linear"),
    ):
        found = report(layer, task)
        assert found.passed, found.text()
        assert {NO_BIAS, TWICE, FLOAT32} <= {case.name for case in found.cases}, found.not_asked


@pytest.mark.parametrize("name", ["conv2d_function", "conv_transpose2d_function", "linear"])
def test_second_derivatives_are_those_of_differences(name):
    """The gradient of sum(g · v) by a tensor, against differences of g itself: it is linear in each."""
    task = replace(TASKS[name], kind="Function", results=TASKS["conv2d_function"].results)
    case = make_case("", convviz.ConvSpec(1, 5, 4, 1, batch=3) if name == "linear" else SPEC, 3)
    second = right_of(task, replace(case, way=TWICE))
    assert len(second) == 5
    exchanged = {"input": "grad_output", "grad_output": "input"} if task.is_transposed else {}
    for each, got in second.items():
        gradient, leaf = each.split(" by ")
        factor, direction = probe(task, case, gradient), task.tensor(make_case("", case.spec, 9), leaf)
        role = exchanged.get(leaf, leaf)
        moved = case.with_tensor(role, case.tensor(role) + direction)
        change = truth(task, moved)[gradient] - truth(task, case)[gradient]
        slope = (got.reshape(-1) * direction.reshape(-1)).sum()
        torch.testing.assert_close((change.reshape(-1) * factor.reshape(-1)).sum(), slope)


def test_nan_is_said_first_and_confuses_nothing_else():
    def never_filled(input_size, weight, grad_output, stride=1, padding=0):
        made = np.full(input_size, np.nan)
        right = torch.nn.grad.conv2d_input(
            tuple(input_size), torch.from_numpy(weight), torch.from_numpy(grad_output), stride, padding
        ).numpy()
        rows = (grad_output.shape[2] - 1) * (stride[0] if isinstance(stride, tuple) else stride) + weight.shape[2]
        rows -= padding[0] if isinstance(padding, tuple) else padding
        made[:, :, :rows] = right[:, :, :rows]
        return made

    found = report(never_filled, "conv2d_input")
    assert [each.title for each in found.diagnoses] == ["grad_input contains NaN or infinity."], found.text()
    assert "np.empty" in found.diagnoses[0].fix

    def and_rotated(input_size, weight, grad_output, stride=1, padding=0):
        return never_filled(input_size, weight[:, :, ::-1, ::-1].copy(), grad_output, stride, padding)

    found = report(and_rotated, "conv2d_input")
    assert found.diagnoses[0].title == "grad_input contains NaN or infinity."
    assert found.diagnoses[1].id == "I01", found.text()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_the_digits_by_their_name(dtype):
    def conv2d(input, weight, bias, stride=1, padding=0):
        return F.conv2d(input, weight, bias, stride, padding).to(getattr(torch, dtype)).to(input.dtype)

    assert report(conv2d, "conv2d").diagnoses[0].title == f"The result has only the digits of {dtype}."


def test_a_bias_that_is_a_plain_tensor_is_called_in_the_dtype_of_the_case():
    class Layer(torch.nn.Module):
        def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0):
            super().__init__()
            size = kernel_size if isinstance(kernel_size, tuple) else (kernel_size, kernel_size)
            self.weight = torch.nn.Parameter(torch.zeros(out_channels, in_channels, *size))
            self.bias = torch.zeros(out_channels)
            self.geometry = (stride, padding)

        def forward(self, input):
            return F.conv2d(input, self.weight, self.bias, *self.geometry)

    text = report(Layer, "conv2d_module").text()
    assert "make it a torch.nn.Parameter" in text
    assert "guess" not in text


def test_a_kernel_row_that_is_never_used_is_no_overlap():
    """Where the stride is 2, what is lost is the same as if = stood in place of +=."""

    def scatter(grad_output, weight, input_size, stride=1, padding=0):
        size = weight.shape[-1]
        assert weight.shape[2] == size
        rows, columns = (cells + 2 * padding for cells in input_size[2:])
        dx = np.zeros((*input_size[:2], rows, columns))
        for i, j in np.ndindex(grad_output.shape[2:]):
            for k, m in np.ndindex(size - 1, size):
                dx[:, :, i * stride + k, j * stride + m] += grad_output[:, :, i, j] @ weight[:, :, k, m]
        return dx[:, :, padding : rows - padding, padding : columns - padding]

    title = report(scatter, "conv2d_input").diagnoses[0].title
    assert title.startswith("Row 2 of weight is never used"), title
