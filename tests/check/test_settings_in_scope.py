"""What a function is meant for: as a teacher states it, as its own code says it, and what it cannot be given."""

import numpy as np
import pytest
import torch

from convviz.cases.battery import battery
from convviz.cases.settings_in_scope import EVERYTHING, read_scope
from convviz.check import report


def right(input_size, weight, grad_output, stride=1, padding=0):
    return torch.nn.grad.conv2d_input(input_size, weight, grad_output, stride, padding)


def narrow(input_size, weight, grad_output, stride=1, padding=0):
    assert (stride, weight.shape[2]) == (1, weight.shape[3]), "only square kernels at stride 1"
    return right(input_size, weight, grad_output, stride, padding)


def silent(input_size, weight, grad_output, stride=1, padding=0):
    """Take one size for both axes and any stride for 1, without a word."""
    k = weight.shape[-1]
    return right(input_size, weight[:, :, :k, :k], grad_output, 1, padding)


class TestStated:
    def test_cases_outside_are_replaced_by_the_nearest_inside(self):
        for scope in (
            {"groups": 1, "square": True, "odd": True, "stride": 1, "padding": 0, "dilation": 1},
            {"stride": [1, 2], "remainder": False},
            {"square": True, "remainder": False, "odd": True},
            {"stride": 3, "padding": [2], "dilation": (2,), "groups": 2},
            {"kernel_size": 5},
            {"kernel_size": [1, (3, 2)], "stride": 1},
            {"kernel_size": [2, 5], "odd": True},
            {"in_channels": 3, "out_channels": [3, 6], "groups": 3},
            {"in_channels": 1, "out_channels": 1},
        ):
            found = read_scope(scope)
            cases = battery("all", 0)
            more = found.cases(cases, 0)
            inside = [case for case in cases + more if found.leaves_out(case.spec) is None]
            assert len(inside) >= 5, scope
            assert all(found.leaves_out(case.spec) is None for case in more), scope
            assert len({case.spec for case in inside}) == len(inside)
            assert len({case.name for case in cases + more}) == len(cases + more)
        assert EVERYTHING.cases(battery("all", 0), 0) == []

    def test_a_function_is_asked_what_it_is_meant_for(self):
        found = report(silent, "conv2d_input", scope={"square": True, "stride": 1})
        assert found.passed
        assert len(found.cases) >= 5
        assert found.not_asked["stride 2, padding 1"] == "it is outside the scope (stride)"
        assert not report(silent, "conv2d_input").passed
        found = report(lambda *given: -silent(*given), "conv2d_input", scope={"square": True, "stride": 1})
        assert not found.passed
        assert found.diagnoses
        assert report(silent, "conv2d_input", scope={"square": True, "stride": 1}, time_limit=30).passed

    def test_numbers_are_asked_alone_and_pairs_where_they_are_listed(self):
        for listed, apart in (([1, 2, 3], set()), ([1, 2, 3, (2, 1)], {(2, 1)})):
            found = read_scope({"stride": listed})
            kept = {case.spec.stride for case in battery("all", 0) if found.leaves_out(case.spec) is None}
            assert kept == {(1, 1), (2, 2), (3, 3)} | apart

    def test_what_a_scope_cannot_be(self):
        for scope, words in (
            ({"strides": 1}, "groups, kernel_size, in_channels, out_channels, square, odd, remainder: got 'strides'"),
            ({"stride": 0}, "a whole number from 1"),
            ({"stride": "1"}, "a whole number from 1"),
            ({"padding": []}, "a whole number from 0"),
            ({"padding": [(1, 2, 3)]}, "or pairs of them"),
            ({"groups": [(1, 2)]}, "a whole number from 1"),
            ({"in_channels": [(1, 2)]}, "a whole number from 1"),
            ({"kernel_size": 0}, "a whole number from 1"),
            ({"groups": 2, "out_channels": [1, 3]}, "multiples of groups"),
            ({"square": 1}, "True or False"),
            ("some", "a dict, or 'all'"),
        ):
            with pytest.raises(ValueError, match=words):
                report(narrow, "conv2d_input", scope=scope)


class TestOneNumber:
    def test_what_raises_for_a_number_beside_a_pair_is_given_two_pairs(self):
        def shortcut(x, weight_size, grad_output, stride=1, padding=0):
            if isinstance(stride, int):
                x, padding = torch.nn.functional.pad(x, (padding,) * 4), 0
            return torch.nn.grad.conv2d_weight(x, weight_size, grad_output, stride, padding)

        found = report(shortcut, "conv2d_weight")
        assert found.passed, found.text()
        assert "height and width apart, undilated" in [case.name for case in found.cases]

    def test_a_pair_that_numpy_spreads_over_two_windows_is_not_asked(self):
        def addressed(input_size, weight, grad_output, stride=1, padding=0):
            (height, width), values = input_size[2:], np.einsum("noij,ocuv->ncuvij", grad_output, weight)
            *_, u, v, i, j = np.indices(values.shape)
            rows, columns = i * stride + u - padding, j * stride + v - padding
            dx, inside = np.zeros(input_size), (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
            samples, channels = np.indices(values.shape)[:2]
            np.add.at(dx, (samples[inside], channels[inside], rows[inside], columns[inside]), values[inside])
            return dx

        found = report(addressed, "conv2d_input")
        assert found.passed, found.text()
        assert "different numbers for the two axes of stride, padding, for which it takes one number" in found.text()

    def test_what_exchanges_height_and_width_is_wrong_even_where_it_raises(self):
        def exchanged(x, weight_size, grad_output, stride=1, padding=0):
            stride = stride if isinstance(stride, int) else stride[::-1]
            return torch.nn.grad.conv2d_weight(x, weight_size, grad_output, stride, padding)

        assert not report(exchanged, "conv2d_weight").passed


class TestRefused:
    def test_what_refuses_a_pair_of_equal_numbers_is_given_one(self):
        def strict(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
            if dilation != 1 or groups != 1:
                raise NotImplementedError("dilation and groups other than 1 are not supported")
            dx = np.zeros([n + 2 * padding * (axis > 1) for axis, n in enumerate(input_size)])
            for i, j in np.ndindex(*grad_output.shape[2:]):
                rows, columns = ([stride * at] for at in (i, j))
                window = dx[:, :, rows[0] : rows[0] + weight.shape[2], columns[0] : columns[0] + weight.shape[3]]
                window += np.einsum("no,ocij->ncij", grad_output[:, :, i, j], weight)
            return dx[:, :, padding : padding + input_size[2], padding : padding + input_size[3]]

        found = report(strict, "conv2d_input")
        assert found.passed, found.text()
        assert len(found.cases) > 10

    def test_an_own_assert_is_not_counted(self):
        found = report(narrow, "conv2d_input")
        assert found.passed
        assert 1 < len(found.cases) < 10
        said = found.not_asked["stride 2, padding 1"]
        assert "the function refuses it" in said
        assert "only square kernels at stride 1" in said
        assert not report(narrow, "conv2d_input", scope="all").passed, "the teacher demands every case"

    def test_how_it_is_called_is_found_where_it_does_not_refuse(self):
        def last(x, w, dout, stride, pad):
            assert stride == 2, "stride 2 alone"
            shape = (w.shape[3], w.shape[2], *w.shape[:2])
            image, sent = (torch.from_numpy(part).permute(0, 3, 1, 2) for part in (x, dout))
            return torch.nn.grad.conv2d_weight(image, shape, sent, stride, pad).permute(2, 3, 1, 0).numpy()

        found = report(last, "conv2d_weight")
        assert found.passed, found.text()
        assert {"stride 2, padding 1", "stride 2 with a remainder"} <= {case.name for case in found.cases}

    def test_patches_side_by_side_are_asked_where_nothing_else_fits(self):
        def patches(dout, x, w, b, stride=1, pad=0):
            assert w.shape[2] == w.shape[3] == stride, "the stride has to equal the kernel's size"
            assert pad == 0, "no padding"
            assert x.shape[2] % stride == x.shape[3] % stride == 0, "whole patches"
            parts = x.reshape(*x.shape[:2], dout.shape[2], stride, dout.shape[3], stride)
            dx = np.einsum("noyx,ocij->ncyixj", dout, w).reshape(x.shape)
            return dx, np.einsum("ncyixj,noyx->ocij", parts, dout), dout.sum((0, 2, 3))

        found = report(patches, "conv2d_backward")
        assert [case.name for case in found.cases] == ["stride as large as the kernel"]
        assert found.passed
        assert "1 of 1 case is right" in found.text()

    def test_a_fast_path_for_3_by_3_is_asked_for_more_than_the_padding_that_keeps_the_size(self):
        def cropped_by_1(input_size, weight, grad_output, stride=1, padding=0):
            if weight.shape[2:] != (3, 3) or stride != 1 or padding == 0:
                return right(input_size, weight, grad_output, stride, padding)
            return right(input_size, weight, grad_output[..., padding - 1 :, padding - 1 :], 1, 1)

        assert [
            case.name for case in report(cropped_by_1, "conv2d_input", cases="battery").cases if not case.passed
        ] == ["stride 1, padding 2"]

    def test_refusing_everything_is_no_way_to_pass(self):
        def never(input_size, weight, grad_output, stride=1, padding=0):
            raise NotImplementedError("later")

        found = report(never, "conv2d_input")
        assert (found.passed, found.score) == (False, 0.0)
        assert "no case was tried" in found.text()
        assert "later" in found.text()

    def test_a_check_of_the_own_result_is_no_refusal(self):
        def checks(input_size, weight, grad_output, stride=1, padding=0):
            dx = right(input_size, weight, grad_output, stride, padding)[:, :, 0 if padding else 1 :]
            assert dx.shape == input_size
            return dx

        found = report(checks, "conv2d_input")
        assert not found.passed
        assert "assert dx.shape" in found.text()


class TestPairs:
    def test_one_number_alone_whatever_is_thrown(self):
        def by_value(input_size, weight, grad_output, stride, padding):
            if np.ndim(stride) or np.ndim(padding):
                raise ValueError("one number")
            return right(input_size, weight, grad_output, stride, padding)

        def by_index(input_size, weight, grad_output, stride, padding):
            {1: 0, 2: 0, 3: 0}[stride]
            return right(input_size, weight, grad_output, stride, padding)

        for fn in (by_value, by_index):
            found = report(fn, "conv2d_input")
            assert found.passed
            assert "it takes one number" in " ".join(found.not_asked.values())

    def test_two_numbers_the_wrong_way_round_are_a_mistake(self):
        def swapped(input_size, weight, grad_output, stride=1, padding=0):
            stride = stride if isinstance(stride, int) else stride[::-1]
            return right(input_size, weight, grad_output, stride, padding)

        assert not report(swapped, "conv2d_input").passed


class Inherited(torch.nn.Conv2d):
    """Reads no padding_mode in its own code, and halves a gradient if it is asked to."""

    part = 1.0

    def forward(self, x):
        weight = self.weight * self.part + (1 - self.part) * self.weight.detach()
        return torch.nn.functional.conv2d(x, weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Half(Inherited):
    part = 0.5


class Promised(Inherited):
    def __init__(self, *shape, padding_mode="zeros"):
        super().__init__(*shape, padding_mode=padding_mode)


class PromisedHalf(Half, Promised):
    pass


def test_borders_are_asked_of_a_layer_whose_own_code_names_them_and_named_first_where_nothing_else_is_wrong():
    found = report(Inherited, "conv2d_module")
    assert found.passed
    assert "does not read padding_mode, so borders other than zeros are not tried" in found.text()
    for made, id in ((Half, "G06"), (Promised, "F09"), (PromisedHalf, "G06")):
        assert report(made, "conv2d_module").diagnoses[0].id == id, made
