"""The pictures' own gradients against autograd through the definition, and the manners of `stages`."""

import dataclasses
import itertools
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import convviz.ops.stages as stages_module
from convviz import ConvSpec, Stages, conv2d_input, conv2d_weight, stages
from convviz.ops.by_rotate import (
    backward_padding,
    dilate_grad_output,
    pad_grad_output,
    rotate_weight,
)
from convviz.ops.device import available_devices
from convviz.ops.losses import LOSSES
from convviz.ops.padding import fold_padding, pad_input
from convviz.ops.stages_transposed import stages_transposed
from convviz.ops.tensors import cell_at
from tests.geometries import EDGE_CASES, conv2d_by_definition, integers, random_specs, reals, source_plane

GRADIENTS = ("grad_output", "grad_input", "grad_weight", "grad_bias")
NAMES = [
    field.name
    for field in dataclasses.fields(Stages)
    if field.name not in ("spec", "loss_kind", "deviation_from_autograd", "transposed")
]
ROOT = Path(__file__).parents[1]
NO_CUDA = "cuda" not in available_devices()


def drawn(spec: ConvSpec, seed: int, make=integers) -> dict[str, torch.Tensor]:
    """Draw input, weight, bias and grad_output (also used as target) for a geometry."""
    shapes = {"input": spec.input_shape, "weight": spec.weight_shape, "bias": (spec.out_channels,)}
    shapes["grad_output"] = spec.output_shape
    return {name: make(shape, 10 * seed + place) for place, (name, shape) in enumerate(shapes.items())}


def loss_by_definition(kind: str, output: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Add the loss up cell by cell, in the order of the cells."""
    cells, others = output.flatten().unbind(), other.flatten().unbind()
    if kind == "weighted_sum":
        return sum(a * b for a, b in zip(cells, others, strict=True))
    if kind == "half_squared_error":
        return sum((a - b) ** 2 for a, b in zip(cells, others, strict=True)) / 2
    return sum(cells) / (len(cells) if kind == "mean" else 1)


def arguments_of(kind: str, other: torch.Tensor) -> dict[str, object]:
    name = {"weighted_sum": "grad_output", "half_squared_error": "target", "cross_entropy": "target"}.get(kind)
    return {"loss": kind} | ({} if name is None else {name: other})


# The gradients.


@pytest.mark.parametrize("part", range(4))
def test_gradients_are_exactly_those_of_the_definition(part):
    """Whole numbers in float64 have no rounding, so the four gradients must be equal bit by bit."""
    specs = [*EDGE_CASES.values(), *random_specs(seed=10 + part, count=600)]
    for number, spec in enumerate(specs):
        kind = ("weighted_sum", "half_squared_error", "sum")[number % 3]
        values = drawn(spec, number)
        other = values.pop("grad_output")
        x, w, b = (values[name].clone().requires_grad_() for name in ("input", "weight", "bias"))
        y = conv2d_by_definition(x, w, b, spec)
        loss = {"sum": y, "weighted_sum": other * y, "half_squared_error": (y - other) ** 2 / 2}[kind].sum()
        expected = dict(zip(GRADIENTS, torch.autograd.grad(loss, (y, x, w, b)), strict=True))
        result = stages(spec, **values, **arguments_of(kind, other), dtype="float64", compare=number % 4 == 0)
        assert torch.equal(result.output, y), spec
        assert torch.equal(result.loss, loss), spec
        for name, truth in expected.items():
            assert torch.equal(getattr(result, name), truth), (name, spec)
        if number % 4 == 0:
            assert result.deviation == 0, spec
            assert result.deviation_from_autograd.within_rounding


@pytest.mark.parametrize("kind", [name for name, loss in LOSSES.items() if loss.bend != "curved"])
def test_gradients_are_the_slopes_of_the_loss(kind):
    """Central differences by the loss of the definition, cell by cell: no autograd on either side.

    The convolution is bilinear and these losses are at most quadratic, so central differences have no
    truncation error and only rounding is left. test_losses.py has those that are curved.
    """
    step = 0.5
    for number, spec in enumerate(random_specs(seed=20, count=12)):
        values = drawn(spec, number, reals)
        other = values.pop("grad_output")
        result = stages(spec, **values, **arguments_of(kind, other), dtype="float64")

        def loss(spec=spec, values=values, other=other, **changed) -> torch.Tensor:
            tensors = values | changed
            y = conv2d_by_definition(tensors["input"], tensors["weight"], tensors["bias"], spec)
            return loss_by_definition(kind, y, other)

        torch.testing.assert_close(result.loss, loss(), rtol=1e-12, atol=1e-12)
        for name in ("input", "weight", "bias"):
            slopes = torch.empty_like(values[name])
            for cell in range(slopes.numel()):
                shift = torch.zeros(slopes.numel(), dtype=torch.float64)
                shift[cell] = step
                shift = shift.reshape(slopes.shape)
                slope = loss(**{name: values[name] + shift}) - loss(**{name: values[name] - shift})
                slopes.view(-1)[cell] = slope / (2 * step)
            ours = getattr(result, f"grad_{name}")
            torch.testing.assert_close(ours, slopes, rtol=1e-10, atol=1e-10, msg=lambda m, s=spec: f"{s}: {m}")
        slopes = torch.empty_like(result.output)
        for cell in range(slopes.numel()):
            shift = torch.zeros_like(slopes)
            shift.view(-1)[cell] = step
            slope = loss_by_definition(kind, result.output + shift, other)
            slopes.view(-1)[cell] = (slope - loss_by_definition(kind, result.output - shift, other)) / (2 * step)
        torch.testing.assert_close(result.grad_output, slopes, rtol=1e-10, atol=1e-10)


def test_the_mean_is_autograds_mean():
    """1 / cells has rounding, so exactness ends here; torch's own mean is the reference."""
    for number, spec in enumerate(random_specs(seed=21, count=100)):
        values = drawn(spec, number, reals)
        del values["grad_output"]
        result = stages(spec, **values, loss="mean", dtype="float64")
        assert result.deviation_from_autograd.within_rounding, spec
        torch.testing.assert_close(result.loss, result.output.mean())
        torch.testing.assert_close(
            result.grad_output, torch.full(spec.output_shape, 1 / result.output.numel()).double()
        )


# Every stage.


def test_shape_of_every_stage():
    for number, spec in enumerate([*EDGE_CASES.values(), *random_specs(seed=30, count=200)]):
        result = stages(spec, **drawn(spec, number))
        dilated = [s * (n - 1) + 1 for s, n in zip(spec.stride, spec.output_size, strict=True)]
        border = backward_padding(spec)
        zeros = spec.padding_mode == "zeros"
        shapes = {
            "input": spec.input_shape,
            "padded_input": (*spec.input_shape[:2], *spec.padded_size),
            "weight": spec.weight_shape,
            "bias": (spec.out_channels,),
            "output": spec.output_shape,
            "target": None,
            "loss": (),
            "grad_output": spec.output_shape,
            "dilated_grad_output": (*spec.output_shape[:2], *dilated),
            "padded_grad_output": (*spec.output_shape[:2], *(d + sum(b) for d, b in zip(dilated, border, strict=True))),
            "rotated_weight": (spec.in_channels, spec.out_channels // spec.groups, *spec.kernel_size),
            "grad_padded_input": None if zeros else (*spec.input_shape[:2], *spec.padded_size),
            "grad_input": spec.input_shape,
            "grad_weight": spec.weight_shape,
            "grad_bias": (spec.out_channels,),
        }
        assert list(shapes) == NAMES
        for name, shape in shapes.items():
            value = getattr(result, name)
            assert (value if value is None else tuple(value.shape)) == shape, (name, spec)
        assert (result.spec, result.loss_kind) == (spec, "weighted_sum")


def test_without_bias_there_is_no_grad_bias():
    spec = EDGE_CASES["grouped"]
    values = drawn(spec, 0) | {"bias": None}
    result = stages(spec, **values)
    assert result.bias is None
    assert result.grad_bias is None
    assert result.deviation == 0


def test_the_padded_input_holds_copies_and_zeros():
    """Against numpy.pad of the cells' numbers."""
    for number, spec in enumerate(random_specs(seed=31, count=200)):
        x = integers(spec.input_shape, number)
        with_zero = torch.cat([x.flatten(2), x.new_zeros(*x.shape[:2], 1)], 2)
        assert torch.equal(pad_input(x, spec), with_zero[:, :, source_plane(spec)]), spec


def test_dilated_grad_output_has_the_strides_zeros_between_its_cells():
    for number, spec in enumerate(random_specs(seed=32, count=200)):
        g = integers(spec.output_shape, number) + 10  # no zero of its own
        dilated = dilate_grad_output(g, spec.stride)
        for n, o, i, j in itertools.product(*map(range, dilated.shape)):
            row, row_between = divmod(i, spec.stride[0])
            column, column_between = divmod(j, spec.stride[1])
            expected = 0 if row_between or column_between else g[n, o, row, column]
            if dilated[n, o, i, j] != expected:
                pytest.fail(f"cell {(n, o, i, j)} of {spec}")
        if dilated.numel() > 20000:
            pytest.fail("the geometries have grown: make them smaller")


def test_rotated_weight_swaps_channels_within_each_group():
    for number, spec in enumerate(random_specs(seed=33, count=200)):
        w = integers(spec.weight_shape, number)
        rotated = rotate_weight(w, spec.groups)
        in_per_group, out_per_group = spec.in_channels // spec.groups, spec.out_channels // spec.groups
        height, width = spec.kernel_size
        expected = torch.full_like(rotated, 99)
        for o, c, u, v in itertools.product(*map(range, w.shape)):
            group, o_in_group = divmod(o, out_per_group)
            expected[group * in_per_group + c, o_in_group, height - 1 - u, width - 1 - v] = w[o, c, u, v]
        assert torch.equal(rotated, expected), spec


def test_the_picture_is_the_arithmetic():
    """padded_grad_output ⊛ rotated_weight is grad_input, or grad_padded_input, which folds to it."""
    for number, spec in enumerate([*EDGE_CASES.values(), *random_specs(seed=34, count=300)]):
        result = stages(spec, **drawn(spec, number), dtype="float64")
        slid = ConvSpec(
            result.padded_grad_output.shape[2:],
            spec.out_channels,
            spec.in_channels,
            spec.kernel_size,
            dilation=spec.dilation,
            groups=spec.groups,
            batch=spec.batch,
        )
        product = conv2d_by_definition(result.padded_grad_output, result.rotated_weight, None, slid)
        if spec.padding_mode == "zeros":
            assert result.grad_padded_input is None
            assert torch.equal(product, result.grad_input), spec
            continue
        assert torch.equal(product, result.grad_padded_input), spec
        cells = source_plane(spec).flatten()
        folded = torch.zeros(*spec.input_shape[:2], spec.input_size[0] * spec.input_size[1], dtype=torch.float64)
        folded.index_add_(2, cells, product.flatten(2))
        assert torch.equal(folded.reshape(spec.input_shape), result.grad_input), spec


def test_padded_grad_output_is_dilated_grad_output_seen_through_a_larger_or_smaller_frame():
    for number, spec in enumerate([*EDGE_CASES.values(), *random_specs(seed=35, count=200)]):
        dilated = dilate_grad_output(integers(spec.output_shape, number) + 10, spec.stride)
        padded = pad_grad_output(dilated, spec)
        (top, _), (left, _) = backward_padding(spec)
        for i, j in itertools.product(*map(range, padded.shape[2:])):
            row, column = i - top, j - left
            inside = 0 <= row < dilated.shape[2] and 0 <= column < dilated.shape[3]
            expected = dilated[:, :, row, column] if inside else torch.zeros_like(padded[:, :, i, j])
            assert torch.equal(padded[:, :, i, j], expected), spec


def test_fold_is_the_adjoint_of_pad():
    """<pad(x), g> = <x, fold(g)> for every x and g, in all four modes: what makes fold a backward pass."""
    for number, spec in enumerate(random_specs(seed=36, count=300)):
        x = integers(spec.input_shape, number)
        g = integers((*spec.input_shape[:2], *spec.padded_size), number + 1)
        assert (pad_input(x, spec) * g).sum() == (x * fold_padding(g, spec)).sum(), spec


def test_the_gradient_functions_agree_with_the_stages():
    for number, spec in enumerate(random_specs(seed=37, count=200)):
        values = drawn(spec, number)
        result = stages(spec, **values, dtype="float64")
        geometry = (spec.stride, spec.padding, spec.dilation, spec.groups)
        x, w, g = (values[name].double() for name in ("input", "weight", "grad_output"))
        to_input = conv2d_input(spec.input_shape, w, g, *geometry, padding_mode=spec.padding_mode)
        to_weight = conv2d_weight(x, spec.weight_shape, g, *geometry, padding_mode=spec.padding_mode)
        assert torch.equal(to_input, result.grad_input), spec
        assert torch.equal(to_weight, result.grad_weight), spec


def test_unread_rows_have_no_gradient():
    for number, spec in enumerate(random_specs(seed=38, count=200)):
        result = stages(spec, **drawn(spec, number))
        assert not result.grad_input[:, :, list(spec.unread_rows)].any(), spec
        assert not result.grad_input[:, :, :, list(spec.unread_columns)].any(), spec


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


@pytest.mark.parametrize(
    ("loss", "has_grad_output", "has_target", "message"),
    [
        (
            "sum",
            True,
            False,
            "a grad_output belongs to loss='weighted_sum': got loss='sum' together with a grad_output; give both",
        ),
        (
            "mean",
            True,
            False,
            "a grad_output belongs to loss='weighted_sum': got loss='mean' together with a grad_output; give both",
        ),
        ("weighted_sum", False, False, "got loss='weighted_sum' without a grad_output; give both, or neither"),
        ("half_squared_error", False, False, "got loss='half_squared_error' without a target; give both, or neither"),
        ("half_squared_error", True, True, "got loss='half_squared_error' together with a grad_output"),
        ("sum", False, True, "a target belongs to loss='half_squared_error'"),
        (None, False, True, "a target belongs to loss='half_squared_error'"),
        ("cross_entropy", False, False, "got loss='cross_entropy' without a target; give both, or neither"),
        (None, True, True, "got loss='weighted_sum' together with a target; give both, or neither"),
        ("l1", False, False, "loss is one of half_squared_error, cross_entropy, sum, mean, weighted_sum: got 'l1'"),
        (3, False, False, "loss is one of half_squared_error, cross_entropy, sum, mean, weighted_sum: got 3"),
    ],
)
def test_contradictory_losses_are_refused(loss, has_grad_output, has_target, message):
    spec = ConvSpec(4)
    values = drawn(spec, 0)
    other = values.pop("grad_output")
    extra = ({"grad_output": other} if has_grad_output else {}) | ({"target": other} if has_target else {})
    with pytest.raises(ValueError, match=re.escape(message)):
        stages(spec, **values, loss=loss, **extra)


# Errors.


@pytest.mark.parametrize(
    ("name", "shape", "asked"),
    [
        ("input", (2, 4, 6, 5), "[2, 4, 5, 6]"),
        ("input", (4, 5, 6), "[2, 4, 5, 6]"),
        ("weight", (6, 4, 3, 3), "[6, 2, 3, 3]"),
        ("bias", (1, 6), "[6]"),
        ("bias", (), "[6]"),
        ("grad_output", (2, 6, 5, 6), "[2, 6, 3, 3]"),
        ("grad_output", (2, 6, 1, 3), "[2, 6, 3, 3]"),  # would broadcast
        ("target", (1, 6, 3, 3), "[2, 6, 3, 3]"),  # would broadcast
    ],
)
def test_a_wrong_shape_is_named_with_both_shapes(name, shape, asked):
    spec = EDGE_CASES["grouped"]
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


@pytest.mark.parametrize(
    "value", ["abc", [[1, 2], [3]], [["a"]], object(), {}, np.array([[None]])], ids=lambda value: type(value).__name__
)
@pytest.mark.parametrize("name", ["input", "weight", "bias", "grad_output"])
def test_what_holds_no_numbers_is_refused_by_name(name, value):
    spec = ConvSpec(4)
    with pytest.raises(ValueError, match=f"^{name} must (be a tensor, an array or nested lists|have the shape)"):
        stages(spec, **(drawn(spec, 0) | {name: value}))


@pytest.mark.parametrize("name", ["input", "weight"])
def test_none_is_no_tensor(name):
    spec = ConvSpec(4)
    with pytest.raises(ValueError, match=f"^{name} must be a tensor.*got None"):
        stages(spec, **(drawn(spec, 0) | {name: None}))


@pytest.mark.parametrize("name", ["input", "weight", "bias", "grad_output"])
def test_complex_numbers_are_refused(name):
    spec = ConvSpec(4)
    values = drawn(spec, 0)
    values[name] = values[name].to(torch.complex64)
    with pytest.raises(ValueError, match=f"^{name} must hold real numbers: got dtype torch.complex64"):
        stages(spec, **values)


@pytest.mark.parametrize(
    "device",
    ["banana", "meta", 2.5, "cpu:", pytest.param("cuda", marks=pytest.mark.skipif(not NO_CUDA, reason="has cuda"))],
)
def test_an_unknown_device_is_refused_with_those_that_are_there(device):
    spec = ConvSpec(4)
    message = f"device is one of {', '.join(available_devices())} on this machine: got {device!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        stages(spec, **drawn(spec, 0), device=device)


@pytest.mark.parametrize("dtype", ["int8", "float16", "", torch.int8, torch.complex64, float, 32])
def test_an_unknown_dtype_is_refused(dtype):
    spec = ConvSpec(4)
    message = f"dtype is one of float32, float64, bfloat16: got {dtype!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        stages(spec, **drawn(spec, 0), dtype=dtype)


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
    for spec, run in ((ConvSpec(4), stages), (ConvSpec(4), stages_transposed)):
        shapes = (spec.input_shape, spec.weight_shape, spec.output_shape)
        shapes = shapes if run is stages else shapes[::-1]
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
            about = (run.__name__, [getattr(value, "dtype", list) for value in given])
            assert {made.grad_input.dtype, made.grad_weight.dtype, made.output.dtype} == {expected}, about
            kept = made.input if made.transposed else made.grad_output
            assert expected is not torch.float64 or kept.flatten()[0] == 1 + 2.0**-40, about


def test_lists_arrays_and_tensors_give_the_same():
    spec = EDGE_CASES["every axis different"]
    values = drawn(spec, 0)
    reference = stages(spec, **values)
    for form in (torch.Tensor.tolist, torch.Tensor.numpy, lambda t: t.bool().float() * t, lambda t: t.to(torch.int8)):
        result = stages(spec, **{name: form(value) for name, value in values.items()}, dtype="float64")
        assert torch.equal(result.grad_input, reference.grad_input)
        assert torch.equal(result.grad_weight, reference.grad_weight)


def test_any_memory_layout_gives_the_same():
    """Transposed, expanded and channels-last tensors and reversed views of tensors are ordinary inputs."""
    spec = ConvSpec(5, 2, 2, padding=1, batch=2)
    values = drawn(spec, 0)
    reference = stages(spec, **values)
    layouts = (
        lambda t: t.mT.contiguous().mT,
        lambda t: t.contiguous(memory_format=torch.channels_last),
        lambda t: torch.stack([t, t])[1],
    )
    for layout in layouts:
        changed = {name: value if value.ndim < 4 else layout(value) for name, value in values.items()}
        assert torch.equal(stages(spec, **changed).grad_input, reference.grad_input)
        assert torch.equal(stages(spec, **changed).grad_weight, reference.grad_weight)
    expanded = stages(spec, values["input"], torch.ones(1).expand(spec.weight_shape))
    assert torch.equal(expanded.output, stages(spec, values["input"], torch.ones(spec.weight_shape)).output)


def test_a_flipped_numpy_view_is_an_array():
    spec = ConvSpec(4)
    values = {name: value.numpy() for name, value in drawn(spec, 0).items()}
    flipped = stages(spec, **values | {"weight": values["weight"][..., ::-1, ::-1]})
    assert torch.equal(flipped.weight, torch.tensor(values["weight"]).flip(-2, -1))


def test_what_comes_in_is_not_modified():
    spec = EDGE_CASES["circular to the limit"]
    values = drawn(spec, 0, reals) | {"grad_output": reals(spec.output_shape, 5)}
    before = {name: value.clone() for name, value in values.items()}
    versions = {name: value._version for name, value in values.items()}
    stages(spec, **values, dtype="float64")
    assert all(torch.equal(values[name], before[name]) for name in values)
    assert versions == {name: value._version for name, value in values.items()}


def test_a_read_only_array_is_an_array_without_a_warning():
    """In a fresh interpreter, because torch gives this warning once in a process."""
    code = (
        "import warnings, numpy, torch; from convviz import ConvSpec, stages; warnings.simplefilter('error');"
        "x = numpy.ones((1, 1, 4, 4), numpy.float32); x.flags.writeable = False;"
        "stages(ConvSpec(4), x, torch.ones(1, 1, 3, 3))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_result_does_not_change_when_the_callers_tensors_do():
    spec = ConvSpec(4)
    values = drawn(spec, 0)
    result = stages(spec, **values, dtype="float64")
    before = {
        name: getattr(result, name).clone() for name in ("input", "padded_input", "weight", "bias", "grad_output")
    }
    for value in values.values():
        value.add_(1)
    assert all(torch.equal(getattr(result, name), value) for name, value in before.items())


def test_tensors_that_require_grad_are_left_out_of_it():
    spec = ConvSpec(4, 2, 2)
    values = {name: value.requires_grad_() for name, value in drawn(spec, 0).items()}
    for compare in (True, False):
        result = stages(spec, **values, dtype="float64", compare=compare)
        for name in NAMES:
            value = getattr(result, name)
            assert value is None or not (value.requires_grad or value.grad_fn), name
    assert all(value.grad is None and value.requires_grad for value in values.values())


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


def test_inference_mode():
    spec = ConvSpec(4)
    with torch.inference_mode():
        assert stages(spec, **drawn(spec, 0)).deviation == 0


def test_tensors_made_in_inference_mode():
    spec = ConvSpec(4, padding=1)
    with torch.inference_mode():
        values = drawn(spec, 0)
    assert stages(spec, **values, dtype="float64").deviation == 0


def test_twice_the_same_is_the_same():
    for number, spec in enumerate(random_specs(seed=50, count=60)):
        values = drawn(spec, number, reals)
        first, second = stages(spec, **values), stages(spec, **values)
        for name in NAMES:
            one, two = getattr(first, name), getattr(second, name)
            assert one is two is None or torch.equal(one, two), (name, spec)
        assert first.deviation_from_autograd == second.deviation_from_autograd


def test_stages_are_frozen():
    result = stages(ConvSpec(4), **drawn(ConvSpec(4), 0))
    with pytest.raises(AttributeError):
        result.loss_kind = "mean"
    assert isinstance(result, Stages)


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


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
def test_rounding_is_within_rounding(dtype):
    """No false alarm in any format: real numbers, large and small, 300 geometries, all losses."""
    for number, spec in enumerate(random_specs(seed=51, count=300)):
        values = drawn(spec, number, reals)
        values["input"] *= 10.0 ** (number % 7 - 3)
        other = values.pop("grad_output")
        kind = list(LOSSES)[number % len(LOSSES)]
        result = stages(spec, **values, **arguments_of(kind, other), dtype=dtype)
        assert result.deviation_from_autograd.within_rounding, (spec, kind, result.deviation_from_autograd)
        assert math.isfinite(result.deviation)


@pytest.mark.parametrize("name", GRADIENTS)
def test_the_deviation_finds_the_one_wrong_cell(name, monkeypatch):
    """Change one cell of one gradient by a known amount: value, tensor and index must be exactly that."""
    spec = EDGE_CASES["grouped"]
    values = drawn(spec, 1)
    index = tuple(size - 1 for size in getattr(stages(spec, **values), name).shape)
    compute = stages_module._compute

    def wrong(*arguments):
        result = compute(*arguments)
        result[name] = result[name].clone()
        result[name][index] += 3
        return result

    monkeypatch.setattr(stages_module, "_compute", wrong)
    deviation = stages(spec, **values).deviation_from_autograd
    assert (deviation.value, deviation.tensor, deviation.index) == (3.0, name, index)
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
    for number, spec in enumerate([*EDGE_CASES.values(), *random_specs(seed=52, count=40)]):
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


def test_a_nan_on_one_side_only_is_no_rounding(monkeypatch):
    spec = ConvSpec(4)
    compute = stages_module._compute

    def wrong(*arguments):
        result = compute(*arguments)
        result["grad_input"][0, 0, 1, 2] = math.nan
        return result

    monkeypatch.setattr(stages_module, "_compute", wrong)
    deviation = stages(spec, **drawn(spec, 0)).deviation_from_autograd
    assert math.isnan(deviation.value)
    assert (deviation.tensor, deviation.index) == ("grad_input", (0, 0, 1, 2))
    assert not deviation.within_rounding


def test_a_nan_on_both_sides_is_agreement():
    spec = ConvSpec(4)
    values = drawn(spec, 0)
    values["grad_output"][0, 0, 0, 0] = math.nan
    result = stages(spec, **values)
    assert result.grad_input.isnan().any()
    assert result.deviation == 0


def test_a_place_in_the_flat_tensor_is_the_cell_that_torch_names():
    for shape in [(7,), (1, 1), (3, 4), (2, 3, 4, 5)]:
        cells = torch.arange(torch.Size(shape).numel()).reshape(shape)
        for place in range(cells.numel()):
            assert cells[cell_at(place, shape)] == place, shape
    assert cell_at(0, ()) == ()
