"""What is asked of everybody without a word: a second backward pass, another size, every border, every "same"."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from convviz.cases.same_padding import SAME
from convviz.check import report
from convviz.facts.words import sentences

say_call = sentences("calling_student_code")
grad = torch.nn.grad


def layer(back):
    """Return the class of a layer that keeps a padded image, of which ``back`` makes what the backward pass reads."""

    class Conv:
        def __init__(self, weight, bias, stride=1, padding=0):
            self.weight, self.bias, self.stride, self.padding = weight, bias, stride, padding

        def forward(self, x):
            self.kept = F.pad(x, (self.padding,) * 4)
            return F.conv2d(self.kept, self.weight, self.bias, self.stride)

        def backward(self, dout):
            x, p = back(self), self.padding
            dx = grad.conv2d_input(x.shape, self.weight, dout, self.stride)
            dw = grad.conv2d_weight(x, self.weight.shape, dout, self.stride)
            return dx[:, :, p : x.shape[2] - p, p : x.shape[3] - p], dw, dout.sum((0, 2, 3))

    return Conv


def scaled(self):
    found = self.kept.clone()
    self.kept *= 2
    return found


def freed(self):
    found, self.kept = self.kept, None
    return found


class TestSecondBackwardPass:
    def test_what_it_changes_of_what_was_kept_is_found(self):
        found = report(layer(scaled), "conv2d_backward")
        assert not found.passed
        assert say_call("kept.back", names="grad_weight") in found.text()

    @pytest.mark.parametrize("back", [lambda self: self.kept, freed])
    def test_what_keeps_it_or_frees_it_is_right(self, back):
        found = report(layer(back), "conv2d_backward")
        assert found.passed, found.text()

    def test_a_pair_with_a_cache(self):
        def forward(x, w, b, stride=1, padding=0):
            return F.conv2d(x, w, b, stride, padding), [x.clone(), w, stride, padding]

        def backward(dout, cache):
            x, w, *how = cache
            cache[0] = x + 1
            return (
                grad.conv2d_input(x.shape, w, dout, *how),
                grad.conv2d_weight(x, w.shape, dout, *how),
                dout.sum((0, 2, 3)),
            )

        assert say_call("kept.back", names="grad_weight") in report((forward, backward), "conv2d_backward").text()

    def test_a_function_whose_ctx_holds_it(self):
        class Conv(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, w, b, stride=1, padding=0):
                ctx.held, ctx.how = [x.clone(), w], (stride, padding)
                return F.conv2d(x, w, b, stride, padding)

            @staticmethod
            @torch.autograd.function.once_differentiable
            def backward(ctx, dout):
                x, w = ctx.held
                dx = grad.conv2d_input(x.shape, w, dout, *ctx.how)
                dw = grad.conv2d_weight(x, w.shape, dout, *ctx.how)
                x *= 2
                return dx, dw, dout.sum((0, 2, 3)), None, None

        assert say_call("kept.back", names="grad_weight") in report(Conv, "conv2d_function").text()


class FirstSize(torch.nn.Module):
    """Keeps what its first input needed."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding="same"):
        super().__init__()
        size = kernel_size if isinstance(kernel_size, tuple) else (kernel_size, kernel_size)
        self.stride, self.padding, self.sides = stride, padding, None
        self.weight = torch.nn.Parameter(torch.zeros(out_channels, in_channels, *size))
        self.bias = torch.nn.Parameter(torch.zeros(out_channels))

    def forward(self, x):
        if self.padding == "valid":
            return F.conv2d(x, self.weight, self.bias, self.stride)
        if self.sides is None or self.is_right:
            self.sides = []
            for n, k in zip(x.shape[:1:-1], self.weight.shape[:1:-1], strict=True):
                total = max((-(-n // self.stride) - 1) * self.stride + k - n, 0)
                self.sides += [total // 2, total - total // 2]
        return F.conv2d(F.pad(x, self.sides), self.weight, self.bias, self.stride)

    is_right = False


def test_what_is_kept_of_the_first_size_is_found():
    found = report(FirstSize, "conv2d_module")
    assert not found.passed
    assert "input of another size went forward" in found.text()
    right = report(type("Right", (FirstSize,), {"is_right": True}), "conv2d_module")
    assert right.passed, right.text()


def test_a_layer_that_is_made_for_one_size_is_right():
    class Fixed:
        def __init__(self, weight, bias, stride=1, padding=0):
            self.weight, self.bias, self.how, self.size = weight, bias, (stride, padding), None

        def forward(self, x):
            self.size = self.size or x.shape
            if x.shape != self.size:
                raise ValueError("another size")
            self.x = x
            return F.conv2d(x, self.weight, self.bias, *self.how)

        def backward(self, dout):
            x, w = self.x, self.weight
            dx = grad.conv2d_input(x.shape, w, dout, *self.how)
            return dx, grad.conv2d_weight(x, w.shape, dout, *self.how), dout.sum((0, 2, 3))

    found = report(Fixed, "conv2d_backward")
    assert found.passed, found.text()


def replicated(columns):
    """Return a conv2d_input for one border alone; ``columns`` says how many of those beyond the edge are added."""

    def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, padding_mode="replicate"):
        if padding_mode != "replicate":
            raise NotImplementedError(padding_mode)
        sides = (padding, padding) if isinstance(padding, int) else padding
        size = (*input_size[:2], *(n + 2 * p for n, p in zip(input_size[2:], sides, strict=True)))
        dx = grad.conv2d_input(size, weight, grad_output, stride, 0, dilation)
        for axis, p in zip((2, 3), sides, strict=True):
            before, body, after = dx.split((p, size[axis] - 2 * p, p), axis)
            body = body.clone()
            count = columns(p)
            body.select(axis, 0).add_(before.narrow(axis, p - count, count).sum(axis))
            body.select(axis, -1).add_(after.narrow(axis, 0, count).sum(axis))
            dx = body
        return dx

    return conv2d_input


def test_code_for_one_border_alone_is_asked_that_at_random_too():
    found = report(replicated(lambda p: p), "conv2d_input")
    assert found.passed, found.text()
    assert "random cases were asked" in found.text()
    assert "a guess" not in found.text()
    assert not report(replicated(lambda p: min(p, 1)), "conv2d_input").passed


def test_who_takes_same_above_stride_1_takes_it_for_every_size():
    def conv2d(input, weight, bias, stride=1, padding="VALID"):
        if not isinstance(stride, int):
            raise TypeError("one number")
        before_after = []
        for n, k in zip(input.shape[:1:-1], weight.shape[:1:-1], strict=True):
            total = max(k - stride, 0) if padding == "SAME" else 0
            before_after += [total // 2, total - total // 2]
            if padding == "SAME" and n % stride:
                raise IndexError("by chance")
        return F.conv2d(F.pad(input, before_after), weight, bias, stride)

    found = report(conv2d, "conv2d")
    assert not found.passed
    assert not set(SAME) & set(found.not_asked)


def _sides(size, kernel, stride, padding):
    if padding == "VALID":
        return 0, 0
    if padding != "SAME":
        raise ValueError(f"padding is 'SAME' or 'VALID', not {padding!r}")
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def test_words_that_a_helper_reads_are_found():
    def conv2d(input, weight, bias, stride, padding):
        rows, columns = (_sides(input.shape[at], weight.shape[at], stride, padding) for at in (2, 3))
        padded = np.pad(input, ((0, 0), (0, 0), rows, columns))
        windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], (2, 3))
        return np.einsum("nchwij,ocij->nohw", windows[:, :, ::stride, ::stride], weight) + bias[:, None, None]

    found = report(conv2d, "conv2d")
    assert found.passed, found.text()
    assert set(SAME) <= {case.name for case in found.cases}


def _corr2d(image, kernel):
    height, width = kernel.shape
    found = torch.zeros((image.shape[0] - height + 1, image.shape[1] - width + 1))
    for i, j in np.ndindex(*found.shape):
        found[i, j] = (image[i : i + height, j : j + width] * kernel).sum()
    return found


@pytest.mark.parametrize("times", [1, 2])
def test_a_layer_of_one_plane_that_is_made_by_a_size_and_computes_in_float32(times):
    class Conv2D(torch.nn.Module):
        def __init__(self, kernel_size):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.rand(kernel_size))
            self.bias = torch.nn.Parameter(torch.zeros(1))

        def forward(self, x):
            return times * _corr2d(x, self.weight) + self.bias

    found = report(Conv2D, "conv2d_module")
    assert found.passed is (times == 1), found.text()
    assert "layout HW, kernel HW" in found.text()


def test_a_class_whose_methods_name_no_library_gets_what_its_constructor_names():
    class Linear:
        def __init__(self, in_features, out_features):
            self.W, self.b = np.zeros((in_features, out_features)), np.zeros(out_features)
            self.dW, self.db = np.zeros_like(self.W), np.zeros_like(self.b)

        def forward(self, x):
            self.x = x
            return x @ self.W + self.b

        def backward(self, dout):
            self.dW += self.x.T @ dout
            self.db += dout.sum(axis=0)
            return dout @ self.W.T

    text = report(Linear, "linear_backward").text()
    assert say_call("kept.grads", names="grad_weight, grad_bias") in text


def test_a_right_linear_layer_is_asked_for_no_rows_and_columns():
    def backward(dout, x, w, b):
        return dout @ w.T, x.T @ dout, dout.sum(axis=0)

    found = report(backward, "linear_backward")
    assert found.passed, found.text()


def of_two_bytes(input_size, weight, grad_output, stride=1, padding=0):
    """The places of cells are kept in 16 bits."""
    n, c, h, w = input_size
    rows, columns = h + 2 * padding, w + 2 * padding
    at = np.indices((c, *weight.shape[2:])).reshape(3, -1, 1)
    out = np.indices(grad_output.shape[2:]).reshape(2, 1, -1)
    places = ((at[0] * rows + at[1] + out[0] * stride) * columns + at[2] + out[1] * stride).astype(np.int16)
    dx = np.zeros((n, c * rows * columns))
    for sample in range(n):
        np.add.at(dx[sample], places, weight.reshape(len(weight), -1).T @ grad_output[sample].reshape(len(weight), -1))
    return dx.reshape(n, c, rows, columns)[:, :, padding : padding + h, padding : padding + w]


def until_nothing(input, weight, grad_output, stride=1, padding=0):
    """Samples behind one to which nothing is sent back are left out."""
    dx = torch.nn.grad.conv2d_input(input.shape, weight, grad_output, stride, padding)
    for sample in range(len(input)):
        if not grad_output[sample].any():
            dx[sample:] = 0
            break
    return dx


def equal_only(x, w, b, grad_output):
    """Stride 1, as many channels out as in; they are not exchanged."""
    if w.shape[0] != w.shape[1]:
        raise NotImplementedError("as many out as in")
    dx = torch.nn.grad.conv2d_input(x.shape, w.transpose(0, 1), grad_output)
    return dx, torch.nn.grad.conv2d_weight(x, w.shape, grad_output), grad_output.sum((0, 2, 3))


@pytest.mark.parametrize(
    ("fn", "task"), [(of_two_bytes, "conv2d_input"), (until_nothing, "conv2d_input"), (equal_only, "conv2d_backward")]
)
def test_what_fresh_authors_wrote_unasked(fn, task):
    said = report(fn, task)
    assert not said.passed, f"{fn.__doc__}: {said.text()}"
