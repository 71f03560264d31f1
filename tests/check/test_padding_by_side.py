"""Paddings that differ from side to side: asked where they are stated, in the form in which they are stated."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from convviz.cases.stated_geometries import sides_of
from convviz.check import report
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("check")
SHAPES = {"input": (2, 3, 6, 5), "weight": (4, 3, 3, 2)}
FOUR, PAIRS = {**SHAPES, "padding": (0, 1, 1, 2)}, {**SHAPES, "padding": ((1, 2), (0, 1))}
STRIDED = {**SHAPES, "padding": ((2, 1), (0, 0)), "stride": 2}
SPEC = ConvSpec((6, 5), 3, 4, (3, 2), padding=((1, 2), (0, 1)), batch=2)


def four(x, w, b=None, stride=1, padding=(0, 0, 0, 0)):
    return F.conv2d(F.pad(x, padding), w, b, stride)


def pairs(x, w, b=None, stride=1, padding=((0, 0), (0, 0))):
    (top, bottom), (left, right) = padding
    return F.conv2d(F.pad(x, (left, right, top, bottom)), w, b, stride)


def backward(crop):
    """Return a backward pass in NumPy that crops one of the sides' rows and columns: 0 before, 1 after."""

    def conv_backward(dout, x, w, b, stride, padding):
        padded = np.pad(x, ((0, 0), (0, 0), *padding))
        dx, dw = np.zeros_like(padded), np.zeros_like(w)
        for n, f, i, j in np.ndindex(dout.shape):
            rows, columns = slice(i * stride, i * stride + w.shape[2]), slice(j * stride, j * stride + w.shape[3])
            dw[f] += dout[n, f, i, j] * padded[n, :, rows, columns]
            dx[n, :, rows, columns] += dout[n, f, i, j] * w[f]
        top, left = padding[0][crop], padding[1][crop]
        return dx[:, :, top : top + x.shape[2], left : left + x.shape[3]], dw, dout.sum((0, 2, 3))

    return conv_backward


@pytest.mark.parametrize(
    ("fn", "at"),
    [(four, FOUR), (pairs, PAIRS), (pairs, [PAIRS, STRIDED]), (pairs, SPEC), (pairs, [PAIRS, SHAPES | {"padding": 1}])],
)
def test_it_is_given_as_it_is_stated(fn, at):
    found = report(fn, "conv2d", at=at)
    assert found.passed, found.text()
    assert len(found.cases) == (len(at) if isinstance(at, list) else 1)


def test_an_adapter_reads_it_in_the_same_form():
    def of_four(case):
        return F.conv2d(F.pad(case.input, case.padding), case.weight, case.bias, case.stride)

    def of_pairs(case):
        return pairs(case.input, case.weight, case.bias, case.stride, case.padding)

    assert report(of_four, "conv2d", at=FOUR).passed
    assert report(of_pairs, "conv2d", at=[SPEC, STRIDED]).passed


def test_a_gradient_cropped_by_the_other_side_is_read_off():
    assert report(backward(0), "conv2d_backward", at=[PAIRS, STRIDED]).passed
    found = report(backward(1), "conv2d_backward", at=[PAIRS, STRIDED])
    assert "padding ((1, 2), (0, 1))" in found.cases[0].name
    assert found.diagnoses[0].of == "grad_input"
    assert "belongs" in found.diagnoses[0].title


def test_how_paddings_are_stated():
    stated = [sides_of(each) for each in (FOUR, PAIRS, SPEC, {**SHAPES, "padding": 1}, [SPEC, PAIRS, FOUR])]
    assert stated == ["four", "pairs", "uneven", "uneven", "four"]


class TestOfItsOwn:
    """Code that gets no padding and pads by itself, as minitorch's convolution does."""

    @staticmethod
    def after(x, w):
        height, width = w.shape[2:]
        return F.conv2d(F.pad(x, (0, width - 1, 0, height - 1)), w)

    @staticmethod
    def before(x, w):
        height, width = w.shape[2:]
        return F.conv2d(F.pad(x, (width - 1, 0, height - 1, 0)), w)

    @staticmethod
    def both(x, w):
        return F.conv2d(x, w, padding="same")

    @pytest.mark.parametrize("name", ["after", "before"])
    def test_it_is_said_by_which_rule(self, name):
        found = report(getattr(self, name), "conv2d")
        assert [(each.id, each.of, each.title) for each in found.diagnoses] == [("?", "output", say(f"own.{name}"))]
        assert "products" not in found.text()

    def test_half_of_it_on_each_side(self):
        assert report(self.both, "conv2d").diagnoses[0].title == say("own.unstrided")

    def test_the_statement_that_is_proposed_asks_it_rightly(self):
        fix = report(self.after, "conv2d").diagnoses[0].fix
        stated = eval(fix.partition("at=")[2])
        assert report(self.after, "conv2d", at=stated).passed
        assert not report(self.before, "conv2d", at=stated).passed

    def test_a_function_with_gradients(self):
        after = self.after

        class Conv2dFun(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, w):
                ctx.save_for_backward(x, w)
                return after(x, w)

            @staticmethod
            def backward(ctx, grad):
                x, w = ctx.saved_tensors
                padded = F.pad(x, (0, w.shape[3] - 1, 0, w.shape[2] - 1))
                dx = torch.nn.grad.conv2d_input(padded.shape, w, grad)
                return dx[:, :, : x.shape[2], : x.shape[3]], torch.nn.grad.conv2d_weight(padded, w.shape, grad)

        assert report(Conv2dFun, "conv2d_function").diagnoses[0].title == say("own.after")
        assert report(Conv2dFun, "conv2d_function", at={**SHAPES, "padding": ((0, 2), (0, 1))}).passed
