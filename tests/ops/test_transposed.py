"""The transposed convolution: its numbers against autograd, what the page calls them, and how it is set."""

import itertools
import re
from operator import lt

import pytest
import torch
import torch.nn.functional as F

import convviz
from convviz.app.step_numbers import truth
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.ops import by_rotate
from convviz.ops.stages import stages
from convviz.settings.compute import compute
from convviz.settings.state import Settings
from convviz.settings.tensor_display_names import SHOWN
from convviz.settings.tensor_source import Source
from convviz.settings.tensors import grad_tensor
from convviz.settings.transposed import layer_pair, layer_spec, output_size
from convviz.views import captions
from convviz.views.figures import frame
from convviz.views.panels import Sign, equations, panel
from tests.geometries import reals
from tests.operator_cases import random_transposed


def layers(seed, count):
    """Yield (geometry, torch's own arguments) of transposed layers whose output_padding the board can hold."""
    calls = (call for call in random_transposed(seed, 4 * count) if all(map(lt, call.output_padding, call.stride)))
    for call in itertools.islice(calls, count):
        batch, into, *size = call.input_shape
        start = ConvSpec(1, call.out_channels, into, kernel_size=1, groups=call.groups, batch=batch)
        pairs = {name: getattr(call, name) for name in ("stride", "padding", "dilation")}
        padding = tuple((cells, cells) for cells in call.padding)
        kernel = call.weight_shape[2:]
        spec = layer_spec(start, tuple(size), call.output_padding, kernel_size=kernel, **pairs | {"padding": padding})
        yield spec, pairs | {"output_padding": call.output_padding, "groups": call.groups}


GRADIENTS = ("grad_input", "grad_weight", "grad_bias")


# -- the numbers: tests/ops/test_stages.py holds all of them, under the names of the convolution read backwards -----


def test_what_the_page_calls_output_and_gradients_are_those_of_torchs_layer():
    for number, (spec, options) in enumerate(layers(0, 60)):
        shapes = (spec.output_shape, spec.weight_shape, (spec.in_channels,), spec.input_shape)
        x, w, b, target = (reals(shape, 4 * number + seed) for seed, shape in enumerate(shapes))
        result = stages(spec, x, w, b, None, "half_squared_error", target, dtype="float64", transposed=True)
        leaves = [tensor.clone().requires_grad_() for tensor in (x, w, b)]
        output = F.conv_transpose2d(*leaves, **options)
        sent = (output - target).detach()
        gradients = torch.autograd.grad(output, leaves, sent)
        named = {"input": x, "weight": w, "output": output.detach(), "grad_output": sent}
        for name, tensor in (named | dict(zip(GRADIENTS, gradients, strict=True))).items():
            shown = panel(result, Plane(), name).tensor
            assert shown.shape[-tensor.dim() :] == tensor.shape or tensor.dim() == 1, (name, spec)
            torch.testing.assert_close(shown.reshape(tensor.shape), tensor, rtol=1e-10, atol=1e-11)
        padded, kernel = panel(result, Plane(), "padded_input").tensor, panel(result, Plane(), "rotated_weight").tensor
        read = F.conv2d(padded, kernel, b, 1, 0, spec.dilation, spec.groups)  # as the equation says it
        torch.testing.assert_close(read, output.detach(), rtol=1e-10, atol=1e-11)
        assert tuple(options["output_padding"]) == spec.remainder


def test_the_line_of_truth_names_the_tensor_in_the_layers_words(monkeypatch):
    spec, _ = next(layers(0, 1))
    given = {"input": reals(spec.output_shape, 0), "weight": reals(spec.weight_shape, 1)}
    monkeypatch.setattr(by_rotate, "rotate_weight", lambda weight, groups: weight.new_zeros(*_rotated_shape(spec)))
    verdict = truth(stages(spec, dtype="float64", **given, transposed=True))
    assert (verdict["id"], verdict["ok"], verdict["values"]["tensor"]) == ("truth.differs", False, "output")
    assert re.fullmatch(r"\d+, \d+, \d+, \d+", verdict["values"]["place"]), verdict


def _rotated_shape(spec):
    return (spec.in_channels, spec.out_channels // spec.groups, *spec.kernel_size)


def test_another_padding_mode_is_refused():
    spec = ConvSpec(5, padding=1, padding_mode="reflect")
    with pytest.raises(ValueError, match="padding_mode='zeros' only, as in torch: got padding_mode='reflect'"):
        stages(spec, torch.zeros(spec.output_shape), torch.zeros(spec.weight_shape), transposed=True)
    with pytest.raises(ValueError, match="transposed convolution has padding_mode='zeros' only"):
        Settings(spec=spec, transposed=True)


# -- the settings --------------------------------------------------------------------------------------------------


def test_a_layers_own_sizes_are_torchs():
    """Of every geometry that is read the other way; and what a layer's sizes cannot be is refused."""
    for spec, options in layers(41, 150):
        extra = options["output_padding"]
        own = layer_pair(spec, "input_size")
        assert (own, layer_pair(spec, "output_padding")) == (spec.output_size, extra), spec
        x, w = torch.zeros(spec.output_shape), torch.zeros(spec.weight_shape)
        assert F.conv_transpose2d(x, w, None, **options).shape[-2:] == spec.input_size, spec
        given = {name: getattr(spec, name) for name in ("kernel_size", "stride", "padding", "dilation")}
        assert output_size(own, extra, **given) == spec.input_size, spec
        assert layer_spec(spec, own, extra) == spec
        for axis, cells in ((0, -1), (1, spec.stride[1])):
            wrong = [*extra]
            wrong[axis] = cells
            with pytest.raises(
                ValueError, match=f"less than the stride: got {cells} along the {('height', 'width')[axis]}"
            ):
                layer_spec(spec, own, wrong)
    with pytest.raises(ValueError, match=r"row|column|output"):
        layer_spec(ConvSpec(1, kernel_size=1), (1, 1), (0, 0), padding=((1, 0), (0, 0)))


# -- what the page calls it ----------------------------------------------------------------------------------------

ROWS = {
    "Forward": ["padded_input", "rotated_weight", "bias", "output", "target", "grad_output"],
    "Backward, to the input": ["padded_grad_output", "weight", "grad_input"],
    "Backward, to the weight": ["padded_grad_output", "dilated_input", "grad_weight"],
    "Backward, to the bias": ["grad_output", "grad_bias"],
}


def test_rows_and_panels_are_in_the_layers_words():
    spec = ConvSpec((5, 6), 4, 2, 3, 2, 1, batch=2)
    settings = Settings(spec=spec, transposed=True, bias=Source.of(torch.ones(4)), plane=Plane(0, 1, 3))
    rows = {row.title: row for row in equations(compute(settings), settings.plane)}
    assert {title: [panel.called for panel in row.panels] for title, row in rows.items()} == ROWS
    assert list(rows) == list(ROWS), "forward first"
    forward = rows["Forward"]
    signs = [(item.symbol, item.note) for item in forward.items if isinstance(item, Sign)]
    assert signs == [("Σ", "over c"), ("⊛", ""), ("+", ""), ("=", ""), ("−", ""), ("→", "loss")]
    panels = {panel.called: panel for row in rows.values() for panel in row.panels}
    assert (panels["padded_input"].label, panels["output"].label) == ("padded_input[0, 1]", "output[0, 3]")
    assert frame(panels["output"])["layout"]["title"]["text"] == "output[0, 3] · shape [2, 4, 5, 6]"


def test_formulas_are_what_the_panels_hold():
    settings = Settings(
        spec=ConvSpec((5, 6), 4, 2, 3, 2, 1, groups=2),
        transposed=True,
        bias=Source.of(torch.ones(4)),
        plane=Plane(0, 1, 3),
    )
    result = compute(settings)
    found = {name: captions.formula(result, settings.plane, name) for name in ("input", "forward", "weight", "bias")}
    assert found == {
        "input": "output[0, 3] = padded_input[0, 1] ⊛ rotated_weight[3, 0] + bias[3]",
        "forward": "grad_input[0, 1] = Σ_o padded_grad_output[0, 2 + o] ⊛ weight[1, o]",
        "weight": "grad_weight[1, 1] = (padded_grad_output[0, 3] ⊛ dilated_input[0, 1])[:3, :3]",
        "bias": "grad_bias[o] = Σ grad_output[n, o, i, j] over n, i and j",
    }
    stamps = captions.formula(result, settings.plane, "input", "stamps")
    assert stamps == "output[0, 3] = Σ_ij input[0, 1, i, j] · weight[1, 1] laid at (2i − 1, 2j − 1) + bias[3]"
    both = compute(settings.replace(spec=ConvSpec((5, 6), 4, 2, 3, 2, 1), bias=None))
    assert captions.formula(both, settings.plane, "input") == (
        "output[0, 3] = Σ_c padded_input[0, c] ⊛ rotated_weight[3, c]"
    )


# -- the app -------------------------------------------------------------------------------------------------------


def test_the_app_takes_a_transposed_layer(closing):
    layer = torch.nn.ConvTranspose2d(2, 3, (3, 2), stride=2, padding=1, output_padding=1, dtype=torch.float64)
    x = reals((1, 2, 4, 5), 0)
    spec = ConvSpec((8, 9), 3, 2, (3, 2), stride=2, padding=1)
    app = closing(
        convviz.App(spec=spec, input=x, weight=layer.weight, bias=layer.bias, dtype="float64", transposed=True)
    )
    torch.testing.assert_close(app.session.result.grad_input, layer(x).detach())
    assert app.figure("output").data[0].z[0][0] == pytest.approx(layer(x)[0, 0, 0, 0].item())
    assert app.figure("input").layout.title.text == "input[0, 0] · shape [1, 2, 4, 5]"
    with pytest.raises(ValueError, match="a panel is one of grad_output, padded_grad_output, weight, grad_input"):
        app.figure("dilated_grad_output")
    again = closing(convviz.App(state=app.state()))
    assert torch.equal(again.session.result.grad_input, app.session.result.grad_input)


def test_a_given_geometry_is_that_of_the_convolution_read_the_other_way(closing):
    spec = ConvSpec((7, 6), 2, 4, 3, (2, 1), 1, groups=2)
    app = closing(convviz.App(spec=spec, grad_output=reals(spec.input_shape, 1), transposed=True))
    assert app.session.settings.loss == "weighted_sum"
    assert torch.equal(grad_tensor(app.session.settings), reals(spec.input_shape, 1))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"input": torch.zeros(1, 2, 3, 3), "weight": torch.zeros(3, 2, 3, 3)},
         r"weight must have the shape \[2, 2, 3, 3\] that the geometry asks for: got \[3, 2, 3, 3\]"),
        ({"weight": torch.zeros(3, 2, 3, 3), "bias": torch.zeros(3)}, r"bias must have the shape \[2\]"),
        ({"state": {}}, "a state holds everything: got other arguments beside state="),
        ({"spec": ConvSpec(5, padding=1, padding_mode="reflect")}, "padding_mode='zeros' only, as in torch"),
    ],
)  # fmt: skip
def test_arguments_that_contradict_teach(given, message):
    with pytest.raises(ValueError, match=message):
        convviz.App(transposed=True, **given)


def test_small_tensors_find_a_geometry(closing):
    for size, kernel in itertools.product([(1, 1), (1, 4), (3, 1)], [(1, 1), (1, 2), (3, 3)]):
        app = closing(convviz.App(input=torch.ones(size), weight=torch.ones(kernel), transposed=True))
        assert app.session.settings.input_shape == (1, 1, *size), kernel
        assert app.session.result.deviation_from_autograd.within_rounding, (size, kernel)


def test_no_name_stands_for_two_panels():
    names = ["input", "padded_input", "weight", "output", "grad_output", "dilated_grad_output", "padded_grad_output",
             "rotated_weight", "grad_input", "grad_weight", "bias", "grad_bias"]  # fmt: skip
    assert len({SHOWN.get(name, name) for name in names}) == len(names)
