"""Mistakes in the gradients of a convolution's weight and bias: id → the ways in which people write them.

A way is (style, steps), as in ``mistaken_input``; of the bias it is the function.
"""

# ruff: noqa: C408 -- dict(step=...) reads as a list of steps, and each way stays on its line
import numpy as np
import torch

from tests.check.students_grad_input import overwrite
from tests.check.students_grad_weight import by_group, cells, columns, correlated, loops


def unpadded(x, g, mode):
    return x.numpy()


def kept(dw, g):
    return dw


def turned(dw, gy):
    return dw.flip(2, 3)


def first(one, x, gy, g, groups):
    return by_group(one, x[:1], gy[:1], g, groups)


def last(one, x, gy, g, groups):
    return by_group(one, x[-1:], gy[-1:], g, groups)


def dense(one, x, gy, g, groups):
    return one(x, gy, g)


def first_channels(one, x, gy, g, groups):
    return one(x[:, : x.shape[1] // groups], gy, g)


def from_the_end(dw, g):
    return dw[:, :, -g.kernel[0] :, -g.kernel[1] :]


def bias_loop(put):
    def grad_bias(grad_output):
        db = torch.zeros(grad_output.shape[1], dtype=grad_output.dtype)
        for sample in grad_output:
            put(db, sample.sum((1, 2)))
        return db

    return grad_bias


MISTAKES = {
    "W01": [
        (correlated, dict(finish=turned)),
        (loops, dict(finish=turned)),
        (cells, dict(place=lambda u, v, k: (k[0] - 1 - u, k[1] - 1 - v))),
        (correlated, dict(turn=lambda gy: gy.flip(2, 3))),  # scipy.signal.convolve2d(x, gy, "valid")
    ],
    "W02": [
        (correlated, dict(options=lambda g: dict(dilation=1))),
        (correlated, dict(options=lambda g: dict(dilation=1), cut=kept)),
        (loops, dict(start=lambda i, s: i)),
        (cells, dict(step=lambda s: 1)),
    ],
    "W03": [
        (correlated, dict(options=lambda g: dict(stride=g.stride, dilation=1))),
        (correlated, dict(options=lambda g: dict(stride=g.stride, dilation=1), cut=kept)),
        (correlated, dict(options=lambda g: dict(stride=g.stride))),
    ],
    "W04": [
        (correlated, dict(options=lambda g: dict(stride=1))),
        (correlated, dict(options=lambda g: dict(stride=1), cut=kept)),
        (loops, dict(spacing=lambda d: 1)),
        (cells, dict(start=lambda u, d: u)),
    ],
    "W05": [
        (correlated, dict(options=lambda g: dict(stride=g.stride, dilation=g.dilation))),
        (correlated, dict(options=lambda g: dict(stride=g.stride, dilation=g.dilation), cut=kept)),
    ],
    "W06": [(correlated, dict(pad=unpadded)), (correlated, dict(pad=unpadded, cut=kept))],
    "W07": [(correlated, dict(cut=kept))],
    "W08": [(correlated, dict(cut=from_the_end))],
    "W09": [
        (correlated, dict(back=lambda dw: dw)),
        (loops, dict(place=lambda dw: np.ascontiguousarray(dw.swapaxes(0, 1)))),
        (cells, dict(sums="nfij,ncij->cf")),
    ],
    "W10": [(style, dict(groups_of=first)) for style in (correlated, loops, cells)],
    "W11": [
        (loops, dict(sample=overwrite)),
        (correlated, dict(groups_of=last)),
        (columns, dict(product=lambda gy, cols: (gy @ cols.transpose(1, 2))[-1])),
    ],
    "W12": [
        (columns, dict(product=lambda gy, cols: (gy @ cols.transpose(1, 2)).mean(0))),
        (loops, dict(finish=lambda dw, gy: dw / len(gy))),
    ],
    "W13": [
        (correlated, dict(finish=lambda dw, gy: dw / gy[:, 0].numel())),
        (cells, dict(finish=lambda dw, gy: dw / (gy.shape[0] * gy.shape[2] * gy.shape[3]))),
    ],
    "W14": [
        (correlated, dict(groups_of=dense)),
        (loops, dict(groups_of=dense)),
        (loops, dict(groups_of=first_channels)),
        (cells, dict(groups_of=lambda one, x, gy, g, groups: one(x, gy, g)[:, : x.shape[1] // groups])),
    ],
}

BIAS = {
    "B01": [lambda gy: gy.mean((0, 2, 3))],
    "B02": [
        lambda gy: gy.sum((2, 3)),
        lambda gy: gy[-1].sum((1, 2)),
        bias_loop(overwrite),
        lambda gy: gy[0].sum((1, 2)),
    ],
    "B03": [lambda gy: gy.sum(0)],
    "B04": [
        lambda gy: gy.sum(1),
        lambda gy: gy.sum((1, 2, 3)),
        lambda gy: gy.sum((0, 1)),
        lambda gy: gy.sum((0, 1, 2)),  # right for NHWC
    ],
    "B05": [lambda gy: gy.sum(), lambda gy: gy.sum().reshape(1)],
    "B06": [lambda gy: gy.sum((0, 2, 3)) / len(gy), lambda gy: gy.sum((2, 3)).mean(0)],
}
