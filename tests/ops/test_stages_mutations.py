"""The truth line must turn red: classic mistakes, put into the operations of the stages one at a time, on purpose.

The numbers in brackets (I01, W07, ...) are those of the catalogue of mistakes in conv backward.
"""

import functools
import re

import pytest
import torch

import convviz.ops.by_rotate as rotate_module
import convviz.ops.stages as stages_module
from convviz import ConvSpec, stages
from tests.autograd_truth import truth
from tests.geometries import EDGE_CASES, reals
from tests.operator_cases import drawn
from tests.ops.test_operators_mutations import (
    ANYWHERE,
    change_backward_padding,
    rotate_only_cells,
    rotate_only_channels,
    swap_channels_globally,
)

GRADIENTS = ("grad_output", "grad_input", "grad_weight", "grad_bias")
CORRELATIONS = {"grad_input": "correlate", "grad_weight": "correlate_with_grad_output"}
BATTERY = (
    ConvSpec((6, 7), 2, 3, (3, 2)),
    ConvSpec((5, 6), 2, 2, 3, padding=1, batch=2),
    ConvSpec((8, 9), 2, 3, (3, 2), stride=(2, 3), padding=1, batch=2),
    ConvSpec((9, 8), 2, 2, (3, 2), dilation=(2, 3), padding=2),
    ConvSpec((5, 6), 4, 6, 3, stride=2, padding=1, groups=2, batch=2),
    ConvSpec((6, 8), 4, 6, 3, stride=2, padding=1, groups=2, batch=2, padding_mode="replicate"),
    ConvSpec((5, 4), 2, 2, 3, stride=2, padding=((2, 1), (1, 3)), padding_mode="reflect", batch=2),
    EDGE_CASES["crop larger than dilated grad_output"],
    EDGE_CASES["remainder wider than dilation"],
    EDGE_CASES["circular to the limit"],
    EDGE_CASES["replicate beyond the input"],
    EDGE_CASES["padding larger than kernel"],
)


def changed(tensor, change):
    """Put change(the pictures' own correlation) in its place."""

    def mistake(patch):
        name = CORRELATIONS[tensor]
        patch.setattr(rotate_module, name, change(getattr(rotate_module, name)))

    return mistake


def fold_omitted(patch):
    def crop(gradient, spec):
        (top, _), (left, _) = spec.padding
        return gradient[..., top : top + spec.input_size[0], left : left + spec.input_size[1]]

    patch.setattr(stages_module, "fold_padding", crop)


def bias_mean_of_samples(patch):
    whole = stages_module.conv2d_bias
    patch.setattr(stages_module, "conv2d_bias", lambda grad_output: whole(grad_output) / len(grad_output))


def zeros_not_inserted(patch):
    patch.setattr(rotate_module, "dilate_grad_output", lambda grad_output, stride: grad_output)


class Uncropped:
    """The geometry, but with a kernel as large as the window's path, so that nothing is cropped."""

    def __init__(self, spec, dilated):
        ends = (spec.padded_size[axis] - dilated.shape[2 + axis] for axis in range(2))
        positions = tuple(end // step + 1 for end, step in zip(ends, spec.dilation, strict=True))
        self.spec, self.kernel_size = spec, positions

    def __getattr__(self, name):
        return getattr(self.spec, name)


def of_the_end(whole, spec):
    return whole[..., -spec.kernel_size[0] :, -spec.kernel_size[1] :]


# Each mistake, and the tensors that it makes wrong.
MISTAKES = {name: (changed(tensor, change), {tensor}) for name, (tensor, change) in ANYWHERE.items()
            if tensor in CORRELATIONS} | {
    "only the channels are swapped (I01)": (rotate_only_channels, {"grad_input"}),
    "channels not swapped (I20)": (rotate_only_cells, {"grad_input"}),
    "channels swapped globally (I25)": (swap_channels_globally, {"grad_input"}),
    "remainder before (I12)": (change_backward_padding(lambda a, b, rest: (a + rest, b - rest)), {"grad_input"}),
    "remainder not padded (I10)": (change_backward_padding(lambda a, b, rest: (a, b - rest)), {"grad_input"}),
    "crop dropped (I19)": (change_backward_padding(lambda a, b, rest: (max(a, 0), max(b, 0))), {"grad_input"}),
    "no zeros inserted (I07)": (zeros_not_inserted, {"grad_input", "grad_weight"}),
    "fold omitted (I27)": (fold_omitted, {"grad_input"}),
    "stride not turned into dilation (W02)": (
        changed("grad_weight", lambda f: lambda x, g, s: f(x, g[..., :: s.stride[0], :: s.stride[1]], s)),
        {"grad_weight"},
    ),
    "dilation not turned into stride (W04)": (
        changed("grad_weight", lambda f: lambda x, g, s: f(x, g, s.replace(dilation=1))),
        {"grad_weight"},
    ),
    "not cropped (W07)": (changed("grad_weight", lambda f: lambda x, g, s: f(x, g, Uncropped(s, g))), {"grad_weight"}),
    "cropped from the wrong end (W08)": (
        changed("grad_weight", lambda f: lambda x, g, s: of_the_end(f(x, g, Uncropped(s, g)), s)),
        {"grad_weight"},
    ),
    "mean over the samples (B06)": (bias_mean_of_samples, {"grad_bias"}),
}  # fmt: skip


# What is said of a wrong shape: in our words, or in torch's inside of the changed operation.
REPORTED = {True: r"grad_(input|weight).*shape", False: "size|shape|channels|out of range"}


@functools.cache
def known():
    """Return each geometry of the battery, its tensors, and what autograd through the definition says."""
    made = []
    for number, spec in enumerate(BATTERY):
        given = dict(zip(("input", "weight", "bias", "grad_output"), drawn(spec, number), strict=True))
        made.append((spec, given, truth(spec, "weighted_sum", given | {"grad": given["grad_output"]})))
    return made


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_truth_line_is_red_exactly_where_a_number_is_wrong(mistake, monkeypatch):
    """In each format, and it names a tensor that is wrong; a wrong shape is reported in our words, or in torch's."""
    put_in, expected = MISTAKES[mistake]
    put_in(monkeypatch)
    seen = set()
    for spec, given, right in known():
        for dtype in ("float64", "float32", "bfloat16"):
            try:
                made = stages(spec, **given, dtype=dtype)
            except (ValueError, RuntimeError, IndexError) as error:
                if not re.search(REPORTED[isinstance(error, ValueError)], str(error)):
                    raise
                seen |= expected
                continue
            if dtype == "float64":  # whole numbers, which this format holds to the last bit
                wrong = {name for name in GRADIENTS if not torch.equal(getattr(made, name), right[name])}
                seen |= wrong
            found = made.deviation_from_autograd
            assert found.within_rounding == (not wrong), (spec, dtype, found)
            assert not wrong or found.tensor in wrong, (spec, dtype, found)
    assert seen == expected


def deviation(spec, loss, scale=(1, 1), **other):
    x, w = (size * reals(shape, 2) for size, shape in zip(scale, (spec.input_shape, spec.weight_shape), strict=True))
    bias = reals((spec.out_channels,), 4)
    return stages(spec, x, w, bias, loss=loss, dtype="float32", **other).deviation_from_autograd


def test_small_gradients_are_held_to_small_tolerances_and_none_is_hidden_by_a_larger_one(monkeypatch):
    """With loss='mean' over many cells every gradient is tiny; with large inputs grad_weight rounds by more than 1."""
    large = ConvSpec(28, 1, 6, 5, batch=64)
    assert deviation(large, "mean").within_rounding, "36,864 equal terms in grad_bias, whose rounding adds up"
    rotate_only_channels(monkeypatch)
    assert not deviation(ConvSpec(64, 4, 8, 3, padding=1, batch=8), "mean", (1, 0.1)).within_rounding
    hidden = deviation(large, "weighted_sum", (1e6, 1), grad_output=reals(large.output_shape, 1))
    assert not hidden.within_rounding


def test_the_gradient_of_the_loss_is_held_and_a_shape_that_broadcasts_is_not_right(monkeypatch):
    spec = BATTERY[2]
    with monkeypatch.context() as patch:
        patch.setattr(stages_module, "loss_gradient", lambda kind, output, other: torch.ones_like(output))
        assert not deviation(spec, "mean").within_rounding
        assert deviation(spec, "sum").within_rounding
    whole = stages_module.conv2d_bias
    # All entries are equal under loss='sum'; one in place of three is still a mistake.
    monkeypatch.setattr(stages_module, "conv2d_bias", lambda grad_output: whole(grad_output)[:1])
    assert not deviation(spec, "sum").within_rounding
