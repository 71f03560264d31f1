"""Random nets of modules, each with something the matter, or nothing."""

import random

import torch
from torch import nn

DEFECTS = (
    *("none", "dead", "exploding", "sigmoid", "frozen", "all frozen", "no_grad", "detach", "inf", "nan", "unused"),
    *("zero branch", "faint branch", "detached skip", "zero weight", "nan weight", "dead branch", "one layer"),
    *("bias nan", "input inf", "shared", "compared", "steep", "huge gradient", "black input", "straight through"),
    *("vanishing from zero", "exploding from zero", "side branch", "alone", "no grad_weight", "unused relu"),
    *("weak branch", "empty branch", "two detached"),
)


class Add(nn.Module):
    def forward(self, x, y):
        return x + y


class Detach(nn.Module):
    def forward(self, x):
        return x.detach()


class Log(nn.Module):
    def forward(self, x):
        return torch.log(x)


class Compare(nn.Module):
    """Uses what it gets only to compare it."""

    def __init__(self, gate):
        super().__init__()
        self.gate = gate

    def forward(self, x):
        return x * (self.gate(x) > 0)


class StraightThrough(nn.Module):
    def forward(self, x):
        return x + (x.round() - x).detach()


class Root(nn.Module):
    """Of 0 it is 0, and infinitely steep."""

    def forward(self, x):
        return torch.sqrt(x)


class NoGradWeight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(weight)
        return nn.functional.conv2d(x, weight, bias, padding=1)

    @staticmethod
    def backward(ctx, grad):
        (weight,) = ctx.saved_tensors
        return nn.functional.conv_transpose2d(grad, weight, padding=1), None, None


class Forgetful(nn.Conv2d):
    def forward(self, x):
        return NoGradWeight.apply(x, self.weight, self.bias)


class Sides(nn.Module):
    """Two branches of which the first is the worse; the last layer with a weight is in the other."""

    def __init__(self, one, other):
        super().__init__()
        self.one, self.other, self.add = one, other, Add()

    def forward(self, x):
        return self.add(self.one(x), self.other(x))


class Scale(nn.Module):
    def __init__(self, by):
        super().__init__()
        self.by = by

    def forward(self, x):
        return x * self.by


class NoGrad(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        with torch.no_grad():
            return self.inner(x)


class Skip(nn.Module):
    """Adds what a branch makes to what it got, which may go through something of its own."""

    def __init__(self, branch, skip=None):
        super().__init__()
        self.branch, self.skip, self.add = branch, skip or nn.Identity(), Add()

    def forward(self, x):
        return self.add(self.branch(x), self.skip(x))


class Unused(nn.Module):
    def __init__(self, used, unused):
        super().__init__()
        self.used, self.unused = used, unused

    def forward(self, x):
        self.unused(x)
        return self.used(x)


def broken_net(seed):
    """Return a model, its batch, and what is the matter with it; in float64."""
    rng = random.Random(seed)
    defect = DEFECTS[seed % len(DEFECTS)]
    sigmoids, deep = "sigmoid" in defect or "vanishing" in defect, "exploding" in defect
    act = nn.Sigmoid if sigmoids else rng.choice((nn.ReLU, nn.LeakyReLU, nn.Tanh))
    count = rng.randint(8, 14) if sigmoids or deep else rng.randint(2, 5)
    layers = [each for _ in range(1 if defect in ("one layer", "alone") else count) for each in (_layer(), act())]
    at = 0 if "from zero" in defect or defect == "huge gradient" else 2 * rng.randrange(len(layers) // 2)
    _break(layers, at, defect)
    head = [] if defect in ("alone", "side branch") else [nn.Linear(48, 3)]
    model = nn.Sequential(*layers, nn.Flatten(), *head).double()
    x = torch.randn(2, 3, 4, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    with torch.no_grad():
        _set(model, layers, at, defect, torch.Generator().manual_seed(seed))
        if defect == "input inf":
            x[0, 0, rng.randrange(4), 0] = rng.choice((torch.inf, torch.nan))
        if defect == "black input":
            x.zero_()
        if defect == "huge gradient":
            x.mul_(1e200)
    return model, x, defect


def _layer():
    return nn.Conv2d(3, 3, 3, padding=1)


def _break(layers, at, defect):
    if defect == "no_grad":
        layers[at] = NoGrad(nn.Sequential(layers[at], nn.ReLU(), _layer()))
    elif defect == "detach":
        layers.insert(at + 1, Detach())
    elif defect == "two detached":
        layers.insert(at + 1, Detach())
        layers += [_layer(), Detach(), _layer()]
    elif defect in ("inf", "nan"):
        layers.insert(at + 1, Scale(float(defect)) if at % 4 else Log())
    elif defect == "unused":
        layers[at] = Unused(layers[at], nn.Sequential(_layer(), nn.ReLU()))
    elif defect == "detached skip":
        layers[at] = Skip(layers[at], Detach())
    elif defect in ("dead", "dead branch"):
        layers[at + 1] = nn.ReLU()
        if defect == "dead branch":
            layers[at : at + 2] = [Skip(nn.Sequential(layers[at], nn.ReLU()))]
    elif defect == "shared":
        layers[at + 1 : at + 1] = [nn.Tanh(), layers[at]]
    elif defect == "compared":
        layers[at] = Compare(layers[at])
    elif defect == "steep":
        layers[at + 1 : at + 1] = [Scale(0.0), Root()]
    elif defect == "straight through":
        layers.insert(at + 1, StraightThrough())
    elif defect == "huge gradient":
        layers[:] = [layers[0], nn.Identity(), Scale(1e150)]
    elif defect == "side branch":
        weak = nn.Sequential(_layer(), Scale(3e-4), nn.Tanh(), Scale(2e-3))
        layers[at] = Sides(weak, nn.Sequential(_layer(), nn.Tanh(), _layer()))
        layers[at + 1 :] = [Scale(1e-4)]
    elif defect == "no grad_weight":
        layers[at] = Forgetful(3, 3, 3, padding=1)
    elif defect == "unused relu":
        layers[at] = Unused(layers[at], nn.ReLU())
    elif defect == "empty branch":
        layers.insert(at + 1, Skip(Scale(0.0)))
    elif "branch" in defect:
        by = {"zero branch": 0.0, "weak branch": 4e-4}.get(defect, 1e-5)
        layers[at] = Skip(nn.Sequential(layers[at], Scale(by)))


def _set(model, layers, at, defect, generator):
    for parameter in model.parameters():
        parameter.uniform_(-0.5, 0.5, generator=generator)
        if "exploding" in defect:
            parameter.mul_(12)
    convolutions = [each for each in layers[at].modules() if isinstance(each, nn.Conv2d)]
    if defect in ("dead", "dead branch"):
        convolutions[0].bias.fill_(-1e6)
    if defect in ("zero weight", "vanishing from zero", "exploding from zero"):
        convolutions[0].weight.zero_()
    if defect == "huge gradient":
        convolutions[0].weight.mul_(1e-200)
    if defect == "bias nan":
        convolutions[0].bias[1] = torch.nan
    if defect == "nan weight":
        convolutions[0].weight[0, 0, 0, 0] = torch.nan
    if defect == "frozen":
        convolutions[0].requires_grad_(False)
    if defect == "all frozen":
        model.requires_grad_(False)
