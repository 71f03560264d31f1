"""The model alone: what undo does, what failures leave behind, and that two models share nothing."""

import contextlib
import dataclasses
import json
import logging
import math
import random

import convviz.app.model as model_module
import pytest
import torch
from convviz.app.model import HISTORY, SAME_MOVE, Model, compute
from convviz.settings.change import edited

from convviz.plane import Plane
from convviz.settings import change
from convviz.settings.link import from_link, to_link
from convviz.settings.state import Settings, Source
from convviz.spec import ConvSpec
from tests.states import random_action


class Clock:
    """Seconds that pass only when told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def numbers_of(result):
    return {
        field.name: getattr(result, field.name)
        for field in dataclasses.fields(result)
        if isinstance(getattr(result, field.name), torch.Tensor)
    }


def assert_in_step(model):
    """What is shown follows from what is set."""
    expected = numbers_of(compute(model.settings))
    shown = numbers_of(model.result)
    assert shown.keys() == expected.keys()
    assert all(torch.equal(shown[name], expected[name]) for name in shown)


def digit(model, number):
    model.apply(model.settings.replace(digit=number))


# Where it starts.


def test_the_default_is_a_digit_under_sobel_x_with_a_remainder():
    model = Model()
    assert model.settings == Settings()
    assert (model.settings.input.kind, model.settings.weight.kind) == ("digit", "sobel_x")
    assert (model.settings.spec.stride, model.settings.spec.remainder) == ((2, 2), (1, 1))
    assert (model.can_undo, model.can_redo, model.notice, model.failed, model.selected) == (
        False,
        False,
        "",
        False,
        None,
    )
    assert_in_step(model)


# Undo and redo.


def test_undo_and_redo_walk_through_the_steps():
    model = Model()
    for number in (4, 5, 6):
        digit(model, number)
    seen = []
    while model.can_undo:
        model.undo()
        seen.append(model.settings.digit)
        assert_in_step(model)
    assert seen == [5, 4, 3]
    assert not model.can_undo
    while model.can_redo:
        model.redo()
        seen.append(model.settings.digit)
        assert_in_step(model)
    assert seen[3:] == [4, 5, 6]


def test_a_new_step_ends_what_could_be_redone():
    model = Model()
    digit(model, 4)
    model.undo()
    assert model.can_redo
    digit(model, 7)
    assert not model.can_redo
    model.redo()
    assert model.settings.digit == 7


def test_undo_and_redo_without_steps_do_nothing():
    model = Model()
    model.undo()
    model.redo()
    assert model.settings == Settings()


def test_applying_the_same_settings_is_no_step():
    model = Model()
    before = model.result
    model.apply(Settings())
    assert not model.can_undo
    assert model.result is before, "nothing was computed anew"


def test_moves_of_one_slider_in_quick_succession_are_one_step():
    clock = Clock()
    model = Model(clock=clock)
    for number in (4, 5, 6, 7):
        model.apply(model.settings.replace(digit=number), move="digit")
        clock.now += SAME_MOVE / 2
    assert model.settings.digit == 7
    model.undo()
    assert model.settings.digit == 3
    assert not model.can_undo
    model.redo()
    assert model.settings.digit == 7


def test_a_pause_another_slider_or_no_slider_begins_a_new_step():
    clock = Clock()
    model = Model(clock=clock)
    for number, move, pause in ((4, "a", 0), (5, "a", SAME_MOVE), (6, "b", 0), (7, "a", 0), (8, "", 0), (9, "", 0)):
        clock.now += pause
        model.apply(model.settings.replace(digit=number), move=move)
    seen = []
    while model.can_undo:
        model.undo()
        seen.append(model.settings.digit)
    assert seen == [8, 7, 6, 5, 4, 3]


def test_a_move_after_undo_begins_a_new_step():
    clock = Clock()
    model = Model(clock=clock)
    digit(model, 1)
    model.apply(model.settings.replace(digit=4), move="digit")
    model.undo()
    model.apply(model.settings.replace(digit=5), move="digit")
    model.undo()
    assert model.settings.digit == 1, "the move was not joined to the one that was undone"


def test_undo_remembers_a_bounded_number_of_steps():
    model = Model()
    for step in range(HISTORY + 20):
        digit(model, (step + 4) % 10)
    count = 0
    while model.can_undo:
        model.undo()
        count += 1
    assert count == HISTORY


def test_any_walk_forward_and_back_ends_where_it_began():
    draw = random.Random(3)
    model = Model(clock=Clock())
    trail = [model.settings]
    for _ in range(60):
        number = draw.choice([n for n in range(10) if n != model.settings.digit])
        digit(model, number)
        trail.append(model.settings)
    place = len(trail) - 1
    for _ in range(300):
        back = draw.random() < 0.5
        place = max(place - 1, 0) if back else min(place + 1, len(trail) - 1)
        (model.undo if back else model.redo)()
        assert model.settings == trail[place]
        assert (model.can_undo, model.can_redo) == (place > 0, place < len(trail) - 1)


@pytest.mark.parametrize(
    "view",
    [{"plane": Plane(0, 1, 1)}, {"scale": "panel"}, {"theme": "dark"}, {"link_axes": False}],
    ids=lambda view: next(iter(view)),
)
def test_looking_elsewhere_is_no_step_and_undo_leaves_it_alone(view):
    model = Model(Settings(spec=ConvSpec(5, 2, 2)))
    digit(model, 4)
    model.apply(model.settings.replace(**view))
    digit(model, 5)
    model.undo()
    model.undo()
    assert not model.can_undo
    name, value = next(iter(view.items()))
    assert getattr(model.settings, name) == value
    assert model.settings.digit == 3
    model.redo()
    model.apply(model.settings.replace(**{name: getattr(Settings(), name)}))
    assert model.can_redo, "and what could be redone still can"


def test_undo_of_more_channels_shows_a_plane_that_exists():
    model = Model()
    model.apply(*change.set_geometry(model.settings, in_channels=3, out_channels=3))
    model.apply(model.settings.replace(plane=Plane(0, 2, 2)))
    model.undo()
    assert model.settings.plane == Plane()


def test_reset_goes_back_to_the_start_and_can_be_undone():
    start = Settings(digit=8, theme="light")
    model = Model(start)
    digit(model, 1)
    model.apply(model.settings.replace(theme="dark"))
    model.reset()
    assert model.settings == start.replace(theme="dark"), "the theme is the reader's, not the lesson's"
    model.undo()
    assert model.settings.digit == 1


# What is said.


def test_notices_are_said_and_forgotten_at_the_next_step():
    model = Model()
    model.apply(model.settings.replace(digit=4), ["One thing moved.", "Another too."])
    assert (model.notice, model.failed) == ("One thing moved. Another too.", False)
    digit(model, 5)
    assert model.notice == ""
    model.tell("Hm.", failed=True)
    model.undo()
    assert (model.notice, model.failed) == ("", False)


def test_a_sentence_and_its_kind_arrive_together():
    model, heard = Model(), []
    model.observe(lambda _: heard.append((model.notice, model.failed)), names=("notice", "failed"))
    model.tell("No.", failed=True)
    assert set(heard) == {("No.", True)}


def test_settings_and_result_arrive_together():
    model, heard = Model(), []

    def look(_):
        heard.append(model.result.spec == model.settings.spec)

    model.observe(look, names=("settings", "result", "can_undo"))
    model.apply(change.set_axis(model.settings, "kernel_size", 0, 5))
    assert heard
    assert all(heard), "nobody sees the new geometry with the old numbers"


# What fails.


def snapshot(model):
    return model.settings, model.result, model.can_undo, model.can_redo, model.selected


@pytest.mark.parametrize(
    "message",
    [
        {"type": "edit", "panel": "output", "row": 0, "column": 0, "value": 1.0},
        {"type": "edit", "panel": "padded_input", "row": 0, "column": 0, "value": 1.0},
        {"type": "edit", "panel": "weight", "row": 9, "column": 0, "value": 1.0},
        {"type": "edit", "panel": "weight", "row": 0, "column": 0, "value": float("inf")},
        {"type": "restore", "state": {"version": 99}},
        {"type": "restore", "state": {"spec": {"input_size": 1, "kernel_size": 5}}},
        {"type": "restore", "state": {"device": "abacus"}},
    ],
    ids=lambda m: f"{m['type']} {m.get('panel', '')}",
)
def test_a_failing_action_leaves_everything_as_it_was_and_says_why(message, caplog):
    model = Model()
    digit(model, 4)
    model.undo()
    before = snapshot(model)
    with caplog.at_level(logging.WARNING):
        model.attempt(lambda: model.act(message))
    assert all(a is b or a == b for a, b in zip(snapshot(model), before, strict=True))
    assert model.result is before[1]
    assert model.failed
    assert len(model.notice) > 20
    assert not caplog.records, "a mistake of the user's is no error of ours"


@pytest.mark.parametrize(
    "message",
    [
        {"type": "edit", "panel": "weight"},
        {"type": "edit", "panel": "weight", "row": "a", "column": 0, "value": 1.0},
        {"type": "edit", "panel": "weight", "row": 0, "column": 0, "value": None},
        {"type": "plane", "panel": "loss", "at": [0, 0]},
        {"type": "plane", "panel": "weight", "at": None},
        {"type": "plane", "panel": "weight", "at": [0]},
        {"type": "axis", "axis": "n", "index": "one"},
        {"type": "axis", "axis": "x", "index": 0},
        {"type": "select", "panel": "output", "row": -1, "column": 0},
        {"type": "restore"},
        {"type": "restore", "state": None},
    ],
    ids=str,
)
def test_a_malformed_message_says_a_sentence_and_the_app_lives_on(message):
    model = Model(Settings(digit=8, spec=ConvSpec(5, 2, 2), plane=Plane(0, 1, 1)))
    before = snapshot(model)
    model.attempt(lambda: model.act(message))
    assert snapshot(model) == before
    assert model.failed
    assert len(model.notice) > 20
    digit(model, 4)
    assert not model.failed


def test_an_observer_that_fails_takes_nothing_along(caplog):
    clock = Clock()
    model = Model(clock=clock)
    digit(model, 4)
    digit(model, 5)
    model.undo()
    before = snapshot(model)

    def refuse(event):
        if event["new"].digit == 9:
            raise RuntimeError("cannot follow")

    model.observe(refuse, names="settings")
    model.attempt(lambda: model.apply(model.settings.replace(digit=9), move="digit"))
    assert snapshot(model) == before
    assert model.failed
    assert "an action failed" in caplog.text
    assert_in_step(model)
    model.apply(model.settings.replace(digit=7), move="digit")
    model.undo()
    assert model.settings.digit == 4, "the move that failed is no part of the one that did not"


def test_numbers_that_cannot_be_computed_leave_the_settings(monkeypatch, caplog):
    model = Model()
    before = snapshot(model)

    def fail(*_, **__):
        raise RuntimeError("no such kernel")

    monkeypatch.setattr(model_module, "compute", fail)
    model.attempt(lambda: digit(model, 4))
    assert snapshot(model) == before
    assert model.notice == "That did not work (RuntimeError: no such kernel). Your settings are as before."
    assert "an action failed" in caplog.text


@pytest.mark.parametrize("way", ["undo", "redo"])
def test_a_step_back_that_cannot_be_computed_is_not_lost(monkeypatch, way):
    model = Model()
    digit(model, 4)
    digit(model, 5)
    model.undo()
    before = snapshot(model)

    def fail(*_, **__):
        raise RuntimeError("out of memory")

    with monkeypatch.context() as patch:
        patch.setattr(model_module, "compute", fail)
        model.attempt(getattr(model, way))
    assert model.failed
    assert snapshot(model) == before
    getattr(model, way)()
    assert model.settings.digit == {"undo": 3, "redo": 5}[way]


def test_a_success_after_a_failure_clears_the_sentence():
    model = Model()
    model.attempt(lambda: model.act({"type": "restore", "state": {"version": 99}}))
    assert model.failed
    model.attempt(lambda: digit(model, 4))
    assert (model.failed, model.notice) == (False, "")


# Messages from the board.


def test_editing_a_cell_moves_every_number_that_depends_on_it():
    model = Model()
    before = numbers_of(model.result)
    model.act({"type": "edit", "panel": "weight", "row": 0, "column": 1, "value": 2.5})
    after = numbers_of(model.result)
    assert float(after["weight"][0, 0, 0, 1]) == 2.5
    moved = {name for name in after if not torch.equal(before[name], after[name])}
    assert moved >= {"weight", "rotated_weight", "output", "loss", "grad_output", "grad_input", "grad_weight"}
    assert not moved & {"input", "padded_input"}
    assert_in_step(model)
    model.undo()
    assert torch.equal(model.result.weight, before["weight"])


def test_typing_grad_output_keeps_the_other_cells():
    model = Model()
    shown = model.result.grad_output.clone()
    model.act({"type": "edit", "panel": "grad_output", "row": 1, "column": 2, "value": -7})
    assert model.settings.loss == "weighted_sum"
    shown[0, 0, 1, 2] = -7
    assert torch.equal(model.result.grad_output, shown)


def test_selecting_is_no_step_unless_it_moves_the_one_hot():
    model = Model()
    model.act({"type": "select", "panel": "output", "row": 1, "column": 2, "extra": 1})
    assert model.selected == {"panel": "output", "row": 1, "column": 2}
    assert not model.can_undo
    model.apply(model.settings.replace(loss="weighted_sum", grad=Source("one_hot")))
    for panel in ("output", "grad_output"):
        model.act({"type": "select", "panel": panel, "row": 3, "column": 0})
        assert model.result.grad_output.nonzero().tolist() == [[0, 0, 3, 0]]
        model.act({"type": "select", "panel": panel, "row": 1, "column": 2})
        assert model.result.grad_output.nonzero().tolist() == [[0, 0, 1, 2]]
    model.act({"type": "select", "panel": "weight", "row": 0, "column": 0})
    assert model.result.grad_output.nonzero().tolist() == [[0, 0, 1, 2]]


def test_choosing_planes():
    model = Model(Settings(spec=ConvSpec(5, 4, 4, groups=2, batch=2)))
    model.act({"type": "plane", "panel": "weight", "at": [3, 1]})
    assert model.settings.plane == Plane(0, 3, 3)
    model.act({"type": "axis", "axis": "n", "index": 1})
    assert model.settings.plane == Plane(1, 3, 3)
    model.act({"type": "axis", "axis": "c", "index": 0})
    assert model.settings.plane == Plane(1, 1, 0), "the output channel follows into the group"
    assert not model.can_undo


def test_undo_and_redo_by_message():
    model = Model()
    digit(model, 4)
    model.act({"type": "undo"})
    assert model.settings.digit == 3
    model.act({"type": "redo"})
    assert model.settings.digit == 4


def test_messages_of_another_kind_are_ignored():
    model = Model()
    before = snapshot(model)
    for message in ({}, {"type": "plotly"}, {"type": None}, {"type": "future", "x": 1}):
        model.act(message)
    assert snapshot(model) == before


# State.


def test_state_goes_through_json_into_another_model():
    model = Model()
    model.act({"type": "edit", "panel": "weight", "row": 0, "column": 1, "value": 0.1 + 0.2})
    model.apply(*change.set_geometry(model.settings, in_channels=2, padding_mode="reflect"))
    other = Model()
    other.set_state(json.loads(json.dumps(model.state(), allow_nan=False)))
    assert other.settings == model.settings
    assert torch.equal(other.result.grad_weight, model.result.grad_weight)
    other.undo()
    assert other.settings == Settings(), "a state is a step like any other"


def test_a_state_is_a_copy():
    model = Model()
    model.state()["spec"]["stride"][0] = 99
    model.state()["plane"]["sample"] = 99
    assert model.state() == Settings().to_dict()


def test_two_models_share_nothing():
    one, other = Model(), Model()
    before = snapshot(other)
    digit(one, 4)
    one.act({"type": "edit", "panel": "padded_input", "row": 3, "column": 3, "value": 42.0})
    one.act({"type": "select", "panel": "output", "row": 1, "column": 1})
    one.tell("Only here.", failed=True)
    one.undo()
    assert snapshot(other) == before
    assert (other.notice, other.failed) == ("", False)
    other.redo()
    other.undo()
    assert snapshot(other) == before
    mine, theirs = numbers_of(one.result), numbers_of(other.result)
    addresses = {tensor.data_ptr() for tensor in mine.values()} & {tensor.data_ptr() for tensor in theirs.values()}
    assert not addresses, "no tensor of one can be written through the other"


# Numbers that are too large.


def typed(panel, row, column, value):
    return {"type": "edit", "panel": panel, "row": row, "column": column, "value": value}


def assert_all_finite(model):
    """Nothing is inf or nan, and the state goes where a state can go: to a link, a page, and back."""
    assert all(tensor.isfinite().all() for tensor in numbers_of(model.result).values())
    state = json.loads(json.dumps(model.state(), allow_nan=False))
    assert Settings.from_dict(state) == model.settings
    to_link(model.settings)


def test_a_number_that_makes_another_infinite_is_refused_and_nothing_changes():
    model = Model()
    steps = [
        (typed("padded_input", 2, 2, 3.4e38), "finite in float32: got inf in loss"),
        (typed("padded_input", 2, 2, 1e39), "finite in float32: got inf in input"),
        (typed("weight", 2, 2, 3e38), "finite in float32: got inf in loss"),
        (typed("weight", 1, 1, -1e30), "finite in float32: got inf in loss"),
    ]
    for message, sentence in steps:
        before = snapshot(model)
        model.attempt(lambda message=message: model.act(message))
        assert snapshot(model) == before, message
        assert model.result is before[1]
        assert model.failed, message
        assert sentence in model.notice, message
        assert "use smaller numbers, or dtype float64" in model.notice
        assert_all_finite(model)
    model.act(typed("grad_output", 2, 2, 1.0))
    assert not model.failed


def test_no_way_leads_to_numbers_that_are_not_finite():
    """A link, a state, another dtype, a step back: each is refused as an edit is."""
    link = "v=1&weight=values:1x1x1x1:1e299&kernel=1"
    state = Settings(dtype="float64", loss="sum", weight=Source("values", (1e200,), (1, 1, 1, 1))).to_dict()
    for action in (
        lambda m: m.act({"type": "open", "link": link}),
        lambda m: m.act({"type": "restore", "state": state | {"dtype": "float32"}}),
        lambda m: m.apply(m.settings.replace(dtype="bfloat16", weight=Source("values", (3.4e38,), (1, 1, 1, 1)))),
    ):
        model = Model()
        digit(model, 4)
        before = snapshot(model)
        model.attempt(lambda model=model, action=action: action(model))
        assert snapshot(model) == before
        assert "every number on the board must be finite" in model.notice
    model.set_state(state)
    assert_all_finite(model)
    model.attempt(lambda: model.apply(model.settings.replace(dtype="float32")))
    assert (model.settings.dtype, model.failed) == ("float64", True)
    with pytest.raises(ValueError, match="must be finite in float32: got inf in weight"):
        Model(from_link(link)[0])


def test_whatever_is_typed_the_state_stays_one_that_can_be_handed_on():
    draw = random.Random(5)
    refused = 0
    for transposed in (False, True):
        for dtype in ("float32", "float64", "bfloat16"):
            model = Model(Settings(dtype=dtype, transposed=transposed))
            for _ in range(40):
                name, args = random_action(draw, model.settings)
                if draw.random() < 0.5:
                    value = draw.choice((1, -1)) * 10.0 ** draw.randrange(-9, 310)
                    panel, row, column = draw.choice([*edited(transposed)]), draw.randrange(6), draw.randrange(6)
                    name, args = "send", [typed(panel, row, column, value)]
                if name == "send":
                    model.attempt(lambda model=model, args=args: model.act(args[0]))
                    refused += "must be finite" in model.notice
                elif name in ("undo", "redo", "reset"):
                    model.attempt(getattr(model, name))
                elif name == "set" and "loss" in args[0]:
                    model.attempt(lambda model=model, args=args: model.apply(model.settings.replace(**args[0])))
                assert_all_finite(model)
    assert refused > 10


# Cells that nobody sees.


def test_an_edit_of_a_cell_that_no_panel_shows_is_refused():
    """Where the padding is wide, the panels leave out cells of the layer's input that reach no cell of the output."""
    spec = ConvSpec(4, kernel_size=1, stride=1, padding=2)
    model = Model(Settings(spec=spec, transposed=True))
    shown = model.result.padded_grad_output.shape[-2:]
    assert shown == (4, 4)
    assert model.settings.input_shape[2:] == (8, 8)
    before = snapshot(model)
    for message in (
        typed("padded_grad_output", 5, 5, 9.0),
        typed("padded_grad_output", 4, 0, 9.0),
        typed("grad_output", 0, 0, 9.0),
        typed("weight", 1, 0, 9.0),
    ):
        model.attempt(lambda message=message: model.act(message))
        assert snapshot(model) == before, message
        assert model.failed, message
        assert "only a cell that is shown" in model.notice, message
    model.act(typed("padded_grad_output", 3, 3, 9.0))
    assert model.result.padded_grad_output[0, 0, 3, 3] == 9
    model.act({"type": "view", "view": "stamps"})
    model.act(typed("grad_output", 0, 0, 9.0))
    assert model.result.grad_output[0, 0, 0, 0] == 9


def test_a_click_on_a_cell_that_grad_output_has_not_is_refused():
    model = Model(Settings(loss="weighted_sum", grad=Source("one_hot")))
    before = snapshot(model)
    model.attempt(lambda: model.act({"type": "select", "panel": "output", "row": 10**15, "column": 0}))
    assert snapshot(model) == before
    assert "grad_output has 4 rows and 4 columns" in model.notice


def test_no_message_does_more_than_be_refused_in_a_sentence():
    """The page may be of another version, or not ours at all; what is refused is a ValueError, and the state stays."""
    model = Model()
    good = {"panel": "input", "row": 0, "column": 0, "value": 1, "at": [0, 0], "axis": "sample", "index": 0}
    good |= {"view": "x", "size": [5, 5], "state": model.state(), "link": "v=1"}
    keys = {"select": ("panel", "row", "column"), "edit": ("panel", "row", "column", "value"), "plane": ("panel", "at")}
    keys |= {"axis": ("axis", "index"), "view": ("view",), "size": ("size",), "restore": ("state",), "open": ("link",)}
    odd = [None, 5, -1, 1.5, True, "x", [], [1], [None, 2], {}, {0: 1}, math.nan, 10**400, [[1]], "\ud800", b"x"]
    messages = [*odd, *({"type": each} for each in odd), *({"type": kind} for kind in keys)]
    for kind, names in keys.items():
        whole = {"type": kind, **{name: good[name] for name in names}}
        messages += [{**whole, name: each} for name in names for each in odd]
    for message in messages:
        with contextlib.suppress(ValueError):
            model.act(message)
    for message in odd:
        if not isinstance(message, dict):
            model.attempt(lambda message=message: model.act(message))
            assert model.failed
            assert "a message of the page is a dict" in model.notice
