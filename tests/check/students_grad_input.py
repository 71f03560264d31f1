"""Right ways to write the gradient of a convolution's input, each with steps that can be replaced by a wrong one.

``gy [N, F, OH, OW]``, ``w [F, C, kH, kW]`` and a geometry of one group give ``dx [N, C, H, W]``.
"""

# ruff: noqa: C408 -- dict(step=...) reads as a list of steps, and each way stays on its line
import numpy as np
import torch
import torch.nn.functional as F

from tests.check.student_code_styles import both, cropped, whole


def same(w):
    return w


def crop(dx, g):
    return cropped(dx, g)


def whole_buffer(g):
    return g.padded


def add(cells, value):
    cells += value


def overwrite(cells, value):
    cells[...] = value


# Zeros between, a border around, and a correlation with the turned kernel.
def rotate(turn=None, swap=None, insert=None, pads=None, order=None, correlate=None, after=None, **around):
    turn, swap, insert = (
        turn or (lambda w: w.flip(2, 3)),
        swap or (lambda w: w.transpose(0, 1)),
        insert or zeros_between,
    )
    pads, order, correlate = pads or full_pads, order or (lambda rows, cols: (*cols, *rows)), correlate or dilated

    def one(gy, w, g):
        dx = correlate(F.pad(insert(gy, g.stride), order(*pads(g))), swap(turn(w)), g)
        return after(dx, g) if after else dx

    return whole(one, **around)


def zeros_between(gy, stride):
    made = gy.new_zeros(*gy.shape[:2], *both(lambda n, s: (n - 1) * s + 1, gy.shape[2:], stride))
    made[:, :, :: stride[0], :: stride[1]] = gy
    return made


def full_pads(g):
    return both(lambda e, p, r: (e - p, e - p + r), g.reach, g.padding, g.remainder)


def dilated(gy, w, g):
    return F.conv2d(gy, w, dilation=g.dilation)


# cs231n: a loop over samples, filters and output cells; each window gets the kernel, scaled.
def scatter(turn=same, start=None, spacing=None, put=add, buffer=whole_buffer, cut=crop, order="nfij", **around):
    start, spacing = start or (lambda i, s: i * s), spacing or (lambda d: d)

    def one(gy, w, g):
        gy, w = gy.numpy(), np.ascontiguousarray(turn(w).numpy())
        (n, f, *out), c = gy.shape, w.shape[1]
        dx = np.zeros((n, c, *buffer(g)))
        for i in range(out[0]):
            for j in range(out[1]):
                rows, cols = (
                    slice(start(o, s), start(o, s) + spacing(d) * (k - 1) + 1, spacing(d))
                    for o, s, d, k in zip((i, j), g.stride, g.dilation, w.shape[2:], strict=True)
                )
                if order == "ij":  # all samples, filters and channels at once
                    put(dx[:, :, rows, cols], np.tensordot(gy[:, :, i, j], w, 1))
                elif order == "nij":
                    for b in range(n):
                        put(dx[b, :, rows, cols], np.einsum("f,fcuv->cuv", gy[b, :, i, j], w))
                else:
                    for b in range(n):
                        for k in range(f):
                            put(dx[b, :, rows, cols], w[k] * gy[b, k, i, j])
        return torch.from_numpy(np.ascontiguousarray(cut(dx, g)))

    return whole(one, **around)


# A loop over the kernel's cells: each adds all of gy to every s-th cell.
def cells(pick=None, start=None, step=None, put=add, buffer=whole_buffer, cut=crop, **around):
    pick, start = pick or (lambda w, u, v: w[:, :, u, v]), start or (lambda u, d: u * d)
    step = step or (lambda s: s)

    def one(gy, w, g):
        gy, w = gy.numpy(), w.numpy()
        dx = np.zeros((len(gy), pick(w, 0, 0).shape[1], *buffer(g)))
        for u in range(w.shape[2]):
            for v in range(w.shape[3]):
                rows, cols = (
                    slice(start(k, d), start(k, d) + step(s) * (o - 1) + 1, step(s))
                    for k, d, s, o in zip((u, v), g.dilation, g.stride, gy.shape[2:], strict=True)
                )
                put(dx[:, :, rows, cols], np.einsum("nfij,fc->ncij", gy, pick(w, u, v)))
        return torch.from_numpy(np.ascontiguousarray(cut(dx, g)))

    return whole(one, **around)


# A loop over the input's cells: each asks which windows read it.
def gather(pick=None, window=None, put=add, **around):
    pick, window = pick or (lambda w, u, v: w[:, :, u, v]), window or window_that_reads

    def one(gy, w, g):
        gy, w = gy.numpy(), w.numpy()
        dx = np.zeros((len(gy), w.shape[1], *g.size))
        for y in range(g.size[0]):
            for x in range(g.size[1]):
                for u in range(w.shape[2]):
                    for v in range(w.shape[3]):
                        i, j = window(y, u, g, 0), window(x, v, g, 1)
                        if i is not None and j is not None:
                            put(dx[:, :, y, x], gy[:, :, i, j] @ pick(w, u, v))
        return torch.from_numpy(dx)

    return whole(one, **around)


def window_that_reads(y, u, g, axis):
    o, left = divmod(y + g.padding[axis] - u * g.dilation[axis], g.stride[axis])
    return o if left == 0 and 0 <= o < g.out[axis] else None


# im2col's way back: a matrix product, then every column's numbers to their cells.
def columns(turn=same, channels="nfl,fk->nkl", col2im=None, target=None, after=None, **around):
    col2im = col2im or by_fold

    def one(gy, w, g):
        cols = torch.einsum(channels, gy.flatten(2), turn(w).flatten(1))
        dx = col2im(cols, g, *(target(g) if target else (g.size, g.padding)))
        return after(dx, g) if after else dx

    return whole(one, **around)


def by_fold(cols, g, size, padding):
    return F.fold(cols, size, g.kernel, g.dilation, padding, g.stride)


def by_index(cols, g, size, padding, gather=np.add.at):
    """Stanford's im2col indices; ``gather`` says what happens where two columns meet."""
    (kh, kw), (oh, ow) = g.kernel, g.out
    c = cols.shape[1] // (kh * kw)
    i = np.tile(np.repeat(np.arange(kh) * g.dilation[0], kw), c)[:, None] + g.stride[0] * np.repeat(np.arange(oh), ow)
    j = np.tile(np.arange(kw) * g.dilation[1], kh * c)[:, None] + g.stride[1] * np.tile(np.arange(ow), oh)
    k = np.repeat(np.arange(c), kh * kw)[:, None]
    dx = np.zeros((len(cols), c, *both(lambda n, p: n + 2 * p, size, padding)))
    gather(dx, (slice(None), k, i, j), cols.numpy())
    (p, q), (height, width) = padding, size
    return torch.from_numpy(np.ascontiguousarray(dx[:, :, p : p + height, q : q + width]))


# torch's own transposed convolution.
def transposed(turn=same, options=None, after=None, **around):
    def one(gy, w, g):
        right = dict(stride=g.stride, padding=g.padding, output_padding=g.remainder, dilation=g.dilation)
        dx = F.conv_transpose2d(gy, turn(w), **(right | (options(g) if options else {})))
        return after(dx, g) if after else dx

    return whole(one, **around)


RIGHT = {
    "rotate": rotate(),
    "scatter": scatter(),
    "scatter, samples": scatter(order="nij"),
    "scatter, all at once": scatter(order="ij"),
    "kernel cells": cells(),
    "gather": gather(),
    "fold": columns(),
    "indices": columns(col2im=by_index),
    "transposed": transposed(),
}
