"""What is right in the whole battery and wrong elsewhere is found at random geometries, and what is right is not."""

import itertools
import types

import pytest
import torch
import torch.nn.functional as F

from convviz.cases.battery import make_case
from convviz.cases.further_questions import FLOAT32
from convviz.cases.random_cases import random_cases, simpler
from convviz.cases.tasks import TASKS, truth
from convviz.check import report
from convviz.check.call_outcome import Answer, Tried
from convviz.check.run.smallest_failing_geometry import RandomTrial
from convviz.geometry.spec import ConvSpec


def weight_of(wrong=lambda result, input, given: result):
    """Return a conv2d_weight whose result is spoilt."""

    def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        given = {"weight_size": tuple(weight_size), "stride": stride, "dilation": dilation, "groups": groups}
        geometry = (stride, padding, dilation, groups)
        result = torch.nn.grad.conv2d_weight(input, weight_size, grad_output, *geometry)
        return wrong(result, input, given | {"grad_output": grad_output})

    return conv2d_weight


CACHE, KEPT = {}, {}
CALLS = itertools.count(1)
# What is spoilt, and what the report has to say of it.
WRONG = {
    "one channel in, rotated": (
        lambda result, input, given: result.flip(2, 3) if input.shape[1] == 1 else result,
        "with one input channel",
    ),
    "a large kernel": (
        lambda result, input, given: result * (2 if max(result.shape[2:]) > 3 else 1),
        "with a kernel of more than 3 rows or columns",
    ),
    "groups of more than three": (
        lambda result, input, given: result.abs() if given["groups"] > 3 else result,
        "weight [4, 1, 1, 1], kernel 1×1, stride 1, padding 0, groups 4",
    ),
    "large numbers cut off": (lambda result, input, given: result.clamp(-100, 100), "Large numbers are clipped."),
    "whole numbers rounded": (
        lambda result, input, given: (result / 2).floor() * 2 if (result == result.round()).all() else result,
        "The result is not linear",
    ),
    "a cache by shape and sum": (
        lambda result, input, given: CACHE.setdefault(
            (result.shape, round(float(input.sum()), 6), given["weight_size"]), result
        ).clone(),
        "after other calls it does not",
    ),
    "a cache by sizes alone": (
        lambda result, input, given: (
            result
            if KEPT.setdefault((input.shape, result.shape, given["grad_output"].shape), given["stride"])
            == given["stride"]
            else -result
        ),
        "after other calls it does not",
    ),
    "every 97th call": (lambda result, input, given: result * (2 - (next(CALLS) % 97 > 0)), "after other calls"),
    "one axis dropped": (
        lambda result, input, given: result.squeeze(1) if result.shape[:2] == (1, 1) else result,
        "grad_weight has the shape [1, 1, 1]; it should be [1, 1, 1, 1]",
    ),
    "all square but the stride": (
        lambda result, input, given: (
            result.sin()
            if all(each.shape[2] == each.shape[3] for each in (input, result, given["grad_output"]))
            and isinstance(given["stride"], tuple)
            else result
        ),
        "kernel 1×1, stride 1×2",
    ),
    "raises": (
        lambda result, input, given: result[: 1 // (min(input.shape[2:]) - 1) + 99],
        "The cases with an input of one row or column",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_the_battery_lets_through_is_found_and_said(name):
    spoil, said = WRONG[name]
    found = report(weight_of(spoil), "conv2d_weight")
    *others, last = found.cases
    assert all(case.passed for case in others)
    assert not last.passed
    assert last.name.startswith("found at random: input [")
    assert said in found.text(), found.text()
    assert report(weight_of(spoil), "conv2d_weight", cases="battery").passed


def test_what_is_right_has_the_cases_of_the_battery_and_the_further_questions_alone():
    found = [report(weight_of(), "conv2d_weight", cases=cases) for cases in ("all", "battery")]
    assert [one.passed for one in found] == [True, True]
    assert [case.name for case in found[0].cases] == [*(case.name for case in found[1].cases), FLOAT32]


@pytest.mark.parametrize(
    ("dtype", "off", "is_right"), [("float64", 1e-14, 1), ("float32", 1e-6, 1), ("float64", 1e-6, 0)]
)
def test_rounding_is_right_where_the_right_numbers_cancel(dtype, off, is_right):
    """1 · 1 + 1 · (−1) = 0, of which no part says how far off a number may be."""
    task, case = TASKS["conv2d_weight"], make_case("", ConvSpec(1, kernel_size=1, batch=2), 0)
    case = case.with_tensor("input", torch.ones(2, 1, 1, 1, dtype=torch.float64))
    case = case.with_tensor("grad_output", torch.tensor([1.0, -1.0], dtype=torch.float64).reshape(2, 1, 1, 1))
    answer = Answer("ok", {"grad_weight": torch.full((1, 1, 1, 1), off, dtype=getattr(torch, dtype))})
    trial = RandomTrial(types.SimpleNamespace(task=task), lambda one: one.fits)
    assert trial._is_right(Tried(case, answer, truth(task, case))) == is_right


@pytest.mark.parametrize("bad", [True, False])
def test_layers_and_other_tasks_are_tried_as_well(bad):
    class Layer(torch.nn.Conv2d):
        def forward(self, input):
            return super().forward(input.flip(1) if bad and self.groups == self.in_channels > 3 else input)

    def transposed(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        out = F.conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)
        return out - 1 if bad and groups > 2 else out

    def linear(grad_output, input, weight, bias):
        grad_input = grad_output @ weight
        return grad_input.abs() if bad and len(input) == 1 else grad_input, grad_output.T @ input, grad_output.sum(0)

    for task, fn in {"conv2d_module": Layer, "conv_transpose2d": transposed, "linear_backward": linear}.items():
        assert report(fn, task).passed is not bad, task


def test_a_layer_that_answers_with_an_old_image_fails():
    class Layer(torch.nn.Conv2d):
        def forward(self, input):
            self.kept = getattr(self, "kept", input)
            return super().forward(self.kept)

    found = report(Layer, "conv2d_module", cases="battery")
    assert {case.kind for case in found.cases} == {"keeps_state"}


def test_the_same_seed_draws_the_same_and_leaves_the_random_numbers_of_others_alone():
    before = torch.get_rng_state()
    drawn = [list(random_cases(TASKS["conv2d_backward"], 5, 40, lambda spec: spec)) for _ in range(2)]
    assert torch.equal(torch.get_rng_state(), before)
    for one, other in zip(*drawn, strict=True):
        assert one.spec == other.spec
        assert torch.equal(one.input, other.input)


def test_the_geometries_have_all_that_a_battery_is_too_small_for():
    specs = [case.spec for case in random_cases(TASKS["conv2d_backward"], 1000, 160, lambda spec: spec)]
    for has in (
        lambda spec: spec.batch == 1,
        lambda spec: 1 in spec.input_size and spec.kernel_size != (1, 1),
        lambda spec: spec.groups == spec.in_channels > 2 and spec.out_channels > spec.groups,
        lambda spec: spec.groups > 1 and max(spec.stride) > 1 and max(spec.dilation) > 1,
        lambda spec: spec.stride[0] > spec.kernel_size[0] and spec.remainder[0] > 0,
        lambda spec: spec.padding[0][0] >= spec.kernel_size[0] > 1,
        lambda spec: spec.kernel_size == (1, 1) and spec.stride != (1, 1),
        lambda spec: spec.input_size[0] == spec.input_size[1] and max(spec.dilation) > 1,
        lambda spec: spec.padding_mode != "zeros" and spec.stride[0] != spec.stride[1],
        lambda spec: max(spec.kernel_size) == 5,
    ):
        assert any(map(has, specs))
    assert len(set(specs)) > 100


def test_what_is_simpler_is_smaller_and_can_be_asked():
    spec = ConvSpec((9, 8), 4, 8, (3, 2), (3, 2), 1, (2, 1), 4, batch=3)
    smaller = list(simpler(spec))
    assert len(smaller) > 12
    for other in smaller:
        pairs = [*zip(other.input_shape, spec.input_shape, strict=True), *zip(other.stride, spec.stride, strict=True)]
        assert other != spec
        assert all(less <= more for less, more in pairs)


def seen_through_one_number(result, sent):
    """Return the same numbers as a view with gaps, also where there is one of them."""
    wide = result.new_zeros(*result.shape[:3], 3 * result.shape[3])
    wide[..., ::3] = result
    return wide[..., ::3]


def with_rounding(result, sent):
    return result + 1e-17 * sent.abs().max()


@pytest.mark.parametrize("right", [seen_through_one_number, with_rounding])
def test_a_view_and_rounding_are_right(right):
    found = report(weight_of(lambda result, input, given: right(result, given["grad_output"])), "conv2d_weight")
    assert found.passed, found.text()


def padded_in_words(padding, cells, size, stride, dilation):
    if padding == "valid":
        return (0, 0)
    if padding != "same":
        return (padding, padding)
    total = max((-(-cells // stride) - 1) * stride + dilation * (size - 1) + 1 - cells, 0)
    return (total // 2, total - total // 2)


def test_words_are_asked_of_kernels_that_are_not_square():
    """One number is all that it takes for a stride, and a word stands for four of the padding."""

    def weight_by_words(axes):
        def conv2d_weight(input, weight_size, grad_output, stride=1, padding="valid", dilation=1, groups=1):
            assert all(isinstance(each, int) for each in (stride, dilation))
            assert not isinstance(padding, tuple)
            sizes = [weight_size[2:][axis] for axis in axes]
            cells = input.shape[2:]
            rows, columns = (
                padded_in_words(padding, *each, stride, dilation) for each in zip(cells, sizes, strict=True)
            )
            padded = F.pad(input, (*columns, *rows, 0, 9)) if axes[0] else F.pad(input, (*columns, *rows))
            return torch.nn.grad.conv2d_weight(padded, weight_size, grad_output, stride, 0, dilation, groups)

        return conv2d_weight

    assert report(weight_by_words((0, 1)), "conv2d_weight").passed
    assert not report(weight_by_words((1, 0)), "conv2d_weight").passed


class Layer(torch.nn.Module):
    """Takes one number for all but its kernel."""

    ends = (0, 0)

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0):
        super().__init__()
        kernel = kernel_size if isinstance(kernel_size, tuple) else (kernel_size, kernel_size)
        self.weight = torch.nn.Parameter(torch.zeros(out_channels, in_channels, *kernel))
        self.settings = stride + 0, padding + 0

    def forward(self, input):
        bottom, right = self.ends
        rows = self.weight.shape[2] > self.weight.shape[3]
        weight = F.pad(self.weight, (0, right, 0, bottom))[:, :, bottom:, right:] if rows else self.weight
        return F.conv2d(input, weight, None, *self.settings)


class ShiftedLayer(Layer):
    ends = (0, 1)


def test_a_layer_with_one_number_for_its_stride_is_asked_for_kernels_that_are_not_square():
    assert report(Layer, "conv2d_module").passed
    failed = [case.name for case in report(ShiftedLayer, "conv2d_module").cases if not case.passed]
    assert failed == ["stride 1, no padding", "as many channels in as out"], (
        "the kernels of both have three rows and two columns"
    )


class BinaryLayer(Layer):
    def forward(self, input):
        signs = torch.where(self.weight >= 0, 1.0, -1.0).to(self.weight.dtype)
        passed = self.weight.clamp(-1, 1)
        return F.conv2d(input, passed + (signs - passed).detach(), None, *self.settings)


def test_a_layer_with_binary_weights_may_be_a_class_and_gradients_have_the_names_of_their_tensors():
    assert report(BinaryLayer, "binary_conv2d").passed
    assert not report(Layer, "binary_conv2d").passed

    def backward(grad_output, input, weight, bias, stride=1, padding=0):
        tensors = {"input": input, "weight": weight, "bias": bias}
        leaves = {name: tensor.clone().requires_grad_() for name, tensor in tensors.items()}
        output = F.conv2d(*leaves.values(), stride, padding)
        return dict(zip(leaves, torch.autograd.grad(output, list(leaves.values()), grad_output), strict=True))

    assert report(backward, "conv2d_backward").passed
