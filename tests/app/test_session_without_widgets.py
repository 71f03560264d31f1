"""The session alone, without widgets: what failures leave behind, what is finite, and that two share nothing."""

import dataclasses
import json
import logging

import pytest
import torch

import convviz.app.session as session_module
from convviz.app.session import Session
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.settings.compute import compute
from convviz.settings.link import from_link, to_link
from convviz.settings.state import Settings
from convviz.settings.tensor_source import Source


def numbers_of(result):
    return {
        field.name: getattr(result, field.name)
        for field in dataclasses.fields(result)
        if isinstance(getattr(result, field.name), torch.Tensor)
    }


def assert_in_step(session):
    """What is shown follows from what is set."""
    expected, shown = numbers_of(compute(session.settings)), numbers_of(session.result)
    assert shown.keys() == expected.keys()
    assert all(torch.equal(shown[name], expected[name]) for name in shown)


def digit(session, number):
    session.apply(session.settings.replace(digit=number))


def snapshot(session):
    return session.settings, session.result, session.state()


# Where it starts and goes.


def test_it_starts_with_the_first_picture():
    for session, settings in ((Session(), Settings.first_picture()), (Session(Settings()), Settings())):
        assert session.settings == settings
        assert session.notice == ("", False)
        assert_in_step(session)


def test_what_is_only_looked_at_computes_nothing():
    session = Session(Settings(spec=ConvSpec(5, 2, 2)))
    result = session.result
    session.apply(session.settings)
    assert session.result is result
    views = ({"plane": Plane(0, 1, 1)}, {"scale": "panel"}, {"input_view": "stamps"}, {"tab": "code"})
    for view in (*views, {"theme": "dark"}, {"link_axes": False}):
        session.apply(session.settings.replace(**view))
        assert session.result is result, view
    digit(session, 5)
    assert session.result is not result
    assert_in_step(session)


def test_settings_and_result_arrive_together():
    session, heard = Session(), []
    session.observe(lambda _: heard.append(session.result.spec == session.settings.spec), names=("settings", "result"))
    session.apply(session.settings.replace(spec=ConvSpec(8, kernel_size=5)))
    assert heard
    assert all(heard), "nobody sees the new geometry with the old numbers"


def test_notices_are_said_and_forgotten_at_the_next_step():
    session = Session()
    session.apply(session.settings.replace(digit=4), ["One thing moved.", "Another too."])
    assert session.notice == ("One thing moved. Another too.", False)
    digit(session, 5)
    assert session.notice == ("", False)


def test_a_sentence_and_its_kind_arrive_together():
    session, heard = Session(), []
    session.observe(lambda event: heard.append(event["new"]), names="notice")
    session.notify("No.", failed=True)
    session.notify("Yes.")
    assert heard == [("No.", True), ("Yes.", False)]


# What fails.


@pytest.mark.parametrize(
    "state",
    [
        {"spec": {"input_size": 1, "kernel_size": 5}},
        {"dtype": "float32", "weight": {"kind": "values", "values": [1e39], "shape": [1, 1, 1, 1]}},
        {"spec": {"input_size": 64, "in_channels": 8, "out_channels": 8, "batch": 8, "kernel_size": 11, "padding": 5}},
        None,
    ],
    ids=lambda state: str(state)[:30],
)
def test_a_failing_action_leaves_everything_as_it_was_and_returns_why(state, caplog):
    session = Session()
    digit(session, 4)
    before = snapshot(session)
    with caplog.at_level(logging.WARNING):
        sentence = session.attempt(lambda: session.set_state(state))
    assert snapshot(session) == before
    assert session.result is before[1]
    assert len(sentence) > 20
    assert not caplog.records, "a mistake of the user's is no error of ours"


def test_an_observer_that_fails_takes_nothing_along(caplog):
    session = Session()
    digit(session, 4)
    before = snapshot(session)

    def refuse(event):
        if event["new"].digit == 9:
            raise RuntimeError("cannot follow")

    session.observe(refuse, names="settings")
    sentence = session.attempt(lambda: digit(session, 9))
    assert snapshot(session) == before
    assert sentence == "That did not work (RuntimeError: cannot follow). Your settings are unchanged."
    assert "the action failed" in caplog.text
    assert_in_step(session)
    digit(session, 7)
    assert session.settings.digit == 7


def test_numbers_that_cannot_be_computed_leave_the_settings(monkeypatch, caplog):
    session = Session()
    before = snapshot(session)

    def fail(*_, **__):
        raise RuntimeError("no such kernel")

    monkeypatch.setattr(session_module, "compute", fail)
    sentence = session.attempt(lambda: digit(session, 4))
    assert snapshot(session) == before
    assert sentence == "That did not work (RuntimeError: no such kernel). Your settings are unchanged."
    assert "the action failed" in caplog.text


# State.


def test_a_state_is_a_copy():
    session = Session()
    session.state()["spec"]["stride"][0] = 99
    session.state()["plane"]["sample"] = 99
    assert session.state() == Settings.first_picture().to_dict()


def test_two_sessions_share_nothing():
    one, other = Session(), Session()
    before = snapshot(other)
    digit(one, 4)
    one.apply(one.settings.replace(weight=Source.of(torch.ones(1, 1, 3, 3))))
    one.notify("Only here.", failed=True)
    assert snapshot(other) == before
    assert other.notice == ("", False)
    mine, theirs = numbers_of(one.result), numbers_of(other.result)
    addresses = {tensor.data_ptr() for tensor in mine.values()} & {tensor.data_ptr() for tensor in theirs.values()}
    assert not addresses, "no tensor of one can be written through the other"


# Numbers that are too large.


def assert_all_finite(session):
    """Nothing is inf or nan, and the state goes where a state can go: to a link, a page, and back."""
    assert all(tensor.isfinite().all() for tensor in numbers_of(session.result).values())
    state = json.loads(json.dumps(session.state(), allow_nan=False))
    assert Settings.from_dict(state) == session.settings
    to_link(session.settings)


def test_no_way_leads_to_numbers_that_are_not_finite():
    """A link, a state, another dtype: each is refused as an edit is."""
    link = "v=1&weight=values:1x1x1x1:1e299&kernel=1"
    state = Settings(dtype="float64", loss="sum", weight=Source("values", (1e200,), (1, 1, 1, 1))).to_dict()
    for action in (
        lambda s: s.apply(from_link(link)[0]),
        lambda s: s.set_state(state | {"dtype": "float32"}),
        lambda s: s.apply(s.settings.replace(dtype="bfloat16", weight=Source("values", (3.4e38,), (1, 1, 1, 1)))),
    ):
        session = Session()
        digit(session, 4)
        before = snapshot(session)
        sentence = session.attempt(lambda session=session, action=action: action(session))
        assert snapshot(session) == before
        assert "every number on the board must be finite" in sentence
    session.set_state(state)
    assert_all_finite(session)
    assert session.attempt(lambda: session.apply(session.settings.replace(dtype="float32")))
    assert session.settings.dtype == "float64"
    with pytest.raises(ValueError, match="must be finite in float32: got inf in weight"):
        Session(from_link(link)[0])
