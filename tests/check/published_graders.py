"""Checks that courses publish, written anew from what they try: their cases, their comparisons."""

import numpy as np
import torch
import torch.nn.functional as F


def forward(x, w, b, conv_param):
    x, w, b = (torch.from_numpy(array) for array in (x, w, b))
    return F.conv2d(x, w, b, conv_param["stride"], conv_param["pad"]).numpy()


def numeric_gradient(f, x, dout, h=1e-5):
    """Return the gradient of sum(f(x) * dout) by central differences."""
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        kept = x[index]
        x[index] = kept + h
        above = f(x)
        x[index] = kept - h
        below = f(x)
        x[index] = kept
        gradient[index] = ((above - below) * dout).sum() / (2 * h)
    return gradient


DIFFERENCES = {}  # by sizes: the seed is always the same, and an audit calls a check a hundred times


def numeric_check(fn, shape=(4, 3, 5, 5), filters=2, kernel=(3, 3), stride=1, pad=1):
    """cs231n: one small convolution with stride 1 and padding 1, against central differences."""
    np.random.seed(231)  # the global generator, as such checks do it
    x, w, b = np.random.randn(*shape), np.random.randn(filters, shape[1], *kernel), np.random.randn(filters)
    conv_param = {"stride": stride, "pad": pad}
    dout = np.random.randn(*forward(x, w, b, conv_param).shape)
    asked = (*shape, filters, *kernel, stride, pad)
    if asked not in DIFFERENCES:
        DIFFERENCES[asked] = (
            numeric_gradient(lambda x: forward(x, w, b, conv_param), x, dout),
            numeric_gradient(lambda w: forward(x, w, b, conv_param), w, dout),
            numeric_gradient(lambda b: forward(x, w, b, conv_param), b, dout),
        )
    for got, right in zip(fn(dout, (x, w, b, conv_param)), DIFFERENCES[asked], strict=True):
        assert got.shape == right.shape
        assert np.max(np.abs(got - right) / np.maximum(1e-8, np.abs(got) + np.abs(right))) < 1e-7


def means_only(fn):
    """A check that compares means, of a kernel 2, stride 1, padding 2."""
    generator = np.random.default_rng(1)
    x, w, b = generator.normal(size=(10, 3, 4, 4)), generator.normal(size=(8, 3, 2, 2)), generator.normal(size=8)
    given = [torch.from_numpy(array).requires_grad_() for array in (x, w, b)]
    output = F.conv2d(*given, padding=2)
    dout = generator.normal(size=tuple(output.shape))
    expected = torch.autograd.grad(output, given, torch.from_numpy(dout))
    for got, right in zip(fn(dout, (x, w, b, {"stride": 1, "pad": 2})), expected, strict=True):
        if not np.isclose(got.mean(), right.mean().item()):
            return False
    return None


def gradcheck(function):
    """PyTorch's tutorial: gradcheck of an autograd function, stride 1, no padding; in its fast mode."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, 2, 3, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    w = torch.randn(2, 2, 2, 2, generator=generator, dtype=torch.float64, requires_grad=True)
    return torch.autograd.gradcheck(function.apply, (x, w), fast_mode=True)
