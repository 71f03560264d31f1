"""The check of the gradients, against autograd through torch's own layer and differences taken one cell at a time."""

import pytest
import torch

from convviz.features.check.gradcheck import EPS, GRADCHECK, check_gradients
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.ops.deviation import conv_transpose2d_by_torch
from convviz.ops.losses import LOSSES
from convviz.ops.stages import stages
from tests.autograd_truth import given_to, loss_of
from tests.geometries import reals
from tests.operator_cases import torch_conv2d

SPECS = {
    "the app's own": ConvSpec((8, 8), stride=2, padding=1),
    "grouped, reflected": ConvSpec(
        (5, 6), in_channels=4, out_channels=4, groups=2, batch=2, padding=1, padding_mode="reflect"
    ),
    "uneven padding": ConvSpec((6, 5), kernel_size=(3, 2), padding=((1, 0), (2, 1)), dilation=(1, 2), batch=2),
}


def passed(spec, loss="half_squared_error", *, bias=True, transposed=False, **options):
    """Return one pass over random numbers, not yet compared with autograd."""
    shape_in, shape_out = spec.input_shape, spec.output_shape
    if transposed:
        shape_in, shape_out = shape_out, shape_in
    given = given_to(loss, shape_out, 3)
    return stages(
        spec,
        reals(shape_in, 0),
        reals(spec.weight_shape, 1),
        reals(shape_out[1:2], 2) if bias else None,
        given["grad"],
        loss,
        given["target"],
        compare=False,
        transposed=transposed,
        **options,
    )


def by_torch(made):
    """Return the loss of torch's own layer as a function of its input, weight and bias, with their values, float64."""
    spec = made.spec
    layer_input, weights = (made.grad_output, made.input) if made.transposed else (made.input, made.grad_output)
    given = {"target": None if made.target is None else made.target.double(), "grad": weights.double()}

    def loss(x, w, b):
        output = (conv_transpose2d_by_torch if made.transposed else torch_conv2d)(x, w, b, spec)
        return loss_of(made.loss_kind, output, given)

    return loss, [layer_input.double(), made.weight.double(), made.bias.double()]


def shown_plane(tensor, number, plane, transposed):
    """Return the shown plane of the layer's gradient of input, weight or bias, as [rows, columns]."""
    if number == 2:
        return tensor[None]
    if number == 1:
        return tensor[plane.out_channel, plane.in_channel % tensor.shape[1]]
    return tensor[plane.sample, plane.out_channel if transposed else plane.in_channel]


# Every loss, every geometry and both ways, but not each with each.
CASES = [(loss, list(SPECS)[at % len(SPECS)], at % 2 == 1) for at, loss in enumerate(sorted(LOSSES) * 2)]


@pytest.mark.parametrize(("loss", "name", "transposed"), CASES)
def test_analytic_and_numeric_slopes_are_the_layers(loss, name, transposed):
    spec = SPECS[name]
    if transposed:
        spec = spec.replace(padding_mode="zeros")
    plane = Plane(spec.batch - 1, spec.out_channels - 1, spec.in_channels - 1)
    made = passed(spec, loss, transposed=transposed)
    check = check_gradients(made, plane)
    function, values = by_torch(made)
    truth = torch.autograd.functional.jacobian(function, tuple(values))
    assert [checked.panel for checked in check.gradients] == (
        ["output", "grad_weight", "grad_bias"] if transposed else ["grad_input", "grad_weight", "grad_bias"]
    )
    for number, checked in enumerate(check.gradients):
        expected = shown_plane(truth[number], number, plane, transposed)
        assert checked.size == tuple(expected.shape)
        exact, short = checked.slopes["float64"], checked.slopes["float32"]
        torch.testing.assert_close(exact.analytic, expected, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(short.analytic, expected, rtol=1e-4, atol=1e-4)
        assert exact.passes
        if LOSSES[loss].bend == "curved":  # an error of eps² is left beside the rounding
            torch.testing.assert_close(exact.numeric[3], expected, rtol=1e-8, atol=1e-8)
            continue
        # The loss is at most quadratic in a cell: at the largest step only rounding is left.
        torch.testing.assert_close(exact.numeric[-1], expected, rtol=1e-9, atol=1e-9)
        # Rounding is between what two neighbouring numbers explain and, for sums of so few terms, fifty times that.
        for dtype, slopes in checked.slopes.items():
            grain = check.spacing[dtype] / (2 * torch.tensor(EPS, dtype=torch.float64))
            assert (slopes.difference.abs().amax((1, 2)) <= 50 * grain + 1e-13)[3:].all(), dtype


def test_numeric_slopes_are_what_one_writes_by_hand():
    """In float32, one cell at a time: the coarse numbers themselves, not only their size."""
    made = passed(SPECS["the app's own"], bias=False, dtype="float32")
    slopes = check_gradients(made, Plane()).gradients[0].slopes["float32"]
    function = torch.nn.functional.conv2d
    for place in ((0, 0), (3, 4), (7, 7)):
        sides = []
        for sign in (1, -1):
            x = made.input.clone()
            x[0, 0][place] += sign * 1e-6
            sides.append((function(x, made.weight, None, 2, 1) - made.target).square().sum() / 2)
        by_hand = float((sides[0] - sides[1]) / 2e-6)
        grain = check_gradients(made, Plane()).spacing["float32"] / 2e-6
        assert abs(float(slopes.numeric[EPS.index(1e-6)][place]) - by_hand) <= 8 * grain
        assert by_hand / grain == pytest.approx(round(by_hand / grain), abs=1e-3), "it comes in whole grains"


def test_gradcheck_fails_in_float32_and_passes_in_float64_for_the_first_picture():
    made = stages(
        ConvSpec((8, 8), stride=2, padding=1),
        10 * reals((1, 1, 8, 8), 0),
        reals((1, 1, 3, 3), 1),
        target=torch.zeros(1, 1, 4, 4),
        loss="half_squared_error",
    )
    for checked in check_gradients(made, Plane()).gradients:
        short, exact = checked.slopes["float32"], checked.slopes["float64"]
        assert (short.passes, exact.passes) == (False, True)
        assert "is not a double precision floating point" in short.warning
        assert exact.warning == ""
        at = EPS.index(GRADCHECK["eps"])
        allowed = GRADCHECK["atol"] + GRADCHECK["rtol"] * short.numeric[at].abs()
        assert (short.difference[at].abs() > allowed).any(), "our numbers fail gradcheck's rule as well"
        assert (exact.difference[at].abs() <= GRADCHECK["atol"]).all()


def test_gradcheck_of_a_wrong_gradient_fails_in_both(monkeypatch):
    from convviz.ops import methods

    right = methods.METHODS["rotate"]

    def unrotated(grad_output, input, weight, spec, mask):
        return right.backward(grad_output, input, None if weight is None else weight.flip(2, 3), spec, mask)

    monkeypatch.setitem(methods.METHODS, "rotate", methods.Method(right.conv2d, unrotated))
    to_input, to_weight = check_gradients(passed(SPECS["the app's own"], bias=False), Plane()).gradients
    assert not to_input.slopes["float64"].passes
    assert to_input.slopes["float64"].difference[-1].abs().max() > 0.1
    assert to_weight.slopes["float64"].passes


def test_bfloat16_numbers_are_taken_as_they_are():
    made = passed(SPECS["the app's own"], dtype="bfloat16", bias=False)
    slopes = check_gradients(made, Plane()).gradients[1].slopes["float64"]
    function, values = by_torch(stages(made.spec, made.input, made.weight, torch.zeros(1), None,
                                       "half_squared_error", made.target, compare=False))  # fmt: skip
    truth = torch.autograd.functional.jacobian(function, tuple(values))[1][0, 0]
    torch.testing.assert_close(slopes.analytic, truth, rtol=1e-12, atol=1e-12)


def test_a_large_plane_is_checked_in_part():
    spec = ConvSpec((48, 40), padding=1)
    made = passed(spec, "sum", bias=False)
    to_input, to_weight = check_gradients(made, Plane()).gradients
    rows, columns = to_input.slopes["float32"].analytic.shape
    assert to_input.size == (48, 40)
    assert 4 <= rows * columns <= 400
    torch.testing.assert_close(to_input.slopes["float32"].analytic, made.grad_input[0, 0, :rows, :columns].double())
    assert to_weight.slopes["float32"].analytic.shape == (3, 3)


def test_too_long_a_run_is_refused():
    spec = ConvSpec((64, 64), in_channels=8, out_channels=8, kernel_size=5, padding=2)
    with pytest.raises(ValueError, match=r"up to 1 million products: this one uses 6\.6 million; use a smaller input"):
        check_gradients(passed(spec, "sum", bias=False), Plane())
