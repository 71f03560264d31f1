"""The operators against the definition and against torch: forward and every gradient, by every method."""

import functools
import itertools
import math
import random

import pytest
import torch
import torch.nn.functional as F

import convviz
from convviz import ConvSpec, conv2d, conv2d_bias, conv2d_input, conv2d_weight, conv_transpose2d, linear
from convviz.ops import by_taps, by_unfold
from convviz.ops.devices_and_dtypes import onednn_off_for
from tests.geometries import EDGE_CASES, MODES, integers, random_specs, reals
from tests.operator_cases import (
    METHODS,
    conv_transpose2d_by_definition,
    definition,
    definition_of_grad_input,
    definition_of_grad_weight,
    drawn,
    random_transposed,
    results,
    same,
    spelled,
    torch_conv2d,
)

# Whole numbers, which must agree to the last bit. How close real ones are to the truth:
# test_operators_half_precision.py.
# torch says that 'same' with an even kernel copies the input; convviz never asks torch for 'same'.
even_same = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")


def same_specs(seed, count):
    """Random geometries with padding="same", wherever the padding mode has room for so much of it."""
    for spec in random_specs(seed, 4 * count):
        try:
            yield spec.replace(stride=1, padding="same")
        except ValueError:
            continue
        count -= 1
        if not count:
            return


def check_conv2d(specs):
    count = 0
    for number, spec in enumerate(specs):
        x, w, b, g = drawn(spec, number)
        if number % 4 == 0:
            x, g, spec = x[0], g[0], spec.replace(batch=1)
        b = None if number % 3 == 0 else b
        arguments = spelled(spec, number)
        truth = results(lambda x, w, b, spec=spec: definition(x, w, b, spec), (x, w, b), g)
        padding = arguments["padding"]
        others = {"torch": lambda x, w, b, spec=spec, padding=padding: torch_conv2d(x, w, b, spec, padding)}
        if x.dim() == 4:
            others["autograd through the taps"] = lambda x, w, b, spec=spec: by_taps.conv2d(x, w, b, spec)
        for method in METHODS:
            others[method] = lambda x, w, b, m=method, arguments=arguments: conv2d(x, w, b, **arguments, method=m)
        for name, function in others.items():
            assert same(results(function, (x, w, b), g), truth), (name, spec, arguments)
        count += 1
    return count


@even_same
def test_conv2d_and_its_gradients_are_exact_in_whole_numbers():
    assert check_conv2d([*EDGE_CASES.values(), *random_specs(seed=100, count=120)]) > 120


@even_same
def test_conv2d_with_padding_same_is_exact_in_whole_numbers():
    assert check_conv2d(same_specs(seed=101, count=40)) == 40


def test_conv_transpose2d_and_its_gradients():
    generous = 0
    for number, call in enumerate(random_transposed(seed=104, count=120)):
        _, _, stride, padding, output_padding, groups, dilation = call
        generous += any(extra >= step for extra, step in zip(output_padding, stride, strict=True))
        x, w = integers(call.input_shape, 4 * number), integers(call.weight_shape, 4 * number + 1)
        b = None if number % 3 == 0 else integers((call.out_channels,), 4 * number + 2)
        g = integers(call.output_shape, 4 * number + 3)
        if number % 4 == 0:
            x, g = x[0], g[0]
        truth = results(lambda x, w, b, call=call: conv_transpose2d_by_definition(x, w, b, call), (x, w, b), g)
        arguments = (stride, padding, output_padding, groups, dilation)
        theirs = results(lambda x, w, b, rest=arguments: F.conv_transpose2d(x, w, b, *rest), (x, w, b), g)
        assert same(theirs, truth), call
        for m in METHODS:
            ours = results(lambda *t, m=m, rest=arguments: conv_transpose2d(*t, *rest, method=m), (x, w, b), g)
            assert same(ours, truth), (m, call)
    assert generous > 15


def test_the_gradient_functions_and_their_own_gradients():
    for number, spec in enumerate(random_specs(seed=105, count=60)):
        x, w, _, g = drawn(spec, number)
        if number % 4 == 0:
            x, g = x[0], g[0]
        arguments = spelled(spec, number)
        above_input, above_weight = (
            integers(tuple(x.shape), 4 * number + 5),
            integers(spec.weight_shape, 4 * number + 6),
        )
        to_input = results(lambda w, g, spec=spec: definition_of_grad_input(w, g, spec), (w, g), above_input)
        to_weight = results(lambda x, g, spec=spec: definition_of_grad_weight(x, g, spec), (x, g), above_weight)
        for m in METHODS:
            rest, size, weight_size = arguments | {"method": m}, x.shape, spec.weight_shape
            ours = results(lambda w, g, size=size, rest=rest: conv2d_input(size, w, g, **rest), (w, g), above_input)
            assert same(ours, to_input), (m, spec, arguments)
            ours = results(
                lambda x, g, size=weight_size, rest=rest: conv2d_weight(x, size, g, **rest), (x, g), above_weight
            )
            assert same(ours, to_weight), (m, spec, arguments)
        assert same([conv2d_bias(g)], [g.transpose(0, -3).flatten(1).sum(1)]), spec


def test_linear_and_its_gradients():
    draw = random.Random(106)
    for number in range(60):
        leading = tuple(draw.randint(0, 3) for _ in range(draw.randint(0, 3)))
        columns, rows = draw.randint(1, 5), draw.randint(1, 5)
        shapes = ((*leading, columns), (rows, columns), (rows,), (*leading, rows))
        x, w, b, g = (integers(shape, number + seed) for seed, shape in enumerate(shapes))
        b = None if number % 3 == 0 else b
        truth = results(lambda x, w, b: (x[..., None, :] * w).sum(-1) + (0 if b is None else b), (x, w, b), g)
        assert same(results(F.linear, (x, w, b), g), truth)
        for m in METHODS:
            ours = results(lambda x, w, b, m=m: linear(x, w, b, method=m), (x, w, b), g)
            assert same(ours, truth), (m, tuple(x.shape), tuple(w.shape))


def masked_calls(seed, count):
    """Yield (tensors, grad_output, the definition, ours, convolution_backward's arguments from stride to groups).

    Half of them are transposed. No sum reaches 257, so each is exact in every dtype.
    """
    plain = [ConvSpec((6, 5), 2, 3, 1, batch=2), *random_specs(seed, count // 2, modes=("zeros",))]
    for number, spec in enumerate(plain):
        spec = spec.replace(padding=[max(sides) for sides in spec.padding])
        *tensors, g = drawn(spec, number, functools.partial(integers, limit=1))
        geometry = {"stride": [*spec.stride], "padding": [before for before, _ in spec.padding]}
        geometry |= {"dilation": [*spec.dilation], "groups": spec.groups}
        rest = {"transposed": False, "output_padding": [0, 0]}
        yield (
            tensors,
            g,
            functools.partial(definition, spec=spec),
            functools.partial(conv2d, **geometry),
            geometry | rest,
        )
    for number, call in enumerate(random_transposed(seed, count - count // 2)):
        shapes = (call.input_shape, call.weight_shape, (call.out_channels,), call.output_shape)
        *tensors, g = (integers(shape, 4 * number + position, limit=1) for position, shape in enumerate(shapes))
        geometry = {name: [*getattr(call, name)] for name in ("stride", "padding", "dilation", "output_padding")}
        geometry |= {"groups": call.groups}
        ours, truly = functools.partial(conv_transpose2d, **geometry), conv_transpose2d_by_definition
        yield tensors, g, functools.partial(truly, call=call), ours, geometry | {"transposed": True}


def test_every_method_returns_the_gradients_that_a_mask_asks_for_in_every_dtype():
    """In ``convolution_backward`` the mask is an argument; in autograd it is what requires a gradient."""
    for number, (exact, above, truly, ours, geometry) in enumerate(masked_calls(seed=107, count=8)):
        truth = results(truly, exact, above)[1:]
        assert max(gradient.abs().max() for gradient in truth) <= 256
        for dtype, method, mask in itertools.product(DTYPES, METHODS, itertools.product([True, False], repeat=3)):
            about = (method, dtype, mask, geometry)
            *tensors, g = (tensor.to(dtype) for tensor in (*exact, above))
            leaves = [tensor.requires_grad_(wanted) for tensor, wanted in zip(tensors, mask, strict=True)]
            asked = list(itertools.compress(leaves, mask))
            right = [gradient.to(dtype) for gradient in itertools.compress(truth, mask)]
            sizes = None if number % 2 else truth[2].shape
            # With oneDNN torch's 16 bits are wrong at some geometries (AMX), but not at the first.
            with onednn_off_for([g] if method == "aten" and number else []):
                found = convviz.convolution_backward(
                    g, *tensors[:2], sizes, output_mask=mask, **geometry, method=method
                )
                by_autograd = torch.autograd.grad(ours(*leaves, method=method), asked, g) if asked else []
            assert [gradient is not None for gradient in found] == list(mask), about
            assert same([gradient for gradient in found if gradient is not None], right), about
            assert same(by_autograd, right), about


# How near each is to the truth: test_operators_half_precision.py.
DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


LAYOUTS = (
    ConvSpec((6, 7), 4, 6, (3, 2), 2, 1, 1, 2, batch=2),
    ConvSpec((6, 7), 4, 6, 1, batch=2),
    ConvSpec((6, 7), 4, 4, 3, 1, 1, 2, groups=4, batch=2),
    ConvSpec((6, 7), 3, 1, 3, 1, 1, batch=1),
    ConvSpec((3, 3), 4, 6, 3, batch=2),
    ConvSpec((1, 1), 4, 6, 1, batch=2),
)
SINGLE_CHANNEL = ConvSpec((6, 7), 1, 3, 3, 1, 1, batch=2)  # LeNet's first layer
BORDERED = ConvSpec((6, 7), 4, 6, 3, 1, 2, batch=2, padding_mode="reflect")
LAST = {"memory_format": torch.channels_last}


def layouts(tensors):
    return [(tensor.is_contiguous(), tensor.is_contiguous(**LAST)) for tensor in tensors]


def check_layouts(specs, channels_last, upto=3):
    """Compare the layouts of output, grad_input and grad_weight with torch's, as far as `upto`."""
    for spec, dtype, method in itertools.product(specs, (torch.float32, torch.float64, torch.bfloat16), METHODS):
        x, w, b, g = (tensor.to(dtype) for tensor in drawn(spec, 1, reals))
        x, w, g = (t.to(**LAST) if name in channels_last else t for name, t in (("x", x), ("w", w), ("g", g)))
        theirs = results(lambda *t, spec=spec: torch_conv2d(*t, spec), (x, w, b), g)
        rest = spelled(spec, 1) | {"method": method}
        ours = results(lambda *t, rest=rest: conv2d(*t, **rest), (x, w, b), g)
        assert layouts(ours[:upto]) == layouts(theirs[:upto]), (spec, dtype, method)


@pytest.mark.parametrize("channels_last", ["", "xw", "xwg"])
def test_a_model_in_channels_last_stays_so_as_in_torch(channels_last):
    check_layouts([*LAYOUTS, BORDERED], channels_last)


@pytest.mark.parametrize("channels_last", ["x", "xg", "w", "wg", "g"])
def test_one_tensor_in_channels_last_has_torchs_consequences(channels_last):
    """For output and grad_input; where only the input is, torch turns grad_weight round as well, and nobody sees it."""
    check_layouts(LAYOUTS, channels_last, upto=2)


def test_a_single_channel_in_channels_last_makes_an_output_in_channels_last():
    check_layouts([SINGLE_CHANNEL], "xw")


def test_a_batch_of_one_in_channels_last_has_torchs_strides():
    """Others mean the same memory, but with them torch 2.13 differentiates the next layer wrongly: see below."""
    x, w, b, g = (t.to(**LAST) if t.dim() == 4 else t for t in drawn(ConvSpec((5, 6), 4, 4, 3), 0))
    for ours, torchs, rest in ((conv2d, F.conv2d, {}), (conv_transpose2d, F.conv_transpose2d, {"padding": 2})):
        theirs = results(lambda *t, f=torchs, rest=rest: f(*t, **rest), (x, w, b), g)
        for m in METHODS:
            found = results(lambda *t, f=ours, rest=rest, m=m: f(*t, **rest, method=m), (x, w, b), g)
            assert [t.stride() for t in found] == [t.stride() for t in theirs], (ours.__name__, m)


def test_conv_transpose2d_keeps_channels_last():
    for method, groups in itertools.product(METHODS, (1, 2)):
        x, w = reals((2, 4, 5, 6), 0).float().to(**LAST), reals((4, 3, 3, 2), 1).float().to(**LAST)
        g = reals((2, 3 * groups, 11, 13), 2).float().to(**LAST)
        theirs = results(lambda *t, n=groups: F.conv_transpose2d(*t, None, 2, 0, (0, 1), n), (x, w), g)
        ours = results(lambda *t, n=groups, m=method: conv_transpose2d(*t, None, 2, 0, (0, 1), n, method=m), (x, w), g)
        assert layouts(ours) == layouts(theirs), (method, groups)


@pytest.mark.parametrize("method", METHODS)
def test_one_sample_in_channels_last_has_the_right_gradients_in_groups(method):
    """Not so in torch 2.13: on a CPU, F.conv2d(x[0], w, groups=2) in float64 or float16 has a wrong grad_weight."""
    spec = ConvSpec((5, 6), 4, 4, 3, groups=2)
    x, w, _, g = (tensor.to(**LAST) if tensor.dim() == 4 else tensor for tensor in drawn(spec, 0))
    for arranged in ((x, w, g), (x[0], w, g[0]), (x[:1].reshape(x.shape), w, g)):
        *tensors, above = arranged
        truth = results(lambda *t: definition(*t, None, spec), tensors, above)
        assert same(results(lambda *t: conv2d(*t, groups=2, method=method), tensors, above), truth)


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_batch_has_gradients_of_zeros(method):
    for mode in MODES:
        spec = ConvSpec((6, 7), 4, 6, (3, 2), (2, 3), ((1, 0), (2, 1)), (1, 2), 2, padding_mode=mode)
        x, w, b, g = drawn(spec, 0)
        rest = spelled(spec, 0) | {"method": method}
        theirs = results(lambda *t, spec=spec: torch_conv2d(*t, spec), (x[:0], w, b), g[:0])
        assert same(results(lambda *t, rest=rest: conv2d(*t, **rest), (x[:0], w, b), g[:0]), theirs), mode
        assert same([conv2d_input(x[:0].shape, w, g[:0], **rest)], [x[:0]])
        assert same([conv2d_weight(x[:0], spec.weight_shape, g[:0], **rest)], [torch.zeros_like(w)])
    for extra, step in ((1, 2), (2, 1)):
        x, w, b = integers((0, 4, 3, 5), 0), integers((4, 3, 3, 2), 1), integers((6,), 2)
        rest = (step, 1, extra, 2, 3)
        g = F.conv_transpose2d(x, w, b, *rest)
        theirs = results(lambda *t, rest=rest: F.conv_transpose2d(*t, *rest), (x, w, b), g)
        ours = results(lambda *t, rest=rest: conv_transpose2d(*t, *rest, method=method), (x, w, b), g)
        assert same(ours, theirs)
        call = (g, x, w, [6], [step] * 2, [1, 1], [3, 3], True, [extra] * 2, 2, [True] * 3)
        found = convviz.convolution_backward(*call, method=method)
        assert same(found, torch.ops.aten.convolution_backward(*call))


# Tensors as they arrive in practice: y.sum() expands one gradient, a transpose permutes, a slice leaves gaps.
STRIDES = {
    "expanded": lambda t: t[(slice(1),) * t.dim()].expand(t.shape),
    "permuted": lambda t: t.movedim(-1, 0).contiguous().movedim(0, -1),
    "reversed": lambda t: t.permute(*range(t.dim() - 1, -1, -1)).contiguous().permute(*range(t.dim() - 1, -1, -1)),
    "with gaps": lambda t: F.pad(t, (1, 2) * t.dim())[(slice(1, -2),) * t.dim()],
}


@pytest.mark.parametrize("strides", STRIDES)
def test_no_layout_in_memory_changes_the_numbers_and_no_argument_is_written_to(strides):
    arrange = STRIDES[strides]
    for number, spec in enumerate(random_specs(seed=109, count=25)):
        x, w, b, g = tensors = [arrange(tensor) for tensor in drawn(spec, number)]
        before = [tensor.clone() for tensor in tensors]
        truth = results(lambda *t, spec=spec: definition(*t, spec), before[:3], before[3])
        for method in METHODS:
            rest = spelled(spec, number) | {"method": method}
            assert same(results(lambda *t, rest=rest: conv2d(*t, **rest), (x, w, b), g), truth), (method, spec)
            assert same([conv2d_input(x.shape, w, g, **rest)], truth[1:2]), (method, spec)
            assert same([conv2d_weight(x, w.shape, g, **rest)], truth[2:3]), (method, spec)
        assert same(tensors, before)
    for number, call in enumerate(random_transposed(seed=110, count=12)):
        shapes = (call.input_shape, call.weight_shape, call.output_shape)
        x, w, g = tensors = [arrange(integers(shape, number + position)) for position, shape in enumerate(shapes)]
        before = [tensor.clone() for tensor in tensors]
        truth = results(lambda *t, call=call: conv_transpose2d_by_definition(*t, None, call), before[:2], before[2])
        for method in METHODS:
            ours = results(lambda *t, m=method, c=call: conv_transpose2d(*t, None, *c[2:], method=m), (x, w), g)
            assert same(ours, truth), (method, call)
        assert same(tensors, before)


def test_unfold_computes_large_batches_chunk_by_chunk(monkeypatch):
    """With a buffer of one byte every image is a chunk of its own; with one of three images the last is smaller."""
    for number, spec in enumerate(random_specs(seed=111, count=25)):
        spec = spec.replace(batch=4)
        x, w, b, g = drawn(spec, number)
        truth = results(lambda *t, spec=spec: definition(*t, spec), (x, w, b), g)
        columns = math.prod((spec.in_channels, *spec.kernel_size, *spec.output_size)) * x.element_size()
        for size in (1, 3 * columns):
            monkeypatch.setattr(by_unfold, "CPU_BYTES", size)
            rest = spelled(spec, number)
            assert same(results(lambda *t, rest=rest: conv2d(*t, **rest, method="unfold"), (x, w, b), g), truth), spec


def test_the_sum_over_many_samples_does_not_stop_growing_in_bfloat16():
    """600 chunks of one image each add 1: in bfloat16 a running sum would stay at 256."""
    x = torch.ones(1, 64, 34, 34, dtype=torch.bfloat16).expand(600, -1, -1, -1)
    g = torch.full((1, 1, 1, 1), 2.0**-10, dtype=torch.bfloat16).expand(600, 2, 32, 32)
    assert conv2d_weight(x, (2, 64, 3, 3), g, method="unfold")[0, 0, 0, 0] == 600


@pytest.mark.parametrize("method", METHODS)
def test_a_backward_pass_inside_an_autocast_block_keeps_the_forward_passs_precision(method):
    spec = ConvSpec((7, 8), 4, 6, 3, 2, 1, groups=2)
    x, w, _, g = (tensor.float().requires_grad_() for tensor in drawn(spec, 5, reals))
    output = conv2d(x, w, None, 2, 1, groups=2, method=method)
    matrix = linear(x, torch.ones(3, 8, requires_grad=True), method=method)
    with torch.autocast("cpu", torch.bfloat16):
        found = torch.autograd.grad(output, (x, w), g.detach())
        of_matrix = torch.autograd.grad(matrix, x, torch.full_like(matrix, 1 / 3))[0]
    expected = torch.autograd.grad(F.conv2d(x, w, None, 2, 1, groups=2), (x, w), g.detach())
    for mine, torchs in zip(found, expected, strict=True):
        assert torch.allclose(mine, torchs, rtol=1e-5, atol=1e-5)
    assert torch.allclose(of_matrix, torch.ones(()), rtol=1e-5)


def test_what_names_no_method_and_no_size_gets_an_error():
    x, w = reals((1, 4, 5, 5), 0), reals((4, 4, 3, 3), 1)
    with pytest.raises(ValueError, match="method is one of"):
        conv2d(x, w, method=["taps"])
    for sizes in ((1.5, 4, 5, 5), (-1, 4, 5, 5)):
        with pytest.raises(ValueError, match="input_size must be a shape"):
            conv2d_input(sizes, w, x)
    with pytest.raises(TypeError, match=r"input\.real"):
        conv2d(x.to(torch.complex128), w)


SPARSE = {
    "torch.sparse_coo": torch.Tensor.to_sparse,
    "torch._mkldnn": lambda tensor: tensor.float().to_mkldnn(),
    "a nested one": lambda tensor: torch.nested.nested_tensor([tensor[0]]),
}


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_what_does_not_hold_its_numbers_cell_by_cell_gets_an_error():
    x, w, g = reals((1, 1, 5, 5), 0), reals((1, 1, 3, 3), 1), reals((1, 1, 3, 3), 2)
    spec = ConvSpec(5)
    for reported, make in SPARSE.items():
        for name, error, call in (
            ("input", TypeError, lambda t: conv2d(t, w)),
            ("input", TypeError, lambda t: conv_transpose2d(t, w)),
            ("weight", TypeError, lambda t: conv2d_input((1, 1, 5, 5), t, g)),
            ("input", TypeError, lambda t: conv2d_weight(t, (1, 1, 3, 3), g)),
            ("grad_output", TypeError, conv2d_bias),
            ("input", TypeError, lambda t: convviz.nn.Conv2d(1, 1, 3)(t)),
            ("input", ValueError, lambda t: convviz.stages(spec, t, w)),
        ):
            with pytest.raises(error, match=f"{name} must be .*dense tensor: got {reported}; use "):
                call(make(x))
    for tensor in (x.to("meta"), torch.quantize_per_tensor(x.float(), 0.1, 0, torch.qint8)):
        with pytest.raises(ValueError, match="input must hold plain numbers"):
            convviz.stages(spec, tensor, w)


def test_an_array_for_a_word_or_an_output_padding_is_refused_in_words():
    x, w, g = reals((1, 1, 5, 5), 0), reals((1, 1, 3, 3), 1), reals((1, 1, 3, 3), 2)
    array = torch.tensor([0, 1]).numpy()
    with pytest.raises(ValueError, match="output_padding must be a list of one or two whole numbers"):
        convviz.convolution_backward(g, x, w, None, [1], [0], [1], False, array, 1, [True] * 3)
    with pytest.raises(ValueError, match="loss is one of"):
        convviz.stages(ConvSpec(5), x, w, loss=array)
