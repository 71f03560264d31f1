"""The truth line must turn red: classic mistakes, put into the operations one at a time, on purpose.

The numbers in brackets (I01, W07, ...) are those of the catalogue of mistakes in conv backward.
"""

import re
from collections.abc import Callable

import pytest
import torch

import convviz.ops.by_rotate as rotate_module
import convviz.ops.stages as stages_module
from convviz import ConvSpec, stages
from convviz.ops.stages import Deviation
from tests.geometries import EDGE_CASES, random_specs, reals
from tests.ops.test_operators_mutations import (
    change_backward_padding,
    rotate_only_cells,
    rotate_only_channels,
    swap_channels_globally,
)

Patch = pytest.MonkeyPatch
rotate_weight = rotate_module.rotate_weight
correlate = rotate_module.correlate
grad_weight = rotate_module.correlate_with_grad_output
grad_bias = stages_module.conv2d_bias

remainder_before = change_backward_padding(lambda before, after, rest: (before + rest, after - rest))
remainder_dropped = change_backward_padding(lambda before, after, rest: (before, after - rest))
negative_padding_clamped = change_backward_padding(lambda before, after, rest: (max(before, 0), max(after, 0)))

PLAIN = ConvSpec((6, 7), 2, 3, (3, 2))
PADDED = ConvSpec((5, 6), 2, 2, 3, padding=1, batch=2)
STRIDED = ConvSpec((8, 9), 2, 3, (3, 2), stride=(2, 3), padding=1, batch=2)
DILATED = ConvSpec((9, 8), 2, 2, (3, 2), dilation=(2, 3), padding=2)
GROUPED = ConvSpec((5, 6), 4, 6, 3, stride=2, padding=1, groups=2, batch=2)
BORDERED = ConvSpec((5, 4), 2, 2, 3, stride=2, padding=((2, 1), (1, 3)), padding_mode="reflect", batch=2)
LONG_CROP = EDGE_CASES["crop larger than dilated grad_output"]
DEEP_PADDING = EDGE_CASES["padding larger than kernel"]
WIDE_REMAINDER = EDGE_CASES["remainder wider than dilation"]
CIRCULAR = EDGE_CASES["circular to the limit"]
BATTERY = (PLAIN, PADDED, STRIDED, DILATED, GROUPED, BORDERED, LONG_CROP, DEEP_PADDING, WIDE_REMAINDER, CIRCULAR)


def deviation(spec: ConvSpec, loss: str = "weighted_sum", dtype: str = "float32") -> Deviation:
    """Compute the stages of random real numbers and return what they say about themselves."""
    other = {"grad_output": reals(spec.output_shape, 1)} if loss == "weighted_sum" else {}
    x, w, b = reals(spec.input_shape, 2), reals(spec.weight_shape, 3), reals((spec.out_channels,), 4)
    found = stages(spec, x, w, b, **other, loss=loss, dtype=dtype).deviation_from_autograd
    assert found is not None
    return found


def flipped_on_one_axis(patch: Patch) -> None:
    patch.setattr(rotate_module, "rotate_weight", lambda weight, groups: rotate_weight(weight.flip(-2), groups))


def remainder_of_zeros(patch: Patch) -> None:
    def fill(padded: torch.Tensor, rotated: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
        gradient = correlate(padded, rotated, spec).clone()
        gradient[..., gradient.shape[-2] - spec.remainder[0] :, :] = 0
        gradient[..., gradient.shape[-1] - spec.remainder[1] :] = 0
        return gradient

    patch.setattr(rotate_module, "correlate", fill)


def stride_not_dilated(patch: Patch) -> None:
    def wrong(padded_input: torch.Tensor, dilated: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
        return grad_weight(padded_input, dilated[..., :: spec.stride[0], :: spec.stride[1]], spec)

    patch.setattr(rotate_module, "correlate_with_grad_output", wrong)


def dilation_not_strided(patch: Patch) -> None:
    patch.setattr(
        rotate_module, "correlate_with_grad_output", lambda x, g, spec: grad_weight(x, g, spec.replace(dilation=1))
    )


def cropped_from_the_wrong_end(patch: Patch) -> None:
    def wrong(padded_input: torch.Tensor, dilated: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
        whole = grad_weight_uncropped(padded_input, dilated, spec)
        return whole[..., -spec.kernel_size[0] :, -spec.kernel_size[1] :]

    patch.setattr(rotate_module, "correlate_with_grad_output", wrong)


def weight_gradient_rotated(patch: Patch) -> None:
    patch.setattr(rotate_module, "correlate_with_grad_output", lambda x, g, spec: grad_weight(x, g, spec).flip(-2, -1))


def weight_gradient_of_the_last_sample(patch: Patch) -> None:
    def wrong(padded_input: torch.Tensor, dilated: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
        return grad_weight(padded_input[-1:], dilated[-1:], spec.replace(batch=1))

    patch.setattr(rotate_module, "correlate_with_grad_output", wrong)


def fold_omitted(patch: Patch) -> None:
    def crop(gradient: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
        (top, _), (left, _) = spec.padding
        return gradient[..., top : top + spec.input_size[0], left : left + spec.input_size[1]]

    patch.setattr(stages_module, "fold_padding", crop)


def bias_mean_of_samples(patch: Patch) -> None:
    patch.setattr(stages_module, "conv2d_bias", lambda grad_output: grad_bias(grad_output) / len(grad_output))


def grad_weight_uncropped(padded_input: torch.Tensor, dilated: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Compute what the window leaves when it moves on past the kernel."""
    ends = (spec.padded_size[axis] - dilated.shape[2 + axis] for axis in range(2))
    positions = tuple(end // step + 1 for end, step in zip(ends, spec.dilation, strict=True))
    return grad_weight(padded_input, dilated, Uncropped(spec, positions))


class Uncropped:
    """The geometry, but with a kernel as large as the window's path, so that nothing is cropped."""

    def __init__(self, spec: ConvSpec, kernel_size: tuple[int, ...]) -> None:
        self.spec, self.kernel_size = spec, kernel_size

    def __getattr__(self, name: str) -> object:
        return getattr(self.spec, name)


SILENT: dict[str, tuple[Callable[[Patch], None], tuple[ConvSpec, ...], str]] = {
    "kernel not rotated (I01)": (
        rotate_only_channels,
        (PLAIN, PADDED, STRIDED, DILATED, GROUPED, BORDERED),
        "grad_input",
    ),
    "flipped on one axis (I03)": (flipped_on_one_axis, (PLAIN, PADDED, STRIDED, GROUPED, BORDERED), "grad_input"),
    "channels swapped globally (I25)": (
        swap_channels_globally,
        (GROUPED, ConvSpec(5, 4, 4, 2, groups=2), GROUPED.replace(padding_mode="circular")),
        "grad_input",
    ),
    "remainder before (I12)": (remainder_before, (STRIDED, BORDERED, GROUPED.replace(input_size=(6, 8))), "grad_input"),
    "remainder of zeros (I11)": (
        remainder_of_zeros,
        (EDGE_CASES["remainder read by padding"], GROUPED.replace(input_size=(6, 8)), STRIDED),
        "grad_input",
    ),
    "fold omitted (I27)": (
        fold_omitted,
        (BORDERED, CIRCULAR, EDGE_CASES["replicate beyond the input"], PADDED.replace(padding_mode="replicate")),
        "grad_input",
    ),
    "grad_weight rotated (W01)": (weight_gradient_rotated, (PLAIN, PADDED, STRIDED, GROUPED, BORDERED), "grad_weight"),
    "stride not turned into dilation (W02)": (stride_not_dilated, (STRIDED, GROUPED, BORDERED), "grad_weight"),
    "dilation not turned into stride (W04)": (
        dilation_not_strided,
        (DILATED, EDGE_CASES["dilation 3"], DILATED.replace(padding_mode="circular")),
        "grad_weight",
    ),
    "cropped from the wrong end (W08)": (
        cropped_from_the_wrong_end,
        (WIDE_REMAINDER, EDGE_CASES["remainder unread"], GROUPED.replace(input_size=(6, 8))),
        "grad_weight",
    ),
    "only the last sample (W11)": (weight_gradient_of_the_last_sample, (PADDED, STRIDED, GROUPED), "grad_weight"),
    "mean over the samples (B06)": (bias_mean_of_samples, (PADDED, STRIDED, BORDERED), "grad_bias"),
}
SILENT_CASES = [
    pytest.param(mistake, spec, tensor, id=f"{name}-{number}")
    for name, (mistake, specs, tensor) in SILENT.items()
    for number, spec in enumerate(specs)
]


def zeros_not_inserted(patch: Patch) -> None:
    patch.setattr(rotate_module, "dilate_grad_output", lambda grad_output, stride: grad_output)


def grad_weight_not_cropped(patch: Patch) -> None:
    patch.setattr(rotate_module, "correlate_with_grad_output", grad_weight_uncropped)


SHAPED: dict[str, tuple[Callable[[Patch], None], tuple[ConvSpec, ...]]] = {
    "remainder dropped (I10)": (remainder_dropped, (STRIDED, WIDE_REMAINDER, EDGE_CASES["remainder unread"])),
    "negative padding clamped (I19)": (negative_padding_clamped, (LONG_CROP, DEEP_PADDING)),
    "no zeros inserted (I07)": (zeros_not_inserted, (STRIDED, GROUPED, WIDE_REMAINDER)),
    "grad_weight not cropped (W07)": (
        grad_weight_not_cropped,
        (WIDE_REMAINDER, EDGE_CASES["remainder unread"], GROUPED.replace(input_size=(6, 8))),
    ),
    "channels not swapped (I20)": (rotate_only_cells, (PLAIN, STRIDED, GROUPED)),
}
SHAPED_CASES = [
    pytest.param(mistake, spec, id=f"{name}-{number}")
    for name, (mistake, specs) in SHAPED.items()
    for number, spec in enumerate(specs)
]


def test_without_a_mistake_the_truth_line_is_green():
    for spec in (*BATTERY, *EDGE_CASES.values()):
        for dtype in ("float32", "float64", "bfloat16"):
            assert deviation(spec, dtype=dtype).within_rounding, (spec, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("mistake", "spec", "tensor"), SILENT_CASES)
def test_a_mistake_of_values_turns_the_truth_line_red(mistake, spec, tensor, dtype, monkeypatch):
    """The shapes are right, only the numbers are not; the line names the tensor that is wrong."""
    mistake(monkeypatch)
    found = deviation(spec, dtype=dtype)
    assert not found.within_rounding, found
    assert found.tensor == tensor


def test_bfloat16_shows_them_as_well():
    green = []
    for name, (mistake, specs, _) in SILENT.items():
        for spec in specs:
            with pytest.MonkeyPatch.context() as patch:
                mistake(patch)
                if deviation(spec, dtype="bfloat16").within_rounding:
                    green.append((name, spec))
    assert not green


@pytest.mark.parametrize(("mistake", "spec"), SHAPED_CASES)
def test_a_mistake_of_shape_does_not_pass(mistake, spec, monkeypatch):
    """Red, or an error about shapes; never green."""
    mistake(monkeypatch)
    try:
        found = deviation(spec)
    except (ValueError, RuntimeError) as error:
        if not re.search(r"size|shape|channels", str(error)):
            raise
    else:
        assert not found.within_rounding, found


def test_the_gradient_of_the_mean_divides(monkeypatch):
    monkeypatch.setattr(stages_module, "loss_gradient", lambda kind, output, other: torch.ones_like(output))
    found = deviation(STRIDED, loss="mean")
    assert not found.within_rounding
    assert deviation(STRIDED, loss="sum").within_rounding


def test_random_geometries_show_a_kernel_that_is_not_rotated(monkeypatch):
    """Not a matter of luck: wherever the kernel has two cells that both count, it is seen."""
    rotate_only_channels(monkeypatch)
    specs = [
        spec
        for spec in random_specs(seed=60, count=800)
        if min(spec.input_size) > 3 and max(spec.kernel_size) > 1 and max(sum(spec.padding, ())) == 0
    ]
    assert len(specs) >= 10
    assert not any(deviation(spec).within_rounding for spec in specs)


def test_small_gradients_are_held_to_small_tolerances(monkeypatch):
    """With loss='mean' over many cells every gradient is tiny; a wrong one must still be red."""
    spec = ConvSpec(64, 4, 8, 3, padding=1, batch=8)
    rotate_only_channels(monkeypatch)
    x, w = reals(spec.input_shape, 2), 0.1 * reals(spec.weight_shape, 3)
    found = stages(spec, x, w, loss="mean").deviation_from_autograd
    assert found is not None
    assert not found.within_rounding, found


def test_a_wrong_tensor_is_not_hidden_behind_the_rounding_of_a_larger_one(monkeypatch):
    """Large inputs and many windows: grad_weight rounds by more than the whole of grad_input."""
    spec = ConvSpec(28, 1, 6, 5, batch=64)
    rotate_only_channels(monkeypatch)
    x, w, g = 1e6 * reals(spec.input_shape, 2), reals(spec.weight_shape, 3), reals(spec.output_shape, 1)
    found = stages(spec, x, w, grad_output=g).deviation_from_autograd
    assert found is not None
    assert not found.within_rounding, found


def test_long_sums_raise_no_alarm():
    """36,864 equal terms in grad_bias, whose rounding adds up: right, so it must be green."""
    found = deviation(ConvSpec(28, 1, 6, 5, batch=64), loss="mean")
    assert found.within_rounding, found


@pytest.mark.parametrize("mistake", [remainder_dropped, zeros_not_inserted, grad_weight_not_cropped])
def test_a_wrong_shape_is_told_in_our_words(mistake, monkeypatch):
    mistake(monkeypatch)
    try:
        found = deviation(WIDE_REMAINDER)
    except ValueError as error:
        if not re.search(r"grad_(input|weight).*shape", str(error)):
            raise
    else:
        assert not found.within_rounding


def test_a_shape_that_broadcasts_is_not_right(monkeypatch):
    """All entries of grad_bias are equal under loss='sum'; one entry in place of three is still a mistake."""
    monkeypatch.setattr(stages_module, "conv2d_bias", lambda grad_output: grad_bias(grad_output)[:1])
    assert not deviation(PLAIN, loss="sum").within_rounding
