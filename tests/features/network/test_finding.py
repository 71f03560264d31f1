"""The one sentence against autograd by itself, on 200 nets with something the matter."""

from collections import Counter

import pytest
import torch
from torch import nn

import convviz
from convviz.features.network.numbers import power
from tests.features.network.broken_nets import broken_net
from tests.features.network.nets import ResNet18, made, seeded

NETS = 216


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
        parameters = {name: each for name, each in model.named_parameters() if name.endswith("weight")}
        self.weights = {
            name: (each, torch.autograd.grad(value, each, retain_graph=True, allow_unused=True)[0])
            for name, each in parameters.items()
            if each.requires_grad
        }
        self.frozen = [name for name, each in parameters.items() if not each.requires_grad]

    def keep(self, name, args, out):
        self.outputs[name], self.inputs[name] = out, args[0]

    def rms(self, name):
        return float(self.gradients[name].square().mean().sqrt())

    def ratio(self, name, other):
        return power(self.rms(name) / self.rms(other))


def lost_weights(truth):
    ran = [f"{name}.weight" for name in truth.outputs if f"{name}.weight" in truth.weights]
    return [name for name in ran if truth.weights[name][1] is None or not truth.weights[name][1].any()], ran


def holds(id, args, truth):
    """Return whether what a sentence says is so."""
    outputs, gradients = truth.outputs, truth.gradients
    lost, ran = lost_weights(truth)
    name = args.get("name", "")
    if id == "find.dead":
        through = torch.autograd.grad(outputs[name].sum(), truth.inputs[name], allow_unused=True)[0]
        return not outputs[name].any() and not through.any()
    if id in ("find.vanishing.step", "find.exploding.step"):
        weight, gradient = truth.weights[f"{name}.weight"]
        far = truth.rms(args["end"]) / truth.rms(name)
        return (
            (far > 1e4 if "vanish" in id else far < 1e-4)
            and args["ratio"] == truth.ratio(name, args["end"])
            and args["factor"] == truth.ratio(args["before"], args["after"])
            and args["change"] == power(float(gradient.norm() / weight.detach().norm()))
        )
    if id == "find.cut":
        return gradients[name] is None and outputs[name].requires_grad and not outputs[args["cut"]].requires_grad
    if id == "find.branch_cut":
        return gradients[name] is not None and not outputs[args["cut"]].requires_grad
    if id in ("find.zero", "find.zero_by_weight"):
        after = dict(truth.weights).get(f"{args['after']}.weight")
        return (
            not gradients[name].any()
            and gradients[args["after"]].any()
            and (args["count"], args["all"]) == (len(lost), len(ran))
            and (id == "find.zero" or not after[0].any())
        )
    if id == "find.weight_zero":
        return f"{args['first']}.weight" in lost and (args["count"], args["all"]) == (len(lost), len(ran))
    if id in ("find.output_not_finite", "find.weight_not_finite"):
        order = list(outputs)
        finite = [bool(outputs[each].isfinite().all()) for each in order]
        first = order[finite.index(False)]
        what = "nan" if outputs[first].isnan().any() else "inf"
        return first == name and args.get("what", what) == what
    if id == "find.unused":
        return gradients[name] is None and outputs[name].requires_grad
    if id == "find.frozen":
        return len(truth.frozen) == args["count"] and f"{name}.weight" == truth.frozen[0]
    if id in ("find.branch_zero", "find.branch_faint"):
        sides = [float(outputs[args[side]].square().mean().sqrt()) for side in ("faint", "other")]
        return sides[0] == 0 if id == "find.branch_zero" else args["ratio"] == power(sides[0] / sides[1])
    if id == "find.healthy":
        sizes = [truth.rms(each) for each in outputs if f"{each}.weight" in ran]
        return not lost and args["factor"] == power(max(sizes) / min(sizes))
    raise AssertionError(id)


EXPECTED = {
    "dead": {"find.dead"},
    "no_grad": {"find.cut"},
    "detach": {"find.cut"},
    "inf": {"find.output_not_finite"},
    "nan": {"find.output_not_finite"},
    "nan weight": {"find.weight_not_finite"},
    "unused": {"find.unused"},
    "zero weight": {"find.zero_by_weight", "find.healthy"},  # of the first layer: only the input gets nothing
    "zero branch": {"find.zero"},
    "dead branch": {"find.dead"},
    "all frozen": {"find.frozen"},
    "detached skip": {"find.branch_cut"},
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
    assert len(found) >= 11, found
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
