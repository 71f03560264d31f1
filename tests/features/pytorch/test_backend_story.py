"""What the PyTorch tab says: held against torch's own answer, and each reason against what happens without it."""

import contextlib
import dataclasses
import itertools
import warnings

import pytest
import torch
import torch.nn.functional as F

from convviz import ConvSpec
from convviz.facts.words import sentences
from convviz.features.pytorch import reasons as reasons_module
from convviz.features.pytorch.asked_call import AskedCall
from convviz.features.pytorch.explain_backend import backend_story
from convviz.features.pytorch.reasons import reasons, sizes
from convviz.ops.detect_torch_backend import select_backend, which_backend
from convviz.ops.devices_and_dtypes import DTYPES
from tests.geometries import EDGE_CASES, random_specs
from tests.ops.test_which_backend import X86, switched

UNKNOWN = sentences("features/pytorch")("unknown")
TEACHING = ConvSpec((8, 8), stride=2, padding=1)
HARD = ConvSpec((10, 11), 4, 6, (3, 2), (3, 2), ((2, 1), (0, 3)), 2, 2, "reflect", 2)
SPECS = [TEACHING, HARD, *EDGE_CASES.values(), *random_specs(91, 60)]


def story(spec, **how):
    return backend_story(AskedCall(spec, **how))


def is_transposable(spec):
    return spec.padding_mode == "zeros" and all(before == after for before, after in spec.padding)


def layer(spec, bias=True):
    """Return torch's own layer for a geometry, where torch has one."""
    padding = tuple(before for before, _ in spec.padding)
    return torch.nn.Conv2d(
        spec.in_channels, spec.out_channels, spec.kernel_size, spec.stride, padding, spec.dilation, spec.groups, bias,
        spec.padding_mode,
    )  # fmt: skip


def run_as_written(call):
    """Run the text of a call; return the shape of its output."""
    x, w = torch.zeros(call.input_shape), torch.zeros(call.spec.weight_shape)
    bias = torch.zeros(call.spec.in_channels if call.transposed else call.spec.out_channels)
    return eval(call.text, {"F": F, "input": x, "padded_input": x, "weight": w, "bias": bias}).shape


@pytest.mark.parametrize("transposed", [False, True])
def test_the_call_is_what_its_text_says_and_has_the_right_size(monkeypatch, transposed):
    made = []
    for name in ("conv2d", "conv_transpose2d"):
        run = getattr(F, name)
        monkeypatch.setattr(F, name, lambda *a, run=run, **k: made.append(run(*a, **k)) or made[-1])
    for spec in SPECS:
        if transposed and not is_transposable(spec):
            continue
        call = AskedCall(spec, bias=True, transposed=transposed)
        expected = spec.input_shape if transposed else spec.output_shape
        assert run_as_written(call) == expected, (spec, call.text)
        call.watch()
        assert made[-1].shape == expected, "what was watched is the same call"


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_the_backend_is_that_of_torchs_own_layer(monkeypatch, dtype):
    calls, run = [], F.conv2d
    monkeypatch.setattr(F, "conv2d", lambda *arguments: calls.append(arguments) or run(*arguments))
    symmetric = [spec for spec in SPECS if all(before == after for before, after in spec.padding)]
    for spec in symmetric[:25]:
        module = layer(spec).to(DTYPES[dtype])
        module(torch.zeros(spec.input_shape, dtype=DTYPES[dtype]))
        arguments = calls.pop()
        calls.clear()
        call = AskedCall(spec, bias=True, dtype=dtype)
        assert call.ask() == select_backend(*arguments), spec
        assert call.ask()[0] == which_backend(*arguments).forward
        assert AskedCall(spec, bias=True).input_shape == arguments[0].shape


def test_a_border_that_the_operator_cannot_make_is_named_with_its_node():
    assert AskedCall(TEACHING).border == ""
    assert "ReflectionPad2DBackward0" in AskedCall(HARD).border
    assert 'F.pad(input, (0, 3, 2, 1), mode="reflect")' in AskedCall(HARD).border
    causal = AskedCall(EDGE_CASES["causal"])
    assert "ConstantPadNdBackward0" in causal.border
    assert "mode=" not in causal.border
    assert causal.text.startswith("F.conv2d(padded_input, weight")
    assert AskedCall(TEACHING, transposed=True).border == ""
    assert "slicing" in AskedCall(EDGE_CASES["causal"], transposed=True).border


@pytest.mark.parametrize("dtype", list(DTYPES))
@pytest.mark.parametrize("transposed", [False, True])
def test_what_would_change_it_is_what_torch_says_when_it_is_changed(dtype, transposed):
    reported = story(TEACHING, dtype=dtype, transposed=transposed)
    at = {change.what: (change.forward, change.backward) for change in reported.changes}
    changed = {
        "2 samples": TEACHING.replace(batch=2),
        "dilation 2": TEACHING.replace(dilation=2),
        "2 channels in 2 groups": TEACHING.replace(in_channels=2, out_channels=2, groups=2),
        "kernel 5 × 5": TEACHING.replace(kernel_size=5),
    }
    for what, spec in changed.items():
        assert at.pop(what) == _truth(spec, dtype, transposed), what
    for other in set(DTYPES) - {dtype}:
        assert at.pop(other) == _truth(TEACHING, other, transposed)
    name = "conv2d" if transposed else "conv_transpose2d"
    assert at.pop(f"{name}, the same in reverse") == _truth(TEACHING, dtype, not transposed)
    with switched(mkldnn=False):
        assert at.pop("oneDNN switched off", None) == _truth(TEACHING, dtype, transposed)
    assert all("switched off" in what or what.startswith("on ") for what in at), at


def _truth(spec, dtype, transposed):
    """Return what ran: the names by which_backend, on tensors that are made here."""
    like = {"dtype": DTYPES[dtype]}
    shape = spec.output_shape if transposed else spec.input_shape
    more = {"transposed": True, "output_padding": spec.remainder} if transposed else {}
    padding = tuple(before for before, _ in spec.padding)
    found = which_backend(
        torch.randn(shape, **like), torch.randn(spec.weight_shape, **like), None,
        spec.stride, padding, spec.dilation, spec.groups, **more,
    )  # fmt: skip
    return found.forward, found.backward


def test_a_neighbour_that_cannot_be_is_left_out():
    tiny = ConvSpec(2, kernel_size=2)
    what = [change.what for change in story(tiny).changes]
    assert "dilation 2" not in what
    assert not any("kernel" in words for words in what)
    assert any("NNPACK" in change.what for change in story(ConvSpec(8, batch=16)).changes) == _has_nnpack()


def _has_nnpack():
    with switched(mkldnn=False):
        return AskedCall(ConvSpec(8, batch=16)).ask()[0] == "NnpackSpatial"


def test_torchs_switches_are_as_before():
    on = reasons_module.onednn_on(), reasons_module.nnpack_on()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        story(ConvSpec(8, batch=16))
    assert (reasons_module.onednn_on(), reasons_module.nnpack_on()) == on


@X86
def test_the_rule_explains_every_setting_on_this_machine():
    for spec in SPECS:
        for transposed in (False, True) if is_transposable(spec) else (False,):
            for dtype in DTYPES:
                call = AskedCall(spec, dtype=dtype, transposed=transposed)
                assert reasons(call, call.ask()[0]) != (UNKNOWN,), (spec, dtype, transposed, call.ask())
    for libraries in ({"mkldnn": False}, {"mkldnn": False, "nnpack": False}):
        with switched(**libraries):
            call = AskedCall(ConvSpec(8, batch=16))
            assert reasons(call, call.ask()[0]) != (UNKNOWN,)


@X86
@pytest.mark.parametrize(
    ("made_large", "words"),
    [
        ({"batch": 2}, "2 samples"),
        ({"in_channels": 2, "out_channels": 2, "groups": 2}, "2 groups"),
        ({"kernel_size": 4}, "a kernel larger than 3 on both sides"),
        ({"input_size": 144}, "more than 20480 input numbers"),
    ],
)
def test_each_thing_that_makes_a_call_large_leads_to_onednn_alone(made_large, words):
    small, large = AskedCall(TEACHING), AskedCall(TEACHING.replace(**made_large))
    assert (small.ask()[0], large.ask()[0]) == ("Slow2d", "Mkldnn")
    assert sizes(small) == []
    assert sizes(large) == [words]
    assert reasons(large, "Mkldnn")[0].endswith(f"this one has {words}.")
    assert "The call is small" in reasons(small, "Slow2d")[0]
    just_not = {"kernel_size": (4, 3)} if "kernel_size" in made_large else {"input_size": 143}
    assert AskedCall(TEACHING.replace(**just_not)).ask()[0] == "Slow2d"


@X86
def test_one_more_thread_leads_a_one_by_one_kernel_to_onednn():
    call = AskedCall(ConvSpec(8, kernel_size=1, batch=2))
    threads = torch.get_num_threads()
    with contextlib.ExitStack() as stack:
        stack.callback(torch.set_num_threads, threads)
        torch.set_num_threads(1)
        assert call.ask()[0] == "Slow2d"
        assert "1 × 1 kernel at stride 1" in reasons(call, "Slow2d")[0]
        torch.set_num_threads(2)
        assert call.ask()[0] == "Mkldnn"
        assert reasons(call, "Slow2d") == (UNKNOWN,)


def test_reasons_follow_the_dtype_the_dilation_and_the_groups():
    dilated = story(TEACHING.replace(dilation=2), dtype="float64")
    assert dilated.backend.forward == "SlowDilated2d"
    assert dilated.why[0].startswith("oneDNN has no float64 convolution")
    assert "gaps" in dilated.why[1]
    grouped = story(ConvSpec(8, 4, 4, groups=2), dtype="float64")
    assert grouped.why[-1] == "It does not support groups: it runs 2 times, and aten::cat joins the results."
    assert any(line.strip() == "aten::thnn_conv2d × 2" for line in grouped.backend.forward_tree)
    assert any(line.strip().startswith("aten::cat") for line in grouped.backend.forward_tree)
    transposed = story(TEACHING, dtype="float64", transposed=True)
    assert "transposed" in transposed.why[1]
    with switched(mkldnn=False):
        assert "switched off" in story(TEACHING).why[0]


def test_what_no_rule_leads_to_is_not_explained():
    assert reasons(AskedCall(TEACHING), "Mkldnn") == (UNKNOWN,)
    assert reasons(AskedCall(TEACHING), "Overrideable") == (UNKNOWN,)
    on_cuda = dataclasses.replace(AskedCall(TEACHING), device="cuda")
    assert "cuDNN" in reasons(on_cuda, "Cudnn")[0]
    assert "cuDNN" in reasons(on_cuda, "Slow2d")[0]
    assert reasons(on_cuda, "Overrideable") == (UNKNOWN,)


def test_the_tree_has_every_op_below_its_caller():
    backend = story(ConvSpec(8, 4, 4, groups=2), dtype="float64").backend
    for ops, tree in ((backend.forward_ops, backend.forward_tree), (backend.backward_ops, backend.backward_tree)):
        names = [line.strip().partition(" × ")[0] for line in tree]
        assert set(names) == set(ops)
        depths = [(len(line) - len(line.lstrip())) // 2 for line in tree]
        assert depths[0] == 0
        assert all(deeper <= depth + 1 for depth, deeper in itertools.pairwise(depths))
    assert backend.forward_tree[:3] == ("aten::conv2d", "  aten::convolution", "    aten::_convolution")
    assert backend.grad_fn == "ConvolutionBackward0"


def test_the_machine_is_named():
    machine = dict(story(TEACHING).machine)
    assert machine["torch"] == torch.__version__
    assert machine["threads (torch.get_num_threads)"] == str(torch.get_num_threads())
    with switched(mkldnn=False):
        assert dict(story(TEACHING).machine)["oneDNN (torch.backends.mkldnn)"] == "off"
