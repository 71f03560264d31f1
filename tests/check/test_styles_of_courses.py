"""Code as public courses and frameworks write it: how each style is called, and that a wrong one is wrong."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from convviz.check import report


def by_input(shape, weight, grad_output, stride=1, padding=0, groups=1):
    weight, grad_output = map(torch.as_tensor, (weight, grad_output))
    return torch.nn.grad.conv2d_input(shape, weight, grad_output, stride, padding, 1, groups).numpy()


def by_weight(input, shape, grad_output, stride=1, padding=0, groups=1):
    input, grad_output = map(torch.as_tensor, (input, grad_output))
    return torch.nn.grad.conv2d_weight(input, shape, grad_output, stride, padding, 1, groups).numpy()


def forward(input, weight, bias, *geometry):
    return F.conv2d(*map(torch.as_tensor, (input, weight, bias)), *geometry).numpy()


def three(grad_output, input, weight, bias=None, stride=1, padding=0):
    dx = by_input(input.shape, weight, grad_output, stride, padding)
    return dx, by_weight(input, weight.shape, grad_output, stride, padding), grad_output.sum((0, 2, 3))


def times(gradients, factor):
    """Return gradients of which the weight's is that many times the right one."""
    dx, dw, *rest = gradients
    return (dx, factor * dw, *rest)


class Grads(NamedTuple):
    weight: np.ndarray
    bias: np.ndarray
    input: np.ndarray


def functions(factor):
    """Yield functions, each with the task that it is for."""

    def handed_on(*args, **kwargs):
        return times(three(*args, **kwargs), factor)

    def by_keyword(*, image, kernels, delta, step=1, pad=0):
        return times(three(delta, image, kernels, None, step, pad), factor)[:2]

    def of_fields(dout, x, w, b, stride=1, padding=0):
        dx, dw, db = times(three(dout, x, w, b, stride, padding), factor)
        return Grads(dw, db, dx)

    def nested(dout, x, w, b, stride=1, padding=0):
        dx, *rest = times(three(dout, x, w, b, stride, padding), factor)
        return dx, rest

    def of_keys(**given):
        x, w, dout = given["x"], given["W"], given["dout"]
        return times(three(dout, x, w, None, given["stride"], given.get("pad", 0)), factor)[:2]

    def of_axes(image, kern, gout, sh, sw, ph, pw):
        return times(three(gout, image, kern, None, (sh, sw), (ph, pw)), factor)[:2]

    def one_plane(dH, cache):
        X, W = cache
        (f, f) = W.shape
        dX, dW = np.zeros(X.shape), np.zeros(W.shape)
        for i, j in np.ndindex(dH.shape):
            dX[i : i + f, j : j + f] += dH[i, j] * W
            dW += factor * dH[i, j] * X[i : i + f, j : j + f]
        return dX, dW

    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w, b):
            ctx.save_for_backward(x, w)
            return x.mm(w.t()) + b

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            return g.mm(w), factor * g.t().mm(x), g.sum(0)

    yield from (
        (fn, "conv2d_backward") for fn in (handed_on, by_keyword, of_fields, nested, of_axes, one_plane, of_keys)
    )
    yield Linear, "linear_backward"


def layers(factor):
    """Yield from-scratch layers."""

    class Keras:
        def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid"):
            self.filters, self.kernel_size, self.strides, self.padding = filters, kernel_size, strides, padding
            self.kernel = self.bias = None

        def forward(self, inputs):
            sizes = zip(inputs.shape[2:], self.kernel.shape[2:], self.strides, strict=True)
            rows, columns = (max((-(-n // s) - 1) * s + k - n, 0) * (self.padding == "same") for n, k, s in sizes)
            self.border = (0, 0), (0, 0), (rows // 2, rows - rows // 2), (columns // 2, columns - columns // 2)
            self.padded = np.pad(inputs, self.border)
            return forward(self.padded, self.kernel, self.bias, self.strides)

        def backward(self, g):
            self.dkernel = factor * by_weight(self.padded, self.kernel.shape, g, self.strides)
            self.dbias = g.sum((0, 2, 3))
            whole = by_input(self.padded.shape, self.kernel, g, self.strides)
            cut = (slice(before, size - after) for (before, after), size in zip(self.border, whole.shape, strict=True))
            return whole[tuple(cut)]

    class Built(Keras):
        def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid"):
            super().__init__(filters, kernel_size, strides, padding)
            del self.kernel, self.bias

        def forward(self, inputs):
            if not hasattr(self, "kernel"):
                rows, columns = self.kernel_size
                self.kernel = np.random.randn(self.filters, inputs.shape[1], rows, columns)
                self.bias = np.zeros(self.filters)
            return super().forward(inputs)

    class OfOneImage:
        """As a much copied tutorial has it: the input's shape, a bias for each cell, updates in backward."""

        def __init__(self, input_shape, kernel_size, depth):
            self.input_depth, height, width = input_shape
            self.kernels = np.random.randn(depth, self.input_depth, kernel_size, kernel_size)
            self.biases = np.random.randn(depth, height - kernel_size + 1, width - kernel_size + 1)

        def forward(self, input):
            self.input = input
            return self.biases + forward(input[None], self.kernels, np.zeros(len(self.kernels)))[0]

        def backward(self, output_gradient, learning_rate):
            sent, shape = output_gradient[None], self.input[None].shape
            kernels_gradient = factor * by_weight(self.input[None], self.kernels.shape, sent)
            input_gradient = by_input(shape, self.kernels, sent)[0]
            self.kernels -= learning_rate * kernels_gradient
            self.biases -= learning_rate * output_gradient
            return input_gradient

    class Updating:
        def __init__(self, in_ch, n_filters, filter_size, stride=1, padding=0):
            self.W, self.b = np.zeros((n_filters, in_ch, filter_size, filter_size)), np.zeros(n_filters)
            self.geometry = stride, padding

        def forward(self, x):
            self.x = x
            return forward(x, self.W, self.b, *self.geometry)

        def backward(self, grad, lr=0.01):
            dx, dw, db = times(three(grad, self.x, self.W, self.b, *self.geometry), factor)
            self.W, self.b = self.W - lr * dw, self.b - lr * db
            return dx

    class Mixed:
        """A pair for the kernel, numbers for all else."""

        def __init__(self, n_channels, nb_filters, kernel_shape, stride=1, padding=0):
            rows, columns = kernel_shape
            self.W, self.b = np.zeros((nb_filters, n_channels, rows, columns)), np.zeros(nb_filters)
            self.geometry = int(stride), int(padding)

        def forward(self, x):
            self.x = x
            return forward(x, self.W, self.b, *self.geometry)

        def backward(self, grad):
            dx, self.dW, self.db = times(three(grad, self.x, self.W, self.b, *self.geometry), factor)
            return dx

    yield from (Keras, OfOneImage, Updating, Mixed, Built)


@pytest.mark.parametrize(("number", "count"), [*enumerate((17, 17, 17, 17, 17, 2, 17, 5))])
def test_functions(number, count):
    fn, task = list(functions(1.0))[number]
    found = report(fn, task)
    assert found.passed, found.text()
    assert len(found.cases) >= count
    found = report(list(functions(3.0))[number][0], task)
    assert not found.passed
    assert "constant" in found.diagnoses[0].title, found.text()


@pytest.mark.parametrize(("number", "count"), [*enumerate((9, 2, 13, 14, 9))])
def test_layers(number, count):
    found = report(list(layers(1.0))[number], "conv2d_backward")
    assert found.passed, found.text()
    assert len(found.cases) >= count, found.text()
    found = report(list(layers(3.0))[number], "conv2d_backward")
    assert not found.passed
    assert "constant" in found.diagnoses[0].title, found.text()


def test_what_is_read_in_another_form_is_said():
    text = " ".join(report(list(layers(1.0))[1], "conv2d_backward").assumed)
    assert "gradients of weights are read from how backward changes them, with a learning rate of 1" in text
    assert "a bias for each cell of the output" in text
    assert "two numbers for kernel_size" in " ".join(report(list(layers(1.0))[3], "conv2d_backward").assumed)
