"""padding="SAME" above stride 1: asked as TensorFlow defines it, more at the end."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from convviz import ConvSpec
from convviz.cases.same_padding import SAME, padding_word, same_padding
from convviz.check import report


def sides(size, kernel, stride):
    """Return what TensorFlow pads before and after, by its own formula."""
    after = kernel - stride if size % stride == 0 else kernel - size % stride
    total = max(after, 0)
    return total // 2, total - total // 2


def layer(choose=sides, same="SAME"):
    """Return a convolution that takes its padding as a word."""
    valid = "VALID" if same.isupper() else "valid"

    def conv2d(input, weight, bias, stride=1, padding=valid):
        rows = columns = (0, 0)
        steps = stride if isinstance(stride, tuple) else (stride, stride)
        if padding == same:
            rows, columns = map(choose, input.shape[2:], weight.shape[2:], steps)
        return F.conv2d(F.pad(input, (*columns, *rows)), weight, bias, stride)

    return conv2d


def turned(*given):
    before, after = sides(*given)
    return after, before


def unstrided(size, kernel, stride):
    return sides(size, kernel, 1)


def names(found):
    return [case.name for case in found.cases]


@pytest.mark.parametrize("same", ["SAME", "same"])
def test_same_above_stride_1_is_asked_with_a_remainder_and_without(same):
    found = report(layer(same=same), "conv2d")
    assert found.passed, found.text()
    assert set(SAME) <= set(names(found))
    with_rest = [spec for spec in SAME.values() if spec.stride != (1, 1)]
    assert any(any(spec.remainder) for spec in with_rest)
    assert any(spec.padding[0] == (0, 1) and not any(spec.remainder) for spec in with_rest)
    for spec in SAME.values():
        assert spec.padding == tuple(map(sides, spec.input_size, spec.kernel_size, spec.stride))
        assert spec.output_size == tuple(-(-n // s) for n, s in zip(spec.input_size, spec.stride, strict=True))


@pytest.mark.parametrize("same", ["SAME", "same"])
def test_the_odd_row_at_the_wrong_end_is_named(same):
    found = report(layer(turned, same), "conv2d")
    assert not found.passed
    assert "at the top and the left" in found.diagnoses[0].title, found.text()
    only_strided = layer(lambda *given: (turned if given[2] > 1 else sides)(*given), same)
    found = report(only_strided, "conv2d")
    assert "at the top and the left" in found.diagnoses[0].title, found.text()
    assert len(found.diagnoses) == 1
    found = report(layer(unstrided, same), "conv2d")
    assert "as if the stride were 1" in found.diagnoses[0].title, found.text()


def test_gradients_with_padding_in_words():
    def backward(choose):
        def conv2d_backward(grad_output, input, weight, bias, stride=1, padding="valid"):
            steps = stride if isinstance(stride, tuple) else (stride, stride)
            rows, columns = (
                map(choose, input.shape[2:], weight.shape[2:], steps) if padding == "same" else ((0, 0),) * 2
            )
            padded = F.pad(input, (*columns, *rows))
            dx = torch.nn.grad.conv2d_input(padded.shape, weight, grad_output, stride)
            dw = torch.nn.grad.conv2d_weight(padded, weight.shape, grad_output, stride)
            (top, _), (left, _) = rows, columns
            inner = dx[:, :, top : top + input.shape[2], left : left + input.shape[3]]
            return inner, dw, grad_output.sum((0, 2, 3))

        return conv2d_backward

    assert report(backward(sides), "conv2d_backward").passed
    found = report(backward(turned), "conv2d_backward")
    assert "at the top and the left" in found.diagnoses[0].title, found.text()


def test_numpy_and_channels_last_as_keras_has_them():
    def keras(inputs, kernels, bias, strides=1, padding="SAME"):
        steps = strides if isinstance(strides, tuple) else (strides, strides)
        around = map(sides, inputs.shape[1:3], kernels.shape[:2], steps) if padding == "SAME" else ((0, 0),) * 2
        padded = np.pad(inputs, ((0, 0), *around, (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, kernels.shape[:2], (1, 2))
        return np.einsum("nhwcij,ijco->nhwo", windows[:, :: steps[0], :: steps[1]], kernels) + bias

    found = report(keras, "conv2d")
    assert found.passed, found.text()
    assert set(SAME) <= set(names(found))


def test_who_refuses_same_above_stride_1_as_torch_does_is_right():
    def conv2d(input, weight, bias, stride=1, padding="valid"):
        if padding not in ("same", "valid"):
            raise ValueError("padding is a word")
        return F.conv2d(input, weight, bias, stride, padding)

    found = report(conv2d, "conv2d")
    assert found.passed, found.text()
    left = {name: reason for name, reason in found.not_asked.items() if name in SAME}
    assert len(left) == 4
    assert all("strided" in reason for reason in left.values()), left


def test_words_of_geometries():
    assert padding_word(ConvSpec(5, kernel_size=3, stride=2)) == "valid"
    assert padding_word(ConvSpec(5, kernel_size=3, stride=2, padding=1)) == "same"
    assert padding_word(ConvSpec(6, kernel_size=3, stride=2, padding=1)) is None
    assert padding_word(ConvSpec(6, kernel_size=3, stride=2, padding=((0, 1), (0, 1)))) == "same"
    assert same_padding(ConvSpec(6, kernel_size=2, stride=3)) == ((0, 0), (0, 0))
