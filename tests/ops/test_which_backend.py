"""The backend that torch chooses, held against the rule as it was measured and against the ops that run."""

import contextlib
import dataclasses
import json
import platform
import warnings

import pytest
import torch

from convviz.ops import detect_torch_backend as module
from convviz.ops import record_torch_ops
from convviz.ops.detect_torch_backend import BACKENDS, PROFILER, SELECT, Backend, described, which_backend

CONV, CONV_BACKWARD = (
    ("aten::convolution", "aten::_convolution"),
    ("ConvolutionBackward0", "aten::convolution_backward"),
)
X86 = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64")
    or not torch.backends.mkldnn.is_available()
    or not torch.backends.nnpack.is_available(),
    reason="torch's choice for float32 was measured on x86 with oneDNN and NNPACK",
)


@contextlib.contextmanager
def switched(mkldnn=True, nnpack=True):
    """Turn torch's libraries on or off; mkldnn.flags warns of TF32, once, on machines that have none."""
    with contextlib.ExitStack() as stack:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stack.enter_context(torch.backends.mkldnn.flags(enabled=mkldnn))
            stack.enter_context(torch.backends.nnpack.flags(enabled=nnpack))
        try:
            yield
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                stack.close()


def tensors(input_shape, weight_shape, dtype=torch.float32, requires_grad=False):
    """Input and weight, from a generator of their own."""
    generator = torch.Generator().manual_seed(0)
    return [
        torch.rand(shape, generator=generator, dtype=dtype).requires_grad_(requires_grad)
        for shape in (input_shape, weight_shape)
    ]


def without_select(monkeypatch):
    monkeypatch.delattr(torch._C, "_select_conv_backend", raising=False)


TINY, USUAL = ((1, 1, 8, 8), (1, 1, 3, 3)), ((2, 3, 8, 8), (4, 3, 3, 3))  # shapes of input and weight
F32, F64 = torch.float32, torch.float64
SLOW = ("Slow2d",) * 3
DILATED = ("SlowDilated2d",) * 3
TRANSPOSE = ("SlowTranspose2d",) * 3

# Input, weight, arguments → the backend by default, without oneDNN, without oneDNN and NNPACK.
FLOAT32 = {
    "teaching shape": (*TINY, {}, SLOW),
    "two samples": (*USUAL, {}, ("Mkldnn", "Slow2d", "Slow2d")),
    "16 samples": ((16, 3, 8, 8), (4, 3, 3, 3), {}, ("Mkldnn", "NnpackSpatial", "Slow2d")),
    "kernel 17": ((16, 1, 20, 20), (2, 1, 17, 17), {}, ("Mkldnn", "Slow2d", "Slow2d")),
    "padding >= kernel": ((16, 1, 8, 8), (2, 1, 3, 3), {"padding": 3}, ("Mkldnn", "Slow2d", "Slow2d")),
    "20480 numbers": ((1, 20, 32, 32), (2, 20, 3, 3), {}, SLOW),
    "24576 numbers": ((1, 24, 32, 32), (2, 24, 3, 3), {}, ("Mkldnn", "Slow2d", "Slow2d")),
    "kernel 5x5": ((1, 3, 8, 8), (4, 3, 5, 5), {}, ("Mkldnn", "Slow2d", "Slow2d")),
    "kernel 1x1": ((1, 3, 8, 8), (4, 3, 1, 1), {}, SLOW),
    "depthwise": ((1, 4, 8, 8), (4, 1, 3, 3), {"groups": 4}, ("Mkldnn", "Slow2d", "Slow2d")),
    "dilated": ((1, 3, 8, 8), (4, 3, 3, 3), {"dilation": 2}, DILATED),
    "dilated, two samples": (*USUAL, {"dilation": 2}, ("Mkldnn", "SlowDilated2d", "SlowDilated2d")),
    "transposed": ((1, 3, 8, 8), (3, 4, 3, 3), {"transposed": True}, TRANSPOSE),
    "transposed, two samples": (
        (2, 3, 8, 8),
        (3, 4, 3, 3),
        {"transposed": True},
        ("MkldnnTranspose", "SlowTranspose2d", "SlowTranspose2d"),
    ),
    "transposed, output_padding >= stride": (
        (2, 3, 8, 8),
        (3, 4, 3, 3),
        {"transposed": True, "output_padding": 1, "dilation": 2},
        TRANSPOSE,
    ),
}
FLOAT64 = {
    "teaching shape": (*TINY, {}, SLOW),
    "16 samples": ((16, 3, 8, 8), (4, 3, 3, 3), {}, SLOW),
    "dilated": (*USUAL, {"dilation": 2}, DILATED),
    "depthwise": ((2, 4, 8, 8), (4, 1, 3, 3), {"groups": 4}, SLOW),
    "transposed": ((2, 3, 8, 8), (3, 4, 3, 3), {"transposed": True}, TRANSPOSE),
}
EMPTY = {
    "no sample": ((0, 3, 8, 8), (4, 3, 3, 3), {}, ("Empty",) * 3),
    "no channel": ((2, 0, 8, 8), (4, 0, 3, 3), {}, ("Empty",) * 3),
}
ROWS = [
    *(pytest.param(F32, *row, id=f"float32, {name}", marks=X86) for name, row in FLOAT32.items()),
    *(pytest.param(F64, *row, id=f"float64, {name}") for name, row in FLOAT64.items()),
    *(pytest.param(dtype, *row, id=f"{dtype}, {name}") for dtype in (F32, F64) for name, row in EMPTY.items()),
]


@pytest.mark.parametrize(("dtype", "input_shape", "weight_shape", "arguments", "expected"), ROWS)
def test_the_backend_is_the_one_that_was_measured_and_its_op_ran(
    monkeypatch, dtype, input_shape, weight_shape, arguments, expected
):
    input, weight = tensors(input_shape, weight_shape, dtype)
    for libraries, name in zip(({}, {"mkldnn": False}, {"mkldnn": False, "nnpack": False}), expected, strict=True):
        with switched(**libraries), monkeypatch.context() as patch:
            asked = which_backend(input, weight, **arguments)
            without_select(patch)
            watched = which_backend(input, weight, **arguments)
        assert (asked.forward, asked.found_by) == (name, SELECT)
        assert (watched.forward, watched.found_by) == (name, PROFILER)
        assert asked.backward == watched.backward == {"NnpackSpatial": "SlowDilated2d"}.get(name, name)
        assert asked.algorithm == described(name)
        assert {*BACKENDS.values()} & set(asked.forward_ops) == {BACKENDS[name]} - {None}


@X86
def test_a_bias_and_needed_gradients_change_no_backend():
    input, weight = tensors(*USUAL, requires_grad=True)
    assert which_backend(input, weight, torch.ones(4)).forward == "Mkldnn"


def test_float64_runs_im2col():
    input, weight = tensors(*TINY, F64)
    found = which_backend(input, weight, torch.ones(1, dtype=F64))
    assert found.forward == found.backward == "Slow2d"
    assert found.chain == (
        "nn.Conv2d", "F.conv2d", "aten::conv2d", *CONV, "aten::thnn_conv2d", "aten::_slow_conv2d_forward",
        *CONV_BACKWARD,
    )  # fmt: skip
    after = found.backward_ops.index("aten::convolution_backward")
    assert "aten::_slow_conv2d_backward" in found.backward_ops[after:]
    assert "aten::sum" in found.backward_ops[after:], "the bias gradient"
    assert found.backward_ops[-1] != "aten::convolution_backward"


def test_the_ops_stand_in_the_order_of_their_first_start_each_once():
    found = which_backend(*tensors((1, 4, 8, 8), (4, 2, 3, 3), F64), groups=2)
    for ops in (found.forward_ops, found.backward_ops):
        assert len(set(ops)) == len(ops)
    order = ("aten::conv2d", *CONV, "aten::narrow", "aten::thnn_conv2d", "aten::_slow_conv2d_forward", "aten::cat")
    assert [op for op in found.forward_ops if op in order] == list(order)
    order = (*CONV_BACKWARD, "aten::_slow_conv2d_backward", "aten::cat", "torch::autograd::AccumulateGrad")
    assert [op for op in found.backward_ops if op in order] == list(order)
    assert not {"aten::ones_like", "aten::rand"} & {*found.forward_ops, *found.backward_ops}, "ours, not torch's"


def test_dilated_and_transposed_chains():
    input, weight = tensors((2, 3, 8, 8), (3, 3, 3, 3), F64)
    dilated = which_backend(input, weight, dilation=2)
    assert dilated.chain == (
        "nn.Conv2d", "F.conv2d", "aten::conv2d", *CONV, "aten::slow_conv_dilated2d", *CONV_BACKWARD
    )  # fmt: skip
    transposed = which_backend(input, weight, stride=2, transposed=True, output_padding=1)
    assert transposed.chain == (
        "nn.ConvTranspose2d", "F.conv_transpose2d", "aten::conv_transpose2d", *CONV, "aten::slow_conv_transpose2d",
        *CONV_BACKWARD,
    )  # fmt: skip


@X86
def test_onednn_transposed_has_no_op_of_its_own():
    found = which_backend(*tensors((2, 3, 8, 8), (3, 4, 3, 3)), transposed=True)
    assert found.chain == ("nn.ConvTranspose2d", "F.conv_transpose2d", "aten::conv_transpose2d", *CONV, *CONV_BACKWARD)


@X86
def test_nnpack_runs_forward_only():
    with switched(mkldnn=False):
        found = which_backend(*tensors((16, 3, 8, 8), (4, 3, 3, 3)))
    assert "aten::_nnpack_spatial_convolution" in found.chain
    after = found.backward_ops[found.backward_ops.index("aten::convolution_backward") :]
    assert "aten::select" in after, "slow_conv_dilated2d goes through the samples one by one"
    assert not any("nnpack_spatial" in op or "_slow_conv2d" in op for op in after)


def test_same_with_an_even_kernel_pads_first():
    input, weight = tensors((1, 1, 8, 8), (1, 1, 2, 4), F64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = which_backend(input, weight, padding="same")
    assert found.forward == "Slow2d"
    order = ("aten::_convolution_mode", "aten::constant_pad_nd", "aten::convolution")
    assert [op for op in found.forward_ops if op in order] == list(order)
    assert "ConstantPadNdBackward0" in found.backward_ops
    assert found.chain[2:5] == ("aten::conv2d", "aten::_convolution_mode", "aten::convolution")
    odd = which_backend(input, tensors((1,), (1, 1, 3, 3), F64)[1], padding="same")
    assert "aten::constant_pad_nd" not in odd.forward_ops


@X86
@pytest.mark.parametrize(
    ("size", "kernel", "padding", "name"),
    [
        ((20, 32, 32), (3, 3), "same", "Slow2d"),
        ((20, 32, 32), (2, 3), "same", "Mkldnn"),  # 20 · 33 · 32 numbers once padded, more than 20480
        ((20, 32, 32), (2, 3), "valid", "Slow2d"),
    ],
)
def test_the_padding_in_words_is_part_of_the_choice(monkeypatch, size, kernel, padding, name):
    input, weight = tensors((1, *size), (2, 20, *kernel))
    assert which_backend(input, weight, padding=padding).forward == name
    without_select(monkeypatch)
    assert which_backend(input, weight, padding=padding).forward == name


def test_torch_is_asked_about_the_very_call(monkeypatch):
    asked = []
    torch_select = torch._C._select_conv_backend

    def select(input, weight, bias, *geometry):
        asked.append((tuple(input.shape), *geometry))
        return torch_select(input, weight, bias, *geometry)

    monkeypatch.setattr(torch._C, "_select_conv_backend", select)
    input, weight = tensors((3, 8, 8), (6, 1, 2, 3), F64)
    which_backend(input, weight, padding="same", dilation=(1, 2), groups=3)
    which_backend(input, weight, padding=(1, 2), stride=[2, 3], dilation=(1,), groups=3)
    which_backend(input, weight, padding="valid", groups=3)
    weight = tensors((1,), (3, 2, 2, 3), F64)[1]
    which_backend(input, weight, None, 3, 1, 1, 3, transposed=True, output_padding=(2, 1))
    assert asked == [
        ((1, 3, 9, 8), [1, 1], [0, 2], [1, 2], False, [0, 0], 3),
        ((1, 3, 8, 8), [2, 3], [1, 2], [1, 1], False, [0, 0], 3),
        ((1, 3, 8, 8), [1, 1], [0, 0], [1, 1], False, [0, 0], 3),
        ((1, 3, 8, 8), [3, 3], [1, 1], [1, 1], True, [2, 1], 3),
    ]


@pytest.mark.parametrize(
    ("function", "weight_shape", "arguments"),
    [
        ("conv2d", (6, 2, 3, 2), {"stride": (1, 2), "padding": (3, 0), "dilation": (2, 1), "groups": 2}),
        (
            "conv_transpose2d",
            (4, 3, 3, 2),
            {"stride": 3, "padding": 1, "dilation": 2, "groups": 2, "output_padding": 2},
        ),
    ],
)
def test_the_call_that_runs_is_the_callers(monkeypatch, function, weight_shape, arguments):
    input, weight = tensors((2, 4, 8, 8), weight_shape, F64)
    bias, run, outputs = torch.arange(6.0, dtype=F64), getattr(torch.nn.functional, function), []

    def spy(*positional):
        outputs.append(run(*positional))
        return outputs[-1]

    expected = run(input, weight, bias, **arguments)
    monkeypatch.setattr(module.F, function, spy)
    which_backend(input, weight, bias, **arguments, transposed=function == "conv_transpose2d")
    assert torch.equal(*outputs, expected)


def test_one_sample_without_a_batch():
    found = which_backend(*tensors((3, 8, 8), (4, 3, 3, 3), F64))
    assert found.forward == "Slow2d"
    assert "aten::unsqueeze" in found.forward_ops
    assert "SqueezeBackward1" in found.backward_ops


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_it_works_where_autograd_is_off(mode):
    expected = which_backend(*tensors(*USUAL, F64), torch.ones(4, dtype=F64))
    with mode():
        made_here = tensors(*USUAL, F64)
        found = which_backend(*made_here, torch.ones(4, dtype=F64))
        assert not torch.is_grad_enabled()
    assert found == expected
    assert which_backend(*made_here, torch.ones(4, dtype=F64)) == expected, "tensors made there, used elsewhere"


@pytest.mark.parametrize("requires_grad", [True, False])
def test_the_callers_tensors_and_the_random_numbers_stay_as_they_are(requires_grad):
    input, weight = tensors(*USUAL, F64, requires_grad)
    bias = torch.ones(4, dtype=F64, requires_grad=requires_grad)
    weight.grad = torch.full_like(weight, 7.0) if requires_grad else None
    before = [(t.detach().clone(), t._version, t.requires_grad) for t in (input, weight, bias)]
    state = torch.get_rng_state()
    which_backend(input, weight, bias)
    assert torch.equal(torch.get_rng_state(), state)
    for tensor, (numbers, version, required) in zip((input, weight, bias), before, strict=True):
        assert torch.equal(tensor.detach(), numbers)
        assert (tensor._version, tensor.requires_grad) == (version, required)
    assert input.grad is None
    assert bias.grad is None
    assert weight.grad is None if not requires_grad else bool((weight.grad == 7).all())


def test_a_tensor_that_was_computed_will_do_and_its_graph_is_not_walked():
    input, weight = tensors(*USUAL, F64, requires_grad=True)
    found = which_backend(input * 2, weight)
    assert "MulBackward0" not in found.backward_ops
    assert input.grad is None


def test_the_result_is_plain_data():
    found = which_backend(*tensors(*TINY, F64))
    state = json.loads(json.dumps(dataclasses.asdict(found)))
    again = {name: tuple(value) if isinstance(value, list) else value for name, value in state.items()}
    assert Backend(**again) == found
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.forward = "other"
    texts = [found.algorithm, *found.notes, *map(described, [*BACKENDS, "other"])]
    assert all(text.endswith(".") for text in texts)


def test_what_autograd_saves_is_what_the_notes_say():
    input, weight = tensors(*TINY, F64, requires_grad=True)
    node = torch.nn.functional.conv2d(input, weight).grad_fn
    assert type(node).__name__ == "ConvolutionBackward0"
    saved = [name for name in dir(node) if name.startswith("_saved")]
    assert [name for name in saved if isinstance(getattr(node, name), torch.Tensor)] == [
        "_saved_input",
        "_saved_weight",
    ]


class Value:
    """A value of torch's enum of backends, as pybind11 shows it."""

    def __init__(self, name, number):
        self.name, self.number = name, number

    def __int__(self):
        return self.number


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Value("???", 9), "MkldnnTranspose"),
        (Value("MpsTranspose,", 22), "MpsTranspose"),
        (Value("???", 77), "unknown (77)"),
        (77, "unknown (77)"),
        (Value("Brandnew2d", 78), "Brandnew2d"),
        (Value("Slow2d", 12), "Slow2d"),
    ],
)
def test_values_of_the_enum(monkeypatch, value, name):
    monkeypatch.setattr(torch._C, "_select_conv_backend", lambda *arguments: value)
    found = which_backend(*tensors(*TINY, F64))
    assert (found.forward, found.found_by) == (name, SELECT)
    assert found.algorithm


def test_torchs_enum_is_the_one_we_know():
    names = {name.rstrip(","): int(value) for name, value in torch._C._ConvBackend.__members__.items()}
    assert set(BACKENDS) - set(names) <= {"MkldnnTranspose"}
    assert names["Mkldnn"] == 8, "MkldnnTranspose, which 2.13 does not name, is the value after it"


@pytest.mark.parametrize("error", [TypeError, RuntimeError])
def test_a_private_function_that_wants_something_else_is_done_without(monkeypatch, error):
    def select(*arguments):
        raise error("one more argument")

    monkeypatch.setattr(torch._C, "_select_conv_backend", select)
    found = which_backend(*tensors(*TINY, F64))
    assert (found.forward, found.found_by) == ("Slow2d", PROFILER)


def test_what_no_op_identifies_is_unknown(monkeypatch):
    input, weight = (tensor.to("meta") for tensor in tensors(*TINY))
    assert which_backend(input, weight).forward == "Overrideable"
    without_select(monkeypatch)
    found = which_backend(input, weight)
    assert (found.forward, found.backward, found.found_by) == ("unknown", "unknown", PROFILER)
    assert found.algorithm
    monkeypatch.setattr(module, "BACKENDS", {})  # as if torch had given all its ops new names
    assert which_backend(*tensors(*TINY)).forward == "unknown"


def test_autocast_is_seen_in_the_ops_since_the_tensors_are_not_those_of_the_call():
    input, weight = tensors(*TINY)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = which_backend(input, weight)
    assert "aten::_to_copy" in found.forward_ops
    assert found.found_by == PROFILER
    assert BACKENDS[found.forward] in found.forward_ops


def test_torchs_newer_profiler_sees_the_same(monkeypatch):
    input, weight = tensors((1, 4, 8, 8), (4, 2, 3, 3), F64)
    expected = which_backend(input, weight, groups=2)
    monkeypatch.setattr(record_torch_ops, "_profile", torch.autograd.profiler.profile)
    assert which_backend(input, weight, groups=2) == expected


def test_nothing_is_written_to_stderr(capfd):
    which_backend(*tensors(*TINY, F64))
    assert capfd.readouterr() == ("", "")


def test_a_running_profiler_is_left_alone():
    input, weight = tensors(*TINY, F64)
    with torch.autograd.profiler.profile() as profiler:
        with pytest.raises(RuntimeError, match=r"only one runs at a time.*before or after"):
            which_backend(input, weight)
        torch.relu(input)
    assert [event.name for event in profiler.function_events if event.name == "aten::relu"]
    assert which_backend(input, weight).forward == "Slow2d"


@pytest.mark.parametrize(
    ("input_shape", "weight_shape", "arguments", "rule"),
    [
        ((8, 8), (1, 1, 3, 3), {}, r"input is \[N, C_in, H, W\]"),
        ((1, 1, 8, 8), (1, 3, 3), {}, r"weight is \[C_out, C_in / groups, kH, kW\]"),
        ((1, 3, 8, 8), (4, 2, 3, 3), {}, "reads 2 channels, and the input must have as many"),
        ((1, 3, 8, 8), (4, 2, 3, 3), {"transposed": True}, r"C_out / groups, kH, kW\], reads 4 channels"),
        ((1, 4, 8, 8), (3, 2, 3, 3), {"groups": 2}, "groups divides"),
        ((1, 4, 8, 8), (4, 4, 3, 3), {"bias": torch.ones(3)}, r"bias has the shape \[4\].*not \[3\]"),
        ((1, 1, 8, 8), (1, 1, 9, 3), {}, "the dilated kernel fits.*Kernel size: "),
        ((1, 1, 0, 8), (1, 1, 3, 3), {"padding": 2}, "the dilated kernel fits.*Only zero batch or zero channel"),
        (*TINY, {"padding": "sane"}, "Invalid padding string"),
        (*TINY, {"padding": "same", "stride": 2}, "'same' only with stride 1"),
        (*TINY, {"transposed": True, "output_padding": 3}, r"output_padding \(here \(3, 3\)\) is below"),
    ],
)
def test_an_impossible_call_is_explained(input_shape, weight_shape, arguments, rule):
    input, weight = tensors(input_shape, weight_shape)
    with pytest.raises(ValueError, match=rule) as raised:
        which_backend(input, weight, **arguments)
    message = str(raised.value)
    assert f"got input {list(input_shape)}, weight {list(weight_shape)}" in message
    assert str(raised.value.__cause__).splitlines()[0] in message, "torch's own words"


def test_two_number_formats_are_explained():
    input, weight = tensors(*TINY)
    with pytest.raises(ValueError, match=r"one dtype and one device.*torch says: "):
        which_backend(input, weight.double())


def test_output_padding_without_transposed_is_refused():
    input, weight = tensors(*TINY)
    with pytest.raises(ValueError, match="output_padding belongs to a transposed convolution: got output_padding=1"):
        which_backend(input, weight, output_padding=1)


@pytest.mark.parametrize("place", ["input", "weight", "bias"])
@pytest.mark.parametrize(
    ("change", "got"),
    [
        (lambda tensor: tensor.int(), "dtype torch.int32"),
        (lambda tensor: tensor.to(torch.complex64), "dtype torch.complex64"),
        (lambda tensor: tensor.tolist(), "list"),
    ],
)
def test_what_has_no_gradient_is_a_type_error(place, change, got):
    arguments = dict(zip(("input", "weight", "bias"), [*tensors(*TINY), torch.ones(1)], strict=True))
    arguments[place] = change(arguments[place])
    with pytest.raises(TypeError, match=f"{place} must be a torch tensor of real floating-point numbers.*got {got}"):
        which_backend(**arguments)
