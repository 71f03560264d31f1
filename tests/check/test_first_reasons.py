"""Wrong code as people write it: the first reason in a report names what is wrong, in plain words and once."""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from convviz.check import report
from convviz.check.call_outcome import period_of
from convviz.facts.words import sentences

say = sentences("check")
grad = torch.nn.grad


def pair(value):
    return tuple(value) if isinstance(value, tuple | list) else (value, value)


def first(fn, task, **stated):
    """Return what is said first of wrong code."""
    found = report(fn, task, **stated)
    assert not found.passed, found.text()
    return found.diagnoses[0]


class TestRemainder:
    """A wrong size that is that of another remainder is said as that, however it came about."""

    @staticmethod
    def conv2d_input(output_padding):
        def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
            steps = [pair(each) for each in (stride, padding, dilation)]
            lines = zip(input_size[2:], weight.shape[2:], *steps, strict=True)
            extra = [output_padding((n + 2 * p - d * (k - 1) - 1) % s, s, n) for n, k, s, p, d in lines]
            return F.conv_transpose2d(grad_output, weight, None, stride, padding, extra, groups, dilation)

        return conv2d_input

    def test_one_at_most(self):
        found = first(self.conv2d_input(lambda rest, s, n: min(rest, 1)), "conv2d_input")
        assert found.title == say("remainder", result="grad_input")
        words = {"case": "height and width apart", "count": 4, "right": 5, "stride": 3, "rest": 2}
        assert found.evidence == say("remainder.column", **words)

    def test_by_another_rule(self):
        found = first(self.conv2d_input(lambda rest, s, n: min(s - 1, int(n % 2 == 0))), "conv2d_input")
        assert found.title == say("remainder", result="grad_input")

    def test_what_the_catalogue_has_keeps_its_name(self):
        assert first(self.conv2d_input(lambda rest, s, n: 0), "conv2d_input").id == "I10"
        assert first(self.conv2d_input(lambda rest, s, n: s - 1), "conv2d_input").id == "I13"

    def test_rows_of_grad_weight_are_not_blamed_on_a_dilation_that_nobody_asked_for(self):
        def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0):
            rows, columns = pair(padding)
            padded = F.pad(input, (columns, columns, rows, rows))
            return F.conv2d(padded.transpose(0, 1), grad_output.transpose(0, 1), dilation=stride).transpose(0, 1)

        found = report(conv2d_weight, "conv2d_weight")
        assert [each.id for each in found.diagnoses] == ["W07"]


@pytest.mark.parametrize("axes", [(0, 2, 3), (1, 2, 3)])
def test_a_bias_summed_over_the_channels_has_its_name_in_channels_last(axes):
    assert first(lambda dout: dout.sum(axes), "conv2d_bias", layout="NHWC").id == "B04"


class TestExchangedPadding:
    """F.pad takes the width first."""

    @staticmethod
    def output(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        rows, columns = pair(padding)
        return F.conv2d(F.pad(input, (rows, rows, columns, columns)), weight, bias, stride, 0, dilation, groups)

    def test_it_is_named_with_the_setting(self):
        found = first(self.output, "conv2d")
        assert (found.id, found.title) == ("F08", say("exchanged.padding"))

    def test_it_is_asked_without_a_stride_by_the_battery_alone(self):
        found = report(lambda x, w, padding=(0, 0): self.output(x, w, None, 1, padding), "conv2d", cases="battery")
        assert (found.passed, found.diagnoses[0].id) == (False, "F08")

    def test_where_it_raises_the_cases_say_it(self):
        def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
            rows, columns = pair(padding)
            padded = F.pad(input, (rows, rows, columns, columns))
            return grad.conv2d_weight(padded, weight_size, grad_output, stride, 0, dilation, groups)

        found = first(conv2d_weight, "conv2d_weight")
        assert found.title == say("only", which=say("mark.paddings"))
        assert "F.pad" in found.fix


def clamped(size, stride):
    return tuple(min(each) for each in zip(pair(stride), size, strict=True))


def clamped_output(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return F.conv2d(input, weight, bias, clamped(weight.shape[2:], stride), padding, dilation, groups)


def clamped_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    step, (top, left), (height, width) = clamped(weight.shape[2:], stride), pair(padding), input_size[2:]
    full = F.conv_transpose2d(grad_output, weight, None, step, 0, 0, groups, dilation)
    full = F.pad(full, (0, max(width + 2 * left - full.shape[3], 0), 0, max(height + 2 * top - full.shape[2], 0)))
    return full[..., top : top + height, left : left + width]


@pytest.mark.parametrize(("fn", "task"), [(clamped_output, "conv2d"), (clamped_input, "conv2d_input")])
def test_a_stride_cut_to_the_kernel_is_said_as_that(fn, task):
    assert first(fn, task).title == say("read.clamped.column", count=2, right=3) + "."


def folded(way):
    """Return a conv2d_input that folds a circular border back in one wrong way."""

    def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1, padding_mode="zeros"):
        if padding_mode not in ("zeros", "circular"):
            raise NotImplementedError(padding_mode)
        (top, left), (n, c, height, width) = pair(padding), input_size
        size = (n, c, height + 2 * top, width + 2 * left)
        full = grad.conv2d_input(size, weight, grad_output, stride, 0, dilation, groups)
        inside = full[..., top : top + height, left : left + width].clone()
        if padding_mode == "zeros":
            return inside
        rows, columns = (torch.arange(size[2]) - top) % height, (torch.arange(size[3]) - left) % width
        if way == "twice":
            found = torch.zeros(input_size, dtype=full.dtype)
            found[:, :, rows[:, None], columns] += full
            return found
        if way == "rows twice":
            found = torch.zeros((n, c, height, size[3]), dtype=full.dtype)
            found[:, :, rows] += full
            return torch.zeros(input_size, dtype=full.dtype).index_add_(3, columns, found)
        if way == "corners":
            inside[..., -top:, :] += full[..., :top, left : left + width]
            inside[..., :top, :] += full[..., top + height :, left : left + width]
            inside[..., -left:] += full[..., top : top + height, :left]
            inside[..., :left] += full[..., top : top + height, left + width :]
            return inside
        half = full[..., top : top + height, :].clone()  # "sides"
        half[..., -top:, :] += full[..., :top, :]
        inside = half[..., left : left + width].clone()
        inside[..., -left:] += half[..., :left]
        return inside

    return conv2d_input


@pytest.mark.parametrize(
    ("way", "sentence"),
    [
        ("twice", say("read.border.twice")),
        ("rows twice", say("read.border.twice")),
        ("corners", say("read.border.corners")),
        ("sides", say("read.border.sides", sides="bottom, right")),
    ],
)
def test_what_of_a_circular_border_is_left_out_is_said(way, sentence):
    assert first(folded(way), "conv2d_input").title == sentence + "."


class TestKept:
    """Of the causes that one name of the catalogue stands for, the one that was seen is said."""

    def test_a_count_of_calls_is_no_random_number(self):
        calls = itertools.count(1)

        def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
            result = grad.conv2d_input(input_size, weight, grad_output, stride, padding, dilation, groups)
            return result * bool(next(calls) % 3)

        found = first(conv2d_input, "conv2d_input")
        assert (found.id, found.title) == ("I28", say("stale.kept"))
        assert found.evidence == sentences("calling_student_code")("kept.count", step=3)

    def test_what_is_drawn_is_still_called_so(self):
        def conv2d_input(input_size, weight, grad_output, stride=1, padding=0):
            return F.dropout(grad.conv2d_input(input_size, weight, grad_output, stride, padding), 0.5)

        assert first(conv2d_input, "conv2d_input").title == say("drawn")

    def test_an_argument_that_is_changed_is_said_as_that(self):
        def conv2d_input(input_size, weight, grad_output, stride=1, padding=0):
            result = grad.conv2d_input(input_size, weight, grad_output, stride, padding)
            grad_output *= 2
            return result

        found = first(conv2d_input, "conv2d_input")
        assert (found.id, found.title) == ("I28", say("stale.changed"))

    def test_periods(self):
        assert period_of([True, True, False] * 4) == 3
        assert period_of([True, False] * 6) == 2
        assert period_of([True] * 12) == 0
        assert period_of([True, False, False, True, False, True, True, True, False, True, True, False]) == 0


def backward(times=lambda value, case: value):
    """Return a backward pass over a cache that is right but for what is done to each gradient."""

    def conv_backward(dout, cache):
        x, w, _, param = cache
        s, p = param["stride"], param["pad"]
        dx, dw = grad.conv2d_input(x.shape, w, dout, s, p), grad.conv2d_weight(x, w.shape, dout, s, p)
        return tuple(times(value, x) for value in (dx, dw, dout.sum((0, 2, 3))))

    return conv_backward


class TestSaidOnce:
    """What is said of all results in the same words is one diagnosis."""

    ALL = "grad_input, grad_weight, grad_bias"

    def check(self, times, title):
        found = report(backward(times), "conv2d_backward", arrays="torch")
        assert [(each.title, each.of) for each in found.diagnoses] == [(title, self.ALL)]
        assert found._repr_html_().count(title) == 1
        return found.diagnoses[0]

    def test_a_constant(self):
        self.check(lambda value, x: 3.5 * value, say("ratio"))

    def test_a_factor_by_its_values_each_once(self):
        reported = self.check(lambda value, x: value / (len(x) + 3), say("ratios"))
        for number in ("0.142857", "0.2", "0.166667", "0.111111"):
            assert reported.evidence.count(f" {number} (") == 1, reported.evidence

    @pytest.mark.parametrize(("dtype", "name"), [(torch.bfloat16, "bfloat16"), (torch.float16, "float16")])
    def test_digits(self, dtype, name):
        self.check(lambda value, x: value.to(dtype).to(value.dtype), say("premise.half", dtype=name))

    def test_a_fixed_step_is_no_dtype(self):
        found = first(backward(lambda value, x: (value * 16).round() / 16), "conv2d_backward", arrays="torch")
        assert found.title == say("premise.fraction", parts=16)


class TestTurned:
    """A kernel that lies the wrong way round is called not rotated only where nothing is reversed."""

    @staticmethod
    def scatter(turn):
        def conv_backward(dout, cache):
            x, w, _, param = cache
            s, p = param["stride"], param["pad"]
            kernel = w[:, :, ::-1, ::-1] if turn else w
            padded = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
            dx, dw = np.zeros_like(padded), np.zeros_like(w)
            for n, f, i, j in np.ndindex(dout.shape):
                window = (n, slice(None), slice(i * s, i * s + w.shape[2]), slice(j * s, j * s + w.shape[3]))
                dw[f] += dout[n, f, i, j] * padded[window]
                dx[window] += dout[n, f, i, j] * kernel[f]
            return dx[:, :, p : p + x.shape[2], p : p + x.shape[3]], dw, dout.sum((0, 2, 3))

        return conv_backward

    def test_loops_that_scatter_and_rotate_are_advised_not_to(self):
        found = first(self.scatter(True), "conv2d_backward")
        assert (found.id, found.title, found.fix) == ("I01", say("turned"), say("turned.already"))
        assert report(self.scatter(False), "conv2d_backward").passed

    def test_a_window_that_slides_is_advised_to_rotate(self):
        def conv2d_input(input_size, weight, grad_output):
            height, width = weight.shape[2:]
            padded = F.pad(grad_output, (width - 1, width - 1, height - 1, height - 1))
            return F.conv2d(padded, weight.transpose(0, 1))

        found = first(conv2d_input, "conv2d_input")
        assert (found.id, found.title) == ("I01", "The kernel is not rotated.")


def test_a_mean_over_the_batch_of_a_linear_layer_has_one_name_for_each_gradient():
    def affine_backward(dout, cache):
        x, w, _ = cache
        return dout @ w.T / len(x), x.T @ dout / len(x), dout.mean(0)

    found = report(affine_backward, "linear_backward")
    assert [each.id for each in found.diagnoses] == ["I24", "W12", "B06"]
    assert "window" not in found.text()
