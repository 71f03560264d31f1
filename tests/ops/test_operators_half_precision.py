"""Sums of 16-bit numbers are kept in float32 and rounded once, so that the error is torch's own."""

import os
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

from convviz import ConvSpec, conv2d, conv_transpose2d, linear, stages
from convviz.ops.devices_and_dtypes import onednn_off_for
from tests.geometries import EDGE_CASES, reals
from tests.operator_cases import (
    METHODS,
    Transposed,
    conv_transpose2d_by_definition,
    definition,
    drawn,
    results,
    torch_conv2d,
)

OURS = [method for method in METHODS if method != "aten"]
DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
BATCHES = (1, 32)
NAMES = ("output", "grad_input", "grad_weight", "grad_bias")
PLACES = {
    "one channel": ConvSpec(12, 1, 1, 3, 1, 1),
    "one channel, stride 2": ConvSpec(9, 1, 2, 3, 2, 1),
    "depthwise": ConvSpec((7, 6), 4, 4, 3, 1, 1, groups=4),
    "grouped": ConvSpec(6, 4, 6, 3, 2, 1, groups=2),
    "all channels": ConvSpec(6, 8, 8, 3, 1, 1),
    "many windows over one cell": ConvSpec(8, 2, 16, 5, 1, 2),
    "many cells, one weight": ConvSpec(24, 1, 1, 1),
    "replicate": EDGE_CASES["replicate beyond the input"].replace(in_channels=2, out_channels=3),
    "reflect": EDGE_CASES["reflect to the limit"],
    "circular": EDGE_CASES["circular to the limit"],
}


def cancelling(shape, seed):
    """Numbers around 3 whose sign changes with the sample: sums of many large terms, of which little is left."""
    signs = torch.ones(shape[0], dtype=torch.float64)
    signs[1::2] = -1
    return (reals(shape, seed) + 3) * (signs.reshape(-1, *(1,) * (len(shape) - 1)) if len(shape) == 4 else 1)


GRADIENTS = {"around zero": reals, "cancelling": cancelling}


def largest(tensor):
    return tensor.abs().max().item()


def too_far(found, torchs, truth, sums, dtype):
    """Say where a result is further from the truth than torch's: beyond twice its error, and beyond all rounding."""
    eps = torch.finfo(dtype).eps
    eps_of_sums = min(eps, torch.finfo(torch.float32).eps)
    said = []
    for name, ours, theirs, right, size in zip(NAMES, found, torchs, truth, sums, strict=False):
        assert ours.dtype == dtype
        errors = [largest(each.double() - right) for each in (ours, theirs)]
        if errors[0] > 2 * errors[1] + eps / 2 * largest(right) + 8 * eps_of_sums * largest(size):
            said.append(f"{name} is wrong by {errors[0]:.3g}, torch's by {errors[1]:.3g}")
    return said


def check(ours, theirs, truly, tensors, g, dtype, place):
    """Hold every method's output and gradients against the definition in float64, by torch's own error."""
    *narrow, g = (tensor.to(dtype) for tensor in (*tensors, g))
    exact, above = [tensor.double() for tensor in narrow], g.double()
    truth = results(truly, exact, above)
    sums = results(truly, [tensor.abs() for tensor in exact], above.abs())
    torchs = results(theirs, narrow, g)
    for method in METHODS:
        found = results(lambda *t, m=method: ours(*t, method=m), narrow, g)
        assert not (said := too_far(found, torchs, truth, sums, dtype)), (said, method, dtype, place)


def test_conv2d_is_as_near_to_the_truth_as_torchs_own_in_every_dtype_and_batch():
    for name, place in PLACES.items():
        for number, batch in enumerate(BATCHES):
            spec = place.replace(batch=batch)
            rest = {"padding_mode": spec.padding_mode}
            arguments = (spec.stride, spec.padding, spec.dilation, spec.groups)
            for kind, make in GRADIENTS.items():
                x, w, b, g = drawn(spec, number, make)
                for dtype in DTYPES:
                    check(
                        lambda *t, method, a=arguments, r=rest: conv2d(*t, *a, **r, method=method),
                        lambda *t, spec=spec: torch_conv2d(*t, spec),
                        lambda *t, spec=spec: definition(*t, spec),
                        (x.abs(), w, b),
                        g,
                        dtype,
                        (name, batch, kind),
                    )


def test_conv_transpose2d_is_as_near_to_the_truth_as_torchs_own_in_every_dtype_and_batch():
    for batch in BATCHES:
        for channels, groups in ((1, 1), (4, 4), (4, 1)):
            shape = (channels, 2, 3, 3)
            call = Transposed((batch, channels, 6, 5), shape, (2, 1), (1, 1), (1, 0), groups, (1, 1))
            for kind, make in GRADIENTS.items():
                shapes = (call.input_shape, call.weight_shape, (call.out_channels,), call.output_shape)
                x, w, b, g = (make(shape, seed) for seed, shape in enumerate(shapes))
                for dtype in DTYPES:
                    check(
                        lambda *t, method, call=call: conv_transpose2d(*t, *call[2:], method=method),
                        lambda *t, call=call: F.conv_transpose2d(*t, *call[2:]),
                        lambda *t, call=call: conv_transpose2d_by_definition(*t, call),
                        (x.abs(), w, b),
                        g,
                        dtype,
                        (call, kind),
                    )


def test_linear_is_as_near_to_the_truth_as_torchs_own_in_every_dtype_and_batch():
    for batch in BATCHES:
        for columns in (1, 7, 300):
            x, w, b, g = (
                reals(shape, seed) for seed, shape in enumerate([(batch, columns), (3, columns), (3,), (batch, 3)])
            )
            for dtype in DTYPES:
                exact = lambda x, w, b: (x[:, None] * w).sum(-1) + b  # noqa: E731
                check(linear, F.linear, exact, (x + 3, w, b), g, dtype, (batch, columns))


def test_linear_adds_its_bias_before_the_sum_is_rounded():
    """256 + 0.5 - 256: bfloat16 has no 256.5."""
    for dtype, large, small in ((torch.bfloat16, 256, 0.5), (torch.float16, 2048, 1)):
        x, b = torch.tensor([[large, small]]).to(dtype), torch.tensor([-large]).to(dtype)
        for method in METHODS:
            output = linear(x, torch.ones_like(x), b, method=method)
            assert (output.item(), output.dtype) == (small, dtype), method


def test_the_pictures_of_bfloat16_differ_from_autograd_by_no_more_than_rounding():
    """grad_output of two samples that nearly cancel, set by hand: what a person can make in the app."""
    for place in ("one channel", "depthwise", "all channels", "many cells, one weight"):
        spec = PLACES[place].replace(batch=2)
        x, w, b, g = drawn(spec, 3, cancelling)
        made = stages(spec, x.abs(), w, b, g, dtype="bfloat16")
        assert made.deviation_from_autograd.within_rounding, (place, made.deviation_from_autograd)
        b, g = reals((spec.in_channels,), 1), cancelling(spec.input_shape, 2)
        made = stages(spec, cancelling(spec.output_shape, 4), w, b, g, dtype="bfloat16", transposed=True)
        assert made.deviation_from_autograd.within_rounding, (place, "transposed", made.deviation_from_autograd)


# -- torch's own kernels for 16 bits on a CPU ------------------------------------------------------------------------

AMX_FAILS_AT = (  # with torch 2.13 and oneDNN: wrong numbers, nan, or the end of the process
    ConvSpec((10, 4), 8, 12, 2, (1, 3), (0, 1), 3, 4, batch=3),
    ConvSpec((1, 12), 3, 2, (2, 4), (5, 1), (2, 0), (4, 2)),
    ConvSpec((7, 6), 12, 4, (2, 4), (1, 4), (0, 2), (1, 3), 4, batch=2),
    ConvSpec((3, 20), 2, 2, (2, 4), (3, 1), (2, 1), 5, batch=4),
)


def hold(found, truth, sums, about):
    """Two roundings of bfloat16 at most, against the sums of the absolute values."""
    for name, ours, right, size in zip(NAMES, found, truth, sums, strict=False):
        error = ((ours.double() - right).abs() / size.clamp(min=1e-300)).max().item()
        assert error <= 2 * torch.finfo(torch.bfloat16).eps, (name, error, *about)


def hold_where_amx_fails():
    """Run by a process of its own: operators, stages, graph and explanation against the definition in float64."""
    from convviz import explain
    from convviz.features.graph.autograd_graph_of_app import graph_of_stages

    for spec in AMX_FAILS_AT:
        tensors = [tensor.bfloat16() for tensor in drawn(spec, 1, reals)]
        *narrow, g = tensors
        exact = [tensor.double() for tensor in tensors]
        truth = results(lambda *t, spec=spec: definition(*t, spec), exact[:3], exact[3])
        sums = results(lambda *t, spec=spec: definition(*t, spec), [t.abs() for t in exact[:3]], exact[3].abs())
        geometry = (spec.stride, spec.padding, spec.dilation, spec.groups)
        for method in OURS:
            found = results(lambda *t, m=method, at=geometry: conv2d(*t, *at, method=m), narrow, g)
            hold(found, truth, sums, (method, spec))
        made = stages(spec, *tensors, dtype="bfloat16")
        assert made.deviation_from_autograd.within_rounding, (spec, made.deviation_from_autograd)
        hold([getattr(made, name) for name in NAMES], truth, sums, ("stages", spec))
        (box,) = (node for node in graph_of_stages(made).nodes if node.spec is not None)
        handed = [edge.gradient.tensor for edge in graph_of_stages(made).edges if edge.target == box.id]
        hold([truth[0].bfloat16(), *handed], truth, [sums[0], *(2 * size for size in sums[1:])], ("graph", spec))
        layer = torch.nn.Conv2d(spec.in_channels, spec.out_channels, spec.kernel_size, *given(spec)).bfloat16()
        assert explain(layer, narrow[0]).session.result.deviation_from_autograd.within_rounding, spec
        x = stages(spec, g, narrow[1], None, narrow[0], dtype="bfloat16", transposed=True)
        assert x.deviation_from_autograd.within_rounding, (spec, "transposed", x.deviation_from_autograd)
        hold([truth[0].bfloat16(), x.grad_input], truth, sums, ("transposed", spec))


def given(spec):
    return spec.stride, tuple(before for before, _ in spec.padding), spec.dilation, spec.groups


def test_what_torch_gets_wrong_with_amx_is_right_here():
    """Passes trivially on processors without AMX, and where a later torch is right: then nothing has to be avoided."""
    environment = {name: value for name, value in os.environ.items() if name != "ONEDNN_MAX_CPU_ISA"}
    held = "from tests.ops.test_operators_half_precision import hold_where_amx_fails; hold_where_amx_fails()"
    done = subprocess.run([sys.executable, "-c", held], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])


def test_onednn_is_off_for_16_bits_alone_and_on_again_after_an_error():
    wide, narrow = torch.zeros(1), torch.zeros(1, dtype=torch.bfloat16)
    before = torch._C._get_mkldnn_enabled()
    with onednn_off_for([wide]):
        assert torch._C._get_mkldnn_enabled() == before
    with pytest.raises(ZeroDivisionError), onednn_off_for([wide, narrow]):
        _ = 1 / torch._C._get_mkldnn_enabled()
    assert torch._C._get_mkldnn_enabled() == before
    with torch.autocast("cpu", torch.bfloat16), onednn_off_for([wide]):
        assert not torch._C._get_mkldnn_enabled()
    assert torch._C._get_mkldnn_enabled() == before
