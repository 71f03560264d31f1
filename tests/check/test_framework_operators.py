"""A framework's operators against the battery: torch's own over NumPy's arrays, right, and wrong in chosen ways."""

import json

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import convviz.check
from convviz.check.backend import BackendReport


def axes(stride, padding, dilation):
    return (value if isinstance(value, (tuple, list)) else (value, value) for value in (stride, padding, dilation))


def with_arrays(function):
    """Return one of torch's functions that is given NumPy's arrays, and returns one."""

    def call(*given):
        return function(*(torch.from_numpy(each) if isinstance(each, np.ndarray) else each for each in given)).numpy()

    return call


def conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return with_arrays(F.conv2d)(input, weight, bias, stride, padding, dilation, groups)


def conv_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    return with_arrays(torch.nn.grad.conv2d_input)(input_size, weight, grad_output, stride, padding, dilation, groups)


def conv_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    return with_arrays(torch.nn.grad.conv2d_weight)(input, weight_size, grad_output, stride, padding, dilation, groups)


class OnDevice:
    """An array of a framework's own: NumPy can read it, and that is all."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)


def column(found, name):
    head, *rows = found.table()
    return {row[0]: row[head.index(name)] for row in rows}


def test_right_operators_hold_wherever_they_are_asked():
    for dtype in ("float64", "float32"):
        found = convviz.check.backend(conv, conv_input, conv_weight, dtype=dtype)
        assert isinstance(found, BackendReport)
        assert found.passed, found.text()
        assert list(found.reports) == ["conv2d", "conv2d_input", "conv2d_weight"]
        for name in found.reports:
            cells = column(found, name)
            assert cells["all different"] == "holds"
            assert cells["groups"] == "holds"
            assert cells["circular border"] == "not asked", "there is no argument for it"


def test_arrays_of_its_own_are_read_and_numpy_is_what_it_gets():
    kinds = set()

    def wrapped(input, weight, stride=1, padding=0):
        kinds.add((type(input), input.dtype.name))
        return OnDevice(conv(input, weight, None, stride, padding))

    found = convviz.check.backend(wrapped, dtype="float32")
    assert found.passed, found.text()
    assert kinds == {(np.ndarray, "float32")}
    assert column(found, "conv2d")["groups"] == "not asked"


def handed_on(input, weight, **named):
    def inner(input, weight, stride=1, padding=0):
        return conv(input, weight, None, stride, padding)

    return inner(input, weight, **named)


def refusing(input, weight, stride=1, padding=0, dilation=1, groups=1):
    if groups != 1 or dilation != 1:
        raise NotImplementedError("stride and padding are all there is")
    return conv(input, weight, None, stride, padding)


@pytest.mark.parametrize(
    ("operator", "why"),
    [
        (lambda input, weight, stride=1, padding=0: conv(input, weight, None, stride, padding), "no argument for"),
        (handed_on, "unexpected keyword argument 'dilation'"),
        (refusing, "NotImplementedError: stride and padding are all there is"),
    ],
)
def test_what_an_operator_does_not_have_is_not_asked_of_it_and_said(operator, why):
    found = convviz.check.backend(operator)
    cells = column(found, "conv2d")
    assert found.passed, found.text()
    assert (cells["dilation 2"], cells["groups"], cells["stride 2, padding 1"]) == ("not asked", "not asked", "holds")
    (said,) = (line for line in found.text().splitlines() if line.startswith("Not asked") and "dilation 2" in line)
    assert why in said
    assert "Not asked of conv2d: " in found._repr_html_()


def test_a_keyword_that_is_wrong_in_the_operator_itself_is_no_lack():
    found = convviz.check.backend(lambda input, weight, stride=1, padding=0: np.pad(input, 1, fill=0))
    assert not found.passed
    assert set(column(found, "conv2d").values()) >= {"raised"}


def test_a_gradient_that_forgets_the_remainder_is_named_and_shown_in_its_column():
    def short(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        whole = conv_input(input_size, weight, grad_output, stride, padding, dilation, groups)
        (sh, sw), (ph, pw), (dh, dw) = axes(stride, padding, dilation)
        rows = (input_size[2] + 2 * ph - dh * (weight.shape[2] - 1) - 1) % sh
        columns = (input_size[3] + 2 * pw - dw * (weight.shape[3] - 1) - 1) % sw
        return whole[:, :, : input_size[2] - rows, : input_size[3] - columns]

    found = convviz.check.backend(conv, short)
    assert not found.passed
    assert column(found, "conv2d_input")["stride 2 with a remainder"] == "wrong shape"
    assert column(found, "conv2d_input")["stride 1, padding 1"] == "holds"
    assert found.reports["conv2d_input"].diagnoses[0].id == "I10"
    assert "I10" in found.text()
    assert "wrong shape" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["passed"] is False


def test_what_cannot_be_tried_is_said_in_one_sentence():
    with pytest.raises(ValueError, match="dtype is 'float64' or 'float32': got 'bfloat16'"):
        convviz.check.backend(conv, dtype="bfloat16")
    with pytest.raises(ValueError, match="conv2d is a function over arrays: got NoneType"):
        convviz.check.backend(None)
    with pytest.raises(ValueError, match="conv2d_weight is a function over arrays: got int"):
        convviz.check.backend(conv, None, 3)
