"""Right ways to write the gradients of a convolution's weight and bias, with steps that can be replaced by wrong ones.

``xp [N, C, H + 2p, W + 2p]`` and ``gy [N, F, OH, OW]`` of one group give ``dw [F, C, kH, kW]``.
"""

# ruff: noqa: C408 -- dict(step=...) reads as a list of steps, and each way stays on its line
import numpy as np
import torch
import torch.nn.functional as F

from tests.check.student_code_styles import Geometry, padded
from tests.check.students_grad_input import add


def around_weight(one, read=Geometry, pad=padded, groups_of=None, finish=None):
    """Return a ``conv2d_weight`` around ``one(xp, gy, g)``, which knows neither groups nor padding."""
    split = groups_of or by_group

    def grad_weight(input, weight_size, grad_output, stride, padding, dilation, groups, padding_mode):
        g = read(input.shape[2:], weight_size[2:], grad_output.shape[2:], stride, padding, dilation)
        dw = split(one, torch.from_numpy(pad(input, g, padding_mode)), grad_output, g, groups)
        return finish(dw, grad_output) if finish else dw

    return grad_weight


def by_group(one, x, gy, g, groups):
    return torch.cat([one(*pair, g) for pair in zip(x.chunk(groups, 1), gy.chunk(groups, 1), strict=True)])


# A loop over samples, filters and output cells: each adds its window.
def loops(start=None, spacing=None, put=add, sample=None, place=None, **around):
    start, spacing = start or (lambda i, s: i * s), spacing or (lambda d: d)

    def one(x, gy, g):
        x, gy = x.numpy(), gy.numpy()
        dw = np.zeros((gy.shape[1], x.shape[1], *g.kernel))
        for b in range(len(x)):
            of_one = np.zeros_like(dw) if sample else dw
            for f in range(gy.shape[1]):
                for i in range(gy.shape[2]):
                    for j in range(gy.shape[3]):
                        rows, cols = (
                            slice(start(o, s), start(o, s) + spacing(d) * (k - 1) + 1, spacing(d))
                            for o, s, d, k in zip((i, j), g.stride, g.dilation, g.kernel, strict=True)
                        )
                        put(of_one[f], gy[b, f, i, j] * x[b, :, rows, cols])
            if sample:
                sample(dw, of_one)
        return torch.from_numpy(place(dw) if place else dw)

    return around_weight(one, **around)


# A loop over the kernel's cells: each is a sum over all that it met.
def cells(start=None, step=None, place=None, sums="nfij,ncij->fc", **around):
    start, step = start or (lambda u, d: u * d), step or (lambda s: s)

    def one(x, gy, g):
        x, gy = x.numpy(), gy.numpy()
        channels = (x.shape[1], gy.shape[1]) if sums.endswith("cf") else (gy.shape[1], x.shape[1])
        dw = np.zeros((*channels, *g.kernel))
        for u in range(g.kernel[0]):
            for v in range(g.kernel[1]):
                rows, cols = (
                    slice(start(k, d), start(k, d) + step(s) * (o - 1) + 1, step(s))
                    for k, d, s, o in zip((u, v), g.dilation, g.stride, gy.shape[2:], strict=True)
                )
                at = place(u, v, g.kernel) if place else (u, v)
                dw[:, :, at[0], at[1]] = np.einsum(sums, gy, x[:, :, rows, cols])
        return torch.from_numpy(dw)

    return around_weight(one, **around)


# im2col: every window a column, one matrix product.
def columns(product=None, shape=None, options=None, **around):
    product = product or (lambda gy, cols: (gy @ cols.transpose(1, 2)).sum(0))

    def one(x, gy, g):
        cols = F.unfold(x, g.kernel, **(dict(dilation=g.dilation, stride=g.stride) | (options(g) if options else {})))
        dw = product(gy.flatten(2), cols[:, :, : gy[0, 0].numel()])
        return dw.reshape(gy.shape[1], x.shape[1], *g.kernel)

    return around_weight(one, **around)


# A correlation of the padded input with gy: stride and dilation change places, batch and channels too.
def correlated(options=None, turn=None, cut=None, back=None, **around):
    back = back or (lambda dw: dw.transpose(0, 1))
    cut = cut or (lambda dw, g: dw[:, :, : g.kernel[0], : g.kernel[1]])

    def one(x, gy, g):
        right = dict(stride=g.dilation, dilation=g.stride)
        over = turn(gy) if turn else gy
        dw = F.conv2d(x.transpose(0, 1), over.transpose(0, 1), **(right | (options(g) if options else {})))
        return back(cut(dw, g)).contiguous()

    return around_weight(one, **around)


RIGHT = {"loops": loops(), "kernel cells": cells(), "unfold": columns(), "correlated": correlated()}


def bias_by_sum(grad_output):
    return grad_output.sum((0, 2, 3))


def bias_by_loop(grad_output):
    db = np.zeros(grad_output.shape[1])
    for sample in grad_output.numpy():
        for f, plane in enumerate(sample):
            db[f] += plane.sum()
    return torch.from_numpy(db)


RIGHT_BIAS = {"sum": bias_by_sum, "loop": bias_by_loop}
