"""Layers that compute torch's convolutions in our ways: everything else about them must be torch's."""

import copy
import inspect
import io
import pickle
import re

import pytest
import torch
import torch.nn.functional as F

import convviz.nn as ours
from convviz.ops.methods import METHODS

# name → (arguments and keywords of the constructor, shape of an input)
CASES = {
    "Linear": ((5, 3), {}, (2, 4, 5)),
    "Linear without bias": ((5, 3), {"bias": False}, (5,)),
    "Conv2d": ((2, 3, 3), {}, (2, 2, 6, 7)),
    "Conv2d with everything": (
        (4, 6, (3, 2)),
        {
            "stride": (2, 3),
            "padding": (1, 2),
            "dilation": (1, 2),
            "groups": 2,
            "bias": False,
            "padding_mode": "reflect",
        },
        (2, 4, 6, 7),
    ),
    "Conv2d same": ((2, 3, (2, 3)), {"padding": "same", "padding_mode": "circular"}, (1, 2, 5, 5)),
    "Conv2d valid": ((2, 3, 2), {"padding": "valid", "padding_mode": "reflect"}, (1, 2, 5, 5)),
    "ConvTranspose2d": ((2, 3, 3), {}, (2, 2, 4, 3)),
    "ConvTranspose2d with everything": (
        (4, 6, (3, 2)),
        {"stride": (3, 2), "padding": (1, 0), "output_padding": (2, 1), "groups": 2, "bias": False, "dilation": (1, 2)},
        (2, 4, 3, 4),
    ),
}


def random(shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def pair_of_layers(case, method="rotate", dtype=torch.float64):
    """torch's layer and ours, made after the same seed; the global generator is left as it was."""
    args, keywords, shape = CASES[case]
    name = case.split()[0]
    layers = []
    for make in (getattr(torch.nn, name), getattr(ours, name)):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(7)
            extra = {"method": method} if make.__module__.startswith("convviz") else {}
            layers.append(make(*args, **keywords, dtype=dtype, **extra))
    return *layers, shape


def network(dtype=torch.float32):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return torch.nn.Sequential(
            torch.nn.Conv2d(2, 4, 3, stride=2, padding=1, groups=2, padding_mode="reflect"),
            torch.nn.Sequential(torch.nn.BatchNorm2d(4), torch.nn.ReLU()),
            torch.nn.ModuleDict({"up": torch.nn.ConvTranspose2d(4, 2, 3, stride=2, output_padding=1)})["up"],
            torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(2 * 10 * 8, 3)),
        ).to(dtype)


def swappable(model):
    kinds = torch.nn.Linear, torch.nn.Conv2d, torch.nn.ConvTranspose2d
    return [module for module in model.modules() if isinstance(module, kinds)]


# The layers by themselves.


@pytest.mark.parametrize("name", ["Linear", "Conv2d", "ConvTranspose2d"])
def test_constructor_is_torchs_with_one_more_keyword(name):
    wanted = inspect.signature(getattr(torch.nn, name)).parameters
    *got, method = inspect.signature(getattr(ours, name)).parameters.values()
    assert [(p.name, p.default, p.kind) for p in got] == [(p.name, p.default, p.kind) for p in wanted.values()]
    assert (method.name, method.default, method.kind) == ("method", "rotate", inspect.Parameter.KEYWORD_ONLY)


@pytest.mark.parametrize("layer", [ours.BinaryConv2d, ours.Conv2dShift, ours.XNORConv2d])
def test_quantised_layers_take_what_conv2d_takes_in_its_order(layer):
    given = {"stride": 2, "padding": 1, "dilation": (1, 2), "groups": 2, "bias": False, "padding_mode": "reflect"}
    by_order, by_name = layer(2, 4, 3, *given.values(), "cpu", torch.float64, method="taps"), layer(2, 4, 3, **given)
    assert (by_order.method, by_order.weight.dtype) == ("taps", torch.float64)
    assert repr(by_order).replace(", method='taps'", "") == repr(by_name)
    with pytest.raises(TypeError):
        layer(2, 4, 3, stripe=2)


@pytest.mark.parametrize("case", CASES)
def test_the_same_seed_gives_the_same_parameters_and_the_same_description(case):
    theirs, mine, _ = pair_of_layers(case)
    assert list(theirs.state_dict()) == list(mine.state_dict())
    assert all(torch.equal(a, b) for a, b in zip(theirs.parameters(), mine.parameters(), strict=True))
    assert repr(mine) == repr(theirs)
    mine.reset_parameters()
    assert {p.shape for p in mine.parameters()} == {p.shape for p in theirs.parameters()}


@pytest.mark.parametrize("case", CASES)
def test_state_dict_goes_both_ways(case):
    theirs, mine, shape = pair_of_layers(case)
    x = random(shape)
    with torch.no_grad():
        for parameter in mine.parameters():
            parameter.add_(1)
    theirs.load_state_dict(mine.state_dict())
    torch.testing.assert_close(theirs(x), mine(x))
    for parameter in theirs.parameters():
        torch.nn.init.constant_(parameter, 0.5)
    stored = io.BytesIO()
    torch.save(theirs.state_dict(), stored)
    stored.seek(0)
    mine.load_state_dict(torch.load(stored, weights_only=True))
    torch.testing.assert_close(mine(x), theirs(x))


@pytest.mark.parametrize("method", METHODS)
def test_output_size_of_the_transposed_convolution(method):
    layer = ours.ConvTranspose2d(2, 3, 3, stride=3, padding=1, method=method, dtype=torch.float64)
    theirs = torch.nn.ConvTranspose2d(2, 3, 3, stride=3, padding=1, dtype=torch.float64)
    theirs.load_state_dict(layer.state_dict())
    x = random((2, 2, 3, 4))
    for size in ([7, 10], [8, 12], [2, 3, 9, 11]):
        assert list(layer(x, size).shape[-2:]) == size[-2:]
        torch.testing.assert_close(layer(x, output_size=size), theirs(x, output_size=size))
    for size in ([6, 10], [7, 13], [7, 10, 1, 1, 1]):
        with pytest.raises(ValueError, match=r"output.size"):
            layer(x, size)


def test_description_names_the_method_only_where_it_is_not_the_default():
    for layer in (ours.Linear(2, 3), ours.Conv2d(1, 1, 2), ours.ConvTranspose2d(1, 1, 2)):
        assert "method" not in repr(layer)
        layer.method = "unfold"
        assert repr(layer).endswith(", method='unfold')")


@pytest.mark.parametrize("name", ["Linear", "Conv2d", "ConvTranspose2d"])
def test_an_unknown_method_is_refused_at_construction(name):
    args = (2, 2) if name == "Linear" else (2, 2, 3)
    with pytest.raises(ValueError, match="method is one of taps, unfold, rotate, aten: got 'fft'"):
        getattr(ours, name)(*args, method="fft")


def test_forward_goes_the_way_of_the_method():
    x = torch.zeros(1, 2, 5, 5)
    for layer in (
        ours.Linear(5, 3),
        ours.Conv2d(2, 3, 3),
        ours.ConvTranspose2d(2, 3, 3),
        ours.BinaryConv2d(2, 3, 3),
        ours.Conv2dShift(2, 3, 3),
        ours.XNORConv2d(2, 3, 3),
    ):
        layer.method = "fft"  # all methods give the same numbers; who is asked for one that is none must say so
        with pytest.raises(ValueError, match="method is one of taps, unfold, rotate, aten: got 'fft'"):
            layer(x)


@pytest.mark.parametrize("case", CASES)
def test_copies_and_pickles_compute_the_same(case):
    _, layer, shape = pair_of_layers(case, "unfold")
    x = random(shape)
    stored = io.BytesIO()
    torch.save(layer, stored)
    stored.seek(0)
    swapped = ours.replace(pair_of_layers(case)[0], "unfold")  # which has changed its class, and its parameters stay
    swapped.load_state_dict(layer.state_dict())
    copies = copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), torch.load(stored, weights_only=False)
    copies += copy.deepcopy(swapped), pickle.loads(pickle.dumps(swapped))
    for twin in copies:
        assert type(twin) is type(layer)
        assert repr(twin) == repr(layer)
        assert torch.equal(twin(x), layer(x))
        assert all(a is not b for a, b in zip(twin.parameters(), layer.parameters(), strict=True))


def test_device_and_dtype():
    layer = ours.Conv2d(1, 2, 3, device="meta", dtype=torch.bfloat16)
    assert layer.weight.is_meta
    assert layer.bias.dtype is torch.bfloat16
    assert ours.Linear(1, 2, device="meta", dtype=torch.float64).weight.is_meta
    assert ours.ConvTranspose2d(1, 2, 3, dtype=torch.float64).weight.dtype is torch.float64


def test_a_layer_is_compiled_whole_and_narrowed_by_autocast():
    """As the quantised layers are under torch.func, see test_quantised.py; the operators: test_operators_transforms."""
    layer, x = ours.Conv2d(2, 3, 3, padding=1), random((4, 2, 5, 5), dtype=torch.float32)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), layer(x))
    with torch.autocast("cpu", torch.bfloat16):
        output = layer(x)
    assert output.dtype is torch.bfloat16
    output.sum().backward()
    assert layer.weight.grad.dtype is torch.float32


# replace.


@pytest.mark.parametrize("method", METHODS)
def test_replace_swaps_at_every_depth_and_back(method):
    model, original = network(torch.float64).eval(), network(torch.float64).eval()
    parameters, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    x = random((2, 2, 7, 6))
    assert ours.replace(model, method) is model
    assert [type(layer) for layer in swappable(model)] == [ours.Conv2d, ours.ConvTranspose2d, ours.Linear]
    assert {layer.method for layer in swappable(model)} == {method}
    torch.testing.assert_close(model(x), original(x))
    assert ours.replace(model, method=None) is model
    assert repr(model) == repr(original)
    assert [type(layer) for layer in swappable(model)] == [type(layer) for layer in swappable(original)]
    assert not any(hasattr(layer, "method") for layer in model.modules())
    assert [vars(a).keys() for a in model.modules()] == [vars(a).keys() for a in original.modules()]
    for kept, now in ((parameters, model.named_parameters()), (buffers, model.named_buffers())):
        now = dict(now)
        assert kept.keys() == now.keys()
        assert all(kept[name] is now[name] for name in kept)
    assert torch.equal(model(x), original(x))


def test_replace_has_torchs_method_name_default_and_changes_the_method_of_ours():
    model = ours.replace(network())
    assert {layer.method for layer in swappable(model)} == {"rotate"}
    ours.replace(model, "aten")
    assert {layer.method for layer in swappable(model)} == {"aten"}
    assert {type(layer) for layer in swappable(model)} == {ours.Conv2d, ours.ConvTranspose2d, ours.Linear}


def test_an_optimizer_made_before_goes_on_working():
    model, original = network(), network()
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (model, original)]
    x, target = random((4, 2, 7, 6), dtype=torch.float32), torch.tensor([0, 1, 2, 0])
    for method in (None, "unfold", "aten", None):
        ours.replace(model, method)
        for network_, optimizer in zip((model, original), optimizers, strict=True):
            optimizer.zero_grad()
            F.cross_entropy(network_(x), target).backward()
            optimizer.step()
    for a, b in zip(model.parameters(), original.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-6)


def test_hooks_flags_and_attributes_survive():
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 2)).eval()
    layer, seen = model[0], []
    layer.register_forward_hook(lambda module, args, output: seen.append("forward"))
    layer.register_full_backward_hook(lambda module, gradient, _: seen.append("backward"))
    layer.register_buffer("counter", torch.zeros(1))
    layer.weight.requires_grad_(False)
    layer.nickname = "first"
    for method in ("rotate", None):
        seen.clear()
        ours.replace(model, method)
        model(torch.ones(1, 1, 3, 3, requires_grad=True)).sum().backward()
        assert seen == ["forward", "backward"]
        assert not layer.training
        assert not layer.weight.requires_grad
        assert layer.nickname == "first"
        assert "counter" in layer.state_dict()
        assert model[0] is layer


def test_a_shared_layer_is_swapped_once_and_stays_shared():
    shared = torch.nn.Linear(3, 3)
    model = torch.nn.Sequential(shared, torch.nn.Sequential(shared))
    ours.replace(model, "aten")
    assert model[0] is model[1][0]
    assert type(shared) is ours.Linear
    ours.replace(model, None)
    assert type(model[1][0]) is torch.nn.Linear
    ours.replace(model, None)
    assert type(model[1][0]) is torch.nn.Linear


def test_what_somebody_else_derived_is_left_alone():
    class Theirs(torch.nn.Conv2d):
        pass

    class FromOurs(ours.Conv2d):
        pass

    parametrized = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 2))
    kinds = Theirs(1, 1, 2), FromOurs(1, 1, 2), parametrized, ours.BinaryConv2d(1, 1, 2), torch.nn.LazyConv2d(1, 2)
    model = torch.nn.ModuleList(kinds)
    before = [type(module) for module in kinds]
    for method in ("taps", None):
        ours.replace(model, method)
        assert [type(module) for module in kinds] == before
    assert kinds[1].method == kinds[3].method == "rotate"


def test_replace_refuses_before_it_changes_anything():
    model = network()
    with pytest.raises(ValueError, match=re.escape("method is one of taps, unfold, rotate, aten: got 'fast'")):
        ours.replace(model, "fast")
    assert repr(model) == repr(network())
    with pytest.raises(TypeError, match=re.escape("model must be a torch.nn.Module: got list")):
        ours.replace([torch.nn.Linear(1, 1)])
