"""How a student's code is called in the tests of the checker, and what stands around it in each style."""

import random
from typing import NamedTuple

import numpy as np
import torch


class Geometry(NamedTuple):
    """Pairs (rows, columns), as a student reads them from the arguments."""

    size: tuple[int, int]
    kernel: tuple[int, int]
    out: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]

    @property
    def reach(self):
        return tuple(d * (k - 1) for d, k in zip(self.dilation, self.kernel, strict=True))

    @property
    def padded(self):
        return tuple(n + 2 * p for n, p in zip(self.size, self.padding, strict=True))

    @property
    def covered(self):
        """Cells of the padded input that some window reaches."""
        return tuple((o - 1) * s + e + 1 for o, s, e in zip(self.out, self.stride, self.reach, strict=True))

    @property
    def remainder(self):
        return tuple(n - c for n, c in zip(self.padded, self.covered, strict=True))


def both(rule, *pairs):
    """Apply a rule to the rows' numbers, then to the columns'."""
    return tuple(rule(*numbers) for numbers in zip(*pairs, strict=True))


def whole(one, read=Geometry, groups_of=None, border=None, mode_of=None, finish=None):
    """Return a ``conv2d_input`` around ``one(gy, w, g)``, which knows neither groups nor padding modes."""
    split, fold = groups_of or by_group, border or folded

    def grad_input(input_size, weight, grad_output, stride, padding, dilation, groups, padding_mode):
        g = read(input_size[2:], weight.shape[2:], grad_output.shape[2:], stride, padding, dilation)
        padding_mode = mode_of or padding_mode
        inside = g
        if padding_mode != "zeros":  # the gradient of the padded input, then the border's part goes where it came from
            g = g._replace(size=g.padded, padding=(0, 0))
        dx = split(one, grad_output, weight, g, groups)
        if padding_mode != "zeros":
            dx = fold(dx, inside, padding_mode)
        return finish(dx, g) if finish else dx

    return grad_input


def by_group(one, gy, w, g, groups):
    return torch.cat([one(*pair, g) for pair in zip(gy.chunk(groups, 1), w.chunk(groups), strict=True)], 1)


def folded(dx, g, mode):
    """Add each cell of the padded gradient to the input cell that it is a copy of."""
    height, width = g.size
    (p, q) = g.padding
    plane = np.arange(height * width).reshape(height, width)
    plane = np.pad(plane, ((p, p), (q, q)), mode={"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode])
    if tuple(dx.shape[2:]) != plane.shape:
        raise IndexError("the border lies elsewhere")
    made = dx.new_zeros(*dx.shape[:2], height * width)
    made.index_add_(2, torch.from_numpy(plane.flatten()), dx.flatten(2))
    return made.reshape(*dx.shape[:2], height, width)


def cropped(dx, g, mode=None):
    """Take the middle, as if the padding had been zeros."""
    (p, q), (height, width) = g.padding, g.size
    return dx[:, :, p : p + height, q : q + width]


def padded(x, g, mode):
    """Return the padded input as a NumPy array."""
    (p, q) = g.padding
    name = {"zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    return np.pad(x.numpy(), ((0, 0), (0, 0), (p, p), (q, q)), mode=name)


def backward_of(grad_input, grad_weight, grad_bias):
    """Return a ``conv2d_backward`` made of its three parts."""

    def backward(grad_output, input, weight, bias, *geometry):
        dx = grad_input(input.shape, weight, grad_output, *geometry)
        return dx, grad_weight(input, weight.shape, grad_output, *geometry), grad_bias(grad_output)

    return backward


def sampled(items, count, seed=0):
    """Return some of the items, always the same ones."""
    items = list(items)
    return items if len(items) <= count else random.Random(seed).sample(items, count)
