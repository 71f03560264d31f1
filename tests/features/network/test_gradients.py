"""Every gradient of a recorded run against torch.autograd.grad by that very tensor, in the same run."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.graph import GradientEdge

import convviz
from convviz.features.network import record as recording
from convviz.features.network.send_back import WayBack
from convviz.nn import Conv2d as OurConv2d
from tests.features.network.nets import LeNet, ResNet18, Separable, TwoInputs, UNet, made, seeded


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone() * 3

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


class Greedy(Scaled):
    @staticmethod
    def backward(ctx, grad):
        return grad.mul_(3)  # writes into what it got, which one should not


class Odd(nn.Module):
    """What models do besides layers: views that are written to, attributes, own functions, hooks."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.scale = nn.Parameter(torch.ones(4, 1, 1))
        self.normed = nn.utils.parametrizations.weight_norm(nn.Conv2d(4, 4, 1))

    def forward(self, x):
        y = self.conv(x)
        y[:, 0] = y[:, 1] * 2
        y[:, 2:].mul_(0.5)
        y.register_hook(lambda grad: grad * 2)
        left, right = y.chunk(2, 1)
        y = torch.stack([left, right], 1).flatten(1, 2) * self.scale
        y = Scaled.apply(y) + self.normed(y).transpose(2, 3)
        return F.pad(y, (1, 1)).permute(0, 2, 3, 1).clamp_(-1, 1)


class Applied(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function, self.linear = function, nn.Linear(3, 3)

    def forward(self, x):
        return self.function.apply(self.linear(x))


MODELS = {
    "lenet": (lambda: made(LeNet), (3, 1, 32, 32)),
    "resnet": (lambda: made(ResNet18, 4), (2, 3, 64, 64)),
    "unet": (lambda: made(UNet), (2, 1, 8, 8)),
    "separable": (lambda: made(Separable), (2, 4, 6, 6)),
    "two inputs": (lambda: made(TwoInputs), ((2, 1, 8, 8), (2, 5))),
    "odd": (lambda: made(Odd), (2, 2, 5, 5)),
    "ours": (lambda: made(lambda: nn.Sequential(OurConv2d(2, 3, 3), nn.ReLU())), (2, 2, 5, 5)),
    "one image": (lambda: made(lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.MaxPool2d(2))), (2, 6, 6)),
}


@pytest.fixture
def asked(monkeypatch):
    """Ask autograd for the gradients by the outputs, too, in the backward pass that is recorded."""
    found = {}
    send = WayBack.send

    def both(self, start, gradient=None, **options):
        edges = {index: edge for index, edge in enumerate(self.edges) if edge is not None}
        gradients = torch.autograd.grad(
            [start],
            [GradientEdge(edge.node, edge.output_nr) for edge in edges.values()],
            None if gradient is None else [gradient],
            retain_graph=True,
            allow_unused=True,
        )
        found.clear()
        found.update({index: g if g is None else g.clone() for index, g in zip(edges, gradients, strict=True)})
        return send(self, start, gradient, **options)

    monkeypatch.setattr(WayBack, "send", both)
    return found


def same(found, truth):
    return truth is None if found is None else truth is not None and torch.equal(found, truth)


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_autograd_bit_for_bit(name, asked):
    make, shape = MODELS[name]
    many = shape if isinstance(shape[0], tuple) else (shape,)
    x = tuple(torch.randn(each, generator=seeded()) for each in many)
    network = convviz.network(make(), x, lambda y: (y * y).sum())
    assert sum(each is not None for each in asked.values()) >= len(network.operations) - 3  # views
    for operation in network.operations:
        assert same(network.gradients[operation.index], asked.get(operation.index)), operation
    cell = network.operations[2]
    back = network.back(cell, [0] * len(cell.shape))
    for operation, found in zip(network.operations, back.gradients, strict=True):
        truth = asked.get(operation.index)
        if truth is not None and operation.batched:
            truth = truth[:1]
        assert same(found, truth), operation


def test_a_function_that_writes_into_its_gradient_changes_none_that_is_kept():
    x = torch.randn(2, 3, generator=seeded())
    for function in (Scaled, Greedy):
        network = convviz.network(made(Applied, function), x, lambda y: (y * torch.ones(2, 3)).sum())
        assert [each.kind for each in network.operations[:3]] == ["input", "linear", function.__name__]
        assert torch.equal(network.gradients[2], torch.ones(2, 3))
        assert torch.equal(network.gradients[1], torch.full((2, 3), 3.0))


def test_gradients_of_weights_are_those_of_backward():
    model = made(ResNet18, 4)
    x = torch.randn(2, 3, 64, 64, generator=seeded())
    network = convviz.network(model, x)
    model.double()
    model(x.double()).sum().backward()
    for operation in network.operations:
        if operation.weight is None:
            continue
        truth = model.get_parameter(operation.weight.name)
        found = network.backs[0].weights[operation.index]
        assert torch.allclose(found.gradient.double(), truth.grad, rtol=1e-2, atol=1e-4 * truth.grad.abs().max())
        assert found.ratio == pytest.approx(float(truth.grad.norm() / truth.detach().norm()), rel=1e-2)


def test_outputs_are_kept_as_they_were_made():
    model = made(ResNet18, 4).double().eval()
    x = torch.randn(1, 3, 32, 32, generator=seeded()).double()
    seen = {}

    def keep(name, out):
        seen.setdefault(name, out.detach().clone())

    handles = [
        module.register_forward_hook(lambda module, args, out, name=name: keep(name, out))
        for name, module in model.named_modules()
        if not list(module.children())
    ]
    model(x)
    for handle in handles:
        handle.remove()
    network = convviz.network(model, x)
    kept = {name: network[name].output for name in seen}
    assert {"bn1", "relu", "layer2.0.downsample.1"} <= kept.keys()
    for name, output in kept.items():
        assert torch.equal(output, seen[name]), name
    add = network["layer1.0.add"]
    assert [network.operations[source].label for source in add.sources] == ["layer1.0.bn2", "maxpool"]
    assert torch.equal(add.output, sum(network.operations[source].output for source in add.sources))


def test_two_inputs_by_place_and_by_name():
    model = made(TwoInputs)
    image, table = torch.randn(2, 1, 8, 8, generator=seeded()), torch.randn(2, 5, generator=seeded(1))
    placed, named = convviz.network(model, (image, table)), convviz.network(model, {"table": table, "image": image})
    assert [each.label for each in placed.operations[:2]] == ["input[0]", "input[1]"]
    assert [each.label for each in named.operations[:2]] == ["table", "image"]
    leaves = [image.clone().requires_grad_(), table.clone().requires_grad_()]
    truth = torch.autograd.grad(model(*leaves).sum(), leaves)
    for found, gradient in zip(placed.gradients[:2], truth, strict=True):
        assert torch.equal(found, gradient)
    assert torch.equal(named["image"].output, image)


def test_a_layer_that_runs_twice_is_two_operations_and_one_gradient():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 2, 3, padding=1)

        def forward(self, x):
            return self.conv(F.relu(self.conv(x)))

    network = convviz.network(made(Twice), torch.randn(1, 2, 4, 4, generator=seeded()))
    first, second = network["conv"], network["conv #2"]
    weights = network.backs[0].weights
    assert torch.equal(weights[first.index].gradient, weights[second.index].gradient)
    assert not torch.equal(network.gradients[first.index], network.gradients[second.index])


def test_what_is_too_large_is_kept_for_one_sample(monkeypatch):
    model, x = made(UNet), torch.randn(4, 1, 8, 8, generator=seeded())
    whole = convviz.network(model, x, sample=2)
    small = recording.record(model, x, sample=2, max_bytes=5000)
    assert small.one_sample
    assert not whole.one_sample
    assert {each.output.shape[0] for each in small.operations} == {1, 4}
    for one, other, a, b in zip(whole.operations, small.operations, whole.gradients, small.gradients, strict=True):
        assert torch.equal(one.of_sample(one.output, 2), other.of_sample(other.output, 2))
        assert torch.equal(one.of_sample(a, 2), other.of_sample(b, 2))
        assert one.stats == other.stats
    assert whole.backs[0].stats == small.backs[0].stats


def test_other_number_formats_and_layouts():
    model, x = made(UNet), torch.randn(2, 1, 8, 8, generator=seeded())
    plain = convviz.network(model, x)
    last = convviz.network(model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = convviz.network(model, x)
    assert mixed["down1"].output.dtype is torch.bfloat16
    for network, near in ((last, 1e-4), (mixed, 0.1)):
        for one, other in zip(plain.backs[0].rms, network.backs[0].rms, strict=True):
            assert other == pytest.approx(one, rel=near)
