"""Poolings as students write them: right in the styles of courses, and wrong in one listed way each."""

import numpy as np
import torch


def pair(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


def sizes(x, kernel, stride, padding, dilation, ceil_mode, drops=True):
    """Rows and columns of windows, by torch's rule."""
    found = []
    for size, k, s, p, d in zip(x.shape[2:], *map(pair, (kernel, stride, padding, dilation)), strict=True):
        free = size + 2 * p - d * (k - 1) - 1
        count = free // s + 1
        if ceil_mode and free % s and (not drops or count * s < size + p):
            count += 1
        found.append(count)
    return found


def window(x, i, j, kernel, stride, padding, dilation):
    """Places of a window's cells, row by row, those outside of the input as None."""
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = map(pair, (kernel, stride, padding, dilation))
    for a in range(kh):
        for b in range(kw):
            row, column = i * sh - ph + a * dh, j * sw - pw + b * dw
            yield (row, column) if 0 <= row < x.shape[2] and 0 <= column < x.shape[3] else None


def wrong_max(kind):
    """``max_pool2d_backward`` with one thing wrong, of those that the sketch of this checker lists; "" for none."""

    def backward(grad_output, input, kernel_size, stride, padding=0, dilation=1, ceil_mode=False):
        x, gx = input, np.zeros_like(input)
        kh, kw = pair(kernel_size)
        for n, c, i, j in np.ndindex(*grad_output.shape):
            plane, g = x[n, c], grad_output[n, c, i, j]
            if kind == "every gradient by position":
                g = grad_output[n, c, 0, 0]
            places = list(window(x, i, j, kernel_size, stride, padding, dilation))
            cells = [at for at in places if at]
            values = [plane[at] for at in cells]
            chosen = [at for at, value in zip(cells, values, strict=True) if value == max(values)]
            first = chosen[0]
            if kind == "=":
                gx[n, c][first] = g
            elif kind == "= whole window":
                for at in cells:
                    gx[n, c][at] = g * (at == first)
            elif kind == "ties to all":
                for at in chosen:
                    gx[n, c][at] += g
            elif kind == "ties shared":
                for at in chosen:
                    gx[n, c][at] += g / len(chosen)
            elif kind == "value instead of 1":
                gx[n, c][first] += g * plane[first]
            elif kind == "whole plane's maximum":
                for at in cells:
                    gx[n, c][at] += g * (plane[at] == plane.max())
            elif kind == "mean instead":
                for at in cells:
                    gx[n, c][at] += g / (kh * kw)
            elif kind == "last of the largest":
                gx[n, c][chosen[-1]] += g
            elif kind == "transposed window":
                a, b = divmod(places.index(first), kw)
                if (at := places[b * kw + a]) is not None:  # raises where the window is not as high as wide
                    gx[n, c][at] += g
            else:
                gx[n, c][first] += g
        return gx

    return backward


LISTED = {
    "=": "P01",
    "= whole window": "P01",
    "ties to all": "M01",
    "ties shared": "M02",
    "value instead of 1": "M04",
    "whole plane's maximum": "M05",
    "mean instead": "M06",
    "last of the largest": "M03",
    "transposed window": "M07",
    "every gradient by position": "P02",
}


def max_forward(zeros=False, abs_=False, smallest=False, floors=False, keeps=False, dilates=True):
    def forward(input, kernel_size, stride, padding=0, dilation=1, ceil_mode=False):
        dilation = dilation if dilates else 1
        rows, columns = sizes(input, kernel_size, stride, padding, dilation, ceil_mode and not floors, not keeps)
        out = np.zeros((*input.shape[:2], rows, columns))
        for n, c, i, j in np.ndindex(*out.shape):
            places = list(window(input, i, j, kernel_size, stride, padding, dilation))
            values = [input[n, c][at] for at in places if at]
            values += [0.0] * (zeros and None in places)
            out[n, c, i, j] = max(values, key=abs) if abs_ else min(values) if smallest else max(values, default=0.0)
        return out

    return forward


def average(backward, divisor="cells", adds=True):
    """``avg_pool2d`` or its backward pass; the divisor is the rule's, "1", "side", "area" or "other"."""

    def count(x, i, j, kernel, stride, padding, counts):
        total = 1
        for size, k, s, p, at in zip(x.shape[2:], *map(pair, (kernel, stride, padding)), (i, j), strict=True):
            begin, end = at * s - p, min(at * s - p + k, size + p)
            total *= end - begin if counts else min(end, size) - max(begin, 0)
        return total

    def divide(x, i, j, kernel, stride, padding, counts):
        kh, kw = pair(kernel)
        known = {"1": 1, "side": kh, "area": kh * kw}
        return known.get(divisor) or count(x, i, j, kernel, stride, padding, counts != (divisor == "other"))

    def forward(input, kernel_size, stride, padding=0, ceil_mode=False, count_include_pad=True):
        out = np.zeros((*input.shape[:2], *sizes(input, kernel_size, stride, padding, 1, ceil_mode)))
        for n, c, i, j in np.ndindex(*out.shape):
            total = sum(input[n, c][at] for at in window(input, i, j, kernel_size, stride, padding, 1) if at)
            out[n, c, i, j] = total / divide(input, i, j, kernel_size, stride, padding, count_include_pad)
        return out

    def back(grad_output, input, kernel_size, stride, padding=0, ceil_mode=False, count_include_pad=True):
        gx = np.zeros_like(input)
        for n, c, i, j in np.ndindex(*grad_output.shape):
            part = grad_output[n, c, i, j] / divide(input, i, j, kernel_size, stride, padding, count_include_pad)
            for at in filter(None, window(input, i, j, kernel_size, stride, padding, 1)):
                gx[n, c][at] = part + adds * gx[n, c][at]
        return gx

    return back if backward else forward


# In the styles of courses.


def cs231n_forward(x, pool_param):
    h, w, s = pool_param["pool_height"], pool_param["pool_width"], pool_param["stride"]
    rows, columns = 1 + (x.shape[2] - h) // s, 1 + (x.shape[3] - w) // s
    out = np.zeros((*x.shape[:2], rows, columns))
    for i, j in np.ndindex(rows, columns):
        out[:, :, i, j] = x[:, :, i * s : i * s + h, j * s : j * s + w].max(axis=(2, 3))
    return out, (x, pool_param)


def cs231n_backward(dout, cache):
    x, pool_param = cache
    h, w, s = pool_param["pool_height"], pool_param["pool_width"], pool_param["stride"]
    dx = np.zeros_like(x)
    for n, c, i, j in np.ndindex(*dout.shape):
        part = x[n, c, i * s : i * s + h, j * s : j * s + w]
        a, b = np.unravel_index(part.argmax(), part.shape)
        dx[n, c, i * s + a, j * s + b] += dout[n, c, i, j]
    return dx


def channels_last_forward(A_prev, hparameters, mode="max"):
    f, s = hparameters["f"], hparameters["stride"]
    m, height, width, channels = A_prev.shape
    A = np.zeros((m, 1 + (height - f) // s, 1 + (width - f) // s, channels))
    for i, h, w, c in np.ndindex(*A.shape):
        A[i, h, w, c] = np.max(A_prev[i, h * s : h * s + f, w * s : w * s + f, c])
    return A, (A_prev, hparameters)


def channels_last_backward(dA, cache, mode="max"):
    A_prev, hparameters = cache
    f, s = hparameters["f"], hparameters["stride"]
    dA_prev = np.zeros(A_prev.shape)
    for i, h, w, c in np.ndindex(*dA.shape):
        part = A_prev[i, h * s : h * s + f, w * s : w * s + f, c]
        dA_prev[i, h * s : h * s + f, w * s : w * s + f, c] += (part == np.max(part)) * dA[i, h, w, c]
    return dA_prev


def size_is_stride(dout, x, size=2):
    """A stride of its own it has not: the windows lie side by side."""
    dx = np.zeros_like(x)
    for n, c, i, j in np.ndindex(*dout.shape):
        part = x[n, c, i * size : i * size + size, j * size : j * size + size]
        a, b = np.unravel_index(part.argmax(), part.shape)
        dx[n, c, i * size + a, j * size + b] += dout[n, c, i, j]
    return dx


class Layer:
    def __init__(self, pool_size, stride):
        self.param = {"pool_height": pool_size, "pool_width": pool_size, "stride": stride}

    def forward(self, x):
        out, self.cache = cs231n_forward(x, self.param)
        return out

    def backward(self, dout):
        return cs231n_backward(dout, self.cache)


class Function(torch.autograd.Function):
    adds = True

    @classmethod
    def forward(cls, ctx, input, kernel_size, stride, padding, dilation, ceil_mode):
        given = (kernel_size, stride, padding, dilation, ceil_mode)
        output, places = torch.nn.functional.max_pool2d(input, *given, return_indices=True)
        ctx.save_for_backward(places)
        ctx.shape = input.shape
        return output

    @classmethod
    def backward(cls, ctx, grad_output):
        (places,) = ctx.saved_tensors
        zeros = grad_output.new_zeros(ctx.shape).flatten(2)
        put = zeros.scatter_add if cls.adds else zeros.scatter
        return put(2, places.flatten(2), grad_output.flatten(2)).reshape(ctx.shape), *[None] * 5


class Overwriting(Function):
    adds = False
