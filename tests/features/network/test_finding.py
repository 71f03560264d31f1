"""The one sentence against autograd by itself, on 200 nets with something the matter."""

import itertools
import json
import math
from collections import Counter
from importlib.resources import files

import pytest
import torch
from torch import nn

import convviz
from convviz.features.network.measure import Stats, measure
from convviz.features.network.numbers import power
from tests.features.network.broken_nets import DEFECTS, broken_net
from tests.features.network.nets import ResNet18, made, seeded

WORDS = json.loads(files("convviz.features.network").joinpath("words.json").read_text("utf-8"))
NETS = 8 * len(DEFECTS)


class Truth:
    """A run of a net by its modules' hooks alone."""

    def __init__(self, model, x):
        self.outputs, self.inputs = {"input": x.clone().requires_grad_()}, {}
        handles = [
            module.register_forward_hook(lambda module, args, out, name=name: self.keep(name, args, out))
            for name, module in model.named_modules()
            if not list(module.children())
        ]
        value = model(self.outputs["input"]).sum()
        for handle in handles:
            handle.remove()
        self.gradients = {
            name: torch.autograd.grad(value, out, retain_graph=True, allow_unused=True)[0]
            if out.requires_grad
            else None
            for name, out in self.outputs.items()
        }
        parameters = {
            name: each
            for name, each in model.named_parameters()
            if name.endswith("weight") and name.removesuffix(".weight") in self.outputs
        }
        self.weights = {
            name: (each, torch.autograd.grad(value, each, retain_graph=True, allow_unused=True)[0])
            for name, each in parameters.items()
            if each.requires_grad
        }
        self.frozen = [name for name, each in parameters.items() if not each.requires_grad]
        self.all = len(parameters)

    def keep(self, name, args, out):
        again = sum(each.partition(" #")[0] == name for each in self.outputs)
        name = f"{name} #{again + 1}" if again else name
        self.outputs[name], self.inputs[name] = out, args[0]

    def rms(self, name):
        return float(self.gradients[name].square().mean().sqrt())

    def ratio(self, name, other):
        return power(self.rms(name) / self.rms(other))

    def weighted(self):
        """Return the runs of layers with a weight that is trained."""
        return [name for name in self.outputs if f"{name.partition(' #')[0]}.weight" in self.weights]

    def steps(self, start, end):
        """Return how the gradient changes from module to module, from the start to the end, or to where they meet."""
        names = list(self.outputs)
        names = names[names.index(start) : names.index(end) + 1]
        if ".other" in end:
            names = [*(each for each in names if ".one" in each), f"{start.partition('.')[0]}.add"]
        return [self.rms(a) / self.rms(b) for a, b in itertools.pairwise(names)]


def what(tensor):
    return "nan" if tensor.isnan().any() else "inf"


def first_not_finite(tensors):
    """Return the name of the first that has numbers which are nan or inf."""
    return next(name for name, each in tensors if each is not None and not each.isfinite().all())


def holds(id, args, truth):
    """Return whether what a sentence says is so."""
    outputs, gradients, weights = truth.outputs, truth.gradients, truth.weights
    name = args.get("name", "")
    without = [each for each, (_, gradient) in weights.items() if gradient is None]
    zero = [each for each, (_, gradient) in weights.items() if gradient is not None and not gradient.any()]
    if id == "find.dead":
        through = torch.autograd.grad(outputs[name].sum(), truth.inputs[name], allow_unused=True)[0]
        return not outputs[name].any() and not through.any()
    if id.startswith(("find.vanishing", "find.exploding")):
        far, sign = truth.rms(args["end"]) / truth.rms(name), 1 if "vanish" in id else -1
        ways = truth.steps(name, args["end"])
        weight, gradient = weights[f"{name}.weight"]
        return (
            (far > 1e4 if sign > 0 else far < 1e-4)
            and args["ratio"] == truth.ratio(name, args["end"])
            and args["factor"] == truth.ratio(args["before"], args["after"])
            and args["factor"] == power((min if sign > 0 else max)(ways))
            and ("step" in id) == bool(weight.any())
            and ("step" not in id or args["change"] == power(float(gradient.norm() / weight.detach().norm())))
        )
    if id in ("find.cut", "find.cut.several", "find.some_none"):
        assert (args["count"], args["all"]) == (len(without), len(weights))
        if id == "find.some_none":
            return f"{name}.weight" == without[0]
        assert args.get("places", 2) == 2, "of two that are detached"
        return gradients[name] is None and outputs[name].requires_grad and not outputs[args["cut"]].requires_grad
    if id == "find.branch_cut":
        cut = args["cut"].removesuffix(".detach")
        return gradients[name] is not None and (cut != args["cut"] or not outputs[cut].requires_grad)
    if id in ("find.zero", "find.zero_by_weight"):
        after = weights.get(f"{args['after']}.weight")
        return (
            not gradients[name].any()
            and gradients[args["after"]].any()
            and (args["count"], args["all"], f"{args['first']}.weight") == (len(zero), len(weights), zero[0])
            and (id == "find.zero" or not after[0].any())
        )
    if id == "find.weight_zero":
        assert gradients[args["first"]].any()
        return (args["count"], args["all"], f"{args['first']}.weight") == (len(zero), len(weights), zero[0])
    if id in ("find.output_not_finite", "find.weight_not_finite", "find.input_not_finite"):
        bad = first_not_finite(outputs.items())
        named = f"{name}.weight" in weights and not weights[f"{name}.weight"][0].isfinite().all()
        assert (id == "find.weight_not_finite") == named
        assert (id == "find.input_not_finite") == (bad == "input")
        return bad == name and args.get("what", what(outputs[bad])) == what(outputs[bad])
    if id in ("find.gradient_not_finite", "find.grad_weight_not_finite"):
        assert all(each.isfinite().all() for each in outputs.values())
        there = (
            reversed(gradients.items())
            if id == "find.gradient_not_finite"
            else [(each.removesuffix(".weight"), gradient) for each, (_, gradient) in weights.items()]
        )
        if id == "find.grad_weight_not_finite":
            assert all(each is None or each.isfinite().all() for each in gradients.values())
        return first_not_finite(there) == name
    if id == "find.unused":
        return gradients[name] is None and outputs[name].requires_grad
    if id == "find.frozen":
        return (len(truth.frozen), truth.all) == (args["count"], args["all"]) and f"{name}.weight" == truth.frozen[0]
    if id in ("find.branch_zero", "find.branch_faint"):
        sides = [float(outputs[args[side]].detach().square().mean().sqrt()) for side in ("faint", "other")]
        return sides[0] == 0 if id == "find.branch_zero" else args["ratio"] == power(sides[0] / sides[1])
    sizes = [truth.rms(each) for each in truth.weighted()]
    if id == "find.healthy":
        return not without and args["factor"] == power(max(sizes) / min(sizes))
    if id == "find.one_layer":
        return truth.all == 1 and args == {"name": truth.weighted()[0], "size": power(sizes[0])}
    raise AssertionError(id)


EXPECTED = {
    "dead": {"find.dead"},
    "no_grad": {"find.cut"},
    "detach": {"find.cut"},
    "two detached": {"find.cut.several"},
    "inf": {"find.output_not_finite"},
    "nan": {"find.output_not_finite"},
    "nan weight": {"find.weight_not_finite"},
    "unused": {"find.unused"},
    "zero weight": {"find.zero_by_weight", "find.healthy"},  # of the first layer: only the input gets nothing
    "zero branch": {"find.zero"},
    "dead branch": {"find.dead"},
    "all frozen": {"find.frozen"},
    "detached skip": {"find.branch_cut"},
    "straight through": {"find.branch_cut"},
    "bias nan": {"find.output_not_finite"},
    "input inf": {"find.input_not_finite"},
    "compared": {"find.unused"},
    "steep": {"find.gradient_not_finite"},
    "huge gradient": {"find.grad_weight_not_finite"},
    "black input": {"find.weight_zero"},
    "vanishing from zero": {"find.vanishing"},
    "exploding from zero": {"find.exploding", "find.healthy"},
    "shared": {"find.healthy"},
    "unused relu": {"find.healthy"},
    "side branch": {"find.vanishing.step"},
    "weak branch": {"find.branch_faint", "find.healthy"},
    "empty branch": {"find.branch_zero"},
    "alone": {"find.one_layer"},
    "no grad_weight": {"find.some_none"},
}


def test_what_is_said_is_so():
    found = Counter()
    for seed in range(NETS):
        model, x, defect = broken_net(seed)
        try:
            network = convviz.network(model, x, live=False)
        except ValueError as error:
            assert "graph" in str(error), (seed, defect, error)  # noqa: PT017
            continue
        said = network.found
        assert said is not None, (seed, defect)
        assert holds(said.id, said.args, Truth(model, x)), (seed, defect, network.finding, str(network))
        found[said.id] += 1
        expected = EXPECTED.get(defect, set())
        graver = {"find.dead", "find.zero", "find.vanishing.step", "find.exploding.step"}
        assert not expected or said.id in expected | graver, (seed, defect, network.finding)
    assert found.keys() == {id for id in WORDS if id.startswith("find.")}, found
    assert found["find.healthy"] >= 10, found


def test_a_resnet_with_skips_and_one_with_sigmoids():
    x = torch.randn(2, 3, 32, 32, generator=seeded())
    assert convviz.network(made(ResNet18, 4), x, lambda y: y[:, 0].sum()).found.id == "find.healthy"
    layers = [each for _ in range(12) for each in (nn.Conv2d(3, 3, 3, padding=1), nn.Sigmoid())]
    network = convviz.network(nn.Sequential(*layers, nn.Flatten(), nn.Linear(3072, 2)), x)
    assert network.found.id == "find.vanishing.step"
    assert network.found.args["name"] == "0"
    assert "·10⁻" in network.finding


def test_the_loss_itself_may_give_nothing():
    network = convviz.network(nn.Sequential(nn.Linear(3, 3), nn.Tanh()), torch.ones(2, 3), lambda y: y.sum() * 0)
    assert (network.found.id, network.found.args["name"]) == ("find.zero", "sum")
    assert network.found.args["after"] == "mul"


class Nothing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y):
        return y.sum()

    @staticmethod
    def backward(ctx, grad):
        return torch.zeros(2, 3)


def test_a_loss_that_nothing_saw_may_give_nothing():
    network = convviz.network(made(nn.Linear, 3, 3), torch.ones(2, 3), Nothing.apply)
    assert network.found.id == "find.zero"
    assert network.found.args == {"count": 1, "all": 1, "name": "linear", "after": "Nothing", "first": "linear"}


class Attention(nn.Module):
    """Whose ``out_proj`` does not run: attention uses its weight itself."""

    def __init__(self):
        super().__init__()
        self.attention, self.spare = nn.MultiheadAttention(4, 2, batch_first=True), nn.Linear(3, 3)

    def forward(self, x):
        return self.attention(x, x, x)[0]


def test_a_layer_is_idle_where_nothing_used_its_weight():
    x = torch.randn(2, 3, 4, generator=seeded())
    for train in (True, False):
        model = made(Attention).requires_grad_(train)
        assert convviz.network(model, x).idle == ("spare",)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sizes_whose_squares_have_no_place_are_right(dtype):
    far = 100 if dtype is torch.float64 else 20
    for scale in (2.0**far, 2.0**-far, 2.0**9 * 2.0 ** (8 * far)) if dtype is torch.float64 else (2.0**far, 2.0**-far):
        values = torch.tensor([3.0, 4.0, 0.0, 0.0], dtype=dtype) * scale
        assert measure(values) == Stats(2.5 * scale, 0.5)
    assert math.isnan(measure(torch.tensor([math.inf, math.nan], dtype=dtype)).rms)
    assert measure(torch.tensor([math.inf, -1.0], dtype=dtype)).rms == math.inf


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (3e-10, "3·10⁻¹⁰"),
        (0.12, "0.12"),
        (0.0012, "0.0012"),
        (454.4, "454"),
        (1.0, "1.0"),
        (2.5e6, "2.5·10⁶"),
        (0, "0"),
    ],
)
def test_powers_of_ten(number, text):
    assert power(number) == text
