"""Random nets of modules, each with something the matter, or nothing."""

import random

import torch
from torch import nn

DEFECTS = (
    *("none", "dead", "exploding", "sigmoid", "frozen", "all frozen", "no_grad", "detach", "inf", "nan", "unused"),
    *("zero branch", "faint branch", "detached skip", "zero weight", "nan weight", "dead branch", "one layer"),
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
    act = nn.Sigmoid if defect == "sigmoid" else rng.choice((nn.ReLU, nn.LeakyReLU, nn.Tanh))
    deep = rng.randint(8, 14) if defect in ("sigmoid", "exploding") else rng.randint(2, 5)
    layers = [each for _ in range(1 if defect == "one layer" else deep) for each in (_layer(), act())]
    at = 2 * rng.randrange(len(layers) // 2)
    _break(layers, at, defect)
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(48, 3)).double()
    with torch.no_grad():
        _set(model, layers, at, defect, torch.Generator().manual_seed(seed))
    return model, torch.randn(2, 3, 4, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64), defect


def _layer():
    return nn.Conv2d(3, 3, 3, padding=1)


def _break(layers, at, defect):
    if defect == "no_grad":
        layers[at] = NoGrad(nn.Sequential(layers[at], nn.ReLU(), _layer()))
    elif defect == "detach":
        layers.insert(at + 1, Detach())
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
    elif "branch" in defect:
        layers[at] = Skip(nn.Sequential(layers[at], Scale(0.0 if defect == "zero branch" else 1e-5)))


def _set(model, layers, at, defect, generator):
    for parameter in model.parameters():
        parameter.uniform_(-0.5, 0.5, generator=generator)
        if defect == "exploding":
            parameter.mul_(12)
    convolutions = [each for each in layers[at].modules() if isinstance(each, nn.Conv2d)]
    if defect in ("dead", "dead branch"):
        convolutions[0].bias.fill_(-1e6)
    if defect == "zero weight":
        convolutions[0].weight.zero_()
    if defect == "nan weight":
        convolutions[0].weight[0, 0, 0, 0] = torch.nan
    if defect == "frozen":
        convolutions[0].requires_grad_(False)
    if defect == "all frozen":
        model.requires_grad_(False)
