"""Code that fits nothing or cannot be called: what is said of it, and what it is asked back."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from convviz.check import check, grade, report


def gradients(dout, x, w, groups=1):
    dx = torch.nn.grad.conv2d_input(x.shape, w, dout, groups=groups)
    return dx, torch.nn.grad.conv2d_weight(x, w.shape, dout, groups=groups)


def three_by_three(weight, grad_output):
    kh, kw = weight.shape[2:]
    assert kh == kw == 3
    rows, columns = grad_output.shape[2:]
    shape = grad_output.shape[0], weight.shape[1], rows + 2, columns + 2
    return torch.nn.grad.conv2d_input(shape, weight, grad_output)


def written_out(x, dout):
    """A kernel of three rows and columns, as the loop has it: H - 2."""
    height, width = x.shape[2:]
    dw = np.zeros((dout.shape[1], x.shape[1], 3, 3))
    for i, j in np.ndindex(3, 3):
        dw[:, :, i, j] = np.einsum("nohw,nchw->oc", dout, x[:, :, i : i + height - 2, j : j + width - 2])
    return dw


def one_by_one(dout, x, w):
    assert w.shape[2:] == (1, 1)
    return gradients(dout, x, w)


def depthwise(dout, x, w):
    assert (w.shape[1], w.shape[0]) == (1, x.shape[1]), "depthwise only"
    return gradients(dout, x, w, x.shape[1])


ALONE = (
    (three_by_three, "conv2d_input", {"kernel_size": 3}),
    (written_out, "conv2d_weight", {"kernel_size": 3}),
    (one_by_one, "conv2d_backward", {"kernel_size": 1}),
    (depthwise, "conv2d_backward", {"groups": 3, "in_channels": 3, "out_channels": 3}),
)


@pytest.mark.parametrize(("fn", "task", "scope"), ALONE)
def test_what_is_right_in_one_scope_alone_is_asked_there_and_the_scope_is_said(fn, task, scope):
    found = report(fn, task)
    assert (found.passed, found.fits) == (True, scope), found.text()
    assert len(found.cases) >= 3
    assert f"right for {str(scope).replace(chr(39), chr(34))} and for nothing else" in found.text()
    assert found.to_dict()["fits"] == scope
    stated = report(fn, task, scope=scope)
    assert (stated.passed, stated.fits) == (True, None), "what is stated is not searched for"
    assert not report(fn, task, scope="all", cases="public").passed


@pytest.mark.parametrize(("fn", "task", "scope"), ALONE)
def test_a_wrong_one_is_wrong_in_that_scope_too(fn, task, scope):
    def wrong(*given):
        found = fn(*given)
        return (found[0], -found[1]) if isinstance(found, tuple) else -found

    wrong.__signature__ = __import__("inspect").signature(fn)
    assert not report(wrong, task).passed
    found = report(wrong, task, scope=scope)
    assert any(case.kind == "wrong_value" for case in found.cases)
    assert found.diagnoses[0].id in ("I26", "W12", "G07"), found.text()


def test_a_scope_that_hides_a_mistake_is_none_that_fits():
    def exchanged(dout, x, w):
        """Take the channels the wrong way round, which one channel hides."""
        return gradients(dout, x, w.transpose(0, 1))

    def unrotated(input_size, weight, grad_output, stride=1):
        if stride != 1:
            raise IndexError("out of range")
        return torch.nn.grad.conv2d_input(input_size, weight, grad_output, stride)[:, :, : 6 - weight.shape[2]]

    def deaf(x, weight_size, dout):
        return written_out(x, dout)

    for fn, task in ((exchanged, "conv2d_backward"), (unrotated, "conv2d_input"), (deaf, "conv2d_weight")):
        found = report(fn, task)
        assert (found.passed, found.fits) == (False, None), found.text()


def strange(filters_count, zauber, q3):
    raise ValueError("no")


class TestQuestions:
    def test_nothing_is_said_about_numbers_that_never_came(self):
        found = report(strange, "conv2d_backward")
        assert not found.passed
        text = found.text()
        assert "conv2d_backward: could not be called, so nothing is said about its numbers." in text
        assert "0 of" not in text
        with pytest.raises(AssertionError, match="I do not know what `filters_count`, `zauber`, `q3` are"):
            check(strange, "conv2d_backward")
        assert "could not be called" in found._repr_html_()
        assert "I do not know" in found._repr_html_()

    def test_what_it_says_can_be_pasted(self):
        def turned(zauber, bild, sent):
            return gradients(sent.contiguous(), bild + 0 * zauber.sum() if zauber.shape[1] < 9 else bild, zauber)

        found = report(turned, "conv2d_backward")
        assert not found.passed
        assert found.question.startswith("I do not know what `zauber`, `bild`, `sent` are.")
        stated = eval(found.question.rpartition("names=")[2])
        assert stated == {"zauber": "grad_output", "bild": "input", "sent": "weight"}
        names = dict(zip(stated, ("weight", "input", "grad_output"), strict=True))
        assert report(turned, "conv2d_backward", names=names).passed

    def test_a_function_whose_names_are_known_is_called_by_its_author(self):
        def picky(x, w, dout, stride=1):
            if x.dtype != torch.float16:
                raise ValueError("half precision")
            return gradients(dout, x, w)

        question = report(picky, "conv2d_backward").question
        call = "lambda case: picky(case.input, case.weight, case.grad_output, case.stride)"
        assert question.endswith(f'convviz.report({call}, "conv2d_backward")')

        class Layer:
            def __init__(self, in_channels, out_channels, kernel_size):
                raise KeyError("no")

            def forward(self, x):
                return x

            def backward(self, dout):
                return dout

        assert "a function of one argument named case" in report(Layer, "conv2d_backward").question

    def test_who_is_right_or_whose_numbers_are_wrong_is_asked_nothing(self):
        assert report(gradients, "conv2d_backward", cases="public").question == ""
        found = report(lambda dout, x, w: tuple(-each for each in gradients(dout, x, w)), "conv2d_backward")
        assert (found.question, found.passed) == ("", False)
        assert "0 of" in found.text()

    def test_an_adapter_that_fails_is_not_advised_to_be_one(self):
        found = report(lambda case: F.conv2d(case.input), "conv2d", cases="public")
        assert "could not be called" in found.text()
        assert found.question == ""


class TestWhatIsLeftOut:
    def test_settings_and_sizes_that_were_not_asked_stand_in_one_line_of_every_form(self, capsys):
        def backward(dout, x, w, stride=1):
            if not isinstance(stride, int):
                raise TypeError("a number")
            dx = torch.nn.grad.conv2d_input(x.shape, w, dout, stride)
            return dx, torch.nn.grad.conv2d_weight(x, w.shape, dout, stride)

        found = report(backward, "conv2d_backward")
        assert found.passed
        assert found.left_out[0] == "padding, dilation, groups, padding_mode, for which it has no argument"
        line = f"Not asked: {'; '.join(found.left_out)}."
        assert "different numbers for the two axes of stride, for which it takes one number" in line
        assert found.text().splitlines()[-2] == line
        assert "Not asked: padding" in found._repr_html_()
        assert found.to_dict()["left_out"] == found.left_out
        assert line in found.to_gradescope()["output"]
        grade(backward, "conv2d_backward")
        assert line in capsys.readouterr().out

    def test_nothing_is_left_out_of_what_was_not_called_nor_of_a_linear_layer(self):
        assert report(strange, "conv2d_backward").left_out == ()
        assert report(lambda x, w, b: x @ w.T + b, "linear", cases="battery").left_out == ()
