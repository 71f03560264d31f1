"""What controls may do and what each action does, as the page has it. Python's geometry knows the rules, and judges."""

import functools
import itertools
import random

import pytest
import torch

from convviz.geometry.axis_taps import PADDING_MODES
from convviz.geometry.shown_plane import PANEL_AXES, Plane
from convviz.geometry.spec import ConvSpec
from convviz.ops.stages import stages
from convviz.samples.kernels import make_kernel
from convviz.settings.compute import compute
from convviz.settings.schema import FIELDS
from convviz.settings.schema import PAIRS as PER_AXIS
from convviz.settings.state import MAX_SIZES, PRESETS, Settings
from convviz.settings.tensor_source import Source
from convviz.settings.tensors import bias_tensor, grad_tensor, input_tensor, weight_tensor
from convviz.settings.transposed import layer_pair, layer_spec
from convviz.views.panels import panel
from tests.geometries import EDGE_CASES, random_specs
from tests.ops.test_transposed import layers
from tests.settings.test_settings import grouped_specs

LIMITS = {name: field.offered for name, field in FIELDS.items()}
PLAIN = [name for name in PER_AXIS if not FIELDS[name].layer]


def possible(spec, transposed=False):
    """Return the geometry that a page's plain data describe, or None where conv2d has none."""
    try:
        return Settings(spec=ConvSpec.from_dict(spec), transposed=transposed).spec
    except ValueError:
        return None


def number_of(spec, name, axis, transposed=False):
    """Return what a control shows; of an uneven padding the larger side."""
    value = (layer_pair(spec, name) if transposed else getattr(spec, name))[axis]
    return max(value) if isinstance(value, tuple) else value


def moved(spec, name, axis, value, linked):
    """Return the geometry with one control of a convolution elsewhere, or None where conv2d has none."""
    wanted = [*getattr(spec, name)]
    for each in (0, 1) if linked else (axis,):
        wanted[each] = (value, value) if name == "padding" else value
    return possible(as_json(spec) | {name: wanted})


@functools.cache
def as_json(spec):
    """The geometry as JSON has it, written once for the hundreds of moves that start from it; nobody changes it."""
    return spec.to_dict()


def moved_layer(spec, name, axis, value, linked):
    """Return the geometry with one control of a transposed convolution elsewhere, or None where torch has none."""
    pairs = {each: [*layer_pair(spec, each)] for each in ("input_size", "output_padding", "stride")}
    pairs.setdefault(name, [*getattr(spec, name, ())])
    for each in (0, 1) if linked else (axis,):
        pairs[name][each] = (value, value) if name == "padding" else value
    if name != "output_padding":  # a smaller stride takes it along
        pairs["output_padding"] = [min(n, s - 1) for n, s in zip(pairs["output_padding"], pairs["stride"], strict=True)]
    own = {} if name in ("input_size", "output_padding") else {name: tuple(pairs[name])}
    try:
        made = layer_spec(spec, pairs["input_size"], pairs["output_padding"], **own)
    except ValueError:
        return None
    most = MAX_SIZES["input_size"]
    return made if all(n <= max(most, old) for n, old in zip(made.input_size, spec.input_size, strict=True)) else None


# -- how far a control goes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("linked", "transposed"), [(False, False), (True, False), (False, True)])
def test_every_value_between_the_ends_is_possible_and_the_next_is_not(js, linked, transposed):
    drawn = [spec for spec, _ in layers(21, 40)] if transposed else [*random_specs(21, 80), *EDGE_CASES.values()]
    places = list(itertools.product(PER_AXIS if transposed else PLAIN, (0, 1)))
    asked = [(as_json(spec), name, axis, linked, transposed) for spec in drawn for name, axis in places]
    ranges = iter(js("rules/bounds.js", "boundsOf", asked))
    values = iter(js("rules/bounds.js", "valueOf", [(spec, *place, transposed) for spec, *place, _, _ in asked]))
    tries, wanted = [], []
    for spec, (name, axis) in itertools.product(drawn, places):
        (low, high), (bottom, top), current = LIMITS[name], next(ranges), next(values)
        assert bottom <= current == number_of(spec, name, axis, transposed) <= top, (spec, name, axis)
        beyond = [v for v, end in ((bottom - 1, bottom <= low), (top + 1, top >= high)) if not end]
        for value in [*({*range(bottom, top + 1)} - {current}), *beyond]:
            tries.append((as_json(spec), name, axis, value, linked, transposed))
            wanted.append((moved_layer if transposed else moved)(spec, name, axis, value, linked))
            assert (wanted[-1] is None) == (value in beyond), (spec, name, axis, value)
    made = js("rules/bounds.js", "withValue", tries)
    for (before, name, axis, value, *_), after, expected in zip(tries, made, wanted, strict=True):
        assert after == (expected and expected.to_dict()), (before, name, axis, value)
    assert len(made) > 1000


def test_group_choices_are_the_common_divisors(js):
    pairs = list(itertools.product(range(1, 9), repeat=2))
    found = js("rules/bounds.js", "groupChoices", [[ConvSpec(3, ins, outs).to_dict()] for ins, outs in pairs])
    for (ins, outs), choices in zip(pairs, found, strict=True):
        assert choices == [g for g in range(1, 9) if ins % g == 0 and outs % g == 0]


# -- mending -------------------------------------------------------------------------------------------------------


def test_mending_always_ends_in_a_geometry_and_says_all_that_it_moved(js):
    draw = random.Random(5)
    drawn, asked = list(random_specs(22, 400)), []
    for _ in drawn:
        changes = {
            "in_channels": draw.randint(1, 4),
            "out_channels": draw.randint(1, 4),
            "batch": draw.randint(1, 2),
            "padding_mode": draw.choice(PADDING_MODES),
            "input_size": [draw.randint(1, 8), draw.randint(1, 8)],
        }
        asked.append({name: value for name, value in changes.items() if draw.random() < 0.6})
    found = js(
        "rules/bounds.js", "mend", [(spec.to_dict(), each, False) for spec, each in zip(drawn, asked, strict=True)]
    )
    said = js("rules/adjustment_notes.js", "describeAdjustments", [[each["moves"]] for each in found])
    for spec, wanted, each, notices in zip(drawn, asked, found, said, strict=True):
        old, made = spec.to_dict(), each["spec"]
        assert possible(made), (spec, wanted)
        assert {name: made[name] for name in wanted} == wanted, "what was asked for is what one gets"
        moved = [name for name in ("groups", "padding", "dilation", "kernel_size") if made[name] != old[name]]
        for name in moved:
            assert any(notice.startswith(name) for notice in notices), (name, notices)
        assert bool(moved) == bool(notices)
        assert all(notice.endswith(".") for notice in notices)
        assert made["stride"] == old["stride"]


def mended(js, spec, changes, transposed=False):
    """Return the geometry that a change ends in, and what is said about it."""
    (found,) = js("rules/bounds.js", "mend", [(spec.to_dict(), changes, transposed)])
    (said,) = js("rules/adjustment_notes.js", "describeAdjustments", [[found["moves"]]])
    return ConvSpec.from_dict(found["spec"]), said


def test_mend_says_what_it_moved_and_why(js):
    spec = ConvSpec((3, 8), 4, 4, kernel_size=3, padding=(4, 1), dilation=1, groups=4)
    _, said = mended(js, spec, {"out_channels": 2})
    assert said == ["groups changed from 4 to 2: it must divide both 4 and 2 channels."]
    _, said = mended(js, spec, {"padding_mode": "reflect"})
    assert said == [
        "padding of the height changed from 4 to 2: padding_mode='reflect' copies cells of the input, which has 3."
    ]
    wide = ConvSpec((3, 8), kernel_size=3, dilation=(3, 1), padding=(4, 0))
    made, said = mended(js, wide, {"input_size": [1, 8], "padding": [[1, 0], [0, 0]]})
    assert (made.dilation, made.kernel_size) == ((1, 1), (2, 3))
    why = "the kernel must fit into the padded input, whose height is"
    assert said == [
        f"dilation of the height changed from 3 to 1: {why} 2 cells.",
        f"kernel_size of the height changed from 3 to 2: {why} 2 cells.",
    ]
    _, said = mended(js, ConvSpec((3, 8), kernel_size=3), {"input_size": [1, 8]})
    assert said == [f"kernel_size of the height changed from 3 to 1: {why} 1 cell."]


def test_mend_moves_only_the_side_that_is_too_wide_and_nothing_without_need(js):
    made, said = mended(js, ConvSpec((3, 8), padding=((4, 1), (0, 2))), {"padding_mode": "reflect"})
    assert (made.padding, len(said)) == (((2, 1), (0, 2)), 1)
    drawn = [spec.to_dict() for spec in random_specs(23, 100)]
    found = js("rules/bounds.js", "mend", [(spec, {}, False) for spec in drawn])
    assert found == [{"spec": spec, "moves": []} for spec in drawn]


def test_mending_a_layer_ends_in_a_layer_and_says_what_it_moved(js):
    start = layer_spec(ConvSpec(1, kernel_size=1, stride=3), (3, 3), (2, 2), padding=((3, 3), (0, 0)))
    made, said = mended(js, start, {"stride": [1, 1], "padding": [[3, 3], [3, 3]]}, True)
    assert (made.output_size, made.remainder, made.padding) == ((3, 3), (0, 0), ((1, 1), (1, 1)))
    assert said == [
        "output_padding of the height changed from 2 to 0: it must be less than the stride.",
        "padding of the height changed from 3 to 1: it must leave a cell of the output.",
        "output_padding of the width changed from 2 to 0: it must be less than the stride.",
        "padding of the width changed from 3 to 1: it must leave a cell of the output.",
    ]
    large = layer_spec(ConvSpec(1, kernel_size=1), (60, 60), (0, 0))
    made, said = mended(js, large, {"stride": [4, 4]}, True)
    assert made.output_size == (16, 16)
    assert said[0] == "input size of the height changed from 60 to 16: the output has up to 64 cells."


# -- actions -------------------------------------------------------------------------------------------------------


def after(js, settings, *actions):
    """Do some actions → the settings after the last, and what is said then; Python has checked them."""
    *_, seen = js.walk(settings.to_dict(), *actions)
    return Settings.from_dict(seen["state"]), seen["notice"]


def test_linking_gives_the_width_the_heights_values(js):
    state = Settings(spec=ConvSpec((8, 7), kernel_size=(3, 2), stride=(2, 1), padding=(1, 0)), link_axes=False)
    linked, notice = after(js, state, ["linkAxes", True])
    spec = linked.spec
    assert linked.link_axes
    assert (spec.kernel_size, spec.stride, spec.padding) == ((3, 3), (2, 2), ((1, 1), (1, 1)))
    assert spec.input_size == (8, 7), "a picture's own size is nobody's to link"
    assert notice == (
        "kernel_size of the width changed from 2 to 3: it is linked to the height. "
        "stride of the width changed from 1 to 2: it is linked to the height. "
        "padding of the width changed from 0 to 1: it is linked to the height."
    )
    unlinked, notice = after(js, linked, ["linkAxes", False])
    assert (unlinked.spec, unlinked.link_axes, notice) == (spec, False, "")


def test_a_kernel_is_chosen_for_the_plane_that_is_shown(js):
    cases = [
        (Settings(spec=spec, plane=Plane(0, out, into)), name)
        for spec in grouped_specs(31, 6)
        for out, into in itertools.product(range(spec.out_channels), range(spec.in_channels))
        for name in PRESETS
    ]
    seen = js.play([(state.to_dict(), [["chooseKernel", name]]) for state, name in cases])
    for (state, name), (_, there) in zip(cases, seen, strict=True):
        chosen = Settings.from_dict(there["state"])
        place = (state.plane.out_channel, state.plane.in_channel % state.spec.weight_shape[1])
        assert there["kernel"] == name
        assert torch.equal(weight_tensor(chosen)[place], make_kernel(name, state.spec.kernel_size))
        assert chosen.plane == state.plane


def test_where_some_kernels_were_typed_only_the_shown_one_is_chosen(js):
    weight = torch.arange(36.0).reshape(2, 2, 3, 3)
    state = Settings(spec=ConvSpec(6, 2, 2), weight=Source.of(weight), plane=Plane(0, 1, 0))
    chosen, _ = after(js, state, ["chooseKernel", "box"])
    wanted = weight.double()
    wanted[1, 0] = make_kernel("box", (3, 3))
    assert torch.equal(weight_tensor(chosen), wanted)
    chosen, _ = after(js, state, ["chooseKernel", "random"])
    wanted[1, 0] = weight_tensor(state.replace(weight=Source("random")))[1, 0]  # each plane has numbers of its own
    assert torch.equal(weight_tensor(chosen), wanted)


def test_bias_switched_on_differs_by_channel_and_off_is_none(js):
    on, _ = after(js, Settings(spec=ConvSpec(4, 1, 4)), ["setBias", True])
    assert len(set(bias_tensor(on).tolist())) == 4
    off, _ = after(js, on, ["setBias", False])
    assert bias_tensor(off) is None


# -- typing into cells ---------------------------------------------------------------------------------------------


def edit(name, row, column, value=42.5):
    return ["send", {"type": "edit", "panel": name, "row": row, "column": column, "value": value}]


def each_alone(js, settings, actions):
    """Do each action from the same settings → what is seen after it."""
    return [seen for _, seen in js.play([(settings.to_dict(), [action]) for action in actions])]


def changed_cells(old, new):
    """The page's own numbers of a picture may differ from Python's in their last digit."""
    return [tuple(index) for index in ((new - old).abs() > 1e-9).nonzero().tolist()]


def test_typing_into_every_cell_of_the_padded_input(js):
    cells = list(itertools.product(range(4), range(7)))
    for mode in PADDING_MODES:
        spec = ConvSpec((3, 4), 2, 2, 2, padding=((1, 0), (2, 1)), groups=2, batch=2, padding_mode=mode)
        state = Settings(spec=spec, plane=Plane(1, 1, 1))
        tries = each_alone(js, state, [edit("padded_input", *at) for at in cells])
        for (row, column), seen in zip(cells, tries, strict=True):
            if 1 <= row < 4 and 2 <= column < 6:
                there = Settings.from_dict(seen["state"])
                assert changed_cells(input_tensor(state), input_tensor(there)) == [(1, 1, row - 1, column - 2)]
                assert float(input_tensor(there)[1, 1, row - 1, column - 2]) == 42.5
                assert there.replace(input=state.input) == state
            else:
                assert "is part of the border" in seen["notice"]
                assert (seen["failed"], seen["state"]) == (True, state.to_dict())


def test_typing_into_the_bias(js):
    with_bias, _ = after(js, Settings(spec=ConvSpec(4, 1, 3)), ["setBias", True])
    there, _ = after(js, with_bias, edit("bias", 0, 2))
    assert changed_cells(bias_tensor(with_bias), bias_tensor(there)) == [(2,)]
    assert bias_tensor(there).shape == (3,)
    (seen,) = each_alone(js, Settings(), [edit("bias", 0, 0)])
    assert seen["failed"]
    assert "only a visible cell" in seen["notice"]
    call = (Settings().to_dict(), {"panel": "bias", "row": 0, "column": 0, "value": 1})
    (refused,) = js.tried("rules/edit_cells.js", "editCell", [call])
    assert "switch it on first" in refused["refused"]


# -- what was typed stays ------------------------------------------------------------------------------------------


def test_typed_numbers_stay_where_they_were_typed_when_sizes_change(js):
    typed, _ = after(js, Settings(), edit("weight", 1, 2))
    before = weight_tensor(typed)
    grown, _ = after(js, typed, ["setAxis", "kernel_size", 0, 5])
    assert weight_tensor(grown).shape == (1, 1, 5, 5)
    assert torch.equal(weight_tensor(grown)[..., :3, :3], before)
    assert float(weight_tensor(grown).abs().sum()) == float(before.abs().sum()), "the new cells are 0"
    again, _ = after(js, typed, ["setAxis", "kernel_size", 0, 2], ["setAxis", "kernel_size", 0, 3])
    assert torch.equal(weight_tensor(again), before), "nothing was lost"
    typed, _ = after(js, Settings(), edit("padded_input", 1, 1))
    more, notice = after(js, typed, ["setGeometry", {"in_channels": 3, "batch": 2}])
    assert notice == ""
    assert torch.equal(input_tensor(more)[:1, :1], input_tensor(typed))


# -- the plane that is shown ---------------------------------------------------------------------------------------


def plain(plane):
    return {"sample": plane.sample, "out_channel": plane.out_channel, "in_channel": plane.in_channel}


def planes_of(js, name, calls):
    return [Plane(**found) for found in js("rules/shown_plane.js", name, calls)]


def test_a_thumbnail_shows_the_very_plane_that_it_pictures(js):
    asked = []
    for spec in grouped_specs(43, 25):
        result = compute(Settings(spec=spec), compare=False)
        for name in PANEL_AXES:
            tensor = getattr(result, name)
            for start in (Plane(), Plane(9, 9, 9).within(spec)):
                ats = [] if tensor is None else itertools.product(*map(range, tensor.shape[:2]))
                asked += [(start, result, name, at) for at in ats]
    calls = [(plain(start), result.spec.to_dict(), name, list(at)) for start, result, name, at in asked]
    for plane, (_, result, name, at) in zip(planes_of(js, "showPlane", calls), asked, strict=True):
        assert plane == plane.within(result.spec)
        shown = panel(result, plane, name)
        assert shown.at == at
        assert torch.equal(shown.values, getattr(result, name)[at])


# -- a transposed convolution --------------------------------------------------------------------------------------


def test_a_padding_mode_moves_to_zeros_and_says_so(js):
    settings = Settings(spec=ConvSpec(8, padding=1, padding_mode="circular"))
    made, notice = after(js, settings, ["setTransposed", True])
    assert made.spec.padding_mode == "zeros"
    assert notice == "padding_mode changed from circular to zeros: a transposed convolution has no other, as in torch."
    assert after(js, made, ["setTransposed", False]) == (made.replace(transposed=False), "")


def test_a_smaller_stride_takes_the_output_padding_with_it_and_says_so(js):
    settings = Settings(transposed=True)
    assert settings.spec.remainder == (1, 1)
    made, notice = after(js, settings, ["setAxis", "stride", 0, 1])
    assert (made.spec.output_size, made.spec.remainder) == ((4, 4), (0, 0))
    assert notice == (
        "output_padding of the height changed from 1 to 0: it must be less than the stride. "
        "output_padding of the width changed from 1 to 0: it must be less than the stride."
    )
    _, seen = js.walk(settings.to_dict(), ["setAxis", "output_padding", 0, 2])
    assert (seen["failed"], seen["state"]) == (True, settings.to_dict())
    assert seen["notice"] == "output padding can be 0 to 1 here: got 2"


def layer_of(spec, **fields):
    fields = {"input": Source("random"), "weight": Source("random"), "loss": "mean"} | fields
    return Settings(spec=spec, transposed=True, dtype="float64", **fields)


def test_typing_into_every_cell_of_a_layers_padded_input(js):
    zeros = 0
    for spec, _ in layers(31, 6):
        state = layer_of(spec, plane=Plane(spec.batch - 1, spec.out_channels - 1, spec.in_channels - 1))
        shown = panel(compute(state, compare=False), state.plane, "padded_input")
        cells = list(itertools.product(*map(range, shown.values.shape)))
        found = each_alone(js, state, [edit("padded_grad_output", *at) for at in cells])
        for (row, column), seen in zip(cells, found, strict=True):
            if shown.roles.rows[row] == shown.roles.columns[column] == "d":
                there = Settings.from_dict(seen["state"])
                now = panel(compute(there, compare=False), there.plane, "padded_input").values
                assert now[row, column] == 42.5, (spec, row, column)
                assert len(changed_cells(input_tensor(state), input_tensor(there))) == 1
            else:
                assert "this cell is a zero between or around the cells of input" in seen["notice"]
                assert seen["state"] == state.to_dict()
                zeros += 1
    assert zeros > 20


def test_typing_into_the_other_panels_of_a_layer(js):
    spec = ConvSpec((5, 6), 4, 2, 3, 2, 1, groups=2, batch=2)
    state = layer_of(spec, plane=Plane(1, 1, 3), bias=Source.of(torch.zeros(4)), input_view="stamps")
    typed, _ = after(js, state, edit("grad_output", 1, 2, 7), edit("weight", 2, 0, 8), edit("bias", 0, 2, 9))
    assert input_tensor(typed)[1, 1, 1, 2] == 7, "the page calls this panel input"
    assert weight_tensor(typed)[1, 1, 2, 0] == 8
    assert bias_tensor(typed).tolist() == [0, 0, 9, 0]
    given = (input_tensor(typed), weight_tensor(typed), bias_tensor(typed))
    wanted = stages(spec, *given, loss="mean", dtype="float64", transposed=True).input.clone()
    graded, _ = after(js, typed, edit("input", 4, 5, -3))
    assert graded.loss == "weighted_sum"
    wanted[1, 3, 4, 5] = -3
    torch.testing.assert_close(grad_tensor(graded), wanted, rtol=1e-12, atol=1e-12)
    (seen,) = each_alone(js, graded, [edit("grad_input", 0, 0, 1)])
    reported = "output follows from other panels; type into padded_input, input, weight, grad_output, bias instead"
    assert reported in seen["notice"]
