"""One number or two: what code takes is found out and said, and is no mistake; each example says where it was seen."""

import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from convviz.check import report
from convviz.facts.words import sentences

say = sentences("check")
say_call = sentences("calling_student_code")
grad = torch.nn.grad


def tconv_backward(change):
    """Return the backward pass of a transposed convolution that calculates with its settings as with numbers."""

    def backward(grad_output, input, weight, bias, stride=1, padding=0, output_padding=0):
        rows = (input.shape[2] - 1) * stride + weight.shape[2] + output_padding
        padded = F.pad(grad_output, [padding] * 4)[:, :, :rows]
        dx = F.conv2d(padded, weight, None, stride)[:, :, : input.shape[2], : input.shape[3]]
        dw = grad.conv2d_weight(padded, weight.shape, input, stride)
        return change(dx, dw, grad_output.sum((0, 2, 3)))

    return backward


class TestOutputPadding:
    def test_a_pair_that_raises_is_not_asked_of_a_backward_pass(self):
        found = report(tconv_backward(lambda *results: results), "conv_transpose2d_backward")
        assert found.passed, found.text()
        assert say_call("left.pairs", names="output_padding") in found.left_out

    def test_what_else_is_wrong_is_named(self):
        found = report(tconv_backward(lambda dx, dw, db: (dx, dw.flip(2, 3), db)), "conv_transpose2d_backward")
        assert {case.kind for case in found.cases if not case.passed} == {"wrong_value"}, found.text()
        assert [each.id for each in found.diagnoses] == ["W01"]


class TestTwoForOneSetting:
    @pytest.mark.parametrize("stride", [(1, 1), None])
    def test_code_that_unpacks_its_stride_and_calculates_with_its_padding_is_right(self, stride):
        def conv(x, w, b, stride=stride, padding=0):
            rows, columns = stride
            x = F.pad(x, [padding] * 4)
            windows = x.unfold(2, w.shape[2], rows).unfold(3, w.shape[3], columns)
            return torch.einsum("nchwkl,ockl->nohw", windows, w) + b.view(-1, 1, 1)

        found = report(conv, "conv2d", cases="battery")
        assert found.passed, found.text()
        assert say_call("assumed.two", names="stride") in found.assumed


class TestWhatIsSaidOfAllCases:
    def test_of_groups_that_are_right_where_channels_are_as_many(self):
        def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, groups=1):
            dw, x = torch.zeros(weight_size, dtype=input.dtype), F.pad(input, (padding,) * 4)
            out, into = weight_size[0] // groups, weight_size[1]
            (rows, columns), steps = grad_output.shape[2:], range(groups)
            for g, u, v in ((g, u, v) for g in steps for u in range(weight_size[2]) for v in range(weight_size[3])):
                read = x[:, g * out : g * out + into, u : u + stride * rows : stride, v : v + stride * columns : stride]
                sent = grad_output[:, g * out : (g + 1) * out]
                window = read[:, :, :rows, :columns]
                dw[g * out : (g + 1) * out, :, u, v] = torch.einsum("nohw,nchw->oc", sent, window)
            return dw

        text = report(conv2d_weight, "conv2d_weight").text()
        assert say("mark.many_groups") not in text, "with three groups and as many channels out as in it is right"

    def test_a_setting_that_needs_another_one_is_not_said_to_be_wrong_in_all(self):
        def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1):
            right = grad.conv2d_input(input_size, weight, grad_output, stride, padding, dilation)
            is_row = weight.shape[2] == 1  # whose dilation does nothing
            dilations = dilation if isinstance(dilation, tuple) else (dilation, dilation)
            return right if is_row or dilations[0] == 1 else right.roll(1, 2)

        text = report(conv2d_input, "conv2d_input").text()
        assert say("only", which=say("mark.dilation")) not in text, text


class TestWhereItWasSeen:
    def test_single_ones_have_a_size(self):
        def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0):
            return grad.conv2d_weight(input.roll(1, 2), weight_size, grad_output, stride, padding)

        found = report(conv2d_weight, "conv2d_weight").diagnoses[0]
        assert re.search(r"input \d×\d, kernel \d×\d, stride", found.evidence), found

    def test_a_number_has_its_case(self):
        def conv2d_input(input_size, weight, grad_output, stride=1, padding=0):
            return grad.conv2d_input(input_size, weight, grad_output, stride, padding) + 0.5

        found = report(conv2d_input, "conv2d_input")
        cases = [case.name for case in found.cases]
        seen = re.search("“(.+)”", found.diagnoses[0].evidence)[1]
        assert seen in cases, found.diagnoses
        assert "0.5" in found.diagnoses[0].evidence, found.diagnoses

    def test_a_sum_of_a_transposed_convolution_is_asked_without_a_kernel(self):
        def conv_transpose2d_bias(grad_output):
            return grad_output[:, :, 1:].sum((0, 2, 3))

        found = report(conv_transpose2d_bias, "conv_transpose2d_bias").diagnoses[0]
        assert re.search(r"output \d×\d, kernel 1×1, stride 1, padding 0", found.evidence), found


def test_a_call_that_is_proposed_says_the_kind_of_arrays():
    def conv2d(x, w, b, stride=1, padding=0):
        return np.tensordot(np.pad(x, padding), w[0, 0, 0, 0, 0], 3)

    assert ', "conv2d", arrays="numpy")' in report(conv2d, "conv2d").question


def test_slow_code_is_asked_less_and_that_is_said():
    def conv2d_bias(grad_output):
        total = np.zeros(grad_output.shape[1])
        for _ in range(40):
            for n, c, i, j in np.ndindex(*grad_output.shape):
                np.add.at(total, c, grad_output[n, c, i, j] / 40)
        return total

    found = report(conv2d_bias, "conv2d_bias", rtol=1e-6)
    assert found.passed, found.text()
    assert any("because its code is slow" in each for each in found.left_out), found.left_out
    count = int(re.search(r"\d+", found.drawn)[0])
    assert count < 100, "as many would take as long"


def test_a_kernel_that_is_flipped_where_it_is_stamped_is_said_to_lie_in_reverse():
    def conv2d_input(input_size, weight, grad_output, stride=1, padding=0):
        flipped = weight.flip(3)
        return grad.conv2d_input(input_size, flipped, grad_output, stride, padding)

    found = report(conv2d_input, "conv2d_input").diagnoses[0]
    assert (found.id, found.title) == ("I04", say("read.reversed.column") + ".")
