"""The transposed convolution: its numbers against autograd, what the page calls them, and how it is set."""

import json
import random
import re

import pytest
import torch
import torch.nn.functional as F
from convviz.app.model import Model, compute
from convviz.settings.bounds import LIMITS, PER_AXIS_TRANSPOSED, bounds, mend, value_of, with_value
from convviz.settings.bounds_transposed import layer_spec
from convviz.settings.moved import said

import convviz
from convviz.board import payload
from convviz.ops.stages_transposed import stages_transposed
from convviz.plane import Plane
from convviz.settings import change
from convviz.settings.names import NAMES, SHOWN
from convviz.settings.state import Settings, Source
from convviz.spec import ConvSpec
from convviz.views import captions
from convviz.views.panels import equations, panel
from tests.geometries import EDGE_CASES, random_specs, reals
from tests.truth import given_to

LOSSES = ("sum", "mean", "half_squared_error", "weighted_sum", "cross_entropy")


def layers(seed, count):
    """Yield (geometry, torch's own arguments) of transposed layers, odd on purpose on both axes."""
    draw = random.Random(seed)
    while count:
        pairs = {
            "stride": (draw.randint(1, 4), draw.randint(1, 4)),
            "padding": (draw.randint(0, 3), draw.randint(0, 3)),
            "dilation": (draw.randint(1, 3), draw.randint(1, 3)),
        }
        extra = tuple(draw.randrange(step) for step in pairs["stride"])
        groups = draw.choice((1, 1, 2, 3))
        into, out = groups * draw.randint(1, 2), groups * draw.randint(1, 2)
        size, kernel = (draw.randint(1, 5), draw.randint(1, 5)), (draw.randint(1, 4), draw.randint(1, 4))
        start = ConvSpec(1, in_channels=out, out_channels=into, groups=groups, kernel_size=1, batch=draw.randint(1, 2))
        padding = tuple((cells, cells) for cells in pairs["padding"])
        try:
            spec = layer_spec(start, size, extra, kernel_size=kernel, **pairs | {"padding": padding})
        except ValueError:
            continue  # the padding cuts the whole output off
        yield spec, pairs | {"output_padding": extra, "groups": groups}
        count -= 1


def by_autograd(spec, options, loss, x, w, b, other):
    """Return {name on the page: tensor} as torch computes it: nothing here is ours."""
    x, w = (tensor.clone().requires_grad_() for tensor in (x, w))
    b = None if b is None else b.clone().requires_grad_()
    output = F.conv_transpose2d(x, w, b, **options)
    output.retain_grad()
    value = {
        "sum": lambda: output.sum(),
        "mean": lambda: output.mean(),
        "half_squared_error": lambda: ((output - other) ** 2).sum() / 2,
        "weighted_sum": lambda: (output * other).sum(),
        "cross_entropy": lambda: F.cross_entropy(output.flatten(1), other.flatten(1).argmax(1)),
    }[loss]()
    value.backward()
    (height, width), (down, right) = spec.padding, spec.stride
    dilated = torch.zeros(*x.shape[:2], (x.shape[2] - 1) * down + 1, (x.shape[3] - 1) * right + 1, dtype=x.dtype)
    dilated[..., ::down, ::right] = x.detach()
    found = {
        "input": x.detach(),
        "dilated_input": dilated,
        "weight": w.detach(),
        "output": output.detach(),
        "grad_output": output.grad,
        "padded_grad_output": F.pad(output.grad, (*width, *height)),
        "grad_input": x.grad,
        "grad_weight": w.grad,
    }
    return (found if b is None else found | {"grad_bias": b.grad}), value.detach()


def arguments(spec, loss, seed, with_bias=True):
    """Return the keyword arguments of stages_transposed, and the target or grad_output among them."""
    target, grad = given_to(loss, spec.input_shape, seed + 3).values()
    other = grad if target is None else target
    named = {} if target is None else {"target": target}
    named |= {} if grad is None else {"grad_output": grad}
    bias = reals((spec.in_channels,), seed + 2) if with_bias else None
    x, w = reals(spec.output_shape, seed), reals(spec.weight_shape, seed + 1)
    return {"input": x, "weight": w, "bias": bias, "loss": loss, **named}, other


# -- the numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_every_stage_is_what_autograd_finds_through_conv_transpose2d(loss, seed):
    for number, (spec, options) in enumerate(layers(seed, 60)):
        given, other = arguments(spec, loss, number, with_bias=number % 3 > 0)
        result = stages_transposed(spec, dtype="float64", **given)
        truth, value = by_autograd(spec, options, loss, given["input"], given["weight"], given["bias"], other)
        for name, tensor in truth.items():
            shown = panel(result, Plane(), name)
            assert shown.tensor.shape[-tensor.dim() :] == tensor.shape or tensor.dim() == 1, (name, spec)
            torch.testing.assert_close(shown.tensor.reshape(tensor.shape), tensor, rtol=1e-10, atol=1e-11)
        torch.testing.assert_close(result.loss, value, rtol=1e-10, atol=1e-11)
        padded, kernel = panel(result, Plane(), "padded_input").tensor, panel(result, Plane(), "rotated_weight").tensor
        read = F.conv2d(padded, kernel, given["bias"], 1, 0, spec.dilation, spec.groups)  # as the equation says it
        torch.testing.assert_close(read, truth["output"], rtol=1e-10, atol=1e-11)
        assert tuple(options["output_padding"]) == spec.remainder
        assert result.transposed
        assert result.deviation_from_autograd.within_rounding


def test_a_padding_that_differs_by_side_is_a_crop():
    for spec in (*random_specs(5, 60, ("zeros",)), *(s for s in EDGE_CASES.values() if s.padding_mode == "zeros")):
        given, _ = arguments(spec, "sum", 0)
        whole = F.conv_transpose2d(
            given["input"], given["weight"], given["bias"], spec.stride, 0, spec.remainder, spec.groups, spec.dilation
        )
        (top, bottom), (left, right) = spec.padding
        wanted = whole[..., top : whole.shape[2] - bottom, left : whole.shape[3] - right]
        result = stages_transposed(spec, dtype="float64", **given)
        torch.testing.assert_close(result.grad_input, wanted, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_shorter_formats_deviate_by_rounding_only(dtype):
    for number, (spec, _) in enumerate(layers(11, 80)):
        given, _ = arguments(spec, LOSSES[number % 5], number)
        assert stages_transposed(spec, dtype=dtype, **given).deviation_from_autograd.within_rounding, spec


def test_the_line_of_truth_names_the_tensor_in_the_layers_words(monkeypatch):
    spec, _ = next(layers(0, 1))
    given, _ = arguments(spec, "sum", 0)
    wrong = stages_transposed.__globals__["rotate"]
    monkeypatch.setattr(wrong, "rotate_weight", lambda weight, groups: weight.new_zeros(*_rotated_shape(spec)))
    text, good = captions.truth(stages_transposed(spec, dtype="float64", **given))
    assert not good
    assert re.match(r"differs from autograd by .* at output\[", text), text


def _rotated_shape(spec):
    return (spec.in_channels, spec.out_channels // spec.groups, *spec.kernel_size)


def test_another_padding_mode_is_refused():
    spec = ConvSpec(5, padding=1, padding_mode="reflect")
    with pytest.raises(ValueError, match="padding_mode='zeros' only, as in torch: got padding_mode='reflect'"):
        stages_transposed(spec, torch.zeros(spec.output_shape), torch.zeros(spec.weight_shape))
    with pytest.raises(ValueError, match="transposed convolution has padding_mode='zeros' only"):
        Settings(spec=spec, transposed=True)


# -- the settings --------------------------------------------------------------------------------------------------


def test_the_same_geometry_is_read_the_other_way():
    model = Model()
    spec = model.settings.spec
    model.apply(*change.set_transposed(model.settings, True))
    assert model.settings.spec == spec
    assert (model.settings.input_shape, model.settings.output_shape) == ((1, 1, 4, 4), (1, 1, 8, 8))
    layer = torch.nn.ConvTranspose2d(1, 1, 3, stride=2, padding=1, output_padding=1, bias=False).double()
    layer.weight.data = model.settings.weight_tensor()
    assert layer(model.settings.input_tensor()).shape == model.result.grad_input.shape
    model.undo()
    assert not model.settings.transposed
    assert not model.result.transposed


def test_a_padding_mode_moves_to_zeros_and_says_so():
    settings = Settings(spec=ConvSpec(8, padding=1, padding_mode="circular"))
    made, notices = change.set_transposed(settings, True)
    assert made.spec.padding_mode == "zeros"
    assert notices == ["padding_mode moved from circular to zeros: a transposed convolution has no other, as in torch."]
    assert change.set_transposed(made, False) == (made.replace(transposed=False), [])


def test_state_goes_through_json():
    settings = Settings(transposed=True, bias=Source.of(torch.ones(1)), loss="weighted_sum", grad=Source("random"))
    assert Settings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings
    with pytest.raises(ValueError, match="transposed is a bool: got 'yes'"):
        Settings.from_dict({"transposed": "yes"})


@pytest.mark.parametrize("linked", [False, True])
def test_every_value_between_the_bounds_is_possible_and_the_next_is_not(linked):
    for spec, _ in layers(21, 40):
        for (name, axis), (low, high) in bounds(spec, linked, transposed=True).items():
            for value in {*range(low, high + 1)} - {value_of(spec, name, axis, True)}:
                made = with_value(spec, name, axis, value, linked, transposed=True)
                assert value_of(made, name, axis, True) == value
                Settings(spec=made, transposed=True)
                if name != "input_size":
                    assert made.output_size[axis] == spec.output_size[axis], "the layer's input keeps its size"
                if name not in ("output_padding", "stride"):
                    assert made.remainder[axis] == spec.remainder[axis]
            for value in {low - 1, high + 1} & set(range(LIMITS[name][0], LIMITS[name][1] + 1)):
                with pytest.raises(ValueError, match=r".{20}"):
                    with_value(spec, name, axis, value, linked, transposed=True)


def test_sliders_lead_from_any_layer_to_any_other():
    draw = random.Random(3)
    settings = Settings(transposed=True, link_axes=False)
    for _ in range(300):
        name, axis = draw.choice(PER_AXIS_TRANSPOSED), draw.randrange(2)
        low, high = bounds(settings.spec, settings.link_axes, True)[name, axis]
        settings = change.set_axis(settings, name, axis, draw.randint(low, high))
        settings = change.link_axes(settings, draw.random() < 0.3)[0]
        settings = change.set_geometry(settings, groups=draw.randint(1, 3), in_channels=draw.randint(1, 4))[0]
        assert max(settings.spec.input_size) <= 64
        assert settings.spec.padding_mode == "zeros"


def test_a_smaller_stride_takes_the_output_padding_with_it_and_says_so():
    settings = Settings(transposed=True)
    assert settings.spec.remainder == (1, 1)
    made = change.set_axis(settings, "stride", 0, 1)
    assert (made.spec.output_size, made.spec.remainder) == ((4, 4), (0, 0))
    assert change.moved_along(settings, made) == [
        "output_padding of the height moved from 1 to 0: it must be less than the stride.",
        "output_padding of the width moved from 1 to 0: it must be less than the stride.",
    ]
    with pytest.raises(
        ValueError, match="output_padding must be 0 or more and less than the stride: got 2 along the height"
    ):
        change.set_axis(settings, "output_padding", 0, 2)


def test_mending_ends_in_a_layer_and_says_what_it_moved():
    start = layer_spec(ConvSpec(1, kernel_size=1, stride=3), (3, 3), (2, 2), padding=((3, 3), (0, 0)))
    spec, moves = mend(start, True, stride=(1, 1), padding=((3, 3), (3, 3)))
    assert (spec.output_size, spec.remainder, spec.padding) == ((3, 3), (0, 0), ((1, 1), (1, 1)))
    assert said(moves) == [
        "output_padding of the height moved from 2 to 0: it must be less than the stride.",
        "padding of the height moved from 3 to 1: it must leave a cell of the output.",
        "output_padding of the width moved from 2 to 0: it must be less than the stride.",
        "padding of the width moved from 3 to 1: it must leave a cell of the output.",
    ]
    large = layer_spec(ConvSpec(1, kernel_size=1), (60, 60), (0, 0))
    spec, moves = mend(large, True, stride=(4, 4))
    assert spec.output_size == (16, 16)
    assert moves[0].said() == "input size of the height moved from 60 to 16: the output has up to 64 cells."


# -- typing into cells ---------------------------------------------------------------------------------------------


def model_of(spec, **fields):
    fields = {"input": Source("random"), "weight": Source("random"), "loss": "mean"} | fields
    return Model(Settings(spec=spec, transposed=True, dtype="float64", **fields))


def edit(model, name, row, column, value):
    model.act({"type": "edit", "panel": name, "row": row, "column": column, "value": value})


def test_typing_into_every_cell_of_the_padded_input():
    for spec, _ in layers(31, 15):
        model = model_of(spec, plane=Plane(spec.batch - 1, spec.out_channels - 1, spec.in_channels - 1))
        before = model.settings.input_tensor()
        shown = panel(model.result, model.settings.plane, "padded_input")
        letters = shown.roles
        for row, column in torch.cartesian_prod(*map(torch.arange, shown.values.shape)).tolist():
            if letters.rows[row] == letters.columns[column] == "d":
                edit(model, "padded_grad_output", row, column, 42)
                now = panel(model.result, model.settings.plane, "padded_input").values
                assert now[row, column] == 42
                assert (model.settings.input_tensor() != before).sum() == 1
                model.undo()
            else:
                with pytest.raises(ValueError, match="this cell is a zero between or around the cells of input"):
                    edit(model, "padded_grad_output", row, column, 42)


def test_typing_into_the_other_panels():
    spec = ConvSpec((5, 6), 4, 2, 3, 2, 1, groups=2, batch=2)
    model = model_of(spec, plane=Plane(1, 1, 3), bias=Source.of(torch.zeros(4)), input_view="stamps")
    edit(model, "grad_output", 1, 2, 7)
    assert model.settings.input_tensor()[1, 1, 1, 2] == 7, "the page calls this panel input"
    edit(model, "weight", 2, 0, 8)
    assert model.settings.weight_tensor()[1, 1, 2, 0] == 8
    edit(model, "bias", 0, 2, 9)
    assert model.settings.bias_tensor().tolist() == [0, 0, 9, 0]
    others = model.result.input.clone()
    edit(model, "input", 4, 5, -3)
    assert model.settings.loss == "weighted_sum"
    wanted = others
    wanted[1, 3, 4, 5] = -3
    assert torch.equal(model.settings.grad_tensor(), wanted)
    told = "output follows from other panels; type into padded_input, input, weight, grad_output, bias instead"
    with pytest.raises(ValueError, match=told):
        edit(model, "grad_input", 0, 0, 1)


def test_a_one_hot_grad_output_follows_clicks_into_output_and_grad_output():
    model = model_of(ConvSpec(6, 3, 2), loss="weighted_sum", grad=Source("one_hot"), plane=Plane(0, 1, 2))
    for name in ("grad_input", "input"):
        model.act({"type": "select", "panel": name, "row": 4, "column": 1})
        assert model.result.input.nonzero().tolist() == [[0, 2, 4, 1]]
        model.act({"type": "select", "panel": "padded_grad_output", "row": 0, "column": 0})
        assert model.result.input.nonzero().tolist() == [[0, 2, 4, 1]], "a click elsewhere moves nothing"
        model.undo()


# -- what the page calls it ----------------------------------------------------------------------------------------

ROWS = {
    "Forward": ["padded_input", "rotated_weight", "bias", "output", "grad_output"],
    "Backward, to the input": ["padded_grad_output", "weight", "grad_input"],
    "Backward, to the weight": ["padded_grad_output", "dilated_input", "grad_weight"],
    "Backward, to the bias": ["grad_output", "grad_bias"],
}


def test_rows_panels_and_choices_are_in_the_layers_words():
    spec = ConvSpec((5, 6), 4, 2, 3, 2, 1, batch=2)
    settings = Settings(spec=spec, transposed=True, bias=Source.of(torch.ones(4)), plane=Plane(0, 1, 3))
    result = compute(settings)
    sent = payload.structure(equations(result, settings.plane), settings.plane, True, transposed=True)
    rows = {row["title"]: row for row in sent["equations"]}
    assert {title: [item["called"] for item in row["items"] if "key" in item] for title, row in rows.items()} == ROWS
    assert list(rows) == list(ROWS), "forward first"
    forward = rows["Forward"]
    assert [choice["word"] for choice in forward["choices"]] == ["sample n", "input channel c", "output channel o"]
    assert [choice["count"] for choice in forward["choices"]] == [2, 2, 4]
    assert [choice["value"] for choice in forward["choices"]] == [0, 1, 3]
    signs = [(item["symbol"], item["note"]) for item in forward["items"] if "symbol" in item]
    assert signs == [("Σ", "over c"), ("⊛", ""), ("+", ""), ("=", ""), ("→", "loss")]
    items = {item["called"]: item for row in rows.values() for item in row["items"] if "key" in item}
    assert items["padded_input"]["label"] == "padded_input[0, 1]"
    assert items["output"]["label"] == "output[0, 3]"
    assert items["output"]["thumbs"]["planes"][1]["label"] == "output[0, 1]"
    assert items["output"]["figure"]["layout"]["title"]["text"] == "output[0, 3] · shape [2, 4, 5, 6]"
    assert {name for name, item in items.items() if item["editable"]} == {
        "padded_input", "weight", "bias", "grad_output",
    }  # fmt: skip
    assert {items[called]["products"] for called in ("output", "grad_input", "grad_weight")} == set(
        NAMES["products"]["transposed"].values()
    )
    assert items["output"]["words"]["remainder"] == "padding for output_padding"


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


def test_the_note_tells_how_the_sizes_follow_and_what_output_padding_is():
    result = compute(Settings(transposed=True))
    assert captions.note(result, "input") == (
        "The stride's zeros stand between the cells of input; padded by d(k−1)−p: 1 before, 2 after, output_padding "
        "included. Output size: (4 − 1)·2 − 2·1 + 1·(3 − 1) + output_padding 1 + 1 = 8."
    )
    bare = layer_spec(ConvSpec(1, kernel_size=1, stride=3), (2, 3), (2, 0))
    assert bare.input_size == (6, 7)
    note = captions.note(compute(Settings(spec=bare, transposed=True, bias=Source.of(torch.ones(1)))), "input")
    assert "No input cell reaches 4 rows and 4 columns of output: they hold the bias alone." in note
    assert note.endswith("Output size: (2 − 1)·3 − 2·0 + 1·(1 − 1) + output_padding 2 + 1 = 6 rows; "
                         "(3 − 1)·3 − 2·0 + 1·(1 − 1) + output_padding 0 + 1 = 7 columns.")  # fmt: skip


# -- the app -------------------------------------------------------------------------------------------------------


@pytest.fixture
def open_app():
    """Return convviz.App; what it opened is closed at the end."""
    opened = []

    def make(**arguments):
        opened.append(convviz.App(**arguments))
        return opened[-1]

    yield make
    for app in opened:
        app.close()


def test_the_app_takes_a_transposed_layer(open_app):
    layer = torch.nn.ConvTranspose2d(2, 3, (3, 2), stride=2, padding=1, output_padding=1, dtype=torch.float64)
    x = reals((1, 2, 4, 5), 0)
    app = open_app(input=x, weight=layer.weight, bias=layer.bias, dtype="float64", transposed=True)
    torch.testing.assert_close(app.model.result.grad_input, layer(x).detach())
    assert app.figure("output").data[0].z[0][0] == pytest.approx(layer(x)[0, 0, 0, 0].item())
    assert app.figure("input").layout.title.text == "input[0, 0] · shape [1, 2, 4, 5]"
    with pytest.raises(ValueError, match="a panel is one of grad_output, padded_grad_output, weight, grad_input"):
        app.figure("dilated_grad_output")
    again = open_app(state=app.state())
    assert torch.equal(again.model.result.grad_input, app.model.result.grad_input)


def test_a_given_geometry_is_that_of_the_convolution_read_the_other_way(open_app):
    spec = ConvSpec((7, 6), 2, 4, 3, (2, 1), 1, groups=2)
    app = open_app(spec=spec, grad_output=reals(spec.input_shape, 1), transposed=True)
    assert app.model.settings.loss == "weighted_sum"
    assert torch.equal(app.model.settings.grad_tensor(), reals(spec.input_shape, 1))


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


@pytest.mark.parametrize("size", [(1, 1), (1, 4), (3, 1)])
@pytest.mark.parametrize("kernel", [(1, 1), (1, 2), (3, 3)])
def test_small_tensors_find_a_geometry(open_app, size, kernel):
    app = open_app(input=torch.ones(size), weight=torch.ones(kernel), transposed=True)
    assert app.model.settings.input_shape == (1, 1, *size)
    assert app.model.result.deviation_from_autograd.within_rounding


def find(app, name, axis=0):
    """Return a control by the class that names its setting."""
    found = []

    def walk(widget):
        found.extend([widget] if f"cv-set-{name}" in getattr(widget, "_dom_classes", ()) else [])
        for child in getattr(widget, "children", ()):
            walk(child)

    walk(app)
    return found[axis]


def hidden(widget):
    return "cv-hidden" in widget._dom_classes


def test_controls_are_those_of_the_layer(open_app):
    app = open_app()
    assert hidden(find(app, "output_padding"))
    find(app, "transposed").value = True
    assert app.model.settings.transposed
    assert [find(app, name).value for name in ("input_size", "output_padding")] == [4, 1]
    assert not hidden(find(app, "output_padding"))
    assert hidden(find(app, "padding_mode"))
    find(app, "in_channels").value = 3
    assert app.model.settings.input_shape == (1, 3, 4, 4)
    find(app, "input_size").value = 5
    assert (app.model.settings.input_shape, app.model.settings.output_shape) == ((1, 3, 5, 5), (1, 1, 10, 10))
    find(app, "output_padding").value = 0
    assert app.model.settings.output_shape == (1, 1, 9, 9)
    find(app, "output_padding").value = 1
    find(app, "stride").value = 1
    assert "output_padding of the height moved from 1 to 0" in app.model.notice
    assert hidden(find(app, "output_padding")), "it has only one value now"
    find(app, "transposed").value = False
    assert app.model.settings.input_shape == (1, 1, 5, 5)
    assert not hidden(find(app, "padding_mode"))


def test_no_name_stands_for_two_panels():
    names = ["input", "padded_input", "weight", "output", "grad_output", "dilated_grad_output", "padded_grad_output",
             "rotated_weight", "grad_input", "grad_weight", "bias", "grad_bias"]  # fmt: skip
    assert len({SHOWN.get(name, name) for name in names}) == len(names)
