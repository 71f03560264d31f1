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

    def test_an_array_that_as_strided_reads_is_not_blamed_for_what_is_known(self):
        class Conv(Layer):
            def __init__(self, in_channels, out_channels, kernel_size, padding=0):
                super().__init__(in_channels, out_channels, kernel_size, padding)
                self.dW = torch.zeros_like(self.W)

            def forward(self, x):
                return super().forward(torch.as_strided(x, x.shape, x.stride()))

            def backward(self, dout):
                kept = self.dW
                dx = super().backward(dout)
                kept += self.dW
                self.dW = kept
                return dx

        found = said(Conv, "conv2d_backward")
        assert say_call("kept.grads", names="grad_weight") in found.text()
        assert say("strided") not in found.text()

    def test_what_the_first_failing_case_shows_is_named(self):
        class Conv2d(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, w, b, stride=1, padding=0):
                ctx.save_for_backward(x, w)
                Conv2d.how = stride, padding
                return F.conv2d(x, w, b, stride, padding)

            @staticmethod
            def backward(ctx, g):
                x, w = ctx.saved_tensors
                dx, dw = grad.conv2d_input(x.shape, w, g, *Conv2d.how), grad.conv2d_weight(x, w.shape, g, *Conv2d.how)
                return dx, dw, g.sum((0, 2, 3)), None, None

        assert "grad_bias" not in said(Conv2d, "conv2d_function").diagnoses[0].of

    def test_a_bias_that_is_a_plain_tensor_is_said_in_every_dtype(self):
        class Conv(torch.nn.Module):
            def __init__(self, in_channels, out_channels, kernel_size):
                super().__init__()
                size = kernel_size if isinstance(kernel_size, tuple) else (kernel_size, kernel_size)
                self.weight = torch.nn.Parameter(torch.zeros(out_channels, in_channels, *size))
                self.bias = torch.zeros(out_channels, requires_grad=True)

            def forward(self, x):
                return F.conv2d(x, self.weight) + self.bias.to(x.dtype).view(1, -1, 1, 1)

        found = said(Conv, "conv2d_module")
        assert say_call("plain_bias") in found.text()
        assert say("further.float32") not in found.text()


def conv2d_input(changed):
    """Return a conv2d_input whose result is made by ``changed`` of its arguments and of the right one."""

    def code(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        def right(g=grad_output, w=weight, stride=stride):
            return grad.conv2d_input(input_size, w, g, stride, padding, dilation, groups)

        return changed(right, input_size, weight, grad_output, stride)

    return code


class TestSizesAgain:
    def test_blocks_whose_rest_is_left_out(self):
        def output(input, weight, bias, stride=1, padding=0):
            found = F.conv2d(input, weight, bias, stride, padding)
            count = len(input)
            found[count // 8 * 8 if count > 8 else count :] = 0
            return found

        numbers = {"right": 8, "twice": 16, "thrice": 24, "wrong": 9, "next": 10}
        expected = say("limit.blocks", what=say("size.samples"), **numbers)
        assert said(output, "conv2d").diagnoses[0].title == expected

    def test_cells_are_no_samples(self):
        def grad_bias(grad_output):
            flat = grad_output.transpose(0, 1).flatten(1)
            count = flat.shape[1]
            return flat[:, : count // 32 * 32 if count > 32 else count].sum(1)

        found = said(grad_bias, "conv2d_bias").diagnoses[0]
        assert (found.title, found.fix) == (say("mixed.cells"), say("mixed.cells.fix"))


def test_a_remainder_that_is_filled_up_is_said_as_that():
    def conv2d_input(input_size, weight, grad_output, stride=1, padding=0):
        sizes = zip(input_size[2:], grad_output.shape[2:], weight.shape[2:], strict=True)
        ends = [(o - 1) * stride - 2 * padding + k for _, o, k in sizes]
        extra = [int(n > end) for n, end in zip(input_size[2:], ends, strict=True)]
        found = F.conv_transpose2d(grad_output, weight, None, stride, padding, [min(e, stride - 1) for e in extra])
        return F.pad(found, (0, input_size[3] - found.shape[3], 0, input_size[2] - found.shape[2]))

    text = said(conv2d_input, "conv2d_input").text()
    assert "never filled: the remainder is 2, and" in text, text
    assert "a loop" not in text, text


def test_one_cell_of_the_kernel_for_all():
    def changed(right, input_size, weight, grad_output, stride):
        last = torch.zeros_like(weight)
        last[:, :, -1, -1] = weight[:, :, -1, -1] * weight[0, 0].numel()
        return right(w=last)

    found = said(conv2d_input(changed), "conv2d_input").diagnoses[0]
    words = {"what": "weight", "cell": "[2,1]", "factor": "6"}
    assert found.title == say("read.only_cell.often", **words) + "."


def test_a_fast_path_for_kernels_of_one_cell_is_not_said_to_cut_the_stride():
    def conv_transpose2d_input(input_size, weight, grad_output, stride=1, padding=0):
        if weight.shape[2:] == (1, 1) and padding == 0:
            return F.conv2d(grad_output[:, :, : input_size[2], : input_size[3]], weight)
        return F.conv2d(grad_output, weight, None, stride, padding)[:, :, : input_size[2], : input_size[3]]

    found = said(conv_transpose2d_input, "conv_transpose2d_input").diagnoses[0]
    assert found.title == say("read.window.pitch.row", count=1, right=2) + "."


def test_stride_and_dilation_that_have_changed_places():
    def fold(x_shape, w, g, stride=1, padding=0, dilation=1):
        cols = torch.einsum("fk,nfl->nkl", w.flatten(1), g.flatten(2))
        return F.fold(cols, tuple(x_shape[2:]), tuple(w.shape[2:]), stride, padding, dilation)

    found = said(fold, "conv2d_input", names={"x_shape": "input_size"}).diagnoses[0]
    assert found.title == say("read.steps.row", pitch=1, spacing=2) + "."


def test_the_corners_of_a_border_whose_cells_meet_several_products():
    def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, padding_mode="zeros"):
        if padding_mode not in ("zeros", "replicate"):
            raise NotImplementedError(padding_mode)
        p = padding if isinstance(padding, int) else padding[0]
        size = (*input_size[:2], *(n + 2 * p for n in input_size[2:]))
        found = grad.conv2d_input(size, weight, grad_output, stride)
        inner = found[:, :, p : size[2] - p, p : size[3] - p].clone()
        if p and padding_mode == "replicate":
            inner[:, :, 0] += found[:, :, :p, p:-p].sum(2)
            inner[:, :, -1] += found[:, :, -p:, p:-p].sum(2)
            inner[..., 0] += found[:, :, p:-p, :p].sum(3)
            inner[..., -1] += found[:, :, p:-p, -p:].sum(3)
        return inner

    found = said(conv2d_input, "conv2d_input").diagnoses[0]
    assert found.title == say("read.border.corners") + "."


@pytest.mark.parametrize("stated", [((0, 1), (0, 1)), ((1, 2), (0, 1))])
def test_sides_that_are_exchanged_are_said_as_that(stated):
    def adapter(case):
        (top, bottom), (left, right) = case.padding
        padded = F.pad(case.input, (left, right, top, bottom))
        dx = grad.conv2d_input(padded.shape, case.weight, case.grad_output)
        height, width = case.input.shape[2:]
        dw = grad.conv2d_weight(padded, case.weight.shape, case.grad_output)
        return dx[:, :, bottom : bottom + height, right : right + width], dw, case.grad_output.sum((0, 2, 3))

    at = [{"input": (2, 3, 6, 7), "weight": (4, 3, 4, 2), "padding": stated}]
    text = said(lambda case: adapter(case), "conv2d_backward", at=at).text()
    assert say("sides.turned") in text, text


def test_groups_are_not_blamed_where_others_raise():
    def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        dilation = dilation if isinstance(dilation, int) else dilation[0]
        extra = [
            n + 2 * p - dilation * (k - 1) - 1 - (o - 1) * s
            for n, k, o, s, p in zip(
                input_size[2:],
                weight.shape[2:],
                grad_output.shape[2:],
                np.broadcast_to(stride, 2),
                np.broadcast_to(padding, 2),
                strict=True,
            )
        ]
        return F.conv_transpose2d(grad_output, weight, None, stride, padding, extra, dilation, groups)

    text = said(conv2d_input, "conv2d_input").text()
    assert say("mixed.groups") not in text, text


def test_a_bias_without_the_rows_of_output_padding_is_said_to_miss_a_remainder():
    def backward(grad_output, input, weight, bias, stride=1, padding=0, output_padding=0):
        steps = [np.broadcast_to(each, 2) for each in (stride, padding, output_padding)]
        dx = F.conv2d(grad_output, weight, None, stride, padding)[:, :, : input.shape[2], : input.shape[3]]
        dw = grad.conv2d_weight(grad_output, weight.shape, input, stride, padding)
        rows, columns = (n - extra for n, extra in zip(grad_output.shape[2:], steps[2], strict=True))
        return dx, dw, grad_output[:, :, :rows, :columns].sum((0, 2, 3))

    found = said(backward, "conv_transpose2d_backward").diagnoses
    assert [each.title for each in found] == [say("only", which=say("mark.remainder"))]


def test_five_digits_are_said_as_that():
    def rounded(right, input, grad_output, groups):
        return torch.as_tensor(np.asarray(right).round(5))

    found = said(conv2d_weight(rounded), "conv2d_weight").diagnoses[0]
    assert found.title == say("premise.fraction", parts=100000)


def test_what_fits_a_single_number_is_not_named():
    def conv2d_backward(dout, x, w, padding="same"):
        if padding != "same":
            raise NotImplementedError
        half = w.shape[2] // 2
        padded = F.pad(x, (half,) * 4)
        rows, columns = dout.shape[2:]
        dx, dw = torch.zeros_like(padded), torch.zeros_like(w)
        for u, v in np.ndindex(*w.shape[2:]):
            at = (..., slice(u, u + rows), slice(v, v + columns))
            dw[:, :, u, v] = torch.einsum("nohw,nchw->oc", dout, padded[at])
            dx[at] += torch.einsum("nohw,oc->nchw", dout, w[:, :, u, v])
        return dx[:, :, half : half + rows, half : half + columns], dw

    found = said(conv2d_backward, "conv2d_backward", scope={"stride": 1, "odd": True})
    assert "I21" not in {each.id for each in found.diagnoses}, found.text()
