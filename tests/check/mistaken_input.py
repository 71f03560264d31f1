"""Mistakes in the gradient of a convolution's input: id → the ways in which people write them, as code of a student.

A way is (style, steps): the style is right, the steps are the wrong ones. Two ways of one style whose steps are others
make two mistakes at once.
"""

# ruff: noqa: C408 -- dict(step=...) reads as a list of steps, and each way stays on its line
import torch
import torch.nn.functional as F

from tests.check.student_code_styles import Geometry, both, by_group, cropped
from tests.check.students_grad_input import (
    by_index,
    cells,
    columns,
    dilated,
    gather,
    overwrite,
    rotate,
    scatter,
    transposed,
)
from tests.check.students_grad_input import zeros_between as zeros


def by(number):
    return lambda dx, g: dx * number


def exchanged(*names):
    """Read some of the pairs as (columns, rows)."""

    def read(size, kernel, out, *pairs):
        g = Geometry(size, kernel, out, *pairs)
        return g._replace(**{name: getattr(g, name)[::-1] for name in names})

    return read


def pads(before, after):
    return lambda g: both(lambda n, k, s, p, d, r: (before(k, p, d, r), after(k, p, d, r)), *g_pairs(g))


def g_pairs(g):
    return g.size, g.kernel, g.stride, g.padding, g.dilation, g.remainder


def s_each(gy, stride):
    """Put s zeros between, not s - 1."""
    return zeros(gy, both(lambda s: s + 1, stride))


def s_each_if_strided(gy, stride):
    return zeros(gy, both(lambda s: s + 1 if s > 1 else 1, stride))


def dilate_hw4(gy, stride):
    """s - 1 zeros after each, after the last one too."""
    made = gy.new_zeros(*gy.shape[:2], *both(lambda n, s: n * s, gy.shape[2:], stride))
    made[:, :, :: stride[0], :: stride[1]] = gy
    return made


def no_remainder_pads(g):
    return both(lambda e, p: (e - p, e - p), g.reach, g.padding)


def one_off(dx, g):
    """Begin a row too late; without padding the last one is missing."""
    (p, q), (height, width) = g.padding, g.size
    return dx[:, :, p + 1 : p + 1 + height, q + 1 : q + 1 + width]


def one_early(dx, g):
    (p, q), (height, width) = (tuple(max(p - 1, 0) for p in g.padding), g.size)
    return dx[:, :, p : p + height, q : q + width]


def strided_too(gy, w, g):
    return F.conv2d(gy, w, stride=g.stride, dilation=g.dilation)


def fill_end(dx, g):
    return F.pad(dx, (0, g.remainder[1], 0, g.remainder[0]))


def fill_top(dx, g):
    return F.pad(dx, (g.remainder[1], 0, g.remainder[0], 0))


def top_left(dx, g):
    return dx[:, :, : g.size[0], : g.size[1]]


def minus_p(dx, g):
    (p, q) = g.padding
    return dx[:, :, p:-p, q:-q]


def minus_p_if_any(dx, g):
    (p, q) = g.padding
    return dx[:, :, p : dx.shape[2] - p, q : dx.shape[3] - q]


def s_minus_1_buffer(g):
    return both(lambda c, s: c + s - 1, g.covered, g.stride)


def remainder_by_formula(g):
    return dict(output_padding=both(lambda n, p, e, s: (n + 2 * p - e - 1) % s, g.size, g.padding, g.reach, g.stride))


def last_filter(gy, w, g):
    return dilated(gy[:, -1:], w[:, -1:], g)


def assign_at(dx, where, value):
    dx[where] = dx[where] + value  # where two columns meet, only one of them counts


def first_group_only(one, gy, w, g, groups):
    """for c in range(w.shape[1]): dx[:, c] += ...: the channels beyond stay zero."""
    dx = one(gy, w, g)
    return torch.cat([dx, dx.new_zeros(dx.shape[0], dx.shape[1] * (groups - 1), *dx.shape[2:])], 1)


def one_group(one, gy, w, g, groups):
    return one(gy, w, g)


def tiled(one, gy, w, g, groups):
    return one(gy, w.repeat(1, groups, 1, 1), g)


def interleaved(one, gy, w, g, groups):
    parts = [one(gy[:, k::groups], w[k::groups], g) for k in range(groups)]
    return torch.stack(parts, 2).flatten(1, 2)


def reversed_groups(one, gy, w, g, groups):
    return torch.cat(by_group(one, gy, w, g, groups).chunk(groups, 1)[::-1], 1)


def flip_all_first(one, gy, w, g, groups):
    """np.flip(w) before the groups are taken apart."""
    return by_group(one, gy, w.flip(0, 1), g, groups)


def flat(w, u, v):
    return w[:, :, -1 - u, -1 - v]


MISTAKES = {
    "I01": [
        (rotate, dict(turn=lambda w: w)),
        (scatter, dict(turn=lambda w: w.flip(2, 3))),
        (cells, dict(pick=flat)),
        (gather, dict(pick=flat)),
        (columns, dict(turn=lambda w: w.flip(2, 3))),
        (transposed, dict(turn=lambda w: w.flip(2, 3))),
    ],
    "I02": [
        (rotate, dict(turn=lambda w: w.rot90(1, (2, 3)))),
        (rotate, dict(turn=lambda w: w.rot90(-1, (2, 3)))),
        (scatter, dict(turn=lambda w: w.rot90(1, (2, 3)))),
        (transposed, dict(turn=lambda w: w.rot90(-1, (2, 3)))),
    ],
    "I04": [
        (rotate, dict(turn=lambda w: w.flip(2))),
        (scatter, dict(turn=lambda w: w.flip(3))),
        (cells, dict(pick=lambda w, u, v: w[:, :, u, -1 - v])),
    ],
    "I03": [
        (rotate, dict(turn=lambda w: w.flip(3))),
        (columns, dict(turn=lambda w: w.flip(2))),
        (gather, dict(pick=lambda w, u, v: w[:, :, -1 - u, v])),
    ],
    "I05": [
        (rotate, dict(turn=lambda w: w.transpose(2, 3))),
        (rotate, dict(turn=lambda w: w.flip(2, 3).transpose(2, 3))),
        (scatter, dict(turn=lambda w: w.transpose(2, 3))),
        (transposed, dict(turn=lambda w: w.transpose(2, 3))),
    ],
    "I06": [
        (rotate, dict(turn=lambda w: w.flip(0, 1, 2, 3))),
        (rotate, dict(groups_of=flip_all_first)),
        (rotate, dict(turn=lambda w: w.flip(1, 2, 3))),  # for each filter: np.flip(w[f])
        (scatter, dict(turn=lambda w: w.flip(1))),
        (rotate, dict(turn=lambda w: w.flip(0, 2, 3))),
    ],
    "I07": [
        (rotate, dict(insert=lambda gy, s: gy)),
        (rotate, dict(insert=lambda gy, s: gy, pads=no_remainder_pads)),
        (scatter, dict(start=lambda i, s: i)),
        (cells, dict(step=lambda s: 1)),
        (transposed, dict(options=lambda g: dict(stride=1, output_padding=0))),
    ],
    "I08": [
        (rotate, dict(insert=s_each)),
        (rotate, dict(insert=s_each_if_strided)),
        (rotate, dict(insert=s_each, pads=no_remainder_pads)),
        (rotate, dict(insert=s_each, after=top_left)),
        (transposed, dict(options=lambda g: dict(stride=both(lambda s: s + 1, g.stride)))),
    ],
    "I09": [
        (rotate, dict(correlate=strided_too)),
        (rotate, dict(correlate=strided_too, insert=lambda gy, s: gy)),
        (rotate, dict(correlate=strided_too, pads=no_remainder_pads)),
        (rotate, dict(correlate=strided_too, insert=lambda gy, s: gy, pads=no_remainder_pads)),
    ],
    "I10": [
        (rotate, dict(pads=no_remainder_pads)),
        (scatter, dict(buffer=lambda g: g.covered, cut=minus_p_if_any)),
        (transposed, dict(options=lambda g: dict(output_padding=0))),
    ],
    "I11": [
        (rotate, dict(pads=no_remainder_pads, after=fill_end)),
        (transposed, dict(options=lambda g: dict(output_padding=0), after=fill_end)),
    ],
    "I12": [
        (rotate, dict(pads=pads(lambda k, p, d, r: d * (k - 1) - p + r, lambda k, p, d, r: d * (k - 1) - p))),
        (rotate, dict(pads=no_remainder_pads, after=fill_top)),
        (transposed, dict(options=lambda g: dict(output_padding=0), after=fill_top)),
    ],
    "I13": [
        (rotate, dict(insert=dilate_hw4, pads=no_remainder_pads)),
        (scatter, dict(buffer=s_minus_1_buffer, cut=minus_p_if_any)),
        (transposed, dict(options=lambda g: dict(output_padding=both(lambda s: s - 1, g.stride)))),
    ],
    "I14": [
        (rotate, dict(pads=pads(lambda k, p, d, r: d * (k - 1), lambda k, p, d, r: d * (k - 1) + r))),
        (scatter, dict(cut=lambda dx, g: dx)),
        (columns, dict(target=lambda g: (g.padded, (0, 0)))),
        (transposed, dict(options=lambda g: dict(padding=0))),
    ],
    "I15": [
        (rotate, dict(pads=pads(lambda k, p, d, r: d * (k - 1), lambda k, p, d, r: d * (k - 1) + r), after=top_left)),
        (scatter, dict(cut=top_left)),
        (cells, dict(cut=top_left)),
        (transposed, dict(options=lambda g: dict(padding=0), after=top_left)),
    ],
    "I29": [
        (scatter, dict(cut=one_off)),
        (cells, dict(cut=one_off)),
        (scatter, dict(cut=one_early)),
    ],
    "I16": [
        (rotate, dict(pads=pads(lambda k, p, d, r: p, lambda k, p, d, r: p + r))),
        (transposed, dict(options=lambda g: dict(padding=both(lambda e, p: e - p, g.reach, g.padding)))),
    ],
    "I17": [
        (rotate, dict(pads=pads(lambda k, p, d, r: k - 1 - p, lambda k, p, d, r: k - 1 - p + r))),
    ],
    "I18": [
        (rotate, dict(correlate=lambda gy, w, g: F.conv2d(gy, w))),
        (
            rotate,
            dict(
                correlate=lambda gy, w, g: F.conv2d(gy, w),
                pads=pads(lambda k, p, d, r: k - 1 - p, lambda k, p, d, r: k - 1 - p + r),
            ),
        ),
        (scatter, dict(spacing=lambda d: 1)),
        (cells, dict(start=lambda u, d: u)),
        (transposed, dict(options=lambda g: dict(dilation=1))),
    ],
    "I19": [
        (
            rotate,
            dict(pads=pads(lambda k, p, d, r: max(d * (k - 1) - p, 0), lambda k, p, d, r: max(d * (k - 1) - p, 0) + r)),
        ),
        (
            rotate,
            dict(pads=pads(lambda k, p, d, r: max(d * (k - 1) - p, 0), lambda k, p, d, r: max(d * (k - 1) - p + r, 0))),
        ),
    ],
    "I20": [
        (rotate, dict(swap=lambda w: w)),
        (scatter, dict(turn=lambda w: w.transpose(0, 1))),
        (cells, dict(pick=lambda w, u, v: w[:, :, u, v].T)),
        (columns, dict(turn=lambda w: w.transpose(0, 1))),
        (transposed, dict(turn=lambda w: w.transpose(0, 1))),
    ],
    "I21": [
        (rotate, dict(read=exchanged("stride", "padding", "dilation"))),
        (scatter, dict(read=exchanged("stride", "padding", "dilation"))),
        (transposed, dict(read=exchanged("stride", "padding", "dilation"), options=remainder_by_formula)),
        (rotate, dict(order=lambda rows, cols: (*rows, *cols))),  # F.pad begins with the last axis
        (rotate, dict(read=exchanged("stride"))),
        (rotate, dict(read=exchanged("padding"))),
        (rotate, dict(read=exchanged("dilation"))),
        (transposed, dict(options=lambda g: dict(padding=g.padding[::-1]))),
        (cells, dict(read=exchanged("padding"))),
    ],
    "I22": [
        (scatter, dict(put=overwrite)),
        (scatter, dict(put=overwrite, order="nij")),
        (scatter, dict(put=overwrite, order="ij")),
        (cells, dict(put=overwrite)),
        (gather, dict(put=overwrite)),
        (columns, dict(col2im=lambda *a: by_index(*a, gather=assign_at))),
        (rotate, dict(correlate=last_filter)),
    ],
    "I23": [(scatter, dict(cut=minus_p)), (cells, dict(cut=minus_p))],
    "I24": [(style, dict(finish=lambda dx, g: dx / len(dx))) for style in (rotate, scatter, transposed)],
    "I25": [
        (style, dict(groups_of=split))
        for style in (rotate, scatter)
        for split in (first_group_only, one_group, tiled, interleaved, reversed_groups)
    ],
    "I26": [(rotate, dict(finish=by(-1))), (scatter, dict(finish=by(-1))), (transposed, dict(turn=lambda w: -w))],
    "I27": [
        *((style, dict(mode_of="zeros")) for style in (rotate, scatter, transposed)),
        *((style, dict(border=cropped)) for style in (rotate, columns)),
    ],
}
