"""What a caller states instead of letting it be guessed: an adapter over the case, names, geometries."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from convviz.cases.tasks import TASKS
from convviz.check import backend, check, grade, report
from convviz.check.calling.names_and_layouts import SYNONYMS, role_of
from convviz.geometry.spec import ConvSpec


def course(dout, cache, product=1.0):
    """Return the gradients as cs231n asks for them: window by window, a dict of settings with numbers in it."""
    x, w, _, conv_param = cache
    s, p = conv_param["stride"], conv_param["pad"]
    padded = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
    dx, dw, db = np.zeros_like(padded), np.zeros_like(w), dout.sum((0, 2, 3))
    for n, f, i, j in np.ndindex(dout.shape):
        window = (n, slice(None), slice(i * s, i * s + w.shape[2]), slice(j * s, j * s + w.shape[3]))
        dw[f] += dout[n, f, i, j] * padded[window]
        dx[window] += product * dout[n, f, i, j] * w[f]
    return dx[:, :, p : p + x.shape[2], p : p + x.shape[3]], dw, db


def of_torch(case):
    """Return both gradients by torch's own operators, from what a case says."""
    settings = (case.stride, case.padding, case.dilation, case.groups)
    return (
        torch.nn.grad.conv2d_input(case.input_size, case.weight, case.grad_output, *settings),
        torch.nn.grad.conv2d_weight(case.input, case.weight_size, case.grad_output, *settings),
    )


class TestAdapter:
    def test_it_calls_whatever_there_is_and_nothing_is_guessed(self):
        def adapter(case):
            cache = (case.input, case.weight, case.bias, {"stride": case.stride, "pad": case.padding})
            return course(case.grad_output, cache)

        found = report(adapter, "conv2d_backward", arrays="numpy")
        assert found.passed
        assert len(found.cases) >= 16
        assert "it reads grad_output, input, weight, bias, stride, padding of the case" in found.assumed[0]
        assert found.not_asked["dilation 2"] == "it does not read case.dilation"
        check(adapter, "conv2d_backward", arrays="numpy")
        assert grade(adapter, "conv2d_backward", arrays="numpy", points=3) == 3.0

    def test_a_wrong_one_is_diagnosed_as_ever(self):
        def adapter(case):
            cache = (case.input, case.weight, case.bias, {"stride": case.stride, "pad": case.padding})
            return course(case.grad_output, cache, product=-1.0)

        found = report(adapter, "conv2d_backward", arrays="numpy")
        assert (found.passed, found.diagnoses[0].of) == (False, "grad_input")

    def test_all_that_a_task_gives_comes_as_a_tuple_in_torchs_order_or_by_name(self):
        assert len(report(of_torch, "conv2d_backward").cases) >= 22, "a gradient of a bias it may leave out"
        assert report(of_torch, "conv2d_backward").passed

        def exchanged(case):
            dx, dw = of_torch(case)
            return {"grad_bias": case.grad_output.sum((0, 2, 3)), "grad_weight": dw, "grad_input": dx}

        assert report(exchanged, "conv2d_backward").passed

        def layer(case):
            made = torch.nn.Conv2d(
                case.input.shape[1], len(case.weight), 1, case.stride, case.padding, case.dilation, case.groups
            )
            made.weight, made.bias = (torch.nn.Parameter(each) for each in (case.weight, case.bias))
            output = made(case.input.requires_grad_())
            output.backward(case.grad_output)
            return output, case.input.grad, made.weight.grad, made.bias.grad

        for task in ("conv2d_module", "conv2d_function"):
            assert report(layer, task).passed, task
            assert not report(lambda case: tuple(2 * each for each in layer(case)), task).passed
        assert not report(lambda case: {"grad_input": of_torch(case)[0]}, "conv2d_backward").passed

    def test_every_task_has_its_case(self):
        def transposed(case):
            settings = (case.stride, case.padding, case.output_padding, case.groups, case.dilation)
            return F.conv_transpose2d(case.input, case.weight, case.bias, *settings)

        def plain(case):
            return F.conv2d(case.input, case.weight, case.bias, case.stride, case.padding, case.dilation, case.groups)

        for adapter, task in (
            (transposed, "conv_transpose2d"),
            (plain, "conv2d"),
            (lambda case: of_torch(case)[0], "conv2d_input"),
            (lambda case: of_torch(case)[1], "conv2d_weight"),
            (lambda case: case.grad_output.sum((0, 2, 3)), "conv2d_bias"),
            (lambda case: F.linear(case.input, case.weight, case.bias), "linear"),
            (lambda case: (case.grad_output @ case.weight, case.grad_output.T @ case.input), "linear_backward"),
        ):
            assert report(adapter, task).passed, task
            assert not report(lambda case, adapter=adapter: -adapter(case)[0], task).passed, task

    def test_what_it_does_not_read_it_has_built_in(self):
        found = report(lambda case: F.conv2d(case.input, case.weight, case.bias, 2, 1), "conv2d")
        assert found.passed
        assert {case.name for case in found.cases} >= {"stride 2, padding 1", "stride 2 without a remainder"}

    def test_arrays_and_layout_are_as_stated(self):
        def last(case):
            assert isinstance(case.input, np.ndarray)
            rows = F.conv2d(torch.tensor(case.input).permute(0, 3, 1, 2), torch.tensor(case.weight).permute(3, 2, 0, 1))
            return rows.permute(0, 2, 3, 1).numpy()

        assert report(last, "conv2d", arrays="numpy", layout="NHWC").passed
        assert report(lambda x, w: np.asarray(F.conv2d(*map(torch.tensor, (x, w)))), "conv2d", arrays="lists").passed
        with pytest.raises(ValueError, match="arrays is one of torch, numpy, lists: got 'jax'"):
            report(last, "conv2d", arrays="jax")

    def test_an_attribute_that_no_case_has_is_said_with_those_that_it_has(self):
        found = report(lambda case: F.conv2d(case.input, case.weight, stride=case.strides), "conv2d", cases="public")
        assert "a case has no strides; it has grad_output, input, weight, bias, stride" in found.cases[0].message

    def test_a_framework_has_adapters_too(self):
        def conv(case):
            return F.conv2d(*map(torch.from_numpy, (case.input, case.weight, case.bias)), case.stride, case.padding)

        assert len(backend(conv).reports["conv2d"].cases) >= 17
        assert backend(conv).passed
        assert backend(conv, dtype="float32").passed
        assert not backend(lambda case: conv(case) + 1).passed


def own(image, *, zauber, gy_, tritt=1, rand=0):
    size = image.shape, zauber.shape
    dx = torch.nn.grad.conv2d_input(size[0], zauber, gy_, tritt, rand)
    return {"zx": dx, "zw": torch.nn.grad.conv2d_weight(image, size[1], gy_, tritt, rand)}


OWN = {"zauber": "weight", "gy_": "grad_output", "tritt": "stride", "rand": "padding"}
RESULTS = {"zx": "grad_input", "zw": "grad_weight"}


class TestNames:
    def test_names_of_arguments_and_results(self):
        assert not report(own, "conv2d_backward", cases="public").passed
        found = report(own, "conv2d_backward", names=OWN | RESULTS)
        assert found.passed
        assert len(found.cases) >= 17
        assert "tritt = stride" in " ".join(found.assumed)
        check(own, "conv2d_backward", names=OWN | RESULTS)
        assert grade(own, "conv2d_backward", names=OWN | RESULTS) == 1.0
        assert not report(own, "conv2d_backward", cases="public").passed, "they were stated for one report"

    def test_keys_of_a_dict_and_attributes_of_an_object(self):
        def backward(dout, cache):
            x, w, _, q = cache
            return (*own(x, zauber=w, gy_=dout, tritt=q["tritt"], rand=q.get("rand", 0)).values(), dout.sum((0, 2, 3)))

        assert len(report(backward, "conv2d_backward", names=OWN).cases) >= 15
        assert report(backward, "conv2d_backward", names=OWN).passed

        class Layer:
            def __init__(self, tief, quer, size, tritt=1):
                self.zauber, self.hub = torch.zeros(quer, tief, size, size), torch.zeros(quer)
                self.tritt = tritt

            def forward(self, x):
                self.x = x
                return F.conv2d(x, self.zauber, self.hub, self.tritt)

            def backward(self, g):
                dx, self.zw = own(self.x, zauber=self.zauber, gy_=g, tritt=self.tritt).values()
                self.zb = g.sum((0, 2, 3))
                return dx

        names = {"tritt": "stride", "zauber": "weight", "hub": "bias", "tief": "in_channels", "quer": "out_channels"}
        found = report(Layer, "conv2d_backward", names=names | {"zw": "grad_weight", "zb": "grad_bias"})
        assert found.passed, found.text()
        assert len(found.cases) >= 5

    def test_what_a_name_cannot_be(self):
        for names, words in (
            ({"tritt": "strid"}, r"names\['tritt'\] is one of input, weight, .*: got 'strid'"),
            (["tritt"], "names is a dict"),
            ({3: "stride"}, "names is a dict"),
        ):
            with pytest.raises(ValueError, match=words):
                report(own, "conv2d_backward", names=names)

    def test_a_new_synonym_is_a_word_in_one_file_and_nothing_else(self, monkeypatch):
        for name, role in OWN.items():
            monkeypatch.setitem(SYNONYMS, role, f"{SYNONYMS[role]} {name}")
        for name, role in RESULTS.items():
            monkeypatch.setitem(SYNONYMS, role, f"{SYNONYMS[role]} {name}")
        assert len(report(own, "conv2d_backward", cases="battery").cases) >= 17
        assert report(own, "conv2d_backward", cases="battery").passed

    def test_every_synonym_is_a_name_of_an_argument(self):
        for role, names in SYNONYMS.items():
            assert len(names.split()) == len(set(names.split())), role
            for name in names.split():
                assert role_of(name, (role,)) == role, (role, name)

    def test_those_of_courses_and_of_keras(self):
        among = TASKS["conv2d_module"].arguments
        for name in ("filters", "num_filters", "n_filters", "nb_filters", "n_kernels", "out_ch", "depth"):
            assert role_of(name, among) == "out_channels", name
        for name in ("kernel_shape", "filter_shape"):
            assert (role_of(name, among), role_of(name, ("weight_size",))) == ("kernel_size", "weight_size"), name
        assert role_of("in_ch", among) == "in_channels"
        assert [role_of(name, ("stride", "padding")) for name in ("sh", "pw", "dh")] == ["stride.0", "padding.1", None]
        assert role_of("filters", ("input", "weight")) == "weight"


def large_ones_wrong(dout, x, w, stride=1, padding=0):
    dx = torch.nn.grad.conv2d_input(x.shape, w, dout, stride, padding)
    return dx * (1 if x.shape[1] < 90 else -1), torch.nn.grad.conv2d_weight(x, w.shape, dout, stride, padding)


LARGE = {"input": (1, 96, 6, 5), "weight": (2, 96, 3, 3), "padding": 1}


class TestGeometries:
    def test_it_is_asked_where_it_is_stated_and_nowhere_else(self):
        assert report(large_ones_wrong, "conv2d_backward", cases="battery").passed
        for at in (
            LARGE,
            ConvSpec((6, 5), 96, 2, 3, padding=1),
            {"input_size": (6, 5), "in_channels": 96, "padding": 1},
        ):
            found = report(large_ones_wrong, "conv2d_backward", at=at)
            assert [case.kind for case in found.cases] == ["wrong_value"]
            assert found.cases[0].name.startswith("input [1, 96, 6, 5], weight ["), found.text()
        found = report(large_ones_wrong, "conv2d_backward", at=[LARGE, {"input": (2, 3, 7, 6), "weight": (4, 3, 3, 2)}])
        assert [case.passed for case in found.cases] == [False, True]
        assert found.diagnoses
        assert grade(large_ones_wrong, "conv2d_backward", at=[LARGE, ConvSpec(5)], points=4) == 2.0
        with pytest.raises(AssertionError, match=r"weight \[2, 96, 3, 3\]"):
            check(large_ones_wrong, "conv2d_backward", at=LARGE)
        check(large_ones_wrong, "conv2d_backward", at=ConvSpec(5))

    def test_code_for_one_geometry_alone(self):
        def digits(x, w, b):
            assert (x.shape[1:], w.shape[2:]) == ((1, 28, 28), (5, 5))
            return F.conv2d(x, w, b)

        at = {"input": (4, 1, 28, 28), "weight": (8, 1, 5, 5)}
        assert report(digits, "conv2d", at=at).passed
        assert not report(lambda x, w, b: digits(x, w, b).flip(2), "conv2d", at=at).passed

    def test_shapes_are_those_of_the_task(self):
        at = {"input": (2, 4, 5, 3), "weight": (4, 3, 3, 2), "stride": 2, "padding": (1, 0), "output_padding": (1, 0)}
        seen = []

        def transposed(case):
            seen.append((tuple(case.input.shape), tuple(case.weight.shape), case.output_padding))
            return F.conv_transpose2d(
                case.input, case.weight, case.bias, case.stride, case.padding, case.output_padding
            )

        assert report(transposed, "conv_transpose2d", at=at, time_limit=float("inf")).passed
        assert seen[-1] == (at["input"], at["weight"], at["output_padding"])
        assert report(F.linear, "linear", at={"input": (16, 50), "weight": (10, 50)}).passed
        assert not report(lambda x, w: x @ w.T * 2, "linear", at={"input": (16, 50), "weight": (10, 50)}).passed

    def test_what_a_function_has_no_argument_for_is_not_asked_here_either(self):
        found = report(large_ones_wrong, "conv2d_backward", at=ConvSpec((6, 5), 2, 2, 3, dilation=2))
        assert (found.cases, found.passed) == ((), False)
        assert "no argument for dilation" in found.text()

    def test_a_framework_is_asked_there_too(self):
        def conv(input, weight, bias, stride, padding):
            return F.conv2d(*map(torch.from_numpy, (input, weight, bias)), stride, padding).numpy()

        found = backend(conv, at=LARGE)
        assert (found.passed, len(found.reports["conv2d"].cases)) == (True, 1)

    def test_what_a_geometry_cannot_be(self):
        for at, words in (
            ([], "at is a ConvSpec, a dict such as"),
            (3, "or a list of them: got 3"),
            ([3], "or a list of them: got 3"),
            ({"inputs": 3}, "at has the keys input, weight, .*: got 'inputs'"),
            ({"input": (2, 3)}, r"at\['input'\] is a shape of 4 whole numbers from 1"),
            ({"input": (2, 3, 4, 4), "weight": (1, 2, 3, 3)}, "it takes 2 channels: got an input of 3"),
            ({"weight": (1, 2, 3, 3)}, "at has an input or an input_size"),
            ({"input": (2, 3, 4, 4), "weight": (1, 3, 9, 9)}, "kernel must fit"),
            ({"input": (2, 3, 4, 4), "stride": 0}, "stride is a whole number of 1 or more"),
        ):
            with pytest.raises(ValueError, match=words):
                report(large_ones_wrong, "conv2d_backward", at=at)
