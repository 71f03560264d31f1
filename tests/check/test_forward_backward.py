"""Forward and backward passes of one's own: pairs of functions, and classes that keep weights and gradients."""

from collections import namedtuple

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from convviz.check import check, grade, report
from tests.check.students import asked
from tests.check.test_calling import looped


def windows(x, size, s, p):
    padded = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
    return np.lib.stride_tricks.sliding_window_view(padded, size, (2, 3))[:, :, ::s, ::s]


def conv_forward(x, w, b, conv_param):
    """As cs231n has it; the cache also holds the columns, which no other forward pass makes."""
    columns = windows(x, w.shape[2:], conv_param["stride"], conv_param["pad"])
    out = np.einsum("nchwij,fcij->nfhw", columns, w) + b[:, None, None]
    return out, (x.shape, w, conv_param, columns)


def conv_backward(dout, cache):
    shape, w, conv_param, columns = cache
    dx, *_ = looped(dout, np.zeros(shape), w, conv_param["stride"], conv_param["pad"])
    return dx, np.einsum("nfhw,nchwij->fcij", dout, columns), dout.sum((0, 2, 3))


class TestPairs:
    def test_backward_reads_what_the_own_forward_keeps(self):
        student, count = asked((conv_forward, conv_backward), "conv2d_backward")
        assert (count, student.plan.arrays) == (16, "numpy")
        assert "the cache of your own forward pass" in " ".join(student.assumed)
        assert asked((conv_forward, lambda dout, cache: conv_backward(dout, cache)[0]), "conv2d_input")[1] == 16
        assert asked((conv_forward, lambda dout, cache: conv_backward(dout, cache)[1]), "conv2d_weight")[1] == 16

    def test_another_forward_pass_comes_between(self):
        kept = {}
        buffer = {}

        def keeps_aside(x, w, b, conv_param):
            out, (shape, w, conv_param, kept["columns"]) = conv_forward(x, w, b, conv_param)
            return out, (shape, w, conv_param)

        def shares_a_buffer(x, w, b, conv_param):
            out, (shape, w, conv_param, columns) = conv_forward(x, w, b, conv_param)
            buffer.setdefault(columns.shape, np.empty(columns.shape))[:] = columns
            return out, (shape, w, conv_param, buffer[columns.shape])

        def keeps_the_settings_aside(x, w, b, conv_param):
            kept["settings"] = conv_param
            return conv_forward(x, w, b, conv_param)

        def by_the_last_settings(dout, cache):
            shape, w, _, columns = cache
            return conv_backward(dout, (shape, w, kept["settings"], columns))

        found = report(by_the_last_settings, "conv2d_backward", forward=keeps_the_settings_aside)
        assert "After a forward pass with another stride" in found.text()
        for forward, backward in (
            (keeps_aside, lambda dout, cache: conv_backward(dout, (*cache, kept["columns"]))),
            (shares_a_buffer, conv_backward),
        ):
            found = report(backward, "conv2d_backward", forward=forward)
            assert found.cases[0].kind == "keeps_state"
            assert "After another forward pass other results come (grad_weight)" in found.text()

    def test_what_is_kept_may_be_a_function_of_any_name(self):
        def forward(x, w, b, stride=1, padding=0):
            return torch.func.vjp(lambda *given: torch.nn.functional.conv2d(*given, stride, padding), x, w, b)

        assert asked((forward, lambda dout, pullback: pullback(dout)), "conv2d_backward")[1] == 19

    def test_the_keyword_is_the_pair(self):
        found = report(conv_backward, "conv2d_backward", forward=conv_forward)
        assert found.passed
        assert "forward" not in " ".join(found.not_asked.values())
        check(conv_backward, "conv2d_backward", forward=conv_forward)
        assert grade(conv_backward, "conv2d_backward", forward=conv_forward, points=2) == 2.0
        assert report(conv_backward, "conv2d_backward", forward=conv_forward, time_limit=30).passed
        assert not report(None, "conv2d_backward", forward=conv_forward).passed
        with pytest.raises(ValueError, match="for a task of gradients alone"):
            report(conv_backward, "conv2d", forward=conv_forward)

    def test_channels_last_and_one_size_for_both_axes(self):
        def forward(A_prev, W, b, hparameters):
            s, p = hparameters["stride"], hparameters["pad"]
            f, _, _, n_C = W.shape
            A = np.pad(A_prev, ((0, 0), (p, p), (p, p), (0, 0)))
            rows, columns = (A.shape[1] - f) // s + 1, (A.shape[2] - f) // s + 1
            Z = np.zeros((len(A), rows, columns, n_C))
            for h, w, c in np.ndindex(rows, columns, n_C):
                Z[:, h, w, c] = (A[:, h * s : h * s + f, w * s : w * s + f] * W[..., c]).sum((1, 2, 3)) + b[0, 0, 0, c]
            return Z, (A_prev, W, b, hparameters)

        def backward(dZ, cache):
            A_prev, W, b, hparameters = cache
            first = (A_prev.transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1), b.ravel(), hparameters)
            dx, dw, db = conv_backward(dZ.transpose(0, 3, 1, 2), conv_forward(*first)[1])
            return dx.transpose(0, 2, 3, 1), dw.transpose(2, 3, 1, 0), db.reshape(1, 1, 1, -1)

        student, count = asked((forward, backward), "conv2d_backward")
        assert (student.plan.data, student.plan.kernel, student.plan.bias, count) == ("NHWC", "HWIO", "111C", 13)

    def test_linear_layers(self):
        def affine_forward(x, w, b):
            return x.reshape(len(x), -1) @ w + b, (x, w, b)

        def affine_backward(dout, cache):
            x, w, _ = cache
            return (dout @ w.T).reshape(x.shape), x.reshape(len(x), -1).T @ dout, dout.sum(0)

        assert asked((affine_forward, affine_backward), "linear_backward")[0].plan.kernel == "IO"

    def test_a_wrong_forward_is_wrong_and_a_right_one_beside_a_wrong_backward_is_not(self):
        def forgets_bias(x, w, b, conv_param):
            out, cache = conv_forward(x, w, b, conv_param)
            return out - b[:, None, None], cache

        def doubles(dout, cache):
            dx, dw, db = conv_backward(dout, cache)
            return dx, 2 * dw, db

        found = report((forgets_bias, conv_backward), "conv2d_backward")
        assert (found.passed, {case.worst_result for case in found.cases}) == (False, {"output"})
        assert found.diagnoses[0].id == "F05", found.text()
        found = report((conv_forward, doubles), "conv2d_backward")
        assert {each.of for each in found.diagnoses} == {"grad_weight"}
        alone = report((lambda x, w, b, conv_param: conv_forward(x, w, b, conv_param)[0], doubles), "conv2d_backward")
        assert "Return output, cache" in alone.text()


class Random:
    """Creates its own weights, returns dx and keeps the rest."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0):
        self.K, self.s, self.p = kernel_size, stride, padding
        self.W = np.random.randn(out_channels, in_channels, kernel_size, kernel_size)
        self.b = np.zeros(out_channels)
        self.dW = np.zeros_like(self.W)

    def forward(self, A):
        out, self.cache = conv_forward(A, self.W, self.b, {"stride": self.s, "pad": self.p})
        return out

    def backward(self, d):
        dx, dw, self.db = conv_backward(d, self.cache)
        self.dW += dw  # as torch adds up in .grad
        return dx

    def zero_grad(self):
        self.dW *= 0


class Given:
    """Is given its weights, as in Deep Learning from Scratch."""

    def __init__(self, W, b, stride=1, pad=0):
        self.W, self.b, self.settings = W, b, {"stride": stride, "pad": pad}
        self.dW = self.db = None

    def forward(self, x):
        out, self.cache = conv_forward(x, self.W, self.b, self.settings)
        return out

    def backward(self, dout):
        dx, self.dW, self.db = conv_backward(dout, self.cache)
        return dx


class Plain:
    """Has no weights at all; they come with the image."""

    def __init__(self, stride=1, pad=0):
        self.settings = stride, pad

    def forward(self, x, W, b):
        self.x, self.W = x, W
        return F.conv2d(x, W, b, *self.settings)

    def backward(self, dout):
        dx = torch.nn.grad.conv2d_input(self.x.shape, self.W, dout, *self.settings)
        return dx, torch.nn.grad.conv2d_weight(self.x, self.W.shape, dout, *self.settings), dout.sum((0, 2, 3))


class Linear:
    def __init__(self, n_in, n_out):
        self.params, self.grads = {"W": np.random.randn(n_in, n_out), "b": np.zeros(n_out)}, {}

    def forward(self, x):
        self.x = x
        return x @ self.params["W"] + self.params["b"]

    def backward(self, d):
        self.grads["W"], self.grads["b"] = self.x.T @ d, d.sum(0)
        return d @ self.params["W"].T


class Old(Random):
    """Keeps the first image that it saw."""

    def forward(self, A):
        kept = getattr(self, "cache", None)
        out = super().forward(A)
        self.cache = kept or self.cache
        return out


class Sums(Given):
    """Adds up its gradients, and has nothing that sets them to zero."""

    def backward(self, dout):
        dx, dw, self.db = conv_backward(dout, self.cache)
        self.dW = dw if self.dW is None else self.dW + dw
        return dx


class Queue(Random):
    """Takes the oldest image that it saw."""

    def forward(self, A):
        out = super().forward(A)
        self.queue = [*getattr(self, "queue", ()), self.cache]
        return out

    def backward(self, d):
        self.cache = self.queue.pop(0)
        return super().backward(d)


class Shared(Random):
    """Keeps what backward needs on the class."""

    def forward(self, A):
        out = super().forward(A)
        Shared.cache = self.__dict__.pop("cache")
        return out


class Laid(Random):
    """Lays out its kernel at the first forward pass alone."""

    def forward(self, A):
        self.laid = getattr(self, "laid", self.W)
        out, self.cache = conv_forward(A, self.laid, self.b, {"stride": self.s, "pad": self.p})
        return out


class Flattened(Given):
    """Flattens the weights that it is given once, where it is made."""

    def __init__(self, W, b, stride=1, pad=0):
        super().__init__(W, b, stride, pad)
        self.rows = W.reshape(len(W), -1).copy()

    def forward(self, x):
        out, self.cache = conv_forward(x, self.rows.reshape(self.W.shape), self.b, self.settings)
        return out


class TestClasses:
    def test_what_an_earlier_pass_or_another_layer_leaves_behind_shows(self):
        said = {Sums: "write a zero_grad()", Queue: "another input", Shared: "a second layer"}
        said |= dict.fromkeys((Laid, Flattened), "its weights")
        for made, words in said.items():
            found = report(made, "conv2d_module", cases="public")
            assert (found.passed, words in found.text()) == (False, True), found.text()

    @pytest.mark.parametrize(("made", "count"), [(Random, 13), (Given, 16), (Plain, 19)])
    def test_each_task_that_a_layer_answers(self, made, count):
        for task in ("conv2d_backward", "conv2d", "conv2d_module", "conv2d_input", "conv2d_weight"):
            assert asked(made, task)[1] == count, task

    def test_no_bias_and_linear_layers(self):
        assert asked(Linear, "linear_backward")[0].plan.kernel == "IO"
        assert asked(Linear, "linear")[1] == 5
        assert report(Random, "conv2d_backward", time_limit=30).passed

    def test_an_old_image_and_missing_gradients_are_said(self):
        found = report(Old, "conv2d_backward")
        assert not found.passed
        assert "After a forward pass with another input" in found.text()

        class Forgets(Random):
            def backward(self, d):
                dx, dw, _ = conv_backward(d, self.cache)
                return dx, dw

        class Hides(Random):
            def backward(self, d):
                del self.dW
                return conv_backward(d, self.cache)[0]

        assert "It returned 2 results" in report(Forgets, "conv2d_backward").text()
        assert "backward returned no grad_weight, grad_bias" in report(Hides, "conv2d_backward").text()

    def test_a_buffer_that_a_layer_keeps_shows_at_the_second_backward_pass(self):
        class Kept(Random):
            def backward(self, d):
                self.dx = getattr(self, "dx", 0) + super().backward(d)
                return self.dx

        class First(Random):
            def backward(self, d):
                dx = super().backward(d)
                self.db = self.first = getattr(self, "first", self.db)
                return dx

        for made in (Kept, First):
            found = report(made, "conv2d_backward")
            assert not found.passed, made.__name__
            assert found.diagnoses[0].id == "I28", made.__name__

    def test_a_layer_without_a_bias_is_not_asked_for_its_gradient(self):
        class NoBias:
            def __init__(self, cin, cout, k, stride=1, padding=0):
                self.kernel, self.settings = np.zeros((cout, cin, k, k)), {"stride": stride, "pad": padding}

            def forward(self, x):
                out, self.cache = conv_forward(x, self.kernel, np.zeros(len(self.kernel)), self.settings)
                return out

            def backward(self, dout):
                return conv_backward(dout, self.cache)[:2]

        assert asked(NoBias, "conv2d_backward")[0].results == ("output", "grad_input", "grad_weight")
        assert asked(NoBias, "conv2d")[1] == 13


Grads = namedtuple("Grads", "norm grad_bias grad_weight grad_input")


class TestResults:
    def test_fields_extras_and_biases_of_more_axes(self):
        def backward(dout, x, w, b, stride=1, padding=0):
            dx = torch.nn.grad.conv2d_input(x.shape, w, dout, stride, padding)
            return dx, torch.nn.grad.conv2d_weight(x, w.shape, dout, stride, padding), dout.sum((0, 2, 3))

        def fields(dout, x, w, b, stride=1, padding=0):
            return Grads(1.0, *backward(dout, x, w, b, stride, padding)[::-1])

        def extras(dout, x, w, b, stride=1, padding=0):
            return *backward(dout, x, w, b, stride, padding), {"norm": 1.0}, None

        def tall(dout, x, w, b, stride=1, padding=0):
            dx, dw, db = backward(dout, x, w, b, stride, padding)
            return dx, dw, db[None, :, None, None]

        def wide(dout, x, w, b, stride=1, padding=0):
            dx, dw, db = backward(dout, x, w, b, stride, padding)
            return dx, dw, db[:, None]

        def columns(dout, x, w, b, stride=1, padding=0):
            return *backward(dout, x, w, b, stride, padding), x.flatten(2)

        for fn in (fields, extras, columns, tall, wide):
            student, count = asked(fn, "conv2d_backward")
            assert ("further results" in " ".join(student.assumed)) is (fn is columns), student.assumed
            assert (count, "more than one axis" in " ".join(student.assumed)) == (19, fn in (tall, wide))

    def test_a_padding_that_is_said_in_words(self):
        def by_default(x, weight, bias, stride=1, padding="valid"):
            if padding not in ("same", "valid"):
                raise NotImplementedError(padding)
            return F.conv2d(x, weight, bias, stride, padding)

        def needed(x, weight, bias, stride, padding):
            steps = stride if isinstance(stride, tuple) else (stride, stride)
            sizes = zip(x.shape[2:], weight.shape[2:], steps, strict=True)
            same = [max((-(-size // step) - 1) * step + kernel - size, 0) for size, kernel, step in sizes]
            h, w = {"same": same, "valid": (0, 0)}[padding]
            return F.conv2d(F.pad(x, (w // 2, w - w // 2, h // 2, h - h // 2)), weight, bias, stride)

        def larger_half_first(x, weight, bias, stride=1, padding="valid"):
            h, w = (weight.shape[2] - 1, weight.shape[3] - 1) if padding == "same" else (0, 0)
            return F.conv2d(F.pad(x, (w - w // 2, w // 2, h - h // 2, h // 2)), weight, bias, stride)

        for fn, count in ((by_default, 11), (needed, 16)):  # one of them refuses "same" with a stride
            found = report(fn, "conv2d")
            assert (found.passed, len(found.cases)) == (True, count), found.text()
            assert 'takes "valid" or "same"' in found.not_asked["stride 2, padding 1"]
        assert "even kernel" in report(larger_half_first, "conv2d").text()
        assert not asked(F.conv2d, "conv2d")[0].plan.words, "who takes numbers as well is given numbers"
