"""The edges of what the operators take: torch's own samples, nan and inf, and everything that must be refused."""

import concurrent.futures
import io
import math
import multiprocessing
import sys
import types
import unittest

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import convviz
from convviz import ConvSpec, conv2d, conv2d_bias, conv2d_input, conv2d_weight, conv_transpose2d, linear
from convviz.ops import autograd_functions
from convviz.ops.linear import Product
from tests.geometries import integers, random_specs, reals
from tests.operator_cases import (
    METHODS,
    drawn,
    random_transposed,
    results,
    same,
    spelled,
    torch_conv2d,
)

OURS = {"conv2d": conv2d, "conv_transpose2d": conv_transpose2d, "linear": linear}
THEIRS = {name: getattr(F, name) for name in OURS}


# torch's own samples


def draw_samples():
    """Run in a process of its own: return torch's samples for each operator and dtype, and its bad ones, as bytes.

    Importing them forbids assignments to torch.backends from then on, and drawing them takes the global generator.
    They also want expecttest, for a base class alone that they never use, a list of TorchInductor's, which takes
    seconds to import, and for other operators SciPy, which takes as long.
    """
    wanted = {
        "expecttest": {"TestCase": unittest.TestCase, "ACCEPT": False},
        "torch._inductor": {"__path__": []},
        "torch._inductor.utils": {"GPU_TYPES": []},
    }
    for name, holds in wanted.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(holds)
    sys.modules["scipy"] = None
    from torch.testing._internal.common_methods_invocations import op_db

    torch.manual_seed(0)
    samples, errors = {}, {}
    for name in OURS:
        (info,) = (each for each in op_db if each.name == f"nn.functional.{name}")
        for dtype in (torch.float64, torch.complex64):
            drawn_samples = info.sample_inputs("cpu", dtype)
            samples[name, dtype] = [((each.input, *each.args), each.kwargs) for each in drawn_samples]
        wrong = (each.sample_input for each in (info.error_inputs("cpu") if info.error_inputs_func else ()))
        errors[name] = [((each.input, *each.args), each.kwargs) for each in wrong]
    buffer = io.BytesIO()
    torch.save((samples, errors), buffer)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def opinfo():
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        drawn_there = pool.submit(draw_samples).result()
    return torch.load(io.BytesIO(drawn_there))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "least"), [("conv2d", 30), ("conv_transpose2d", 12), ("linear", 18)])
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
def test_torchs_own_samples(name, least, method, opinfo):
    dtype, tolerance = torch.float64, 1e-13  # the other formats: test_operators_half_precision.py
    samples, _ = opinfo
    assert len(samples[name, dtype]) >= least
    for tensors, keywords in samples[name, dtype]:
        output = THEIRS[name](*tensors, **keywords)
        g = reals(tuple(output.shape), 0, dtype)
        theirs = results(lambda *t, k=keywords: THEIRS[name](*t, **k), tensors, g)
        ours = results(lambda *t, k=keywords: OURS[name](*t, **k, method=method), tensors, g)
        assert same(ours, theirs, tolerance), ([tuple(t.shape) for t in tensors if t is not None], keywords)


def test_torchs_complex_samples_are_refused(opinfo):
    """Their gradients need conjugates, of which nothing here speaks."""
    samples, _ = opinfo
    for name, function in OURS.items():
        assert samples[name, torch.complex64]
        for tensors, keywords in samples[name, torch.complex64]:
            with pytest.raises(TypeError, match=r"input must hold real .* numbers.*complex64"):
                function(*tensors, **keywords)


def test_what_torch_refuses_is_refused(opinfo):
    _, errors = opinfo
    assert len(errors["conv2d"]) >= 10
    for tensors, keywords in errors["conv2d"]:
        with pytest.raises((ValueError, TypeError), match="got"):
            conv2d(*tensors, **keywords)


# nan and inf

BAD = pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])


def kinds(tensors):
    """Say of every number whether it is finite (0), inf (1), -inf (2) or nan (3)."""
    return [torch.where(t.isnan(), 3, torch.where(t.isinf(), torch.where(t > 0, 1, 2), 0)) for t in tensors]


def spoilt(spec, number, position, bad):
    """Random numbers, none of them 0, and one bad one in the tensor at this position; no bias."""
    x, w, _, g = (tensor + 0.5 for tensor in drawn(spec, number))
    tensor = (x, w, g)[position]
    tensor.view(-1)[number % tensor.numel()] = bad
    return x, w, g


def patterns(spec, x, w, g, method, number=0):
    rest = spelled(spec, number) | {"method": method}
    ours = results(lambda x, w: conv2d(x, w, **rest), (x, w), g)
    return kinds(ours), kinds(results(lambda x, w: torch_conv2d(x, w, None, spec), (x, w), g))


def unpadded(seed, count):
    for spec in random_specs(seed, count):
        if all(k <= size for k, size in zip(spec.effective_kernel, spec.input_size, strict=True)):
            yield spec.replace(padding=0)


@BAD
def test_nan_and_inf_in_the_input_go_where_torch_lets_them_go(bad):
    """Into the output and grad_weight, with any padding and in all four methods."""
    for number, spec in enumerate(random_specs(seed=120, count=20)):
        x, w, g = spoilt(spec, number, 0, bad)
        for method in METHODS:
            ours, theirs = patterns(spec, x, w, g, method, number)
            assert same(ours, theirs), (method, spec)


@BAD
def test_nan_and_inf_in_grad_output_go_where_torch_lets_them_go(bad):
    """Into both gradients; with padding zeros only three methods do, see below."""
    for specs, methods in ((unpadded(121, 20), METHODS), (random_specs(122, 20), METHODS[1:])):
        for number, spec in enumerate(specs):
            x, w, g = spoilt(spec, number, 2, bad)
            for method in methods:
                ours, theirs = patterns(spec, x, w, g, method, number)
                assert same(ours, theirs), (method, spec)


@BAD
def test_nan_and_inf_in_the_weight_go_where_torch_lets_them_go_except_by_rotate(bad):
    for specs, methods in ((unpadded(123, 20), ("taps", "unfold", "aten")), (random_specs(124, 20), METHODS[1::2])):
        for number, spec in enumerate(specs):
            x, w, g = spoilt(spec, number, 1, bad)
            for method in methods:
                ours, theirs = patterns(spec, x, w, g, method, number)
                upto = 1 if method == "rotate" else 3
                assert same(ours[:upto], theirs[:upto]), (method, spec)


def sent_to(spec, axis, cell):
    """Whether the kernel cells that are whole strides from this one send anything to each place of a padded axis."""
    stride, dilation = spec.stride[axis], spec.dilation[axis]
    first = cell % stride
    reached = spec.output_size[axis] + dilation * (math.ceil((spec.kernel_size[axis] - first) / stride) - 1)
    padded = torch.zeros(spec.padded_size[axis], dtype=torch.bool)
    padded[dilation * first :: stride][:reached] = True
    return padded


def folded(padded, spec):
    """Whether anything is sent to each cell of the input: to itself, or to one of its copies in the border."""
    (top, bottom), (left, right) = spec.padding
    height, width = spec.input_size
    places = torch.arange(float(height * width)).reshape(1, 1, height, width)
    mode = {"zeros": "constant"}.get(spec.padding_mode, spec.padding_mode)
    copies = torch.nn.functional.pad(
        places, (left, right, top, bottom), mode, **({"value": -1} if mode == "constant" else {})
    )
    sent = copies[0, 0][padded].long().unique()
    found = torch.zeros(height * width, dtype=torch.bool)
    found[sent[sent >= 0]] = True
    return found.reshape(height, width)


@BAD
def test_rotate_spreads_a_bad_weight_over_all_that_its_sub_kernel_sends_to_the_channel(bad):
    """It multiplies the weight by the zeros that it padded: 0 · nan is nan, and so is 0 · inf.

    So in grad_input, in every sample, no cell of this one channel is finite to which the stride-th cells of the kernel
    send anything (with stride 1: none at all); torch has finite ones there, which this kernel cell never meets. Output,
    grad_weight and the other channels are torch's.
    """
    more = 0
    for number, spec in enumerate(random_specs(seed=125, count=50)):
        x, w, g = spoilt(spec, number, 1, bad)
        ours, theirs = patterns(spec, x, w, g, "rotate", number)
        assert same([ours[0], ours[2]], [theirs[0], theirs[2]]), spec
        out_channel, in_channel, *cell = (w.isnan() | w.isinf()).nonzero()[0].tolist()
        groups, per_group = spec.groups, spec.in_channels // spec.groups
        channel = out_channel // (spec.out_channels // groups) * per_group + in_channel
        expected = torch.zeros_like(ours[1], dtype=torch.bool)
        rows, columns = (sent_to(spec, axis, cell[axis]) for axis in range(2))
        expected[:, channel] = folded(rows[:, None] & columns, spec)
        assert torch.equal(ours[1] > 0, expected), spec
        assert not (theirs[1] > 0)[~expected].any(), spec
        more += not torch.equal(theirs[1] > 0, expected)
    assert more > 5


def test_taps_multiplies_no_padding_zeros():
    """torch's 0 · nan at the border is nan; the table has no row there, so nothing is multiplied."""
    spec = ConvSpec((2, 2), padding=1)
    x, g = torch.ones(1, 1, 2, 2).double(), torch.ones(1, 1, 2, 2).double()
    w = torch.ones(1, 1, 3, 3).double()
    w[..., 0, 0] = math.nan  # meets the input in the last window only
    assert conv2d(x, w, padding=1, method="taps").isnan().sum() == 1
    assert torch_conv2d(x, w, None, spec).isnan().all()
    w[..., 0, 0], g[..., 0, 0] = 1, math.nan
    assert conv2d_weight(x, w.shape, g, padding=1, method="taps").isnan().sum() == 4
    assert torch.nn.grad.conv2d_weight(x, w.shape, g, padding=1).isnan().all()


@BAD
def test_conv_transpose2d_loses_no_nan_and_no_inf(bad):
    """By rotate, and where zeros stand for an output_padding of the stride and more, a bad weight spreads further."""
    for number, call in enumerate(random_transposed(seed=126, count=18)):
        call = call._replace(padding=(0, 0))
        stride, _, extra, *_ = rest = call[2:]
        for position in range(3):
            shapes = (call.input_shape, call.weight_shape, call.output_shape)
            x, w, g = tensors = [integers(shape, number + seed) + 0.5 for seed, shape in enumerate(shapes)]
            tensors[position].view(-1)[number % tensors[position].numel()] = bad
            theirs = kinds(results(lambda *t, rest=rest: F.conv_transpose2d(*t, None, *rest), (x, w), g))
            for m in METHODS:
                ours = kinds(results(lambda *t, m=m, r=rest: conv_transpose2d(*t, None, *r, method=m), (x, w), g))
                assert not any(((a == 0) & (b > 0)).any() for a, b in zip(ours, theirs, strict=True)), (m, call)
                plain = all(more < step for more, step in zip(extra, stride, strict=True))
                if plain and (m != "rotate" or position != 1):
                    assert same(ours, theirs), (m, call)


# what must be refused

X, W, B, G = (tensor.float() for tensor in drawn(ConvSpec((6, 7), 4, 6, (3, 2), groups=2, batch=2), 0))
V = W[:4, :, :, :]  # a weight for conv_transpose2d: [4, 2, 3, 2]
M = W.to("meta")


def conv(x=X, w=W, b=B, stride=1, padding=0, dilation=1, groups=2, **others):
    return conv2d(x, w, b, stride, padding, dilation, groups, **others)


def conv_t(x=X, w=V, b=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1, **others):
    return conv_transpose2d(x, w, b, stride, padding, output_padding, groups, dilation, **others)


def back(g=G, x=X, w=W, sizes=(6,), transposed=False, extra=(0, 0), mask=(True, True, True), groups=2, **others):
    geometry = {
        "stride": [1],
        "padding": [0, 0],
        "dilation": [1, 1],
        "output_padding": extra,
        "groups": groups,
    } | others
    return convviz.convolution_backward(g, x, w, sizes, transposed=transposed, output_mask=mask, **geometry)


# What is wrong with it → (the call, what it raises, what the message has to say: argument, values received, rule).
# What is no geometry at all, test_spec.py holds.
REFUSED = {
    "input of 2 axes": (lambda: conv(X[0, 0]), ValueError, ["input", "[6, 7]", "[N, C, H, W]"]),
    "weight of 3 axes": (lambda: conv(w=W[0]), ValueError, ["weight", "[2, 3, 2]", "kH, kW"]),
    "channels": (lambda: conv(X[:, :3], groups=1), ValueError, ["[6, 2, 3, 2]", "[2, 3, 6, 7]", "C_in / groups"]),
    "bias too short": (lambda: conv(b=B[:5]), ValueError, ["bias", "[6]", "[5]", "every output channel"]),
    "bias that would broadcast": (lambda: conv(b=B[:1]), ValueError, ["bias", "[6]", "[1]", "every output channel"]),
    "no input channels": (
        lambda: conv(X[:, :0], W[:, :0]),
        ValueError,
        ["weight", "[6, 0, 3, 2]", "1 or more", "C_in = 0"],
    ),
    "padding negative": (lambda: conv(padding=(0, -1)), ValueError, ["padding", "(0, -1)", "0 or more"]),
    "method": (lambda: conv(method="fft"), ValueError, ["method", "'fft'", "taps, unfold, rotate, aten"]),
    "complex numbers": (lambda: conv(w=W + 1j), TypeError, ["weight", "torch.complex64", "real"]),
    "dtypes mixed": (lambda: conv(w=W.double()), TypeError, ["input and weight", "torch.float64", "torch.float32"]),
    "dtype of the bias": (lambda: conv(b=B.half()), TypeError, ["bias", "torch.float16", "torch.float32"]),
    "devices mixed": (lambda: conv(w=M), ValueError, ["input and weight", "cpu", "meta", "one device"]),
    "transposed: channels": (lambda: conv_t(w=W), ValueError, ["weight", "[6, 2, 3, 2]", "[2, 4, 6, 7]", "C_in"]),
    "transposed: bias": (lambda: conv_t(b=B), ValueError, ["bias", "[2]", "[6]", "every output channel"]),
    "transposed: groups": (lambda: conv_t(groups=3), ValueError, ["groups=3", "divide", "4"]),
    "transposed: padding": (lambda: conv_t(padding=9), ValueError, ["padding", "got 6", "height", "1 or more"]),
    "transposed: output_padding": (
        lambda: conv_t(stride=2, output_padding=2),
        ValueError,
        ["output_padding", "got 2", "less than stride", "stride 2", "dilation 1"],
    ),
    "transposed: same": (lambda: conv_t(padding="same"), ValueError, ["padding", "'same'", "whole number"]),
    "grad_output that would broadcast": (
        lambda: conv2d_input((2, 4, 6, 7), W, G[:, :, :1], groups=2),
        ValueError,
        ["grad_output", "[2, 6, 4, 6]", "[2, 6, 1, 6]", "shape of conv2d's output"],
    ),
    "grad_output of one sample": (
        lambda: conv2d_weight(X, W.shape, G[:1], groups=2),
        ValueError,
        ["grad_output", "[2, 6, 4, 6]", "[1, 6, 4, 6]", "shape of conv2d's output"],
    ),
    "input_size of 2 numbers": (
        lambda: conv2d_input((6, 7), W, G, groups=2),
        ValueError,
        ["input_size", "(6, 7)", "(N, C_in, H, W)"],
    ),
    "weight_size of 3 numbers": (
        lambda: conv2d_weight(X, (6, 2, 3), G, groups=2),
        ValueError,
        ["weight_size", "(6, 2, 3)", "kH, kW"],
    ),
    "bias gradient of 2 axes": (lambda: conv2d_bias(G[0, 0]), ValueError, ["grad_output", "[4, 6]", "C_out"]),
    "bias gradient of int64": (lambda: conv2d_bias(G.long()), TypeError, ["grad_output", "int64", "floating-point"]),
    "backward: mask of 2": (lambda: back(mask=(True, True)), ValueError, ["output_mask", "True, True", "three"]),
    "backward: bias_sizes": (lambda: back(sizes=[5]), ValueError, ["bias_sizes", "[6]", "[5]", "C_out"]),
    "backward: grad_output": (lambda: back(G[:, :1]), ValueError, ["grad_output", "[2, 6, 4, 6]", "[2, 1, 4, 6]"]),
    "backward: no input": (lambda: back(x=None), TypeError, ["input", "NoneType", "torch.Tensor"]),
    "backward: output_padding": (lambda: back(extra=[1]), ValueError, ["output_padding", "got [1]", "transposed=True"]),
    "backward: an output_padding": (lambda: back(extra=0), ValueError, ["output_padding", "got 0", "list", "[1, 1]"]),
    "backward: a stride": (lambda: back(stride=1), ValueError, ["stride", "got 1", "list", "[1, 1]"]),
    "backward: padding of 3": (lambda: back(padding=[0, 0, 0]), ValueError, ["padding", "[0, 0, 0]", "one or two"]),
    "backward: padding same": (lambda: back(padding="same"), ValueError, ["padding", "'same'", "list"]),
    "backward, transposed: grad_output": (
        lambda: back(G[:1], w=V, sizes=None, transposed=True, groups=1),
        ValueError,
        ["grad_output", "[2, 2, 8, 8]", "[1, 6, 4, 6]"],
    ),
    "linear: channels": (lambda: linear(X, B[None]), ValueError, ["weight", "[1, 6]", "[2, 4, 6, 7]", "C_in"]),
    "linear: two sparse": (
        lambda: linear(B[None].to_sparse(), W[:, 0, 0].t().to_sparse()),
        TypeError,
        ["input", "dense"],
    ),
    "linear: dtypes": (lambda: linear(X, W[0, 0].double()), TypeError, ["input and weight", "float32", "float64"]),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_is_refused_in_words_before_anything_is_computed(what, monkeypatch):
    for function in (
        autograd_functions.Convolution,
        autograd_functions.ConvolutionBackward,
        autograd_functions.Pad,
        autograd_functions.Fold,
        Product,
    ):
        monkeypatch.setattr(function, "apply", lambda *args: pytest.fail("computed before it was checked"))
    call, error, words = REFUSED[what]
    with pytest.raises(error) as refusal:
        call()
    assert not [word for word in words if word not in str(refusal.value)], str(refusal.value)


def test_the_calls_that_the_refused_ones_vary_are_right():
    assert conv().shape == G.shape
    assert conv_t().shape == (2, 2, 8, 8)
    assert [gradient.shape for gradient in back()] == [X.shape, W.shape, B.shape]


@pytest.mark.parametrize("method", METHODS)
def test_numbers_of_numpy_are_numbers(method):
    two = np.int64(2)
    assert same([conv(stride=two, method=method)], [conv(stride=2, method=method)])
    assert same([conv_t(stride=two, method=method)], [conv_t(stride=2, method=method)])


def test_float32_on_the_meta_device_has_a_shape_as_in_torch():
    for method in METHODS:
        assert conv(X.to("meta"), M, None, method=method).shape == G.shape


def test_linear_without_input_channels_is_the_bias_as_in_torch():
    for method in METHODS:
        x, w, b = torch.zeros(2, 3, 0), torch.zeros(6, 0), B
        assert same([linear(x, w, b, method=method)], [F.linear(x, w, b)])


@pytest.mark.filterwarnings("ignore:Sparse CS. tensor support is in beta")
def test_linear_takes_one_sparse_matrix_and_has_dense_gradients_as_in_torch():
    x, w, b = (integers(shape, seed) for seed, shape in enumerate([(4, 6), (2, 6), (2,)]))
    g = integers((4, 2), 3)
    truth = results(lambda x, w, b: (x[:, None] * w).sum(-1) + b, (x, w, b), g)
    for sparse in ("to_sparse_coo", "to_sparse_csr", "to_sparse_csc"):
        for given in ((getattr(x, sparse)(), w, b), (x, getattr(w, sparse)(), b)):
            layouts = [tensor.layout for tensor in given]
            for method in METHODS:
                ours = results(lambda *t, m=method: linear(*t, method=m), given, g)
                assert {tensor.layout for tensor in ours} == {torch.strided}, (layouts, method)
                assert same(ours, truth), (layouts, method)
            if layouts[1] is not torch.sparse_coo:  # torch 2.13 has no addmm for it
                assert same(results(F.linear, given, g), truth), layouts


@pytest.mark.parametrize("shape", [(3,), (8, 3), (2, 4, 3)])
def test_linear_takes_a_weight_of_one_channel_without_its_axis_as_in_torch(shape):
    for method in METHODS:
        x, w = (integers(size, seed).double().requires_grad_() for seed, size in enumerate((shape, (3,))))
        found, expected = linear(x, w, method=method), F.linear(x, w)
        assert same([found], [expected])
        assert same(torch.autograd.grad(found.sum(), (x, w)), torch.autograd.grad(expected.sum(), (x, w)))
        assert same([linear(x, w, torch.tensor(2.0).double(), method=method)], [expected + 2])
        with pytest.raises(ValueError, match=r"bias must be one number, for one output channel has no axis"):
            linear(x, w, torch.zeros(3).double(), method=method)
