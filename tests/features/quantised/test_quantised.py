"""The quantised layers on one pass: against formulas worked out here, finite differences, and the layers themselves."""

import math

import pytest
import torch
import torch.nn.functional as F

from convviz.facts.features import FEATURES
from convviz.features.quantised.layers_and_variants import KINDS
from convviz.features.quantised.quantised import quantised
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.nn import BinaryConv2d
from convviz.ops.stages import stages
from tests.geometries import reals

SPECS = {
    "plain": ConvSpec((5, 4), kernel_size=(3, 2)),
    "grouped, reflected": ConvSpec(
        (5, 6), in_channels=4, out_channels=4, groups=2, batch=2, stride=2, padding=1, padding_mode="reflect"
    ),
    "dilated": ConvSpec((6, 6), in_channels=2, out_channels=3, kernel_size=2, padding=1, dilation=2),
}
CASES = [(kind, variant) for kind, known in KINDS.items() for variant in known.variants]


def passed(spec, **options):
    """Return one pass over random numbers; the weight lies on both sides of every border of the quantisers."""
    x, w, g = reals(spec.input_shape, 0), reals(spec.weight_shape, 1) * 1.2, reals(spec.output_shape, 2)
    return stages(spec, x, w, reals((spec.out_channels,), 3), g, dtype="float64", compare=False, **options)


def last_plane(spec):
    return Plane(spec.batch - 1, spec.out_channels - 1, spec.in_channels - 1)


def group_of(spec, tensor):
    """Return the input channels that the last filter reads."""
    return tensor[:, spec.in_channels - spec.in_channels // spec.groups :]


def by_formula(made, kind):
    """Return latent, quantised weight, what the kernel slides over, K and output of the last filter, written out."""
    spec = made.spec
    w, bias = made.weight[-1], made.bias[-1]
    (top, _), (left, _) = spec.padding
    mode = "constant" if spec.padding_mode == "zeros" else spec.padding_mode
    padded = F.pad(group_of(spec, made.input), (left, left, top, top), mode=mode)
    signs = torch.where(w >= 0, 1.0, -1.0).double()
    if kind.startswith("shift"):
        quantized = w.sign() * 2 ** w.abs().log2().round().clamp(-14, 0)
    else:
        quantized = signs * (1 if kind == "bnn" else w.abs().mean())
    read = torch.where(padded >= 0, 1.0, -1.0).double() if kind in ("xnor", "bnn") else padded
    scale = None
    output = F.conv2d(read, quantized[None], None, spec.stride, 0, spec.dilation)
    if kind == "xnor":
        box = torch.ones(1, padded.shape[1], *spec.kernel_size, dtype=torch.float64) / (
            padded.shape[1] * math.prod(spec.kernel_size)
        )
        scale = F.conv2d(padded.abs(), box, None, spec.stride, 0, spec.dilation)
        output = output * scale
    return quantized, read, scale, output + bias


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize(("kind", "variant"), CASES)
def test_planes_are_the_formulas(kind, variant, name):
    spec = SPECS[name]
    made = passed(spec)
    found = quantised(made, last_plane(spec), kind, variant)
    quantized, read, scale, output = by_formula(made, kind)
    torch.testing.assert_close(found.quantized_weight, quantized[-1])
    torch.testing.assert_close(found.output, output[-1, 0])
    assert (found.signs is None) == (kind not in ("xnor", "bnn"))
    assert (found.scale is None) == (kind != "xnor")
    if found.signs is not None:
        assert torch.equal(found.signs, read[-1, -1])
    if found.scale is not None:
        torch.testing.assert_close(found.scale, scale[-1, 0])
    # The gradient of the quantised weight: autograd of a plain convolution of what forward reads.
    v = quantized[None].clone().requires_grad_()
    through = F.conv2d(read, v, None, spec.stride, 0, spec.dilation) * (1 if scale is None else scale)
    (truth,) = torch.autograd.grad(through, v, made.grad_output[:, -1:])
    torch.testing.assert_close(found.grad_quantized_weight, truth[0, -1])
    assert [each.name for each in found.variants] == list(KINDS[kind].variants)
    latent = made.weight[-1]
    for each in found.variants:
        mask = {
            "identity": torch.ones_like(latent),
            "clip": (latent.abs() <= 1).double(),
            "tanh": 1 - latent.tanh() ** 2,
            "scaled_sign": latent.abs().mean() * (latent.abs() <= 1),
            "shift": quantized * math.log(2),
            "sign": torch.ones_like(latent),
        }[each.name]
        torch.testing.assert_close(each.mask, mask[-1])
        expected = mask * truth[0]
        if each.name == "scaled_sign":
            signs = torch.where(latent >= 0, 1.0, -1.0).double()
            expected = expected + latent.sign() * (truth[0] * signs).mean()
        torch.testing.assert_close(each.gradient, expected[-1])


@pytest.mark.parametrize(("kind", "variant"), CASES)
def test_the_surrogate_has_backwards_slope_and_the_layer_has_not(kind, variant):
    made = passed(SPECS["plain"])
    found = quantised(made, Plane(), kind, variant)
    gradient = next(each.gradient for each in found.variants if each.name == variant)
    assert not found.at_kink
    torch.testing.assert_close(found.surrogate, gradient, rtol=1e-5, atol=1e-6)
    assert found.surrogate_complaint == ""
    assert not found.gradcheck_passes
    assert (found.stairs - gradient).abs().max() > 1e-3
    # The truth about the stairs: flat, but for alpha, which is a mean of |w|.
    _, read, scale, _ = by_formula(made, kind)
    slope = torch.zeros_like(found.stairs)
    if kind in ("binary", "xnor"):
        w = made.weight[0, 0]
        through = F.conv2d(read, w.sign()[None, None]) * (1 if scale is None else scale)
        slope = w.sign() / w.numel() * (through * made.grad_output).sum()
    torch.testing.assert_close(found.stairs, slope, rtol=1e-5, atol=1e-6)


def test_a_weight_on_a_step_jumps():
    spec = ConvSpec((3, 3), kernel_size=1)
    x, g = reals(spec.input_shape, 0), reals(spec.output_shape, 1)
    made = stages(spec, x, torch.zeros(1, 1, 1, 1), None, g, compare=False, dtype="float64")
    found = quantised(made, Plane(), "shift_q", "clip")
    product = float((x * g).sum())
    assert found.quantized_weight.tolist() == [[0]]
    # 1e-6 is rounded up to the smallest power of two, 2^-14, on either side of 0.
    assert found.stairs.item() == pytest.approx(2 * 2**-14 * product / 2e-6, rel=1e-6)
    assert found.variants[0].gradient.item() == pytest.approx(product)


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_at_a_kink_the_difference_is_the_mean_of_both_sides(value):
    spec = ConvSpec((3, 3), kernel_size=1)
    x, g = reals(spec.input_shape, 0), reals(spec.output_shape, 1)
    made = stages(spec, x, torch.full((1, 1, 1, 1), value), None, g, compare=False, dtype="float64")
    found = quantised(made, Plane(), "bnn", "clip")
    assert found.at_kink
    assert found.surrogate.item() == pytest.approx(found.variants[1].gradient.item() / 2, rel=1e-5)
    assert found.surrogate_complaint == "", "either side is right"


def test_the_complaint_of_a_wrong_backward_is_handed_on(monkeypatch):
    from convviz.nn import straight_through

    monkeypatch.setitem(straight_through.FACTORS, "tanh", lambda latent: 1.1 * (1 - latent.tanh() ** 2))
    found = quantised(passed(SPECS["plain"]), Plane(), "binary", "tanh")
    assert "must be the slope of the surrogate: backward gives" in found.surrogate_complaint


def test_nothing_is_drawn_from_the_random_state():
    state = torch.get_rng_state()
    made = passed(SPECS["plain"])
    for kind, variant in CASES:
        quantised(made, Plane(), kind, variant)
    assert torch.equal(torch.get_rng_state(), state)
    assert BinaryConv2d(1, 1, 1).ste == "scaled_sign"


@pytest.mark.parametrize(
    ("made", "names", "message"),
    [
        (lambda: passed(ConvSpec((5, 5), padding=((1, 0), (0, 0)))), ("binary", "clip"), "make both sides equal"),
        (
            lambda: passed(ConvSpec((60, 60), batch=8, kernel_size=11)),
            ("binary", "clip"),
            r"one run takes 2\.4 million products; use a smaller input or a smaller kernel",
        ),
        (
            lambda: stages(SPECS["plain"], torch.zeros(1, 1, 3, 3), torch.ones(1, 1, 3, 2), transposed=True),
            ("binary", "clip"),
            "switch 'transposed convolution' off",
        ),
    ],
)
def test_what_the_layers_do_not_take_is_said(made, names, message):
    with pytest.raises(ValueError, match=message):
        quantised(made(), Plane(), *names)


def test_a_lesson_may_choose_each_layer_and_each_variant():
    names = {*KINDS, *(variant for kind in KINDS.values() for variant in kind.variants)}
    assert {*FEATURES["quantised"]["choices"]} == names
