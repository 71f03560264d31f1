"""The page's model alone: what undo does, what failures leave behind, what a message does, what is too large."""

import random

import torch

from convviz.facts import facts
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.settings.compute import compute
from convviz.settings.link import from_link, to_link
from convviz.settings.state import Settings
from convviz.settings.tensor_source import Source
from convviz.settings.tensors import grad_tensor
from tests.random_links import random_texts, short_links

HISTORY = facts("settings")["limits"]["history"]["steps"]
SAME_MOVE = 1000 * facts("settings")["limits"]["history"]["same_move_seconds"]  # milliseconds
FIRST = Settings().to_dict()


def digit(number):
    return ["set", {"digit": number}]


def digits(seen):
    return [each["state"]["digit"] for each in seen]


def send(**message):
    return ["send", message]


def edit(panel, row, column, value):
    return send(type="edit", panel=panel, row=row, column=column, value=value)


def kept(seen):
    """Return what an action that fails leaves as it was."""
    return {name: seen[name] for name in ("state", "undo", "redo", "selected", "versions", "kernel", "shown")}


# Undo and redo.


def test_moves_of_one_slider_in_quick_succession_are_one_step(js):
    moves = [each for number in (4, 5, 6, 7) for each in (["move", "digit", *digit(number)], ["wait", SAME_MOVE / 2])]
    seen = js.walk(FIRST, *moves, ["undo"], ["redo"])
    assert digits(seen)[-3:] == [7, 3, 7]
    assert not seen[-2]["undo"]


def test_a_pause_another_slider_or_no_slider_begins_a_new_step(js):
    steps = ((4, "a", 0), (5, "a", SAME_MOVE), (6, "b", 0), (7, "a", 0), (8, "", 0), (9, "", 0))
    moves = [each for number, move, pause in steps for each in (["wait", pause], ["move", move, *digit(number)])]
    seen = js.walk(FIRST, *moves, *[["undo"]] * 6)
    assert digits(seen)[-6:] == [8, 7, 6, 5, 4, 3]
    assert not seen[-1]["undo"]


def test_a_move_after_undo_begins_a_new_step(js):
    seen = js.walk(FIRST, digit(1), ["move", "digit", *digit(4)], ["undo"], ["move", "digit", *digit(5)], ["undo"])
    assert digits(seen)[-1] == 1, "the move was not joined to the one that was undone"


def test_a_move_that_failed_is_no_part_of_the_next(js):
    too_large = [
        "move",
        "digit",
        "set",
        {"input": {"kind": "values", "values": [1e305], "shape": [1, 1, 1, 1]}, "loss": "sum"},
    ]
    seen = js.walk(FIRST, digit(4), digit(5), too_large, ["move", "digit", *digit(7)], ["undo"])
    assert seen[-1]["state"]["digit"] == 5


def test_undo_remembers_a_bounded_number_of_steps(js):
    steps = [digit((step + 4) % 10) for step in range(HISTORY + 20)]
    seen = js.walk(FIRST, *steps, *[["undo"]] * (HISTORY + 1))
    assert [each["undo"] for each in seen[-2:]] == [False, False]
    assert seen[-3]["undo"]
    assert digits(seen)[-1] == (20 - 1 + 4) % 10


def test_looking_elsewhere_is_no_step_and_undo_leaves_it_alone(js):
    start = Settings(spec=ConvSpec(5, 2, 2)).to_dict()
    plane = {"sample": 0, "out_channel": 1, "in_channel": 1}
    views = {"plane": plane, "scale": "panel", "theme": "dark", "link_axes": False, "input_view": "stamps"}
    for name, value in views.items():
        actions = [
            digit(4),
            ["set", {name: value}],
            digit(5),
            ["undo"],
            ["undo"],
            ["redo"],
            ["set", {name: start[name]}],
        ]
        seen = js.walk(start, *actions)
        after = seen[5]
        assert (after["undo"], after["state"][name], after["state"]["digit"]) == (False, value, 3), name
        assert seen[-1]["redo"], f"{name}: what could be redone still can"


def test_undo_of_more_channels_shows_a_plane_that_exists(js):
    plane = {"sample": 0, "out_channel": 2, "in_channel": 2}
    seen = js.walk(FIRST, ["setGeometry", {"in_channels": 3, "out_channels": 3}], ["set", {"plane": plane}], ["undo"])
    assert seen[-2]["state"]["plane"] == plane
    assert seen[-1]["state"] == FIRST


def test_reset_goes_back_to_the_start_and_can_be_undone(js):
    start = Settings(digit=8, theme="light")
    seen = js.walk(start.to_dict(), digit(1), ["set", {"theme": "dark"}], ["reset"], ["undo"])
    assert seen[-2]["state"] == start.replace(theme="dark").to_dict(), "the theme is the reader's, not the lesson's"
    assert seen[-1]["state"]["digit"] == 1


# What is said.


def test_notices_are_forgotten_at_the_next_step(js):
    seen = js.walk(FIRST, ["say", "Hm.", True], ["undo"], digit(4), ["say", "Hm.", True], ["undo"])
    assert (seen[1]["notice"], seen[1]["failed"]) == ("Hm.", True)
    assert (seen[3]["notice"], seen[3]["failed"]) == ("", False)
    assert (seen[5]["notice"], seen[5]["failed"]) == ("", False)


def test_a_failing_action_leaves_everything_as_it_was_and_says_why(js):
    follows = [edit(name, 0, 0, 1.0) for name in ("output", "grad_input", "rotated_weight", "input", "loss")]
    infinite = [edit("weight", 0, 0, float(value)) for value in ("nan", "inf", "-inf")]
    too_large = [("padded_input", 2, 2, 1e200), ("weight", 2, 2, 1e299), ("weight", 1, 1, -1e160)]
    failing = [
        *follows,
        *infinite,
        edit("padded_input", 0, 0, 1.0),
        edit("weight", 9, 0, 1.0),
        *(edit(*place) for place in too_large),
        ["set", {"spec": ConvSpec(65).to_dict()}],
        ["setAxis", "kernel_size", 0, 40],
        send(type="restore", state=FIRST | {"spec": ConvSpec(65).to_dict()}),
        send(type="open", link="v=1&weight=values:1x1x1x1:1e299&kernel=1"),
    ]
    plays = [(FIRST, [digit(4), ["undo"], action, digit(5)]) for action in failing]
    one_hot = Settings(loss="weighted_sum", grad=Source("one_hot")).to_dict()
    failing.append(send(type="select", panel="output", row=10**15, column=0))  # a cell that grad_output has not
    plays.append((one_hot, [digit(4), ["undo"], failing[-1], digit(5)]))
    for action, (*_, before, after, then) in zip(failing, js.play(plays), strict=True):
        assert kept(after) == kept(before), action
        assert after["failed"], action
        assert len(after["notice"]) > 20, action
        assert action not in follows or "follows from other panels; type into padded_input" in after["notice"], action
        assert action not in infinite or "finite number" in after["notice"], action
        assert (then["failed"], then["notice"], then["state"]["digit"]) == (False, "", 5), action


def test_an_opened_link_is_where_reset_leads_and_no_step_of_undo(js):
    opened = Settings(spec=ConvSpec(8, padding=1), digit=7, dtype="float64").to_dict()
    link = send(type="open", link="v=1&stride=1&digit=7&loss=x")
    seen = js.walk(FIRST, ["set", {"loss": "mean"}], link, ["undo"], ["set", {"loss": "sum"}], ["reset"])
    assert seen[2]["state"] == seen[3]["state"] == seen[5]["state"] == opened
    assert "loss is one of" in seen[2]["notice"]
    assert (seen[2]["failed"], seen[2]["undo"], seen[5]["undo"]) == (False, False, True)


def test_any_text_to_open_leaves_a_whole_page(js):
    texts = ["\0", "v=1&" * 99, *short_links(8, 20), *random_texts(9, 60)]
    start = Settings.from_dict(FIRST)
    for text, (_, after) in zip(
        texts, js.play([(FIRST, [send(type="open", link=text)]) for text in texts]), strict=True
    ):
        wanted = from_link(text)[0].replace(device="cpu", dtype="float64", tab="")
        assert Settings.from_dict(after["state"]) == (start if after["failed"] else wanted), text
        assert not after["failed"] or "finite" in after["notice"] or "million products" in after["notice"], text


# Messages from the board.


def stage(seen, name):
    found = seen["numbers"][name]
    return torch.tensor(found["data"], dtype=torch.float64).reshape(found["shape"])


def test_typing_grad_output_keeps_the_other_cells(js):
    before, after = js.walk(FIRST, edit("grad_output", 1, 2, -7), numbers=True)
    assert after["state"]["loss"] == "weighted_sum"
    wanted = stage(before, "grad_output")
    wanted[0, 0, 1, 2] = -7
    assert torch.equal(stage(after, "grad_output"), wanted)


def test_selecting_is_no_step_unless_it_moves_the_one_hot(js):
    def select(panel, row, column, **more):
        return send(type="select", panel=panel, row=row, column=column, **more)

    _, plain, free = js.walk(FIRST, select("output", 1, 2, extra=1), ["release"])
    assert (plain["selected"], plain["undo"]) == ({"panel": "output", "row": 1, "column": 2}, False)
    assert free["selected"] is None
    start = Settings(loss="weighted_sum", grad=Source("one_hot")).to_dict()
    clicks = [select(panel, *at) for panel in ("output", "grad_output") for at in ((3, 0), (1, 2))]
    seen = js.walk(start, *clicks, select("weight", 0, 0))[1:]
    places = [grad_tensor(Settings.from_dict(each["state"])).nonzero().tolist() for each in seen]
    assert places == [[[0, 0, 3, 0]], [[0, 0, 1, 2]], [[0, 0, 3, 0]], [[0, 0, 1, 2]], [[0, 0, 1, 2]]]


def test_the_target_of_a_cross_entropy_follows_clicks_into_output_and_the_geometry(js):
    def select(panel, row, column):
        return send(type="select", panel=panel, row=row, column=column)

    def below_zero(seen, name="grad_output"):
        return (stage(seen, name) < 0).nonzero().tolist()

    state = Settings(spec=ConvSpec(6, 1, 2, batch=2), loss="cross_entropy", plane=Plane(1, 1, 0)).to_dict()
    smaller = ["set", {"spec": ConvSpec(4).to_dict()}]
    actions = [select("output", 2, 3), select("weight", 0, 0), smaller, ["undo"], ["undo"], select("output", 4, 0)]
    _, clicked, elsewhere, clamped, _, back, refused = js.walk(state, *actions, numbers=True)
    assert clicked["state"]["target"] == Source("one_hot", (1.0, 1.0, 2.0, 3.0)).to_dict()
    assert below_zero(clicked) == [[0, 1, 2, 3], [1, 1, 2, 3]]
    assert elsewhere["state"] == clicked["state"], "a click elsewhere moves nothing"
    assert below_zero(clamped) == [[0, 0, 1, 1]], "it is clamped into the shape"
    assert back["state"]["target"] == {"kind": "one_hot"}
    assert "target is 4 × 4: got row 4, column 0" in refused["notice"]
    layer = Settings(spec=ConvSpec(6, 3, 2), loss="cross_entropy", transposed=True, plane=Plane(0, 1, 2)).to_dict()
    _, clicked = js.walk(layer, select("grad_input", 4, 1), numbers=True)
    assert below_zero(clicked, "input") == [[0, 2, 4, 1]]


def test_choosing_planes(js):
    start = Settings(spec=ConvSpec(5, 4, 4, groups=2, batch=2)).to_dict()
    seen = js.walk(
        start,
        send(type="plane", panel="weight", at=[3, 1]),
        send(type="axis", axis="n", index=1),
        send(type="axis", axis="c", index=0),
    )
    planes = [Plane(**each["state"]["plane"]) for each in seen[1:]]
    assert planes[:2] == [Plane(0, 3, 3), Plane(1, 3, 3)]
    assert planes[2] == Plane(1, 1, 0), "the output channel follows into the group"
    assert not seen[-1]["undo"]


def test_messages_of_another_kind_are_ignored(js):
    start, *seen = js.walk(FIRST, *(["send", message] for message in ({}, {"type": None}, {"type": "future", "x": 1})))
    assert seen == [start] * 3


# Cells that nobody sees.


def test_an_edit_of_a_cell_that_no_panel_shows_is_refused(js):
    """Where the padding is wide, the panels leave out cells of the layer's input that reach no cell of the output."""
    settings = Settings(spec=ConvSpec(4, kernel_size=1, stride=1, padding=2), transposed=True, dtype="float64")
    shown = compute(settings).padded_grad_output.shape[-2:]
    assert (shown, settings.input_shape[2:]) == ((4, 4), (8, 8))
    unseen = [("padded_grad_output", 5, 5), ("padded_grad_output", 4, 0), ("grad_output", 0, 0), ("weight", 1, 0)]
    for place in unseen:
        before, after = js.walk(settings.to_dict(), edit(*place, 9.0))
        assert kept(after) == kept(before), place
        assert after["failed"], place
        assert "only a visible cell" in after["notice"], place
    (_, typed, _, stamped) = js.walk(
        settings.to_dict(),
        edit("padded_grad_output", 3, 3, 9.0),
        send(type="view", view="stamps"),
        edit("grad_output", 0, 0, 9.0),
        numbers=True,
    )
    assert stage(typed, "padded_grad_output")[0, 0, 3, 3] == 9
    assert stage(stamped, "grad_output")[0, 0, 0, 0] == 9


# Numbers that are too large.


def test_whatever_is_typed_the_state_stays_one_that_can_be_handed_on(js):
    draw = random.Random(5)
    refused = 0
    for transposed in (False, True):
        actions = []
        for _ in range(150):
            value = draw.choice((1, -1)) * 10.0 ** draw.randrange(-9, 310)
            panels = [*facts("settings")["edited"]["transposed" if transposed else "convolution"]]
            actions.append(edit(draw.choice(panels), draw.randrange(6), draw.randrange(6), value))
            actions.append(draw.choice((["undo"], ["redo"], ["reset"], ["say", ""])))
        for seen in js.walk(Settings(transposed=transposed, dtype="float64").to_dict(), *actions):
            settings = Settings.from_dict(seen["state"])
            result = compute(settings, compare=False)
            assert all(getattr(result, name).isfinite().all() for name in ("output", "grad_input", "grad_weight"))
            to_link(settings)
            refused += "must be finite" in seen["notice"]
    assert refused > 5
