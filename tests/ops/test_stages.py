"""The pictures' own gradients against autograd through the definition, and the manners of `stages`."""

import dataclasses
import math
import re
import warnings
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import convviz.ops.stages as stages_module
from convviz import ConvSpec, Stages, stages
from convviz.ops.devices_and_dtypes import available_devices
from convviz.ops.losses import LOSSES
from convviz.ops.padding import pad_input
from tests.autograd_truth import given_to, truth, truth_transposed
from tests.geometries import EDGE_CASES, conv2d_by_definition, integers, random_specs, reals

GRADIENTS = ("grad_output", "grad_input", "grad_weight", "grad_bias")
NAMES = [
    field.name
    for field in dataclasses.fields(Stages)
    if field.name not in ("spec", "loss_kind", "deviation_from_autograd", "transposed")
]
NO_CUDA = "cuda" not in available_devices()
LOSS_BY_DEFINITION = {
    "sum": lambda cells, _: sum(cells),
    "mean": lambda cells, _: sum(cells) / len(cells),
    "weighted_sum": lambda cells, others: sum(a * b for a, b in zip(cells, others, strict=True)),
    "half_squared_error": lambda cells, others: sum((a - b) ** 2 for a, b in zip(cells, others, strict=True)) / 2,
    # The mean over the samples of -log of the share that the target's cell has of all exponentials.
    "cross_entropy": lambda cells, others: -sum(
        (sample.exp() / sample.exp().sum())[aim == 1].log() for sample, aim in zip(cells, others, strict=True)
    ) / len(cells),
}  # fmt: skip


def drawn(spec: ConvSpec, seed: int, make=integers) -> dict[str, torch.Tensor]:
    """Draw input, weight, bias and grad_output (also used as target) for a geometry."""
    shapes = {"input": spec.input_shape, "weight": spec.weight_shape, "bias": (spec.out_channels,)}
    shapes["grad_output"] = spec.output_shape
    return {name: make(shape, 10 * seed + place) for place, (name, shape) in enumerate(shapes.items())}


def given(spec: ConvSpec, seed: int, loss: str, transposed: bool = False, make=integers) -> dict:
    """Draw all that `stages` is given for a loss; two of three have a bias."""
    into, out = (spec.output_shape, spec.input_shape) if transposed else (spec.input_shape, spec.output_shape)
    other = given_to(loss, out, 10 * seed + 3, make)
    bias = make((out[1],), 10 * seed + 2) if seed % 3 else None
    return {
        "input": make(into, 10 * seed), "weight": make(spec.weight_shape, 10 * seed + 1), "bias": bias, "loss": loss,
        "grad_output": other["grad"], "target": other["target"],
    }  # fmt: skip


def both_ways(specs):
    """Yield (number, geometry, transposed, function) for each convolution, and each transposed one that there is."""
    for number, spec in enumerate(specs):
        yield number, spec, False, stages
        if spec.padding_mode == "zeros":
            yield number, spec, True, partial(stages, transposed=True)


# The numbers.


def test_every_stage_is_what_autograd_says_of_the_definition():
    """Whole numbers in float64 have no rounding: all but what is divided or has a logarithm is equal bit by bit."""
    for number, spec, transposed, run in both_ways([*EDGE_CASES.values(), *random_specs(seed=10, count=150)]):
        loss = list(LOSSES)[number % len(LOSSES)]
        exact = loss not in ("mean", "cross_entropy")
        values = given(spec, number, loss, transposed, integers if exact else reals)
        found = (truth_transposed if transposed else truth)(spec, loss, values | {"grad": values["grad_output"]})
        result = run(spec, **values, dtype="float64", compare=number % 4 == 0)
        about = (loss, transposed, spec)
        missing = {name for name in NAMES if getattr(result, name) is None}
        assert missing == set(NAMES) - set(found) - {name for name in ("bias", "target") if values[name] is not None}
        for name, right in found.items():
            ours = getattr(result, name)
            near = torch.equal(ours, right) if exact else torch.allclose(ours, right, rtol=1e-11, atol=1e-11)
            assert ours.shape == right.shape, (name, *about)
            assert near, (name, *about)
        assert (result.spec, result.loss_kind, result.transposed) == (spec, loss, transposed)
        if number % 4 == 0:
            assert result.deviation_from_autograd.within_rounding, about
            assert result.deviation == 0 or not exact, about


@pytest.mark.parametrize("kind", LOSSES)
def test_gradients_are_the_slopes_of_the_loss(kind):
    """Central differences by the loss of the definition, cell by cell: no autograd on either side.

    The convolution is bilinear. Where the loss is at most quadratic, central differences have no truncation error and
    only rounding is left; where it is curved, an error of the step's square.
    """
    step, near = (1e-4, 1e-6) if LOSSES[kind].bend == "curved" else (0.5, 1e-10)
    near = {"rtol": near, "atol": near}
    for number, spec in enumerate(random_specs(seed=20, count=7)):
        values = given(spec, number, kind, make=reals)
        other = values["grad_output"] if values["target"] is None else values["target"]
        result = stages(spec, **values, dtype="float64")

        def loss_of(output, other=other):
            axis = 1 if kind == "cross_entropy" else 0
            return LOSS_BY_DEFINITION[kind](*(each if each is None else each.flatten(axis) for each in (output, other)))

        def loss(spec=spec, values=values, loss_of=loss_of, **changed) -> torch.Tensor:
            tensors = values | changed
            return loss_of(conv2d_by_definition(tensors["input"], tensors["weight"], tensors["bias"], spec))

        torch.testing.assert_close(result.loss, torch.as_tensor(loss()).reshape(()), rtol=1e-12, atol=1e-12)
        for name in ("input", "weight", *(["bias"] if values["bias"] is not None else [])):
            slopes = slopes_of(lambda tensor, name=name, loss=loss: loss(**{name: tensor}), values[name], step)
            ours = getattr(result, f"grad_{name}")
            torch.testing.assert_close(ours, slopes, **near, msg=lambda m, s=spec: f"{s}: {m}")
        torch.testing.assert_close(result.grad_output, slopes_of(loss_of, result.output, step), **near)


def slopes_of(function, tensor, step):
    slopes = torch.empty_like(tensor)
    for cell in range(slopes.numel()):
        shift = torch.zeros_like(tensor)
        shift.view(-1)[cell] = step
        slopes.view(-1)[cell] = (function(tensor + shift) - function(tensor - shift)) / (2 * step)
    return slopes


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
def test_rounding_is_within_rounding(dtype):
    """No false alarm in any format: real numbers, large and small, all losses, both ways.

    Of cross-entropy the share of the target's cell may be 1 but for rounding: what is left of it is no false alarm.
    """
    for number, spec, transposed, run in both_ways([*EDGE_CASES.values(), *random_specs(seed=51, count=80)]):
        values = given(spec, number, list(LOSSES)[number % len(LOSSES)], transposed, reals)
        values["input"] *= 10.0 ** (number // len(LOSSES) % 9 - 4)
        result = run(spec, **values, dtype=dtype)
        about = (spec, values["loss"], transposed, result.deviation_from_autograd)
        assert result.deviation_from_autograd.within_rounding, about
        assert math.isfinite(result.deviation), about


def test_the_picture_is_the_arithmetic():
    """padded_grad_output ⊛ rotated_weight is grad_input, or grad_padded_input, which folds to it."""
    for number, spec in enumerate([*EDGE_CASES.values(), *random_specs(seed=34, count=50)]):
        result = stages(spec, **drawn(spec, number), dtype="float64")
        shown = result.padded_grad_output.shape[2:]
        slid = spec.replace(input_size=shown, in_channels=spec.out_channels, out_channels=spec.in_channels, stride=1,
                            padding=0, padding_mode="zeros")  # fmt: skip
        product = conv2d_by_definition(result.padded_grad_output, result.rotated_weight, None, slid)
        folds = spec.padding_mode != "zeros"
        assert torch.equal(product, result.grad_padded_input if folds else result.grad_input), spec


# Losses and their arguments.


def test_the_default_loss_is_the_sum_and_grad_output_weights_it():
    spec = EDGE_CASES["every axis different"]
    values = drawn(spec, 0)
    assert stages(spec, **values).loss_kind == "weighted_sum"
    grad_output = values.pop("grad_output")
    plain = stages(spec, **values)
    assert plain.loss_kind == "sum"
    assert (plain.grad_output == 1).all()
    squared = stages(spec, **values, loss="half_squared_error", target=grad_output)
    assert torch.equal(squared.target, grad_output.float())
    assert torch.equal(squared.grad_output, squared.output - squared.target)


def test_contradictory_losses_are_refused():
    spec, other = ConvSpec(4), torch.ones(1, 1, 2, 2)
    values = {name: value for name, value in drawn(spec, 0).items() if name != "grad_output"}
    grad, target, both = {"grad_output": other}, {"target": other}, {"grad_output": other, "target": other}
    belongs = "a grad_output belongs to loss='weighted_sum': got loss={!r} together with a grad_output; give both"
    known = "loss is one of half_squared_error, cross_entropy, sum, mean, weighted_sum: got "
    for loss, extra, message in (
        ("sum", grad, belongs.format("sum")),
        ("mean", grad, belongs.format("mean")),
        ("weighted_sum", {}, "got loss='weighted_sum' without a grad_output; give both, or neither"),
        ("half_squared_error", {}, "got loss='half_squared_error' without a target; give both, or neither"),
        ("half_squared_error", both, "got loss='half_squared_error' together with a grad_output"),
        ("sum", target, "a target belongs to loss='half_squared_error'"),
        (None, target, "a target belongs to loss='half_squared_error'"),
        ("cross_entropy", {}, "got loss='cross_entropy' without a target; give both, or neither"),
        (None, both, "got loss='weighted_sum' together with a target; give both, or neither"),
        ("l1", {}, f"{known}'l1'"),
        (3, {}, f"{known}3"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            stages(spec, **values, loss=loss, **extra)


# Errors.

NO_NUMBERS = ("abc", [[1, 2], [3]], [["a"]], object(), {}, np.array([[None]]))
HERE = f"{', '.join(available_devices())} on this machine: got "


@pytest.mark.parametrize(
    ("name", "values", "rule"),
    [
        *[(name, NO_NUMBERS, "{name} must (be a tensor, an array or nested lists|have the shape)")
          for name in ("input", "weight", "bias", "grad_output")],
        *[(name, [None], "{name} must be a tensor.*got None") for name in ("input", "weight")],
        *[(name, [torch.zeros(1, dtype=torch.complex64)], "{name} must hold real numbers: got dtype torch.complex64")
          for name in ("input", "weight", "bias", "grad_output")],
        ("device", ["banana", "meta", 2.5, "cpu:", *(["cuda"] if NO_CUDA else [])],
         f"device is one of {re.escape(HERE)}{{value}}$"),
        ("dtype", ["int8", "float16", "", torch.int8, torch.complex64, float, 32],
         "dtype is one of float32, float64, bfloat16: got {value}$"),
    ],
)  # fmt: skip
def test_what_cannot_be_computed_is_refused_by_name(name, values, rule):
    spec = ConvSpec(4)
    for value in values:
        message = rule.format(name=name, value=re.escape(repr(value)))
        with pytest.raises(ValueError, match=f"^{message}"):
            stages(spec, **(drawn(spec, 0) | {name: value}))


def test_a_wrong_shape_is_named_with_both_shapes():
    spec = EDGE_CASES["grouped"]
    for name, shape, asked in (
        ("input", (2, 4, 6, 5), "[2, 4, 5, 6]"),
        ("input", (4, 5, 6), "[2, 4, 5, 6]"),
        ("weight", (6, 4, 3, 3), "[6, 2, 3, 3]"),
        ("bias", (1, 6), "[6]"),
        ("bias", (), "[6]"),
        ("grad_output", (2, 6, 5, 6), "[2, 6, 3, 3]"),
        ("grad_output", (2, 6, 1, 3), "[2, 6, 3, 3]"),  # would broadcast
        ("target", (1, 6, 3, 3), "[2, 6, 3, 3]"),  # would broadcast
    ):
        values = drawn(spec, 0)
        if name == "target":
            del values["grad_output"]
            values["loss"] = "half_squared_error"
        values[name] = torch.zeros(shape)
        message = (
            f"{name} must have the shape {asked} that the geometry asks for: got {list(shape)}; "
            "reshape it, or change the geometry"
        )
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            stages(spec, **values)


# What comes in.


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", torch.float64, None])
def test_every_stage_has_the_dtype_asked_for(dtype):
    spec = EDGE_CASES["reflect to the limit"]
    values = {name: value.to(torch.int32) for name, value in drawn(spec, 0).items()}
    result = stages(spec, **values, dtype=dtype)
    expected = getattr(torch, dtype) if isinstance(dtype, str) else dtype or torch.float32
    stage = {name: getattr(result, name) for name in NAMES if getattr(result, name) is not None}
    assert {tensor.dtype for tensor in stage.values()} == {expected}
    assert {tensor.device.type for tensor in stage.values()} == {"cpu"}


def test_without_a_dtype_no_number_of_a_tensor_is_narrowed():
    """1 + 2^-40 is no float32; a grad_output in float64 is narrowed as little as an input."""
    for _, spec, transposed, run in both_ways([ConvSpec(4)]):
        shapes = (spec.input_shape, spec.weight_shape, spec.output_shape)
        shapes = shapes[::-1] if transposed else shapes
        x, w, g = (torch.full(shape, 1 + 2.0**-40, dtype=torch.float64) for shape in shapes)
        half, wide = torch.float16, torch.float32
        for given, expected in (
            ((x, w, g), torch.float64),
            ((x.numpy(), w.numpy(), g.numpy()), torch.float64),
            ((x.float(), w.float(), g), torch.float64),
            ((x.bfloat16(), w.int(), g.bfloat16()), torch.bfloat16),
            ((x.bfloat16(), w.to(half), g.bfloat16()), wide),
            ((x.to(half), w.to(half), g.to(half)), wide),
            ((x.tolist(), w.tolist(), g.tolist()), wide),
        ):
            made = run(spec, *given[:2], grad_output=given[2])
            about = (transposed, [getattr(value, "dtype", list) for value in given])
            assert {made.grad_input.dtype, made.grad_weight.dtype, made.output.dtype} == {expected}, about
            kept = made.input if made.transposed else made.grad_output
            assert expected is not torch.float64 or kept.flatten()[0] == 1 + 2.0**-40, about


def test_any_form_and_layout_gives_the_same_and_is_not_modified():
    """Lists, arrays, whole numbers; transposed, expanded, channels-last and reversed views; with gradients or not."""
    spec = ConvSpec(5, 2, 2, padding=1, batch=2, padding_mode="circular")
    values = drawn(spec, 0)
    reference = stages(spec, **values, dtype="float64")
    forms = (
        torch.Tensor.tolist,
        torch.Tensor.numpy,
        lambda t: t.to(torch.int8),
        lambda t: t.flip(-1).numpy()[..., ::-1],
        lambda t: t.mT.contiguous().mT if t.ndim == 4 else t,
        lambda t: t.contiguous(memory_format=torch.channels_last) if t.ndim == 4 else t,
        lambda t: torch.stack([t, t])[1],
        lambda t: t.clone().requires_grad_(),
    )
    for number, form in enumerate(forms):
        given = {name: form(value) for name, value in values.items()}
        versions = [getattr(value, "_version", None) for value in given.values()]
        result = stages(spec, **given, dtype="float64", compare=number % 2 == 0)
        for name in NAMES:
            ours, right = getattr(result, name), getattr(reference, name)
            assert ours is right is None or torch.equal(ours, right), (number, name)
            assert ours is None or not (ours.requires_grad or ours.grad_fn), (number, name)
        assert [getattr(value, "_version", None) for value in given.values()] == versions, number
        assert all(getattr(value, "grad", None) is None for value in given.values()), number
    for value in values.values():
        value.add_(1)
    again = stages(spec, **{name: value - 1 for name, value in values.items()}, dtype="float64")
    assert all(torch.equal(getattr(reference, name), getattr(again, name)) for name in ("input", "weight", "bias"))


def test_a_read_only_array_is_an_array_without_a_warning():
    """Torch gives this warning once in a process, unless it is set to warn always."""
    x = np.ones((1, 1, 4, 4), np.float32)
    x.flags.writeable = False
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="not writable"):
            torch.from_numpy(x)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            stages(ConvSpec(4), x, torch.ones(1, 1, 3, 3))
    finally:
        torch.set_warn_always(before)


# What must stay as it was.


@pytest.mark.parametrize("enabled", [True, False])
def test_global_state_is_untouched(enabled):
    spec = EDGE_CASES["reflect to the limit"]

    def state() -> tuple[object, ...]:
        return (
            torch.is_grad_enabled(),
            torch.get_num_threads(),
            torch.get_default_dtype(),
            torch.are_deterministic_algorithms_enabled(),
            torch.backends.mkldnn.enabled,
            torch.get_rng_state().tolist(),
            np.random.get_state()[1].tolist(),
        )

    with torch.set_grad_enabled(enabled):
        before = state()
        stages(spec, **drawn(spec, 0))
        assert state() == before
        with pytest.raises(ValueError, match=r"^input must have the shape"):
            stages(spec, torch.zeros(1), torch.zeros(1))
        assert state() == before


def test_in_inference_mode_and_with_tensors_made_there():
    spec = ConvSpec(4, padding=1)
    with torch.inference_mode():
        values = drawn(spec, 0)
        assert stages(spec, **values).deviation == 0
    assert stages(spec, **values, dtype="float64").deviation == 0


def test_stages_are_compared_by_identity():
    """Field by field, == would ask tensors for one answer, and raise."""
    spec = ConvSpec(4)
    one, other = stages(spec, **drawn(spec, 0)), stages(spec, **drawn(spec, 0))
    assert one == one
    assert one != other
    assert len({one, other}) == 2


# The deviation.


def test_without_a_comparison_the_deviation_teaches():
    spec = ConvSpec(4)
    result = stages(spec, **drawn(spec, 0), compare=False)
    assert result.deviation_from_autograd is None
    message = "the deviation is known only after a comparison: call stages(..., compare=True)"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        _ = result.deviation
    compared = stages(spec, **drawn(spec, 0))
    assert all(
        getattr(result, name) is getattr(compared, name) is None
        or torch.equal(getattr(result, name), getattr(compared, name))
        for name in NAMES
    )


@pytest.mark.parametrize("name", GRADIENTS)
def test_the_deviation_finds_the_one_wrong_cell(name, monkeypatch):
    """Change one cell of one gradient by a known amount, or to nan: value, tensor and index must be exactly that."""
    spec = EDGE_CASES["grouped"]
    values = drawn(spec, 1)
    index = tuple(size - 1 for size in getattr(stages(spec, **values), name).shape)
    compute = stages_module._compute
    for more in (3.0, math.nan):

        def wrong(*arguments, more=more):
            result = compute(*arguments)
            result[name] = result[name].clone()
            result[name][index] += more
            return result

        monkeypatch.setattr(stages_module, "_compute", wrong)
        deviation = stages(spec, **values).deviation_from_autograd
        assert deviation.value == more or (math.isnan(more) and math.isnan(deviation.value))
        assert (deviation.tensor, deviation.index) == (name, index)
        assert not deviation.within_rounding


def by_hand(result: Stages, values: dict[str, torch.Tensor], spec: ConvSpec) -> tuple[bool, float]:
    """Compare the gradients with autograd again, in numpy's words: any one-sided nan? largest difference?"""
    x, w, b = (values[name].float().requires_grad_() for name in ("input", "weight", "bias"))
    y = F.conv2d(pad_input(x, spec), w, b, spec.stride, 0, spec.dilation, spec.groups)
    truth = torch.autograd.grad((values["grad_output"].float() * y).sum(), (y, x, w, b))
    one_sided, worst = False, 0.0
    for name, reference in zip(GRADIENTS, truth, strict=True):
        ours, theirs = getattr(result, name).numpy(), reference.numpy()
        one_sided |= bool((np.isnan(ours) != np.isnan(theirs)).any())
        with np.errstate(invalid="ignore"):
            difference = np.where((ours == theirs) | np.isnan(ours), 0, np.abs(ours - theirs))
        worst = max(worst, float(np.nanmax(difference)))
    return one_sided, worst


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["input", "weight", "bias", "grad_output"])
def test_nan_and_inf_pass_through_and_the_deviation_stays_honest(name, bad):
    """They are shown where they arise; where 0 * inf makes a nan on one side only, the deviation says so."""
    for number, spec in enumerate([*EDGE_CASES.values(), *random_specs(seed=52, count=10)]):
        values = drawn(spec, number)
        values[name] = values[name].clone()
        values[name].view(-1)[number % values[name].numel()] = bad
        result = stages(spec, **values)
        kept = getattr(result, name).flatten()[number % values[name].numel()]
        assert torch.equal(kept, torch.tensor(bad)) or (math.isnan(bad) and kept.isnan())
        one_sided, worst = by_hand(result, values, spec)
        if one_sided:
            assert math.isnan(result.deviation) or math.isinf(result.deviation), spec
            assert not result.deviation_from_autograd.within_rounding, spec
        else:
            assert result.deviation == worst, spec
