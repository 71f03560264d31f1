"""Numbers that no convolution can have: every operator and every method refuses them in the same words."""

import math
import re
from numbers import Integral

import numpy as np
import pytest
import torch

import convviz
from convviz import ConvSpec, conv2d, conv2d_bias, conv2d_input, conv2d_weight, conv_transpose2d, linear, nn
from convviz.geometry import axis_taps
from tests.geometries import random_specs
from tests.operator_cases import METHODS, definition, drawn, results, same, torch_conv2d

X, W, G = (torch.ones(shape) for shape in ((1, 2, 5, 4), (2, 2, 3, 2), (1, 2, 3, 3)))
PLAIN = {"stride": [1], "padding": [0], "dilation": [1], "output_padding": [0], "groups": 1}


def back(transposed):
    """Return a call of convolution_backward, whose pairs are lists, by a method and with changes."""

    def call(method, **changes):
        given = (
            {"bias_sizes": None, "transposed": transposed, "output_mask": [True] * 3}
            | PLAIN
            | {name: [v] if name != "groups" and isinstance(v, Integral) else v for name, v in changes.items()}
        )
        return convviz.convolution_backward(G, X, W, **given, method=method)

    return call


WINDOW = ("stride", "padding", "dilation", "groups")
# Operator → (what calls it with a method and arguments of its geometry, the names of these).
CALLS = {
    "conv2d": (lambda m, **k: conv2d(X, W, **k, method=m), WINDOW),
    "conv2d_input": (lambda m, **k: conv2d_input(X.shape, W, G, **k, method=m), WINDOW),
    "conv2d_weight": (lambda m, **k: conv2d_weight(X, W.shape, G, **k, method=m), WINDOW),
    "conv_transpose2d": (lambda m, **k: conv_transpose2d(X, W, **k, method=m), (*WINDOW, "output_padding")),
    "convolution_backward": (back(False), WINDOW),
    "convolution_backward, transposed": (back(True), (*WINDOW, "output_padding")),
}
# torch's constructors have groups and kernels of their own; what they let pass arrives in forward.
LAYERS = {
    "nn.Conv2d": (lambda m, **k: nn.Conv2d(2, 2, (3, 2), **k, method=m)(X), WINDOW[:3]),
    "nn.ConvTranspose2d": (
        lambda m, **k: nn.ConvTranspose2d(2, 2, (3, 2), **k, method=m)(X),
        (*WINDOW[:3], "output_padding"),
    ),
}
TOO_LARGE = (2**31, 2**40, 2**63 - 1, 2**63, 2**70, np.uint64(2**63))


def calls(several):
    for operator, (call, names) in several.items():
        for name in names:
            for method in METHODS:
                yield f"{operator}, {name}, {method}", name, lambda value, c=call, m=method, n=name: c(m, **{n: value})


def refused(where, call, pattern, kind=ValueError):
    """Check that a call is refused by a sentence with the rule, the value and the remedy."""
    reported = message(call, kind)
    assert reported is not None, (where, "was not refused")
    assert re.search(pattern, reported), (where, reported)


def message(call, kind):
    try:
        call()
    except kind as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__} instead of {kind.__name__}: {error}"
    return None


def test_numbers_that_torch_cannot_count_are_refused_by_every_operator_and_method():
    for where, name, call in calls(CALLS | LAYERS):
        for value in TOO_LARGE:
            pairs = [] if name == "groups" else [(value, 1), (1, value)]
            for given in (value, *pairs):
                pattern = rf"^{name} is at most 2147483647, because .*: got .*{value}.*; use a smaller number$"
                refused((where, given), lambda c=call, g=given: c(g), pattern)


def test_tensors_that_no_memory_holds_are_refused_before_they_are_made():
    sizes = {"padding": "the padded input", "stride": "the output, before padding crops it,"}
    for where, name, call in calls(CALLS | LAYERS):
        transposed = "ranspose" in where or "transposed" in where
        if name != ("stride" if transposed else "padding"):
            continue
        for value, rule in ((2**31 - 1, "2147483647 cells along an axis"), (2**25, r"2\*\*40 numbers")):
            pattern = rf"^{sizes[name]} can have up to {rule}, .*: got the shape \[.*\d{{8}}.*\]; use .*smaller"
            refused((where, value), lambda c=call, v=value: c(v), pattern)


def test_what_is_no_whole_number_is_refused_by_every_operator_and_method():
    nonsense = (-1, True, 2.0, math.inf, math.nan, "3", None, 2j, object(), b"\x02", {}, [], [1, 1, 1], (1, None))
    nonsense += (np.float32(2), np.array([1, 2]), torch.tensor([1, 2]))
    for where, name, call in calls(CALLS):
        for value in nonsense:
            refused((where, value), lambda c=call, v=value: c(v), rf"^{name} (is|must be) (?s:.)*: got .*")


def test_sizes_that_are_no_shape_are_refused_by_name():
    bad = (-1, True, 2.0, math.inf, math.nan, "3", None, 2j, object(), [1], np.float32(2))
    for method in METHODS:
        of_sizes = {
            "input_size": lambda s, m=method: conv2d_input(s, W, G, method=m),
            "weight_size": lambda s, m=method: conv2d_weight(X, s, G, method=m),
            "output_size": lambda s, m=method: nn.ConvTranspose2d(2, 2, (3, 2), method=m)(X, s),
        }
        for name, call in of_sizes.items():
            for value in bad:
                for sizes in (value, (1, 2, value, 4), [value] * 4):
                    if sizes is None and name == "output_size":  # its default
                        continue
                    pattern = rf"^{name} must be a shape of whole numbers, \(.*: got .*; for example \w+\.shape$"
                    refused((name, sizes), lambda c=call, s=sizes: c(s), pattern)
            if name != "output_size":  # whose range torch itself reports
                for value in TOO_LARGE:
                    refused((name, value), lambda c=call, v=value: c((1, 2, v, 4)), r"at most 2147483647, .*: got ")
    for value in (*bad, [2.0], [-1], (True,), [2, 2]):
        if value is not None and value != [1]:
            refused(
                ("bias_sizes", value), lambda v=value: back(False)("taps", bias_sizes=v), "^bias_sizes must be .*: got "
            )
    for value in (1, None, "no", 2.0, [True]):
        refused(("transposed", value), lambda v=value: back(v)("taps"), "^transposed must be True, .*: got ")
        mask = {"output_mask": [True, value, True]}
        refused(("output_mask", value), lambda k=mask: back(False)("taps", **k), "^output_mask must be .*: got ")


def test_formats_that_torch_adds_nothing_up_in_are_refused_by_every_operator_and_method():
    narrow = [dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype) and dtype.is_floating_point]
    narrow = [dtype for dtype in narrow if dtype.itemsize < 2]
    assert torch.float8_e4m3fn in narrow
    for dtype in narrow:
        x, w, g, rows, matrix = (
            torch.empty(shape, dtype=dtype) for shape in (X.shape, W.shape, G.shape, (3, 4), (2, 4))
        )
        every = {"conv2d_bias": lambda m, g=g: conv2d_bias(g)} | {
            "conv2d": lambda m, x=x, w=w: conv2d(x, w, method=m),
            "conv2d, bias": lambda m, w=w: conv2d(X, W, w[:, 0, 0, 0], method=m),
            "conv_transpose2d": lambda m, x=x, w=w: conv_transpose2d(x, w, method=m),
            "conv2d_input": lambda m, w=w, g=g: conv2d_input(X.shape, w, g, method=m),
            "conv2d_weight": lambda m, x=x, g=g: conv2d_weight(x, W.shape, g, method=m),
            "convolution_backward": lambda m, g=g, x=x, w=w: convviz.convolution_backward(
                g, x, w, None, **PLAIN, transposed=False, output_mask=[True] * 3, method=m
            ),
            "linear": lambda m, a=rows, b=matrix: linear(a, b, method=m),
        }
        pattern = rf"^\w+ must hold numbers of 16 bits or more, because .*: got {re.escape(str(dtype))}; use \w+.float"
        for operator, call in every.items():
            for method in METHODS:
                refused((operator, method, dtype), lambda c=call, m=method: c(m), pattern, TypeError)


def test_the_largest_stride_and_dilation_are_those_of_the_definition():
    """A stride larger than the input makes one window; a kernel of one cell has a dilation that plays no part."""
    most = 2**31 - 1
    for number, (height, width) in enumerate([(3, 2), (1, 1), (1, 2)]):
        for stride in ((most, most), (most, 1), (2, most)):
            dilation = (most if height == 1 else 1, most if width == 1 else 2)
            spec = ConvSpec((5, 4), 2, 2, (height, width), stride, 1, dilation, groups=2)
            x, w, b, g = drawn(spec, number)
            truth = results(lambda x, w, b, s=spec: definition(x, w, b, s), (x, w, b), g)
            for method in METHODS:
                ours = results(
                    lambda x, w, b, s=spec, m=method: conv2d(x, w, b, s.stride, 1, s.dilation, 2, method=m),
                    (x, w, b),
                    g,
                )
                assert same(ours, truth), (method, spec)


def test_the_taps_of_one_axis_are_found_without_a_walk_over_the_border(monkeypatch):
    asked = []

    def source(position, size, mode):
        asked.append(position)
        return true_source(position, size, mode)

    true_source = axis_taps.source
    monkeypatch.setattr(axis_taps, "source", source)
    for kernel, stride, dilation in ((3, 1, 1), (2, 3, 5), (4, 2, 7), (1, 7, 1)):
        asked.clear()
        table = axis_taps.axis_taps(5, 10**6, kernel, stride, 50_000, dilation, "zeros")
        windows = (4 + dilation * (kernel - 1)) // stride + 1  # at most, that reach one of five cells
        assert 0 < len(table) <= len(asked) <= kernel * (windows + 1), (kernel, stride, dilation)
    spec = ConvSpec((5, 4), kernel_size=3, padding=((2**20, 2**21), (2**18, 2**16)))
    assert len(convviz.taps(spec)) == 5 * 4 * 9


def test_other_entries_refuse_hostile_numbers_in_their_own_words():
    for value in (*TOO_LARGE, -1, 2.0, math.nan, None):
        for name in (*WINDOW, "output_padding"):
            refused(
                ("which_backend", name, value),
                lambda n=name, v=value: convviz.which_backend(X, W, **{n: v}, transposed=n == "output_padding"),
                rf"^{name} is .*: got .*",
            )
    for name in ("stride", "padding", "dilation"):  # numpy's numbers are numbers
        assert convviz.which_backend(X, W, **{name: np.int64(1)}) == convviz.which_backend(X, W, **{name: 1})
    spec = ConvSpec((5, 4), 2, 2, (3, 2))
    for name in ("device", "dtype"):
        for value in (2**63, 2**70, -1, 2.0, [], "3", object(), np.array([1, 2]), torch.ones(2)):
            refused(
                ("stages", name, value),
                lambda n=name, v=value: convviz.stages(spec, X, W, **{n: v}),
                rf"^{name} is one of (?s:.)*: got ",
            )


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_taps_lacks_only_the_nan_of_products_with_a_borders_zeros(bad):
    """Where taps differs from torch, torch has a nan, of output or grad_weight; without padding they are alike."""
    fewer = 0
    for number, spec in enumerate(random_specs(seed=127, count=60)):
        for position in range(3):
            x, w, _, g = tensors = [tensor + 0.5 for tensor in drawn(spec, number)]
            tensors[(0, 1, 3)[position]].view(-1)[0] = bad
            arguments = (spec.stride, spec.padding, spec.dilation, spec.groups)
            ours = results(
                lambda x, w, a=arguments, s=spec: conv2d(x, w, None, *a, padding_mode=s.padding_mode, method="taps"),
                (x, w),
                g,
            )
            theirs = results(lambda x, w, s=spec: torch_conv2d(x, w, None, s), (x, w), g)
            for place, (mine, true) in enumerate(zip(ours, theirs, strict=True)):
                differs = ~((mine == true) | (mine.isnan() & true.isnan()) | (mine.isfinite() & true.isfinite()))
                assert true[differs].isnan().all(), (spec, position, place)
                where = (
                    (place, position) in ((0, 1), (2, 2))
                    and spec.padding_mode == "zeros"
                    and any(map(any, spec.padding))
                )
                assert where or not differs.any(), (spec, position, place)
                fewer += bool(differs.any())
    assert fewer > 10
