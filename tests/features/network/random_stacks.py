"""Random stacks of what fields have to go through, with positive weights, so that nothing cancels."""

import random

import torch
import torch.nn.functional as F
from torch import nn


class Skip(nn.Module):
    def __init__(self, inner, how):
        super().__init__()
        self.inner, self.how = inner, how

    def forward(self, x):
        y = self.inner(x)
        return x + y if self.how == "add" else torch.cat([y, x], dim=1)


class Call(nn.Module):
    """A function as a layer."""

    def __init__(self, function, name):
        super().__init__()
        self.function, self.name = function, name

    def forward(self, x):
        return self.function(x)

    def extra_repr(self):
        return self.name


def stack(seed, most=6):
    """Return a model in float64 and the shape of its input, without the batch."""
    while True:
        model, shape = _stack(seed, most)
        try:
            model(torch.ones(1, *shape, dtype=torch.float64, requires_grad=True).clone()).sum().backward()
        except RuntimeError:  # it writes over numbers that its way back needs
            seed += 1000
        else:
            model.zero_grad()
            return model, shape


def _stack(seed, most):
    rng = random.Random(seed)
    shape = start = (rng.choice((1, 1, 2, 4)), rng.randint(3, 5), rng.randint(4, 5))
    layers = []
    for _ in range(rng.randint(2, most)):
        layer, shape = _layer(rng, shape)
        layers.append(layer)
    model = nn.Sequential(*layers).double().eval()
    random_numbers = torch.Generator().manual_seed(seed)
    for tensor in [*model.parameters(), *model.buffers()]:
        if tensor.is_floating_point():
            tensor.data.uniform_(0.5, 1.5, generator=random_numbers)
    return model, start


def _layer(rng, shape):
    while True:
        layer = rng.choice(MAKERS)(rng, shape)
        try:
            with torch.no_grad():
                out = tuple(layer.double().eval()(torch.ones(2, *shape, dtype=torch.float64)).shape[1:])
        except RuntimeError:  # a window larger than its image
            continue
        if len(out) == 3 and min(out) and max(out[1:]) <= 8 and out[0] <= 6:
            return layer, out


def _convolution(rng, shape):
    groups = rng.choice([g for g in (1, 1, 2, shape[0]) if shape[0] % g == 0])
    kernel, dilation = (rng.randint(1, 3), rng.randint(1, 3)), rng.choice((1, 1, 2))
    same = rng.random() < 0.2
    stride = 1 if same else (rng.randint(1, 2), rng.randint(1, 2))
    padding = "same" if same else (rng.randint(0, 2), rng.randint(0, 2))
    mode = rng.choice(("zeros", "zeros", "reflect", "replicate", "circular"))
    out = groups * rng.randint(1, 2)
    return nn.Conv2d(shape[0], out, kernel, stride, padding, dilation, groups, padding_mode=mode)


def _transposed(rng, shape):
    groups = rng.choice([g for g in (1, 2) if shape[0] % g == 0])
    stride = rng.randint(1, 2)
    extra, dilation = rng.randint(0, stride - 1), rng.randint(1, 2)
    return nn.ConvTranspose2d(
        shape[0], groups, rng.randint(1, 3), stride, rng.randint(0, 1), extra, groups, True, dilation
    )


def _pool(rng, _):
    kernel, ceil = (rng.randint(1, 3), rng.randint(2, 3)), rng.random() < 0.5
    padding = (rng.randint(0, kernel[0] // 2), rng.randint(0, kernel[1] // 2))
    stride = rng.choice((None, 1, 2))
    if rng.random() < 0.5:
        return nn.AvgPool2d(kernel, stride, padding, ceil, rng.random() < 0.5)
    return nn.MaxPool2d(kernel, stride, padding, rng.randint(1, 2), ceil_mode=ceil)


def _adaptive(rng, _):
    return rng.choice((nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d))((rng.randint(1, 4), rng.randint(1, 4)))


def _plain(rng, shape):
    return rng.choice((nn.ReLU(), nn.ReLU(inplace=True), nn.BatchNorm2d(shape[0]), nn.Dropout(), nn.LeakyReLU()))


def _upsample(rng, _):
    mode = rng.choice(("nearest", "nearest", "bilinear"))
    size = {"size": (rng.randint(3, 8), rng.randint(3, 8))} if rng.random() < 0.5 else {"scale_factor": (2, 1.5)}
    return nn.Upsample(mode=mode, **size, **({"align_corners": rng.random() < 0.5} if mode == "bilinear" else {}))


def _skip(rng, shape):
    if rng.random() < 0.5:
        dilation = rng.randint(1, 2)
        inner = nn.Conv2d(shape[0], shape[0], 3, padding=dilation, dilation=dilation)
        return Skip(nn.Sequential(inner, nn.ReLU(inplace=True)), "add")
    return Skip(nn.Conv2d(shape[0], rng.randint(1, 2), 3, padding=1), "cat")


def _function(rng, shape):
    step, start = rng.randint(1, 2), rng.randint(0, 1)
    return Call(*rng.choice(tuple((function, name) for name, function in functions(step, start, shape).items())))


def functions(step, start, shape):
    channels, height, width = shape
    return {
        "slice": lambda x: x[:, :, start::step, : width - start],
        "one channel": lambda x: x[:, start % channels][:, None],
        "ellipsis": lambda x: x[..., start::step],
        "pad": lambda x: F.pad(x, (start, step, 1, 0)),
        "crop": lambda x: F.pad(x, (0, -1, step, 0)),
        "pad channels": lambda x: F.pad(x, (0, 0, 0, 0, start, 1)),
        "reflect": lambda x: F.pad(x, (step, start, 1, 1), mode="reflect"),
        "transpose": lambda x: x.transpose(-1, 2),
        "permute": lambda x: x.permute(0, 3, 1, 2),
        "reshape": lambda x: x.flatten(1).view(x.shape[0], width, height, channels),
        "shuffle": lambda x: x.unflatten(1, (channels, 1)).transpose(1, 2).flatten(1, 2),
        "halves": lambda x: torch.cat(x.chunk(2, 2)[::-1], 2),
        "parts": lambda x: torch.cat((x.split([1, height - 1], 2)[1], x.narrow(2, 0, 1)), 2),
        "gate": lambda x: x * x.mean((2, 3), keepdim=True),
        "gate of channels": lambda x: x * x.mean((2, 3))[:, :, None, None],
        "over channels": lambda x: x + x.amax(1, keepdim=True),
        "last axis": lambda x: F.linear(x, torch.ones(3, x.shape[-1], dtype=x.dtype)),
        "own": lambda x: torch.add(x, x.mul(2)).abs_(),
    }


MAKERS = (
    *(_convolution, _convolution, _convolution, _transposed, _pool, _pool, _adaptive, _plain, _upsample, _skip, _skip),
    *(_function, _function),
)
