"""A recorded model is left as it was, also after an error; what cannot be recorded is refused in a sentence."""

import gc
import weakref

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import convviz
from convviz.features.network.page_data import NetworkPage
from tests.features.network.nets import Block, LeNet, ResNet18, UNet, made, seeded


def state(model):
    """Return all that a recording could leave changed."""
    hooks = [
        {name: list(value) for name, value in vars(module).items() if "hook" in name and hasattr(value, "keys")}
        for module in model.modules()
    ]
    tensors = {
        name: (each.data_ptr(), each.detach().clone()) for name, each in model.state_dict(keep_vars=True).items()
    }
    grads = {name: each.grad for name, each in model.named_parameters()}
    assert torch.overrides._get_current_function_mode() is None
    return hooks, tensors, grads, [module.training for module in model.modules()], torch.get_rng_state().clone()


def check_same(before, after):
    assert before[0] == after[0]
    for name, (place, tensor) in before[1].items():
        assert after[1][name][0] == place
        assert torch.equal(after[1][name][1], tensor), name
    assert all(after[2][name] is grad for name, grad in before[2].items())
    assert before[3] == after[3]
    assert torch.equal(before[4], after[4])


class Wild(nn.Module):
    """In training, random, writing into its input and its buffers."""

    def __init__(self, error=None):
        super().__init__()
        self.conv, self.bn, self.error = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), error
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        x.mul_(2)
        self.count += 1
        x = F.dropout(self.bn(self.conv(x)), 0.5) + torch.rand(())
        if self.error:
            raise self.error
        return x


@pytest.mark.parametrize("error", [None, RuntimeError("of its own")])
def test_a_model_is_left_as_it_was(error):
    model, x = made(Wild, error), torch.randn(2, 3, 6, 6, generator=seeded())
    model.conv.register_forward_hook(lambda *_: None)
    model.conv.weight.grad = torch.ones(4, 3, 3, 3)
    before, given, version = state(model), x.clone(), x._version
    if error:
        with pytest.raises(RuntimeError, match="of its own"):
            convviz.network(model, x)
    else:
        network = convviz.network(model, x)
        network.back("conv", (0, 1, 1))
        assert torch.equal(network["input"].output, given)
    check_same(before, state(model))
    assert torch.equal(x, given)
    assert (x._version, x.requires_grad, x.grad) == (version, False, None)
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("way", ["pre", "forward", "backward", "tensor"])
def test_a_hook_that_raises_leaves_nothing_hooked(way):
    def fail(*_):
        raise RuntimeError("from a hook")

    model = made(LeNet)
    if way == "pre":
        model.conv2.register_forward_pre_hook(fail)
    elif way == "forward":
        model.conv2.register_forward_hook(fail)
    elif way == "backward":
        model.conv2.register_full_backward_hook(fail)
    else:
        model.conv2.register_forward_hook(lambda module, args, out: out.register_hook(fail) and None)
    before = state(model)
    with pytest.raises(RuntimeError, match="from a hook"):
        convviz.network(model, torch.randn(1, 1, 32, 32, generator=seeded()))
    check_same(before, state(model))


def test_modules_hooks_on_the_way_back_are_no_operations():
    model, x = made(LeNet), torch.randn(1, 1, 32, 32, generator=seeded())
    plain = convviz.network(model, x)
    seen = []
    model.conv2.register_full_backward_hook(lambda module, into, out: seen.append(out[0].clone()))
    hooked = convviz.network(model, x)
    assert [each.label for each in hooked.operations] == [each.label for each in plain.operations]
    assert torch.equal(seen[0], hooked.gradients[hooked["conv2"].index])


def test_modes_of_the_caller():
    model, x = made(UNet), torch.randn(1, 1, 8, 8, generator=seeded())
    plain = convviz.network(model, x).gradients
    with torch.no_grad():
        same = convviz.network(model, x).gradients
    with torch.inference_mode():
        again = convviz.network(model, x).gradients
    for one, other, third in zip(plain, same, again, strict=True):
        assert torch.equal(one, other)
        assert torch.equal(one, third)


def test_what_is_dropped_is_freed():
    model, x = made(UNet), torch.randn(1, 1, 8, 8, generator=seeded())
    for live in (True, False):
        network = convviz.network(model, x, live=live)
        kept = weakref.ref(network["out"].output), weakref.ref(network.gradients[2])
        del network
        gc.collect()
        assert [each() for each in kept] == [None, None]


def test_compiled_models_run_as_the_python_that_they_are():
    model, x = made(LeNet), torch.randn(1, 1, 32, 32, generator=seeded())
    labels = [each.label for each in convviz.network(model, x).operations]
    before = state(model)
    whole = torch.compile(model, backend="eager")
    assert [each.label for each in convviz.network(whole, x).operations] == labels
    check_same(before, state(model))
    model.conv1 = torch.compile(model.conv1, backend="eager")
    assert [each.label for each in convviz.network(model, x).operations] == labels
    applied = Applied(torch.compile(lambda y: y.tanh() * 2, backend="aot_eager"))
    called = convviz.network(applied, torch.randn(2, 3, generator=seeded()))
    assert [each.label for each in called.operations] == ["input", "linear", "tanh", "mul"]


def test_the_way_back_leads_through_a_scripted_part():
    part = torch.jit.script(nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU()))
    network = convviz.network(nn.Sequential(part, nn.Conv2d(2, 1, 3)), torch.randn(1, 1, 8, 8, generator=seeded()))
    assert [each.sources for each in network.operations] == [(), *((i,) for i in range(len(network.operations) - 1))]
    assert all(torch.count_nonzero(each) for each in network.gradients)


def refused(match, model, x, loss=None, kind=ValueError):
    before = state(model) if isinstance(model, nn.Module) else None
    with pytest.raises(kind, match=match):
        convviz.network(model, x, loss)
    if before:
        check_same(before, state(model))


class Applied(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.linear, self.function = nn.Linear(3, 3), function

    def forward(self, x):
        return self.function(self.linear(x))


def test_refusals():
    x = torch.randn(2, 3, generator=seeded())
    for function in (torch.detach, lambda y: y.argmax(1).float(), torch.no_grad()(lambda y: y * 2)):
        refused(r"after linear\b.* the run leaves", Applied(function), x)
    for output in (lambda y: (y, y), lambda y: {"scores": y}, lambda y: 3.0, lambda y: None):
        refused("the model returns a (tuple|dict|float|NoneType)", Applied(output), x)
    assert convviz.network(Applied(lambda y: {"scores": y}), x, lambda out: out["scores"].sum()).found
    refused("loss returns one number", Applied(lambda y: y), x, lambda y: y)
    refused("loss is a function", Applied(lambda y: y), x, 3, TypeError)
    refused("records a torch.nn.Module", torch.relu, x, kind=TypeError)
    refused("no tensor in it", Applied(lambda y: y), 3, kind=TypeError)
    refused("ScriptModule", torch.jit.script(nn.Linear(3, 3)), x)
    refused("ScriptModule", torch.jit.trace(nn.Linear(3, 3), x), x)
    refused("model.module", nn.DataParallel(nn.Linear(3, 3)), x)
    refused(r"has no numbers, its shape is \[0, 3\]", nn.Linear(3, 3), x[:0])
    refused(r"x\.to_dense", nn.Linear(3, 3), x.to_sparse())
    refused(r"x\.dequantize", nn.Linear(3, 3), torch.quantize_per_tensor(x, 0.1, 0, torch.qint8))
    refused("is on cpu, and x is on meta|x is on the meta device", Applied(lambda y: y), x.to("meta"))
    refused("more than one value per channel", nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)), x[:1])
    with pytest.raises(ValueError, match="call the model once"):
        convviz.network(nn.LazyLinear(3), x)
    with pytest.raises(ValueError, match="meta device"):
        convviz.network(nn.Linear(3, 3, device="meta"), x)
    embedded = nn.Embedding(4, 2).requires_grad_(False)
    refused("Nothing in this run has a gradient", embedded, torch.tensor([1, 2]))
    refused("writes in place over", Applied(lambda y: y.exp().mul_(2)), x)
    with pytest.raises(ValueError, match="sample is one of 0 to 1: got 2"):
        convviz.network(Applied(torch.relu), x, sample=2)


def test_quantised_layers_are_refused():
    quantised = pytest.importorskip("torch.ao.nn.quantized")
    refused("quantised layer", nn.Sequential(quantised.ReLU6()), torch.ones(1, 3))


def test_a_network_says_when_it_cannot_send_back():
    model, x = made(LeNet), torch.randn(1, 1, 32, 32, generator=seeded())
    with pytest.raises(ValueError, match="live=True"):
        convviz.network(model, x, live=False).back("conv2", (0, 0, 0))
    network = convviz.network(model, x)
    with pytest.raises(ValueError, match=r"shape \[16, 10, 10\]: got \[16, 0, 0\]"):
        network.back("conv2", (16, 0, 0))
    with torch.no_grad():
        model.fc1.weight.mul_(2)
    with pytest.raises(ValueError, match="record the network again"):
        network.back("fc3", 0)


def test_whole_numbers_go_in_and_a_thousand_operations_are_no_trouble():
    tokens = torch.tensor([[1, 2], [0, 3]])
    network = convviz.network(nn.Sequential(nn.Embedding(4, 3), nn.Linear(3, 1)), tokens)
    assert network.gradients[0] is None
    assert network.operations[1].weight.shape == (4, 3)
    deep = nn.Sequential(*[nn.Conv1d(1, 1, 1), nn.ReLU()] * 500)
    assert len(convviz.network(deep, torch.ones(1, 1, 2)).operations) == 1001


def test_a_resnet_of_152_layers_is_drawn_whole_and_left_as_it_was():
    blocks = [each for _ in range(50) for each in (Block(4, 4), nn.Conv2d(4, 4, 1, bias=False))]  # three each
    model = made(
        lambda: nn.Sequential(nn.Conv2d(3, 4, 3), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
    )
    before, x = state(model), torch.randn(2, 3, 12, 12, generator=seeded())
    network = convviz.network(model, x)
    check_same(before, state(model))
    assert len(network.operations) > 400
    assert sum(each.kind in ("conv2d", "linear") for each in network.operations) == 152
    data = NetworkPage(network).data()
    assert len(data["planes"]) == len(data["backs"][0]["planes"]) == len(network.operations)
    assert data["finding"]["id"].startswith("find.")
    assert network.to_svg().count("<title>") == 1 + len(network.operations)


def test_resnet_is_recorded_the_same_twice():
    model, x = made(ResNet18, 4), torch.randn(2, 3, 32, 32, generator=seeded())
    first, second = convviz.network(model, x), convviz.network(model, x)
    assert str(first) == str(second)
