"""A transposed convolution's gradients: asked wherever something can return them, and named when they are wrong."""

import pytest
import torch
import torch.nn.functional as F

from convviz.cases.battery import battery
from convviz.cases.tasks import truth
from convviz.check import TASKS, report


def gradients(grad_output, input, weight, stride, padding, groups, dilation):
    """Return a transposed convolution's gradients by autograd, through torch's own forward pass."""
    output_size = grad_output.shape[2:]
    with torch.enable_grad():
        x, w = input.detach().requires_grad_(), weight.detach().requires_grad_()
        least = F.conv_transpose2d(x, w, None, stride, padding, 0, groups, dilation).shape[2:]
        rest = [size - shape for size, shape in zip(output_size, least, strict=True)]
        output = F.conv_transpose2d(x, w, None, stride, padding, rest, groups, dilation)
    return *torch.autograd.grad(output, (x, w), grad_output), grad_output.sum((0, 2, 3))


def function_of(spoil=lambda dx, dw, db: (dx, dw, db)):
    """Return an autograd.Function for conv_transpose2d; its gradients are spoilt."""

    class ConvTranspose2d(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input, weight, bias, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
            ctx.save_for_backward(input, weight)
            ctx.geometry = (stride, padding, groups, dilation)
            return F.conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad_output):
            found = spoil(*gradients(grad_output, *ctx.saved_tensors, *ctx.geometry))
            found = [each if needed else None for each, needed in zip(found, ctx.needs_input_grad, strict=False)]
            return *found, None, None, None, None, None

    return ConvTranspose2d


def layer_of(function):
    """Return a layer's class around a Function."""

    class Layer(torch.nn.ConvTranspose2d):
        def forward(self, input):
            geometry = (self.stride, self.padding, self.output_padding, self.groups, self.dilation)
            return function.apply(input, self.weight, self.bias, *geometry)

    return Layer


def wrapped(function):
    """Return a function that calls a Function, as libraries offer it."""

    def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        return function.apply(input, weight, bias, stride, padding, output_padding, groups, dilation)

    return conv_transpose2d


SPOILT = {
    "grad_input": lambda dx, dw, db: (2 * dx, dw, db),
    "grad_weight": lambda dx, dw, db: (dx, torch.zeros_like(dw), db),
    "grad_bias": lambda dx, dw, db: (dx, dw, 7 * db),
}


@pytest.mark.parametrize("task", ["conv_transpose2d", "conv_transpose2d_function"])
@pytest.mark.parametrize(
    "made", [function_of, lambda *how: layer_of(function_of(*how)), lambda *how: wrapped(function_of(*how))]
)
def test_a_function_a_layer_and_what_wraps_one_are_asked_for_each_gradient(task, made):
    right = report(made(), task)
    assert right.passed, right.text()
    assert len(right.cases) > 15
    for result, spoil in SPOILT.items():
        found = report(made(spoil), task)
        assert found.score < 0.1, f"{result}: {found.text()}"  # 0 is right where nothing goes in
        assert [each.of for each in found.diagnoses] == [result], found.text()


def test_layers_of_a_transposed_convolution():
    for make in (torch.nn.ConvTranspose2d, layer_of(function_of())):
        found = report(make, "conv_transpose2d_module")
        assert found.passed, found.text()
    assert not report(layer_of(function_of(SPOILT["grad_bias"])), "conv_transpose2d_module").passed


def by_input(input_size, weight, grad_output, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return F.conv2d(grad_output, weight, None, stride, padding, dilation, groups)


def by_weight(input, weight_size, grad_output, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    weight = torch.zeros(*weight_size, dtype=input.dtype)
    return gradients(grad_output, input, weight, stride, padding, groups, dilation)[1]


def by_bias(grad_output):
    return grad_output.sum((0, 2, 3))


def backward(grad_output, input, weight, bias, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return gradients(grad_output, input, weight, stride, padding, groups, dilation)


ALONE = {"input": by_input, "weight": by_weight, "bias": by_bias, "backward": backward}


@pytest.mark.parametrize(("name", "fn"), ALONE.items())
def test_gradients_as_tasks_of_their_own(name, fn):
    found = report(fn, f"conv_transpose2d_{name}")
    assert found.passed, found.text()
    assert len(found.cases) > 15
    assert not found.assumed[0].startswith("positional")


def test_a_transposed_convolution_is_asked_what_it_is_by_its_shapes():
    """Its gradients are those of the definition: the input's is a convolution of grad_output, the bias's a sum."""
    task = TASKS["conv_transpose2d_backward"]
    for case in battery("all", 0):
        if case.spec.padding_mode == "zeros":
            found, spec = truth(task, case), case.spec
            padding = (spec.padding[0][0], spec.padding[1][0])
            to_input = F.conv2d(case.input, case.weight, None, spec.stride, padding, spec.dilation, spec.groups)
            torch.testing.assert_close(found["grad_input"], to_input)
            torch.testing.assert_close(found["grad_bias"], case.input.sum((0, 2, 3)))
            assert found["grad_weight"].shape == spec.weight_shape


def rotated(grad_output, weight, stride=1, padding=0):
    return F.conv2d(grad_output, weight.flip(2, 3), None, stride, padding)


def test_wrong_gradients_are_named_in_the_words_of_a_transposed_convolution():
    found = report(rotated, "conv_transpose2d_input")
    assert found.diagnoses[0].id == "F01", found.text()
    assert found.diagnoses[0].of == "grad_input"

    def mean(input, weight_size, grad_output, *geometry):
        return by_weight(input, weight_size, grad_output, *geometry) / len(input)

    found = report(mean, "conv_transpose2d_weight")
    assert (found.diagnoses[0].id, found.diagnoses[0].of) == ("W12", "grad_weight"), found.text()
    first = report(lambda grad_output: grad_output[0].sum((1, 2)), "conv_transpose2d_bias")
    assert first.diagnoses[0].of == "grad_bias", first.text()
    assert first.diagnoses[0].id[0] == "B", first.text()

    def shifted(grad_output, weight, stride=1, padding=0):
        return F.conv2d(grad_output.roll(1, 2), weight, None, stride, padding)

    text = report(shifted, "conv_transpose2d_input").text()
    assert "windows start 1 row above" in text or "grad_output" in text, text


class FromScratch:
    """A class with passes of its own, as courses build one."""

    def __init__(self, weight, bias, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        self.weight, self.bias = weight, bias
        self.geometry, self.rest = (stride, padding, groups, dilation), output_padding

    def forward(self, input):
        self.input = input
        stride, padding, groups, dilation = self.geometry
        return F.conv_transpose2d(input, self.weight, self.bias, stride, padding, self.rest, groups, dilation)

    def backward(self, grad_output):
        return gradients(grad_output, self.input, self.weight, *self.geometry)


def test_a_class_with_passes_of_its_own():
    found = report(FromScratch, "conv_transpose2d_backward")
    assert found.passed, found.text()
    assert report(FromScratch, "conv_transpose2d").passed

    class Wrong(FromScratch):
        def backward(self, grad_output):
            dx, dw, db = super().backward(grad_output)
            return dx, dw, 2 * db

    assert not report(Wrong, "conv_transpose2d_backward").passed


def test_functions_and_layers_are_asked_for_gradients_whatever_their_task():
    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input, weight, bias):
            ctx.save_for_backward(input, weight)
            return input @ weight.T + bias

        @staticmethod
        def backward(ctx, grad_output):
            input, weight = ctx.saved_tensors
            return grad_output @ weight, grad_output.T @ input, grad_output.mean(0)

    found = report(Linear, "linear")
    assert [each.id for each in found.diagnoses] == ["B06"], found.text()

    class Conv(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input, weight, bias, stride, padding):
            ctx.save_for_backward(input, weight)
            ctx.geometry = (stride, padding)
            return F.conv2d(input, weight, bias, stride, padding)

        @staticmethod
        def backward(ctx, grad_output):
            input, weight = ctx.saved_tensors
            dx = torch.nn.grad.conv2d_input(input.shape, weight, grad_output, *ctx.geometry)
            dw = torch.nn.grad.conv2d_weight(input, weight.shape, grad_output, *ctx.geometry)
            return -dx, dw, grad_output.sum((0, 2, 3)), None, None

    assert [each.id for each in report(Conv, "conv2d").diagnoses] == ["I26"]
    assert report(torch.nn.Conv2d, "conv2d").passed
    assert report(torch.nn.Linear, "linear").passed
