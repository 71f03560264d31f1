"""Each sentence of a report is true of its code: what is claimed was asked, or follows from the numbers."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from convviz.check import report
from convviz.check.report import Report
from convviz.facts.words import sentences

say = sentences("check")
say_call = sentences("calling_student_code")
grad = torch.nn.grad


def said(fn, task, **stated) -> Report:
    found = report(fn, task, **stated)
    assert not found.passed, found.text()
    return found


class Layer:
    """A right layer with its own weights, whose backward pass ends with whatever ``after`` does to them."""

    def __init__(self, in_channels, out_channels, kernel_size, padding=0):
        self.padding = padding
        self.W = torch.randn(out_channels, in_channels, kernel_size, kernel_size, dtype=torch.float64) * 0.1
        self.b = torch.zeros(out_channels, dtype=torch.float64)

    def forward(self, x):
        self.x = x
        return F.conv2d(x, self.W, self.b, padding=self.padding)

    def backward(self, dout):
        self.dW = grad.conv2d_weight(self.x, self.W.shape, dout, padding=self.padding)
        self.db = dout.sum((0, 2, 3))
        dx = grad.conv2d_input(self.x.shape, self.W, dout, padding=self.padding)
        self.after()
        return dx

    def after(self):
        pass


class TestAnObjectsOwnWeights:
    """What a pass leaves of the weights is asked again, unless it is an update."""

    def test_left_rotated(self):
        class Rotated(Layer):
            def after(self):
                self.W = self.W.flip(2, 3)

        found = said(Rotated, "conv2d_backward")
        assert say_call("kept.own", names="weight") in found.text()
        assert found.diagnoses[0].title == say("stale.own")

    def test_overwritten_by_the_gradient(self):
        class Overwritten(Layer):
            def after(self):
                self.W = self.dW.clone()

        assert say_call("kept.own", names="weight") in said(Overwritten, "conv2d_backward").text()

    @pytest.mark.parametrize("decay", [0.0, 0.1])
    def test_an_update_is_right(self, decay):
        class Updated(Layer):
            def after(self):
                self.W = self.W - 0.1 * (self.dW + decay * self.W)
                self.b = self.b - 0.1 * self.db

        assert report(Updated, "conv2d_backward").passed

    def test_rotated_and_back_is_right(self):
        class Back(Layer):
            def after(self):
                self.W = self.W.flip(2, 3).flip(2, 3)

        assert report(Back, "conv2d_backward").passed


def test_a_layer_that_makes_its_weights_late_is_right():
    class Lazy(Layer):
        def __init__(self, out_channels, kernel_size, padding=0):
            self.sizes, self.padding, self.W = (out_channels, kernel_size), padding, None

        def forward(self, x):
            if self.W is None:
                out, size = self.sizes
                self.W = torch.zeros(out, x.shape[1], size, size, dtype=x.dtype)
                self.b = torch.zeros(out, dtype=x.dtype)
            return super().forward(x)

    assert report(Lazy, "conv2d_backward").passed


def test_what_takes_a_kernel_of_one_cell_alone_is_right_there():
    def conv1x1_backward(dout, x, w, b):
        assert w.shape[2] == w.shape[3] == 1, "only 1 x 1"
        rows, sent = x.transpose(0, 2, 3, 1), dout.transpose(0, 2, 3, 1)  # as NumPy has it, and torch has not
        dw = np.tensordot(sent, rows, axes=([0, 1, 2], [0, 1, 2]))[:, :, None, None]
        return (sent @ w[:, :, 0, 0]).transpose(0, 3, 1, 2), dw, dout.sum(axis=(0, 2, 3))

    found = report(conv1x1_backward, "conv2d_backward")
    assert found.passed, found.text()
    assert found.fits == {"kernel_size": 1}


def test_one_number_is_recognised_by_code_that_asserts_that_its_windows_fit():
    def conv2d_backward(dout, cache):  # as im2col of a well-known course does
        x, w, _, conv_param = cache
        stride, pad = conv_param["stride"], conv_param["pad"]
        assert (x.shape[2] + 2 * pad - w.shape[2]) % stride == 0, "windows do not fit"
        assert pad < min(w.shape[2:])
        how = (dout, (stride, stride), (pad, pad))
        return grad.conv2d_input(x.shape, w, *how), grad.conv2d_weight(x, w.shape, *how), dout.sum((0, 2, 3))

    found = report(conv2d_backward, "conv2d_backward")
    assert found.passed, found.text()


def conv2d_weight(changed):
    def code(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        right = grad.conv2d_weight(input, weight_size, grad_output, stride, padding, dilation, groups)
        return changed(right, input, grad_output, groups)

    return code


class TestWhatIsAdded:
    @staticmethod
    def backward(penalty, rate=0.0):
        def backward(grad_output, input, weight, bias, stride=1, padding=0):
            dw = grad.conv2d_weight(input, weight.shape, grad_output, stride, padding)
            dx = grad.conv2d_input(input.shape, weight - rate * dw, grad_output, stride, padding)
            return dx, dw + penalty(weight), grad_output.sum((0, 2, 3))

        return backward

    def test_a_penalty(self):
        found = said(self.backward(lambda w: 1e-3 * w), "conv2d_backward").diagnoses[0]
        assert (found.title, found.of) == ("0.001 · weight is added to grad_weight.", "grad_weight")
        found = said(self.backward(lambda w: 0.5 * w.sign()), "conv2d_backward").diagnoses[0]
        assert found.title == "0.5 · sign(weight) is added to grad_weight."

    def test_something_else_is_no_penalty(self):
        found = said(self.backward(lambda w: 1e-3 * w.flip(2, 3)), "conv2d_backward").diagnoses[0]
        assert "is added to grad_weight" not in found.title

    def test_a_weight_that_is_updated_already(self):
        found = said(self.backward(lambda w: 0, rate=0.25), "conv2d_backward").diagnoses[0]
        assert found.title == say("updated", result="grad_input")
        assert found.evidence == say("updated.seen", sign="−", rate="0.25")


class TestSizes:
    """A size is named that was asked on both sides."""

    @staticmethod
    def found(spoilt):
        def conv2d(input, weight, bias, stride=1, padding=0):
            output = F.conv2d(input, weight, bias, stride, padding)
            return output * 1.5 if spoilt(*input.shape) else output

        return said(conv2d, "conv2d").diagnoses[0].title

    def test_from_one_on(self):
        words = {"what": say("size.samples"), "right": 16, "wrong": 17}
        assert self.found(lambda n, c, h, w: n > 16) == say("limit.more", next=18, **words)

    def test_that_alone(self):
        title = self.found(lambda n, c, h, w: n == 32)
        assert title == say("limit.exactly", what=say("size.samples"), right=31, wrong=32, next=33)

    def test_the_cells_of_a_plane(self):
        def conv2d(input, weight, bias, stride=1):
            output = F.conv2d(input, weight, bias, stride)
            return output * 1.5 if input[0, 0].numel() > 100 else output

        title = said(conv2d, "conv2d").diagnoses[0].title
        right, wrong = (int(word) for word in title.split() if word.isdigit())
        assert (title, right <= 100 < wrong) == (say("limit.plane", right=right, wrong=wrong), True)


class TestChannels:
    def test_in_another_order(self):
        def conv2d(input, weight, bias, stride=1, padding=0, dilation=1, groups=1):
            output = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
            return output.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)

        found = said(conv2d, "conv2d").diagnoses[0]
        assert (
            found.title
            == "Every channel of output is there, in another order: 0, 3, 1, 4, 2, 5 instead of 0, 1, 2 and so on."
        )

    def test_paired_wrongly(self):
        def exchanged(right, input, grad_output, groups):
            return right.unflatten(0, (groups, -1)).flip(0).flatten(0, 1) if groups > 1 else right

        found = said(conv2d_weight(exchanged), "conv2d_weight").diagnoses[0]
        assert "is made of channel" in found.title or "in another order" in found.title

    def test_a_transposed_convolutions_are_said_in_its_own_order(self):
        def conv_transpose2d_weight(input, weight_size, grad_output, stride=1, padding=0):
            right = grad.conv2d_weight(grad_output, weight_size, input, stride, padding)
            return right.transpose(0, 1) if weight_size[0] == weight_size[1] else right

        found = said(conv_transpose2d_weight, "conv_transpose2d_weight").diagnoses[0]
        assert (found.id, "[C_in, C_out / groups, kH, kW]" in found.fix) == ("W09", True)
        assert "as many output channels as input channels" in found.evidence


def test_repeated_instead_of_spread():
    def conv2d_input(input_size, weight, grad_output, stride=1):
        filled = grad_output.repeat_interleave(stride, 2).repeat_interleave(stride, 3)
        filled = F.pad(filled, (0, input_size[3], 0, input_size[2]))[:, :, : input_size[2], : input_size[3]]
        return F.conv_transpose2d(filled, weight)

    found = said(conv2d_input, "conv2d_input", scope={"kernel_size": 1}).diagnoses[0]
    assert found.title == say("read.block", rows=2, columns=2) + "."


def test_a_size_that_is_wrong_only_where_two_settings_meet():
    def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        right = grad.conv2d_input(input_size, weight, grad_output, stride, padding, dilation, groups)
        several = max(np.max(stride), 1) > 1 and np.max(dilation) > 1
        return torch.cat([right, right]) if several else right

    found = said(conv2d_input, "conv2d_input")
    assert "the stride is 1 or the dilation is 1" in found.text(), found.text()


class TestWhatIsKept:
    def test_only_what_adds_up_is_named(self):
        sums: dict = {}

        def backward(dout, x, w, b, stride=1, padding=0):
            dw = sums.setdefault(w.shape, np.zeros(w.shape))
            dw += np.asarray(grad.conv2d_weight(x, w.shape, dout, stride, padding))
            dx = grad.conv2d_input(x.shape, w, dout, stride, padding)
            return dx, torch.as_tensor(dw.copy()), dout.sum((0, 2, 3))

        found = said(backward, "conv2d_backward")
        assert say_call("kept.sum", names="grad_weight") in found.text()
        assert found.diagnoses[0].where == "grad_weight, I28"

    def test_a_frozen_gradient_is_none(self):
        class Conv2d(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, w, b, stride=1, padding=0):
                ctx.save_for_backward(x, w)
                ctx.how = stride, padding
                return F.conv2d(x, w, b, stride, padding)

            @staticmethod
            def backward(ctx, g):
                (x, w), how, (needs_x, needs_w, _, *_) = ctx.saved_tensors, ctx.how, ctx.needs_input_grad
                dx = grad.conv2d_input(x.shape, w, g, *how) if needs_x else None
                dw = grad.conv2d_weight(x, w.shape, g, *how) if needs_w else None
                return dx, dw, g.sum((0, 2, 3)) if needs_w else None, None, None

        assert say_call("alone.none", name="grad_bias") in said(Conv2d, "conv2d_function").text()

    def test_a_workspace_that_layers_of_one_size_share_is_another_ones(self):
        shared: dict = {}

        class Conv:
            def __init__(self, weight, bias, stride=1, padding=0):
                self.weight, self.bias, self.how = weight, bias, (stride, padding)

            def forward(self, x):
                self.kept = shared.setdefault(x.shape, torch.empty_like(x))
                self.kept.copy_(x)
                return F.conv2d(x, self.weight, self.bias, *self.how)

            def backward(self, g):
                dx = grad.conv2d_input(self.kept.shape, self.weight, g, *self.how)
                return dx, grad.conv2d_weight(self.kept, self.weight.shape, g, *self.how), g.sum((0, 2, 3))

        found = said(Conv, "conv2d_backward")
        assert not found.passed
        assert say_call("kept.layer", names="grad_weight") in found.text()

    def test_a_weight_that_autograd_does_not_see_is_asked_for(self):
        class Conv(torch.nn.Conv2d):
            def forward(self, x):
                out = F.conv2d(x, self.weight.data, None, self.stride, self.padding, self.dilation, self.groups)
                return out + self.bias.view(1, -1, 1, 1)

        assert say_call("no_gradient.cut", name="grad_weight") in said(Conv, "conv2d_module").text()
