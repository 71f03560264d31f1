"""Quantised convolutions: each against its formula, worked out by hand, and against the surrogate that it states."""

import copy
import math
import pickle
import re

import pytest
import torch
import torch.nn.functional as F

from convviz.nn import BinaryConv2d, Conv2d, Conv2dShift, XNORConv2d, replace, surrogate_check
from convviz.nn.quantized_conv2d import QuantizedConv2d
from convviz.nn.straight_through import FACTORS, SURROGATES, binarize, power_of_two, straight_through
from convviz.samples.inputs import digits

# Every layer in every variant: name → (class, keywords).
KINDS = {
    **{f"Q {ste}": (Conv2dShift, {"ste": ste}) for ste in ("identity", "clip", "tanh")},
    "PS": (Conv2dShift, {"variant": "PS"}),
    **{f"BWN {ste}": (BinaryConv2d, {"ste": ste}) for ste in ("scaled_sign", "identity", "clip", "tanh")},
    **{f"XNOR {ste}": (XNORConv2d, {"ste": ste}) for ste in ("scaled_sign", "identity", "clip", "tanh")},
    **{f"XNOR input {ste}": (XNORConv2d, {"input_ste": ste}) for ste in ("identity", "tanh")},
    **{f"BNN {ste}": (XNORConv2d, {"scaled": False, "ste": ste}) for ste in ("clip", "identity", "tanh")},
}
GEOMETRIES = {
    "plain": {},
    "strided, dilated": {"stride": (2, 1), "padding": (1, 2), "dilation": (1, 2)},
    "grouped": {"groups": 2, "padding": 1, "bias": False},
    "reflect": {"padding": 1, "padding_mode": "reflect"},
    "replicate, same": {"padding": "same", "padding_mode": "replicate"},
    "circular, grouped": {"padding": (2, 1), "padding_mode": "circular", "groups": 2, "stride": 2},
}
# One of each way to compute: what differs between the others is a factor.
OF_EACH = ("Q clip", "PS", "BWN scaled_sign", "XNOR scaled_sign", "BNN clip")
CASES = [(kind, geometry) for kind in KINDS for geometry in (GEOMETRIES if kind in OF_EACH else ["grouped"])]


def random(shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def fill(layer, seed=0, width=1.5):
    """Draw parameters on both sides of every border: |w| = 1, |sign| = 0.5, the exponents' limits."""
    with torch.no_grad():
        for number, (name, parameter) in enumerate(layer.named_parameters()):
            scale = 8 if name.endswith("shift") else width
            parameter.copy_(random(parameter.shape, seed + number) * scale)
    return layer


def make(kind, *args, **keywords):
    kind_of_layer, own = KINDS[kind]
    return fill(kind_of_layer(*args, dtype=torch.float64, **own, **keywords))


def two_by_two(layer, x, w, **others):
    """One sample, one channel, a 2x2 kernel on a 2x2 input, bias 0.5; the grad_output is 2. Returns what comes out."""
    layer = layer.double()
    for name, values in (others if w is None else {"weight": w}).items():
        with torch.no_grad():
            getattr(layer, name).copy_(torch.tensor(values, dtype=torch.float64).reshape(1, 1, 2, 2))
    torch.nn.init.constant_(layer.bias, 0.5)
    x = torch.tensor(x, dtype=torch.float64).reshape(1, 1, 2, 2).requires_grad_()
    output = layer(x)
    assert output.shape == (1, 1, 1, 1)
    output.backward(torch.full_like(output, 2))
    gradients = {name: parameter.grad.flatten().tolist() for name, parameter in layer.named_parameters()}
    assert gradients.pop("bias") == [2]
    return output.item(), gradients | {"input": x.grad.flatten().tolist()}


def flat(tensor):
    return tensor.detach().flatten().tolist()


# By hand.

X = [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("ste", "factors"),
    [
        ("identity", [1, 1, 1, 1]),
        ("clip", [1, 1, 1, 0]),
        # 1 - tanh(0.3)^2, 1 - tanh(0.75)^2, 1 - 0, 1 - tanh(5)^2
        ("tanh", [0.9151369618, 0.5965858082, 1, 0.0001815832]),
    ],
)
def test_shift_q_by_hand(ste, factors):
    layer = Conv2dShift(1, 1, 2, ste=ste)
    # log2: -1.74, -0.42, -inf, 2.32; rounded -2, 0, -inf, 2; clamped to [-14, 0]: -2, 0, -14, 0; times sign(0) = 0.
    output, gradients = two_by_two(layer, X, [0.3, -0.75, 0.0, 5.0])
    assert flat(layer.quantized_weight) == [0.25, -1, 0, 1]
    assert output == 0.25 * 1 - 1 * 2 + 0 * 3 + 1 * 4 + 0.5 == 2.75
    # The gradient of v is 2 x = [2, 4, 6, 8].
    assert gradients["weight"] == pytest.approx([2 * factors[0], 4 * factors[1], 6 * factors[2], 8 * factors[3]])
    assert gradients["input"] == [0.5, -2, 0, 2], "2 v, not 2 w"
    assert flat(layer.ste_mask) == pytest.approx(factors, abs=1e-9)
    assert flat(layer.weight) == [0.3, -0.75, 0, 5], "forward changes no parameter"


def test_shift_ps_by_hand():
    layer = Conv2dShift(1, 1, 2, variant="PS")
    assert layer.weight is None
    # round(shift) = -2, 0, -20, 3, clamped -2, 0, -14, 0; round(sign) = 1, -1, 1, 0 (half goes to even).
    output, gradients = two_by_two(layer, X, None, shift=[-1.6, 0.4, -20.0, 3.0], sign=[0.9, -0.6, 1.2, 0.5])
    tiny = 0.00006103515625  # 2^-14
    assert flat(layer.quantized_weight) == [0.25, -1, tiny, 0]
    assert output == 0.25 * 1 - 1 * 2 + tiny * 3 + 0 * 4 + 0.5
    # The gradient of v is [2, 4, 6, 8]; times v ln 2, ln 2 = 0.6931471806:
    assert gradients["shift"] == pytest.approx([0.3465735903, -2.7725887222, 0.0002538382, 0], rel=1e-6)
    assert gradients["sign"] == [2, 4, 6, 8], "without the factor 2^shift"
    assert gradients["input"] == [0.5, -2, 2 * tiny, 0]
    assert flat(layer.ste_mask) == pytest.approx([0.1732867951, -0.6931471806, 0.0000423064, 0], rel=1e-5)
    assert flat(layer.shift) == [-1.6, 0.4, -20, 3]
    assert flat(layer.sign) == [0.9, -0.6, 1.2, 0.5]


@pytest.mark.parametrize(
    ("ste", "expected", "mask"),
    [
        ("identity", [2, 4, 6, 8], [1, 1, 1, 1]),
        ("clip", [2, 0, 6, 0], [1, 0, 1, 0]),
        # 1 - tanh(w)^2 = 0.78644773, 0.18070664, 1, 0.00134095
        ("tanh", [1.5728954660, 0.7228265557, 6, 0.0107276055], [0.7864477330, 0.1807066389, 1, 0.0013409507]),
        # sum g B = 2 - 4 + 6 - 8 = -4, over n = 4: -1; times sign(w) = [1, -1, 0, -1]: [-1, 1, 0, 1].
        # alpha g 1[|w| <= 1] = 1.5 * [2, 0, 6, 0] = [3, 0, 9, 0]. Together:
        ("scaled_sign", [2, 1, 9, 1], [1.5, 0, 1.5, 0]),
    ],
)
def test_binary_by_hand(ste, expected, mask):
    layer = BinaryConv2d(1, 1, 2, ste=ste)
    # alpha = (0.5 + 1.5 + 0 + 4) / 4 = 1.5; signs + - + -, with sign(0) = +1.
    output, gradients = two_by_two(layer, X, [0.5, -1.5, 0.0, -4.0])
    assert flat(layer.quantized_weight) == [1.5, -1.5, 1.5, -1.5]
    assert output == 1.5 * (1 - 2 + 3 - 4) + 0.5 == -2.5
    assert gradients["weight"] == pytest.approx(expected, rel=1e-7)
    assert gradients["input"] == [3, -3, 3, -3]
    assert flat(layer.ste_mask) == pytest.approx(mask, rel=1e-7)


SIGNED = [[0.5, -2.0], [0.0, 3.5]]  # signs + - + +, mean |x| = 1.5


def test_xnor_by_hand():
    layer = XNORConv2d(1, 1, 2)
    assert (layer.ste, layer.input_ste) == ("scaled_sign", "clip")
    output, gradients = two_by_two(layer, SIGNED, [0.5, -1.5, 0.0, -4.0])
    assert flat(layer.quantized_weight) == [1.5, -1.5, 1.5, -1.5]
    # signs of x: 1 -1 1 1; times v: 1.5 + 1.5 + 1.5 - 1.5 = 3; times K = 1.5: 4.5.
    assert output == 5
    # g = 2 K sign(x) = [3, -3, 3, 3]; sum g B / 4 = (3 + 3 + 3 - 3) / 4 = 1.5; times sign(w): [1.5, -1.5, 0, -1.5];
    # alpha g 1[|w| <= 1] = [4.5, 0, 4.5, 0].
    assert gradients["weight"] == [6, -1.5, 4.5, -1.5]
    # Through the signs: 2 K v 1[|x| <= 1] = [4.5, 0, 4.5, 0]. Through K: 2 * 3 * sign(x) / 4, 0 at x = 0:
    # [1.5, -1.5, 0, 1.5].
    assert gradients["input"] == [6, -1.5, 4.5, 1.5]
    assert flat(layer.ste_mask) == [1.5, 0, 1.5, 0]


@pytest.mark.parametrize(
    ("input_ste", "through_signs"),
    [
        ("identity", [2, -2, 2, -2]),
        ("clip", [2, 0, 2, 0]),
        # 1 - tanh(x)^2 = 0.78644773, 0.07065082, 1, 0.00364088
        ("tanh", [1.5728954660, -0.1413016497, 2, -0.0072817694]),
    ],
)
def test_bnn_by_hand(input_ste, through_signs):
    layer = XNORConv2d(1, 1, 2, scaled=False, input_ste=input_ste)
    assert layer.ste == "clip"
    output, gradients = two_by_two(layer, SIGNED, [0.5, -1.5, 0.0, -4.0])
    assert flat(layer.quantized_weight) == [1, -1, 1, -1]
    assert output == 1 + 1 + 1 - 1 + 0.5 == 2.5
    assert gradients["weight"] == [2, 0, 2, 0], "2 sign(x) where |w| <= 1"
    assert gradients["input"] == pytest.approx(through_signs, rel=1e-6)
    assert flat(layer.ste_mask) == [1, 0, 1, 0]


def test_a_border_of_zeros_becomes_plus_one():
    layer = XNORConv2d(1, 1, 2, padding=1, scaled=False, bias=False, dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[0.5, -1], [0.2, -0.3]]))
    x = torch.tensor([[[-0.5, -0.5], [-0.5, 0.5]]], dtype=torch.float64, requires_grad=True)
    # The signs, with the border:  + + + +      Each output cell is the left column of its window minus the right one.
    #                              + - - +
    #                              + - + +
    #                              + + + +
    output = layer(x)
    assert output.tolist() == [[[2, 0, -2], [4, -2, -2], [2, -2, 0]]]
    output.backward(torch.ones_like(output))
    # Every cell is read by all four kernel cells: 1 - 1 + 1 - 1; the border's gradient goes nowhere.
    assert x.grad.tolist() == [[[0, 0], [0, 0]]]


def test_the_scale_of_the_border():
    layer = XNORConv2d(1, 1, 2, padding=1, bias=False, dtype=torch.float64)
    torch.nn.init.constant_(layer.weight, 1)
    x = torch.tensor([[[3.0, 5.0], [7.0, 9.0]]], dtype=torch.float64)
    # All signs are +1 and so is alpha: the output is 4 K. The border counts as 0 in K: 4 K = sum of the window.
    assert layer(x).tolist() == [[[3, 8, 5], [10, 24, 14], [7, 16, 9]]]


def test_each_group_has_a_scale_of_its_own():
    x = torch.tensor([3.0, -5.0], dtype=torch.float64).reshape(2, 1, 1)
    grouped = XNORConv2d(2, 4, 1, groups=2, bias=False, dtype=torch.float64)
    with torch.no_grad():
        grouped.weight.copy_(torch.tensor([1.0, -2.0, 0.5, -1.0]).reshape(4, 1, 1, 1))
    # One channel and one cell: alpha sign(w) sign(x) |x| is w x itself.
    assert grouped(x).flatten().tolist() == [3, -6, -2.5, 5]
    together = XNORConv2d(2, 1, 1, bias=False, dtype=torch.float64)
    with torch.no_grad():
        together.weight.copy_(torch.tensor([1.0, -2.0]).reshape(1, 2, 1, 1))
    # alpha = 1.5, K = (3 + 5) / 2 = 4, signs: + * + and - * -.
    assert together(x).item() == 1.5 * 4 * 2


# The quantisers.


def test_powers_of_two_are_exact_and_the_border_is_the_square_root_of_two():
    exponents = torch.arange(-126, 128)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        powers = torch.tensor([2.0 ** int(e) for e in exponents], dtype=dtype)
        assert torch.equal(power_of_two(powers, (-126, 127)), powers)
        assert torch.equal(power_of_two(-powers, (-126, 127)), -powers)
    w = torch.tensor([1.414, 1.415, 0.7071, 0.7072, -1.415, 0.0, -0.0])
    assert power_of_two(w, (-3, 3)).tolist() == [1, 2, 0.5, 1, -2, 0, 0]


def test_the_exponent_is_clamped_on_both_sides():
    w = torch.tensor([1e-30, -0.01, 0.25, 3.0, -1000.0, math.inf])
    assert power_of_two(w, (-4, 1)).tolist() == [0.0625, -0.0625, 0.25, 2, -2, 2]
    layer = Conv2dShift(1, 1, 2, exponent_range=(-2, -1), dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[0.001, 0.3], [-0.6, 9]]))
    assert flat(layer.quantized_weight) == [0.25, 0.25, -0.5, 0.5]


def test_signs_are_two_valued_and_nan_stays_nan():
    w = torch.tensor([-2.0, -1e-30, -0.0, 0.0, 1e-30, 5.0, -math.inf])
    assert binarize(w).tolist() == [-1, -1, 1, 1, 1, 1, -1]
    assert binarize(torch.tensor(math.nan)).isnan()
    assert power_of_two(torch.tensor(math.nan), (-3, 0)).isnan()
    for kind in KINDS:
        layer = make(kind, 1, 1, 2)
        assert layer(torch.full((1, 1, 2, 2), math.nan, dtype=torch.float64)).isnan().all(), kind
        name = "shift" if kind == "PS" else "weight"
        torch.nn.init.constant_(getattr(layer, name), math.nan)
        assert layer(torch.ones(1, 1, 2, 2, dtype=torch.float64)).isnan().all(), kind


@pytest.mark.parametrize("ste", FACTORS)
def test_a_factor_is_the_slope_of_its_surrogate(ste):
    w = torch.tensor([-3.0, -1.01, -0.99, -0.4, 0, 0.4, 0.99, 1.01, 3], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(SURROGATES[ste](w).sum(), w)
    torch.testing.assert_close(FACTORS[ste](w.detach()), slope)


def test_the_clip_hands_on_at_its_kinks():
    """|w| <= 1, as the papers write it; what autograd gives there for clamp differs between versions of torch."""
    assert FACTORS["clip"](torch.tensor([-1.0, 1.0])).tolist() == [1, 1]


def test_the_second_derivative_is_the_surrogates():
    w = torch.tensor([0.5, -1.2], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(straight_through(w, binarize(w), "tanh").sum(), w, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), w)
    t = w.detach().tanh()
    torch.testing.assert_close(second, -2 * t * (1 - t**2))
    layer = make("PS", 1, 1, 2)
    v = layer.quantized_weight
    (first,) = torch.autograd.grad(v.sum(), layer.shift, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), layer.shift)
    torch.testing.assert_close(second, v.detach() * math.log(2) ** 2)


# Every layer.


@pytest.mark.parametrize(("kind", "geometry"), CASES)
def test_forward_convolves_with_the_quantized_weight(kind, geometry):
    keywords = GEOMETRIES[geometry]
    layer = make(kind, 4, 4, (3, 2), **keywords)
    x = random((2, 4, 5, 4))
    plain = torch.nn.Conv2d(4, 4, (3, 2), dtype=torch.float64, **keywords)
    v = layer.quantized_weight
    assert v.shape == layer.ste_mask.shape == plain.weight.shape
    assert not layer.ste_mask.requires_grad
    plain.load_state_dict({"weight": v.detach()} | ({} if layer.bias is None else {"bias": layer.bias}))
    if isinstance(layer, XNORConv2d):
        pad = {"mode": "constant" if layer.padding_mode == "zeros" else layer.padding_mode}
        padded = F.pad(x, plain._reversed_padding_repeated_twice, **pad)
        ones = torch.ones_like(v)
        geometry = (plain.stride, 0, plain.dilation, plain.groups)
        expected = F.conv2d(torch.where(padded < 0, -1.0, 1.0).double(), v.detach(), None, *geometry)
        if layer.scaled:
            expected = expected * F.conv2d(padded.abs(), ones, None, *geometry) / ones[0].numel()
        expected = expected if layer.bias is None else expected + layer.bias.detach()[:, None, None]
    else:
        expected = plain(x)
    torch.testing.assert_close(layer(x), expected)
    torch.testing.assert_close(layer(x[0]), expected[0])
    assert layer(x[:0]).shape == (0, *expected.shape[1:])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "PS"])
def test_latent_weights_are_torchs(kind):
    own, keywords = KINDS[kind]
    layers = []
    for layer_class, more in ((torch.nn.Conv2d, {}), (own, keywords)):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(5)
            layers.append(layer_class(2, 4, (3, 2), padding="same", groups=2, **more))
    theirs, ours = layers
    assert all(torch.equal(a, b) for a, b in zip(theirs.parameters(), ours.parameters(), strict=True))
    ours.load_state_dict(fill(theirs).state_dict())
    theirs.load_state_dict(ours.state_dict())
    assert torch.equal(ours.weight, theirs.weight)
    assert f"ste={ours.ste!r}" in repr(ours)


def test_ps_starts_where_q_starts():
    layers = []
    for variant in ("Q", "PS"):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(5)
            layers.append(Conv2dShift(2, 4, 3, groups=2, variant=variant))
    q, ps = layers
    assert torch.equal(q.quantized_weight, ps.quantized_weight)
    assert torch.equal(q.bias, ps.bias)
    assert sorted(ps.state_dict()) == ["bias", "shift", "sign"]
    torch.nn.init.zeros_(ps.shift)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        ps.reset_parameters()
    assert ps.weight is None
    assert torch.equal(q.quantized_weight, ps.quantized_weight)
    assert "variant='PS', exponent_range=(-14, 0)" in repr(ps)


@pytest.mark.parametrize("kind", OF_EACH)
def test_copies_pickles_and_state_dicts(kind):
    layer, x = make(kind, 2, 3, 2, padding=1), random((1, 2, 4, 4))
    other = copy.deepcopy(layer)
    for parameter in other.parameters():
        torch.nn.init.zeros_(parameter)
    other.load_state_dict(layer.state_dict())
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), other):
        assert torch.equal(twin(x), layer(x))
        assert repr(twin) == repr(layer)
    assert type(replace(layer, "aten")) is KINDS[kind][0]
    assert layer.method == "rotate"


@pytest.mark.parametrize("kind", OF_EACH)
def test_torch_func_and_autocast(kind):
    layer = make(kind, 1, 2, 2, padding=1, padding_mode="replicate").float()
    x = random((3, 1, 4, 4)).float()
    parameters = dict(layer.named_parameters())

    def loss(parameters, sample):
        return torch.func.functional_call(layer, parameters, (sample,)).square().sum()

    per_sample = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, x)
    ensemble = torch.func.vmap(torch.func.grad(loss), in_dims=(0, None))(
        {name: torch.stack([value, 2 * value]) for name, value in parameters.items()}, x
    )
    for n in range(3):
        alone = torch.autograd.grad(loss(parameters, x[n]), list(parameters.values()))
        for name, gradient in zip(parameters, alone, strict=True):
            torch.testing.assert_close(per_sample[name][n], gradient, rtol=1e-4, atol=1e-4)
    alone = torch.func.grad(loss)(parameters, x)
    for name, gradient in alone.items():
        torch.testing.assert_close(ensemble[name][0], gradient, rtol=1e-4, atol=1e-4)
    with torch.autocast("cpu", torch.bfloat16):
        output = layer(x)
    assert output.dtype is torch.bfloat16
    output.float().sum().backward()
    assert {parameter.grad.dtype for parameter in layer.parameters()} == {torch.float32}


@pytest.mark.parametrize("kind", ["PS", "XNOR scaled_sign"])
def test_compiled_whole(kind):
    layer, x = make(kind, 2, 2, 2, padding=1), random((2, 2, 4, 4))
    results = []
    for call in (layer, torch.compile(layer, backend="aot_eager", fullgraph=True)):
        output = call(x)
        results.append([output, *torch.autograd.grad(output.square().sum(), list(layer.parameters()))])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b)


# The stated surrogate.


@pytest.mark.parametrize(("kind", "geometry"), CASES)
def test_gradients_are_the_stated_surrogates(kind, geometry):
    assert surrogate_check(make(kind, 2, 2, (2, 3), **GEOMETRIES[geometry]), random((1, 2, 4, 4)))


@pytest.mark.parametrize("kind", [kind for kind in OF_EACH if kind != "PS"])
def test_at_a_kink_either_side_is_right(kind):
    layer = make(kind, 1, 1, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, -1.0], [0.0, 1 + 3e-7]]))
    assert surrogate_check(layer, torch.tensor([[[1.0, -1, 0], [0.5, 2, 1], [0, 0, -1]]]))


def test_surrogate_check_leaves_everything_as_it_was():
    layer = make("XNOR scaled_sign", 2, 2, 2).float().eval()
    layer.bias.requires_grad_(False)
    x = random((1, 2, 3, 3)).float().requires_grad_()
    layer(x).sum().backward()
    layer.register_forward_hook(lambda *_: pytest.fail("a hook was called"))
    state, gradients = copy.deepcopy(layer.state_dict()), (layer.weight.grad.clone(), x.grad.clone())
    weight, random_state = layer.weight, torch.get_rng_state()
    with torch.no_grad():
        assert surrogate_check(layer, x)
    with torch.inference_mode():
        assert surrogate_check(layer, x.detach().double())
    assert layer.weight is weight
    assert all(torch.equal(state[name], value) for name, value in layer.state_dict().items())
    assert torch.equal(layer.weight.grad, gradients[0])
    assert torch.equal(x.grad, gradients[1])
    assert layer.bias.grad is None
    assert not layer.bias.requires_grad
    assert layer.weight.dtype is torch.float32
    assert not layer.training
    assert torch.equal(torch.get_rng_state(), random_state)


class Forgetful(BinaryConv2d):
    """States the clipped gradient, gives the identity's."""

    @property
    def quantized_weight(self):
        v = super().quantized_weight.detach()
        return straight_through(self.weight, v, "identity")


class Idle(BinaryConv2d):
    """Its weight gets no gradient."""

    @property
    def quantized_weight(self):
        return super().quantized_weight.detach()


class Halved(XNORConv2d):
    """Gives half of the input's gradient."""

    def forward(self, input):
        return super().forward(input / 2 + input.detach() / 2)


class WithoutFactor(Conv2dShift):
    """Learns from v as if it were shift."""

    @property
    def quantized_weight(self):
        v = super().quantized_weight.detach()
        return v + self.shift - self.shift.detach() + self.sign - self.sign.detach()


class Broken(Conv2dShift):
    """Its gradient is nan."""

    @property
    def quantized_weight(self):
        return super().quantized_weight + (self.weight - self.weight.detach()).square().sqrt()  # 0 times 1 / 0


class Elsewhere(Conv2dShift):
    """Its surrogate starts at another value."""

    def surrogate_weight(self, parameters):
        return super().surrogate_weight(parameters) + 0.01


def test_surrogate_check_names_the_parameter_the_index_and_both_numbers():
    layer = Forgetful(1, 1, 2, ste="clip", dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[0.5, 0.5], [-3, 0.5]]))
    x = torch.tensor([[[1.0, 2], [3, 4]]])
    (grad_output,) = torch.randn(1, generator=torch.Generator().manual_seed(0), dtype=torch.float64).tolist()
    message = rf"weight\[0, 0, 1, 0\].*backward gives {3 * grad_output:.9g}, the finite difference is -?0$"
    with pytest.raises(AssertionError, match=message):
        surrogate_check(layer, x)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (fill(Halved(1, 1, 2)), "gradient of input"),
        (fill(WithoutFactor(1, 1, 2, variant="PS")), "gradient of shift"),
        (fill(Broken(1, 1, 2)), "backward gives nan"),
        (fill(Elsewhere(1, 1, 2)), "value at the point itself"),
    ],
)
def test_surrogate_check_finds_a_wrong_gradient(layer, message):
    with pytest.raises(AssertionError, match=message):
        surrogate_check(layer, random((1, 1, 3, 3)))


@pytest.mark.parametrize("sign", [1, -1])
def test_too_small_is_as_wrong_as_too_large(sign):
    x = sign * torch.ones(1, 1, 2, 2)  # one output cell: all slopes have one sign, and the gradient is 0
    with pytest.raises(AssertionError, match=r"weight.*backward gives 0, the finite difference is"):
        surrogate_check(Idle(1, 1, 2, ste="identity"), x)


@pytest.mark.parametrize("kind", KINDS)
def test_surrogate_check_finds_a_wrong_factor(kind, monkeypatch):
    """The backward's own table, changed: the check must not read its truth from there."""
    for ste, factor in list(FACTORS.items()):
        monkeypatch.setitem(FACTORS, ste, lambda latent, factor=factor: 1.01 * factor(latent))
    layer, x = make(kind, 1, 1, 2), random((1, 1, 3, 3))
    if kind == "PS":  # has no factor from the table
        assert surrogate_check(layer, x)
        return
    with pytest.raises(AssertionError, match="must be the slope of the surrogate"):
        surrogate_check(layer, x)


def test_surrogate_check_is_for_layers_that_state_one():
    with pytest.raises(TypeError, match=re.escape("got Conv2d; for a layer that is its own derivative use")):
        surrogate_check(Conv2d(1, 1, 2), torch.zeros(1, 1, 3, 3))
    bare = QuantizedConv2d(1, 1, 2, ste="identity")
    for reading in (lambda: bare.quantized_weight, lambda: bare.ste_mask, lambda: bare.surrogate_weight({})):
        with pytest.raises(NotImplementedError):
            reading()


# Learning.


@pytest.mark.parametrize("kind", OF_EACH)
def test_quantised_layers_learn_the_digits(kind):
    """Ten digits, a network with no weights but quantised ones: from guessing (ln 10 = 2.3) to a loss below 0.1."""
    layer_class, keywords = KINDS[kind]
    both_binary = layer_class is XNORConv2d
    between = torch.nn.Hardtanh() if both_binary else torch.nn.ReLU()
    layers = [layer_class(1, 8, 3, padding=1, **keywords), layer_class(8, 10, 8, **keywords)]
    for layer in layers:
        for number, (name, parameter) in enumerate(layer.named_parameters()):
            noise = random(parameter.shape, number)
            torch.nn.init.zeros_(parameter)
            with torch.no_grad():
                parameter.add_({"bias": 0 * noise, "shift": noise - 4, "sign": noise.sign()}.get(name, noise / 20))
    model = torch.nn.Sequential(layers[0], between, layers[1], torch.nn.Flatten())
    x, target = digits()[:, None].float(), torch.arange(10)
    x = 2 * x - 1 if both_binary else x  # an image without negative numbers has only one sign
    scale = 1 / 20 if kind.startswith("BNN") else 1  # sums of 512 signs are too large for a softmax
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1 if kind == "PS" else 0.01)
    for _ in range(60):
        optimizer.zero_grad()
        loss = F.cross_entropy(scale * model(x), target)
        loss.backward()
        optimizer.step()
    output = model(x)
    assert F.cross_entropy(scale * output, target) < 0.1
    assert output.argmax(1).tolist() == list(range(10))
    for layer in layers:
        v = layer.quantized_weight.detach().abs()
        if isinstance(layer, Conv2dShift):
            assert torch.equal(v[v > 0].log2(), v[v > 0].log2().round()), "powers of two to the last"
        else:
            assert torch.equal(v, v.flatten(1)[:, :1, None, None].expand_as(v)), "two values per filter to the last"


# Bad arguments.


@pytest.mark.parametrize(
    ("make_it", "message"),
    [
        (lambda: Conv2dShift(1, 1, 2, variant="S"), "variant is one of Q, PS: got 'S'"),
        (lambda: Conv2dShift(1, 1, 2, ste="scaled_sign"), "ste is one of identity, clip, tanh: got 'scaled_sign'"),
        (
            lambda: Conv2dShift(1, 1, 2, variant="PS", ste="clip"),
            "ste is one of identity: got 'clip'; variant='PS' has gradients of its own: leave ste out",
        ),
        (
            lambda: Conv2dShift(1, 1, 2, exponent_range=(0, -3)),
            "lowest <= highest, from -126 to 127: got (0, -3); for example (-14, 0)",
        ),
        (lambda: Conv2dShift(1, 1, 2, exponent_range=(-3.5, 0)), "pair of whole numbers (lowest, highest)"),
        (lambda: Conv2dShift(1, 1, 2, exponent_range=(-127, 0)), "got (-127, 0)"),
        (lambda: Conv2dShift(1, 1, 2, exponent_range=(False, True)), "got (False, True)"),
        (lambda: BinaryConv2d(1, 1, 2, ste="hard"), "ste is one of identity, clip, tanh, scaled_sign: got 'hard'"),
        (
            lambda: XNORConv2d(1, 1, 2, scaled=False, ste="scaled_sign"),
            "got 'scaled_sign'; scaled=False leaves no scale for 'scaled_sign'",
        ),
        (lambda: XNORConv2d(1, 1, 2, input_ste="scaled_sign"), "input_ste is one of identity, clip, tanh: got"),
        *[
            (lambda kind=kind: kind(1, 1, 2, method="fft"), "method is one of taps, unfold, rotate, aten: got 'fft'")
            for kind in (Conv2dShift, BinaryConv2d, XNORConv2d)
        ],
    ],
)
def test_bad_arguments_are_refused_with_rule_and_value(make_it, message):
    state = torch.get_rng_state()
    with pytest.raises(ValueError, match=re.escape(message)):
        make_it()
    assert torch.equal(torch.get_rng_state(), state), "before anything was drawn"


@pytest.mark.parametrize("kind", OF_EACH)
def test_bad_inputs_are_refused_before_anything_is_computed(kind):
    layer = make(kind, 2, 2, 3, padding=3, padding_mode="reflect")
    with pytest.raises(ValueError, match=r"input must be \[N, C, H, W\]"):
        layer(torch.zeros(5, 5, dtype=torch.float64))
    with pytest.raises(ValueError, match=re.escape("got 2 in the weight [2, 2, 3, 3] for 3 of the input [1, 3, 5, 5]")):
        layer(torch.zeros(1, 3, 5, 5, dtype=torch.float64))
    with pytest.raises(ValueError, match="padding < input size: got 3 for height 3"):
        layer(torch.zeros(1, 2, 3, 5, dtype=torch.float64))
    with pytest.raises(TypeError, match=re.escape("must hold real floating-point numbers")):
        layer(torch.zeros(1, 2, 5, 5, dtype=torch.int64))
    with pytest.raises(TypeError, match=re.escape("must have one dtype: got torch.float32 and torch.float64")):
        layer(torch.zeros(1, 2, 5, 5))
