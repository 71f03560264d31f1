"""The app as a widget, without a browser: messages of pages and to them, figures, what is left when it closes."""

import gc
import io
import json
import logging
import math
import random
import struct
import subprocess
import sys
import weakref
import zlib
from types import SimpleNamespace

import comm
import ipywidgets
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from comm.base_comm import BaseComm
from ipywidgets.embed import dependency_state
from PIL import Image

import convviz
from convviz.app.messages import BETWEEN_BUNDLES
from convviz.app.page_requests import TABS, answer
from convviz.app.upload import MAX_PICTURE_BYTES, read_picture
from convviz.facts.i18n.current_language import languages
from convviz.geometry.spec import ConvSpec
from convviz.ops.devices_and_dtypes import available_devices
from convviz.settings.state import Settings
from convviz.settings.tensor_source import Source
from convviz.settings.tensors import weight_tensor
from convviz.web.widget_assets import tab_script
from tests.geometries import integers
from tests.random_states import random_states

ALIVE = ipywidgets.widgets.widget._instances


@pytest.fixture
def sent(monkeypatch):
    """Everything that widgets made from now on send: (widget, data, buffers)."""
    messages = []

    class Recorded(BaseComm):
        def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
            messages.append((ALIVE.get(self.comm_id), data or {}, buffers or []))

    monkeypatch.setattr(comm, "create_comm", lambda *_, **keys: Recorded(**keys))
    return messages


@pytest.fixture
def open_app(sent, closing):
    """Open apps, and forget what they sent by then."""

    def open_one(*arguments, **keys):
        app = closing(convviz.App(*arguments, **keys))
        sent.clear()
        return app

    return open_one


def receive(app, message, *buffers):
    """Take a message as a page sends it."""
    data = {"method": "custom", "content": message}
    app._handle_msg({"content": {"data": data}, "buffers": list(buffers)})


def ask(app, state, page="one", k=1):
    """Ask for the numbers of some settings, as a page does."""
    receive(app, {"type": "compute", "page": page, "k": k, "settings": state})


def said(sent, kind):
    """Return (content, buffers) of every message of a kind that went to the pages."""
    contents = [(data.get("content", {}), buffers) for _, data, buffers in sent if data.get("method") == "custom"]
    return [each for each in contents if each[0].get("type") == kind]


def updates(sent, name="_numbers"):
    """Return what pages got of a trait, in turn."""
    return [data["state"][name] for _, data, _ in sent if name in data.get("state", {})]


def size_of(message):
    _, data, buffers = message
    return len(json.dumps(data)) + sum(len(bytes(buffer)) for buffer in buffers)


# From a page to the settings.


def test_what_a_page_asks_for_holds_and_its_numbers_are_sent_with_its_id(open_app, sent):
    app = open_app()
    ask(app, {"digit": 7, "spec": {"input_size": [8, 8], "kernel_size": [3, 3], "stride": [1, 1]}}, "mine", 12)
    assert (app.session.settings.digit, app.session.settings.spec.stride) == (7, (1, 1))
    (numbers,) = updates(sent)
    assert (numbers["page"], numbers["k"]) == ("mine", 12)
    assert app._notice == ("", False)
    state = app.state()
    assert {**app._state, **app._sources} == state
    assert (app.stride, app.digit) == (1, 7), "whoever watches the traits hears it too"


def test_settings_and_numbers_of_a_step_are_one_message(open_app, sent):
    app = open_app()
    for number, state in enumerate(({"digit": 5}, {"dtype": "float64"}, {"tab": ""}, {"theme": "dark"})):
        sent.clear()
        ask(app, state, k=number)
        carried = [data["state"] for widget, data, _ in sent if widget is app and "state" in data]
        assert sum("_numbers" in each for each in carried) == 1, state
        (message,) = (each for each in carried if "_numbers" in each)
        assert "_state" in message, "settings and numbers come together"


def test_the_bytes_are_those_that_every_page_is_answered(open_app):
    app = open_app()
    for state in random_states(81, 10):
        message, buffers = answer({"type": "compute", "settings": state})
        app.set_state(state)
        assert app._numbers["tensors"] == dict(zip(message["tensors"], buffers, strict=True)), state
        assert {name: app._numbers[name] for name in ("dtype", "loss", "truth")}.items() <= message.items()


def test_every_step_has_a_number_of_its_own(open_app):
    """A trait that is set to what it has sends nothing: two answers in a row must differ."""
    app = open_app()
    steps = [app._numbers["step"]]
    for k, digit in enumerate((5, 5, 6)):
        ask(app, {"digit": digit}, k=7 if k < 2 else 8)
        steps.append(app._numbers["step"])
    assert steps == [1, 2, 3, 4]


def test_a_page_that_asks_for_what_holds_gets_its_answer(open_app, sent):
    for held in (None, {}):
        app = open_app(state=held)
        result = app.session.result
        ask(app, app.state(), "late", 5)
        (numbers,) = updates(sent)
        assert (numbers["page"], numbers["k"]) == ("late", 5)
        assert app.session.result is result


def test_what_a_page_leaves_out_is_as_in_an_empty_state(open_app, sent):
    """Not as in the first picture: pages that were saved leave out what an empty state has."""
    app = open_app()
    ask(app, {"digit": 5}, "old", 1)
    assert app.session.settings == Settings(digit=5)
    ask(app, {}, "old", 2)
    assert app.session.settings == Settings()


def test_two_pages_in_turn_each_get_their_own_and_the_last_one_holds(open_app, sent):
    app = open_app()
    for k in range(6):
        for page in ("one", "two"):
            sent.clear()
            ask(app, {"digit": (2 * k + (page == "two")) % 10}, page, 10 * k)
            (numbers,) = updates(sent)
            assert (numbers["page"], numbers["k"]) == (page, 10 * k)
    assert app.session.settings.digit == 1


def test_a_state_set_between_asks_belongs_to_no_page(open_app, sent):
    app = open_app()
    ask(app, {"digit": 5}, "one", 1)
    app.set_state(Settings(digit=8).to_dict())
    assert (app._numbers["page"], app._numbers["k"]) == ("", 0)
    assert app._state["digit"] == 8
    ask(app, {"digit": 6}, "one", 2)
    assert (app._numbers["page"], app._numbers["k"], app._state["digit"]) == ("one", 2, 6)
    app.stride = 1
    assert app._numbers["page"] == "", "nor does a trait"


def test_who_watches_and_sets_something_else_is_no_answer_to_the_page(open_app, sent):
    app = open_app(state={})
    app.observe(lambda _: setattr(app, "digit", 9), "stride")
    sent.clear()
    ask(app, {"spec": {**Settings().spec.to_dict(), "stride": [1, 1]}}, "one", 3)
    answers = [(numbers["page"], numbers["k"]) for numbers in updates(sent)]
    assert answers == [("one", 3), ("", 0)]
    assert (app.session.settings.digit, app.digit, app.stride) == (9, 9, 1)
    assert {**app._state, **app._sources} == app.state()


# Refusals.


def test_what_a_page_cannot_have_is_refused_to_that_page_alone(open_app, sent):
    app = open_app(ConvSpec(4, kernel_size=2))
    before, numbers = app.state(), app._numbers
    sent.clear()
    ask(app, {"spec": {"input_size": [4, 4], "kernel_size": [5, 5]}}, "one", 4)
    ((refused, _),) = said(sent, "refused")
    assert (refused["page"], refused["k"]) == ("one", 4)
    assert "the kernel must fit into the padded input" in refused["sentence"]
    assert (app.state(), app._notice) == (before, ("", False))
    assert app._numbers is numbers
    assert len(sent) == 1
    ask(app, {"digit": 4}, "one", 5)
    assert (app._numbers["page"], app._numbers["k"]) == ("one", 5), "a refusal stands in nobody's way"


def test_a_message_of_a_sentence_reaches_every_page(open_app, sent):
    app = open_app()
    app.session.notify("Only this.", failed=True)
    ((shown_notice, _),) = said(sent, "notice")
    assert shown_notice == {"type": "notice", "sentence": "Only this.", "failed": True}
    assert app._notice == ("Only this.", True), "and to one that opens later"


DEEP: list = []
for _ in range(50):
    DEEP = [DEEP]
ODD = [None, 5, -1, 1.5, True, "x", "", [], [1], {}, {"0": 1}, math.nan, math.inf, -math.inf, 10**400, DEEP]
ODD.append("y" * 10**6)


def forged():
    """Yield (message, buffers) that no page of ours sends; test_page_requests.py forges settings and requests."""
    yield from ((each, ()) for each in ODD)
    yield from (({"type": each}, ()) for each in [*ODD, "computed", "close", "__init__", "receive"])
    good = {"type": "compute", "page": "one", "k": 1, "settings": {}}
    for name in ("page", "k", "settings"):
        for each in ODD:
            if (name, each) not in (("k", 5), ("k", -1), ("settings", {})):
                yield {**good, name: each}, ()
    yield from (({"type": "act", "tab": each, "message": {"type": "refresh"}}, ()) for each in [*ODD, "matrix"])
    yield from (({"type": "act", "tab": "yours", "message": each}, ()) for each in ODD if not isinstance(each, dict))
    yield {"type": "act"}, ()
    for kind in ("tab", "python", "page", "picture"):
        yield {"type": kind}, ()
        yield from (({"type": kind, "id": 1, "page": each}, ()) for each in ODD if not is_name(each))
        yield {"type": kind, "id": "one", "page": "one"}, ()
    for data in (b"", b"x", bytes(10_000_000)):
        yield {"type": "picture", "id": 1, "page": "one"}, (data,)


def is_name(value):
    return isinstance(value, str) and len(value) <= 64


def allowed(message):
    """Some of what is odd is possible: the first digit is 0, a seed may be 5, a flag True."""
    if not isinstance(message, dict) or message.get("type") != "compute":
        return False
    try:
        Settings.from_dict(message["settings"])
    except ValueError:
        return False
    return is_name(message["page"]) and type(message["k"]) is int


def test_no_forged_message_does_more_than_be_refused_in_a_sentence(open_app, sent, caplog):
    app = open_app()
    before, numbers, result = app.state(), app._numbers, app.session.result
    refused = 0
    caplog.set_level(logging.WARNING)  # once: setting it empties a cache in every logger there is
    for message, buffers in forged():
        if allowed(message):
            continue
        app.session.notify("")
        sent.clear()
        receive(app, message, *buffers)
        about = f"{message!r:.200}"
        assert app.state() == before, about
        assert (app._numbers is numbers, app.session.result is result) == (True, True), about
        answers = [content for content, _ in (*said(sent, "refused"), *said(sent, "notice"))]
        sentence = answers[-1]["sentence"] if answers else ""
        assert 20 < len(sentence) < 610, (about, sentence)
        assert "That did not work" not in sentence, (about, sentence)
        assert "\n" not in sentence, (about, sentence)
        assert not caplog.records, about
        refused += 1
    assert refused > 150
    ask(app, {"digit": 6}, "one", 2)
    assert app.session.settings.digit == 6, "and the app lives on"


def test_an_answer_goes_with_the_name_of_the_page_that_asked(open_app, sent):
    app = open_app()
    before = app.state()
    for request in (
        {"type": "tab", "tab": "matrix", "settings": {"digit": 5}, "choices": {"start": 0}},
        {"type": "tab", "tab": "yours", "settings": {}},
        {"type": "python", "settings": {"digit": 5}},
    ):
        sent.clear()
        receive(app, request | {"id": 3, "page": "two"})
        (message,) = [data["content"] for _, data, _ in sent]
        assert message.items() >= {"type": request["type"], "id": 3, "page": "two"}.items()
        assert app.state() == before, "the request has settings of its own"
    ((mine, _),) = ask_tab(app, sent, "matrix", app.state())
    assert mine["data"] == answer({"type": "tab", "tab": "matrix", "settings": app.state()}).message["data"]


def ask_tab(app, sent, tab, settings):
    """Ask for what a tab draws; return (content, buffers) of the answers."""
    sent.clear()
    receive(app, {"type": "tab", "id": 1, "page": "one", "tab": tab, "settings": settings})
    return said(sent, "tab")


def test_a_tab_with_a_state_pushes_its_data_and_answers_with_them(open_app, sent):
    app = open_app()
    ((first, _),) = ask_tab(app, sent, "yours", {})
    assert first["data"]["failed"] == ""
    sent.clear()
    receive(app, {"type": "act", "tab": "yours", "message": {"type": "check", "task": "conv2d", "name": "gone"}})
    ((pushed, _),) = said(sent, "tab")
    assert pushed.keys() == {"type", "tab", "data"}
    assert "gone" in pushed["data"]["failed"]
    ((again, _),) = ask_tab(app, sent, "yours", {})
    assert again["data"] == pushed["data"]


# How much goes over the wire.


@pytest.mark.parametrize("start", [None, {}], ids=["first picture", "digit"])
def test_a_kernel_step_is_one_small_message_of_numbers(open_app, sent, start):
    app = open_app(state=start)
    first = app.state()
    weight = weight_tensor(app.session.settings)
    for step in range(-30, 31, 3):
        sent.clear()
        weight[0, 0, 0, 0] = step / 10
        ask(app, first | {"weight": Source.of(weight).to_dict()}, k=step)
        assert [(widget, set(data["state"])) for widget, data, _ in sent] == [
            (app, {"_numbers", "_state", "loss_value"})
        ]
        assert size_of(sent[0]) <= 6000


def test_every_control_of_the_first_picture_costs_at_most_one_small_answer(open_app, sent):
    app = open_app()
    first = app.state()
    stride = {"spec": first["spec"] | {"stride": [2, 2]}}
    digit = {"input": {"kind": "digit"}, "digit": 9}
    for state in (digit, {"seed": 2}, {"loss": "mean"}, stride, {"bias": None}, Settings().to_dict()):
        sent.clear()
        ask(app, first | state)
        assert sum(map(size_of, sent)) <= 6000, state
        assert [widget for widget, _, _ in sent] == [app], state


def test_typed_inputs_stay_out_of_what_a_kernel_step_sends(open_app, sent):
    typed = np.random.default_rng(0).normal(size=(8, 8)).round(2)
    app = open_app(input=typed, weight=torch.ones(3, 3) / 7)
    ask(app, app.state() | {"weight": Source.of(torch.full((1, 1, 3, 3), 0.1)).to_dict()})
    (message,) = sent
    assert "_sources" not in message[1]["state"]
    assert size_of(message) <= 6000


def test_apps_share_one_script_which_goes_with_the_last_of_them():
    before = set(ALIVE)
    apps = [convviz.App(), convviz.App(link="v=1&stride=1")]
    for app in apps:
        state, _, buffers = ipywidgets.widgets.widget._remove_buffers(app.get_state())
        assert len(json.dumps(state)) + sum(len(bytes(buffer)) for buffer in buffers) < 12_000
        assert "_css" not in state
    script = apps[0]._carrier
    assert apps[1]._carrier is script
    assert apps[1]._facts["script"] == script.key
    one, both = (dependency_state(shown, drop_defaults=False) for shown in (apps[:1], apps))
    assert script.model_id in one, "a saved page can show the app"
    assert len(json.dumps(both)) - len(json.dumps(one)) < 12_000, "the second app brings no other"
    apps[0].close()
    apps[0].close()
    assert script.comm is not None, "the other needs it"
    apps[1].close()
    assert set(ALIVE) == before
    later = convviz.App()
    assert later._carrier.comm is not None, "and the next app has its own"
    later.close()
    assert set(ALIVE) == before


def test_an_app_is_a_handful_of_widgets(sent):
    before = set(ALIVE)
    app = convviz.App()
    assert len(set(ALIVE) - before) <= 15
    for tab in ("matrix", "graph", "code", "linear", ""):
        app.set_state({"tab": tab})
    assert len(set(ALIVE) - before) <= 15, "nor do its tabs make more"
    app.close()
    assert set(ALIVE) == before


def test_plotly_is_sent_when_a_page_asks_for_it(open_app, sent):
    app = open_app()
    receive(app, {"type": "plotly"})
    (((content, buffers),)) = said(sent, "plotly")
    assert content == {"type": "plotly"}
    assert zlib.decompress(bytes(buffers[0]), wbits=31).startswith(b"/**\n* plotly.js")


def test_requests_for_plotly_that_nobody_waits_for_cost_one_answer_a_second(open_app, sent, monkeypatch):
    """400 of them at once made the server keep 400 copies for a page that did not read."""
    app = open_app()
    now = 1000.0
    monkeypatch.setattr("convviz.app.messages.time.monotonic", lambda: now)

    def answers():
        sent.clear()
        for _ in range(400):
            receive(app, {"type": "plotly"})
        return [buffers[0] for _, buffers in said(sent, "plotly")]

    (first,) = answers()
    assert not answers()
    now += BETWEEN_BUNDLES
    (second,) = answers()
    assert first is second, "packed once a process"


def test_what_draws_a_tab_is_sent_when_a_page_asks_and_once_a_second(open_app, sent, monkeypatch):
    app, now = open_app(), 1000.0
    monkeypatch.setattr("convviz.app.messages.time.monotonic", lambda: now)
    for name in TABS:
        sent.clear()
        for _ in range(5):
            receive(app, {"type": "script", "tab": name})
        (((content, buffers),)) = said(sent, "script")
        assert content == {"type": "script", "tab": name}
        assert zlib.decompress(bytes(buffers[0]), wbits=31).decode() == tab_script(name)
        now += BETWEEN_BUNDLES
        receive(app, {"type": "script", "tab": name})
        assert len(said(sent, "script")) == 2, name
    assert app.session.notice == ("", False)


def test_the_script_of_no_tab_is_refused(open_app, sent):
    app = open_app()
    for name in ("none", "", "../carrier", None, 5, ["code"], {}):
        sent.clear()
        receive(app, {"type": "script", "tab": name})
        assert not said(sent, "script"), name
        sentence, failed = app.session.notice
        assert failed, name
        assert "matrix, linear" in sentence, name
        assert f"{str(name)!r:.40}" in sentence, name


def test_the_page_knows_the_devices_the_version_and_the_start(open_app):
    app = open_app(theme="light")
    assert tuple(app._facts["devices"]) == tuple(available_devices())
    assert app._facts["version"] == convviz.__version__
    assert app._facts["makes_pages"] is True
    start = app._start
    assert start == app.state()
    app.theme = "dark"
    assert app._state["theme"] == "dark"
    assert app._start is start, "Reset leads to where it began"


def test_words_of_ones_own_stand_above(open_app, sent):
    app = open_app()
    app.introduce("<b>Look</b> at the border.")
    assert updates(sent, "_introduction") == ["<b>Look</b> at the border."]


# Figures.


def test_a_figure_is_the_result_in_the_plane_that_is_chosen(open_app):
    app = open_app(ConvSpec(5, 2, 3))
    ask(app, app.state() | {"plane": {"sample": 0, "out_channel": 2, "in_channel": 1}})
    for name, plane in {"grad_weight": (2, 1), "grad_input": (0, 1), "padded_grad_output": (0, 2)}.items():
        (trace,) = app.figure(name).data
        assert [list(row) for row in trace.z] == getattr(app.session.result, name)[plane].tolist()
    assert "grad_weight[2, 1]" in app.figure("grad_weight").layout.title.text
    with pytest.raises(ValueError, match="there is no bias"):
        app.figure("grad_bias")


# App(...).


@pytest.mark.parametrize(
    ("arguments", "input_shape", "weight_shape"),
    [
        ({"input": np.ones((6, 5))}, (1, 1, 6, 5), (1, 1, 3, 3)),
        ({"input": [[1, 2], [3, 4]]}, (1, 1, 2, 2), (1, 1, 2, 2)),
        ({"input": torch.ones(2, 6, 5)}, (1, 2, 6, 5), (1, 2, 3, 3)),
        ({"input": torch.ones(2, 3, 6, 5, dtype=torch.uint8)}, (2, 3, 6, 5), (1, 3, 3, 3)),
        ({"weight": torch.ones(2, 4)}, (1, 1, 5, 5), (1, 1, 2, 4)),
        ({"weight": torch.ones(3, 2, 2, 7)}, (1, 2, 5, 7), (3, 2, 2, 7)),
        ({"input": torch.ones(1, 2, 6, 5), "weight": torch.ones(3, 2, 1, 1)}, (1, 2, 6, 5), (3, 2, 1, 1)),
        ({"bias": [1.0, 2, 3]}, (1, 1, 5, 5), (3, 1, 3, 3)),
        ({"spec": ConvSpec(5, 4, 2, groups=2), "input": torch.ones(4, 5, 5)}, (1, 4, 5, 5), (2, 2, 3, 3)),
        ({"input": torch.ones(6, 5, requires_grad=True)}, (1, 1, 6, 5), (1, 1, 3, 3)),
        ({"input": np.ones((6, 5))[::-1]}, (1, 1, 6, 5), (1, 1, 3, 3)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_sizes_are_taken_from_the_tensors(open_app, arguments, input_shape, weight_shape):
    app = open_app(**arguments)
    assert app.session.result.input.shape == input_shape
    assert app.session.result.weight.shape == weight_shape
    for name in {"input", "weight", "bias"} & set(arguments):
        value = arguments[name]
        given = value.detach() if isinstance(value, torch.Tensor) else torch.tensor(np.array(value))
        assert getattr(app.session.result, name).flatten().tolist() == given.float().flatten().tolist()
    settings = app.session.settings
    defaults = ((1, 1), ((0, 0), (0, 0)), (1, 1), "zeros")
    assert (settings.spec.stride, settings.spec.padding, settings.spec.dilation, settings.spec.padding_mode) == defaults
    assert (settings.loss, settings.scale) == ("weighted_sum", "quantity")


def test_without_a_geometry_own_tensors_have_torchs(open_app):
    """The output is F.conv2d's, or F.conv_transpose2d's, by default; one 1 is sent back, as in the first picture."""
    for channels, weight_shape, transposed in (
        (1, (1, 1, 3, 3), False),
        (2, (3, 2, 2, 4), False),
        (1, (1, 1, 6, 5), False),
        (2, (2, 3, 3, 2), True),
    ):
        x, w = integers((2, channels, 6, 5), 1), integers(weight_shape, 2).requires_grad_()
        right = (F.conv_transpose2d if transposed else F.conv2d)(x.requires_grad_(), w)
        app = open_app(input=x, weight=w, dtype="float64", transposed=transposed)
        assert torch.equal(app.output, right.detach()), (weight_shape, transposed)
        sent = torch.zeros_like(right)
        sent[0, 0, 0, min(1, right.shape[3] - 1)] = 1
        assert torch.equal(app.grad_output, sent), (weight_shape, transposed)
        for ours, theirs in zip(
            (app.grad_input, app.grad_weight), torch.autograd.grad(right, (x, w), sent), strict=True
        ):
            assert torch.equal(ours, theirs), (weight_shape, transposed)


def test_a_grad_output_of_ones_own(open_app):
    grad_output = integers((3, 3), 5)
    app = open_app(grad_output=grad_output)
    assert app.session.settings.loss == "weighted_sum"
    assert torch.equal(app.session.result.grad_output[0, 0].double(), grad_output)


def test_a_target_of_ones_own(open_app):
    target = integers((3, 3), 5)
    app = open_app(target=target)
    difference = app.session.result.output[0, 0] - app.session.result.grad_output[0, 0]
    assert torch.equal(difference.double(), target)


def test_the_callers_tensor_is_not_written_to(open_app):
    image = torch.zeros(8, 8, dtype=torch.float64)
    app = open_app(input=image)
    app.input[0, 0, 3, 3] = 5
    ask(app, app.state() | {"digit": 5})
    assert not image.any()
    image[0, 0] = 9
    assert float(app.session.result.input[0, 0, 0, 0]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"input": torch.ones(5)}, r"input must have the shape 2 to 4 axes.*: got \[5\]"),
        ({"input": "cat"}, "input must be a tensor, an array or nested lists of numbers"),
        ({"input": [[1, 2], [3]]}, "input must be a tensor, an array or nested lists of numbers"),
        ({"input": torch.full((5, 5), float("nan"))}, "finite numbers"),
        ({"input": torch.ones(5, 5) * 1j}, "real numbers"),
        ({"input": torch.ones(65, 8)}, "up to 64"),
        ({"weight": torch.ones(9, 20)}, r"the board shows|the kernel must fit"),
        ({"bias": torch.ones(2, 2)}, r"bias must have the shape \[C_out\]"),
        ({"grad_output": torch.ones(4, 4)}, r"grad_output must have the shape \[1, 1, 3, 3\].*got \[1, 1, 4, 4\]"),
        ({"input": torch.ones(2, 2), "weight": torch.ones(3, 3)}, "the kernel must fit into the padded input"),
        ({"target": torch.ones(4, 4), "loss": "sum"}, "target"),
        ({"grad_output": torch.ones(4, 4), "loss": "mean"}, "needs loss='weighted_sum'"),
        ({"input": torch.ones(2, 5, 5), "weight": torch.ones(1, 3, 2, 2)}, r"weight must have the shape"),
        ({"spec": ConvSpec(5), "input": torch.ones(6, 5)}, r"input must have the shape \[1, 1, 5, 5\]"),
        ({"device": "abacus"}, "device is one of cpu.* on this machine: got 'abacus'"),
        ({"state": {}, "loss": "sum"}, "a state holds everything"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_arguments_that_contradict_teach_and_leave_no_widget(sent, arguments, message):
    before = set(ALIVE)
    with pytest.raises(ValueError, match=message):
        convviz.App(**arguments)
    assert set(ALIVE) == before


def test_the_device_comes_from_the_argument_or_the_variable(open_app, monkeypatch):
    assert open_app().session.settings.device == "cpu"
    monkeypatch.setenv("CONVVIZ_DEVICE", "cpu")
    assert open_app().session.settings.device == "cpu"
    monkeypatch.setenv("CONVVIZ_DEVICE", "abacus")
    assert open_app(device="cpu").session.settings.device == "cpu", "the argument counts more"
    with pytest.raises(ValueError, match=r"device is one of cpu.*: got 'abacus'"):
        convviz.App()
    monkeypatch.setenv("CONVVIZ_DEVICE", "")
    assert open_app().session.settings.device == "cpu"


# Closing.


def test_opening_and_closing_leaves_nothing_alive(sent):
    gc.collect()
    before = set(ALIVE)
    apps = []
    for number in range(4):
        app = convviz.App()
        for tab in TABS[number::4]:
            ask(app, {"digit": (number + 4) % 10, "tab": tab})
            receive(app, {"type": "tab", "id": 1, "page": "one", "tab": tab, "settings": app.state()})
            receive(app, {"type": "act", "tab": tab, "message": {"type": "refresh"}})
        ask(app, {"spec": {"input_size": [8, 8], "kernel_size": [3, 3], "in_channels": 2}})
        app.figure("output")
        apps.append(weakref.ref(app))
        app.close()
        assert set(ALIVE) == before, "closing the app closes every widget in it"
        del app
    sent.clear()  # the recorded messages name their widgets
    gc.collect()
    assert [app() for app in apps] == [None] * 4


def test_a_closed_app_is_silent_and_closing_again_is_harmless(sent):
    app = convviz.App(state={"tab": "matrix"})
    receive(app, {"type": "act", "tab": "yours", "message": {"type": "refresh"}})
    session, tab, before, shown = app.session, app._messages.made["yours"], app.state(), app._numbers
    app.close()
    sent.clear()
    for message in (
        {"type": "compute", "page": "one", "k": 1, "settings": {}},
        {"type": "python", "id": 1, "page": "one", "settings": {}},
        {"type": "act", "tab": "yours", "message": {"type": "refresh"}},
        5,
    ):
        app._messages.receive(message, [])  # what was still under way
    assert session.state() == before, "it moves nothing"
    session.apply(session.settings.replace(digit=5))
    tab.refresh()
    assert app._numbers is shown
    app.close()
    assert sent == []


# Pictures of the user's own.


def encoded(image, format, **options):
    stream = io.BytesIO()
    image.save(stream, format, **options)
    return stream.getvalue()


def gradient(height=6, width=9):
    return Image.fromarray(np.linspace(0, 255, height * width).round().astype(np.uint8).reshape(height, width))


def upload(app, sent, data):
    """Send a picture as a page does; return what it is answered."""
    sent.clear()
    receive(app, {"type": "picture", "id": 1, "page": "one"}, data)
    ((answered, _),) = said(sent, "picture")
    return answered


def test_a_good_png_becomes_an_input_that_the_page_sets(open_app, sent):
    app = open_app(ConvSpec((6, 9)))
    before = app.state()
    source = upload(app, sent, encoded(gradient(), "PNG"))["source"]
    assert app.state() == before, "the page goes there, as to every setting"
    assert (source["kind"], source["shape"]) == ("image", [6, 9])
    ask(app, before | {"input": source})
    expected = torch.from_numpy(np.asarray(gradient()) / 255)
    torch.testing.assert_close(app.session.result.input[0, 0].double(), expected, atol=6e-4, rtol=0)
    assert app._sources["input"]["shape"] == [6, 9], "the page gets it as numbers, which a link can carry"


PICTURES = {
    "JPEG": (gradient(), "JPEG", {"quality": 95}),
    "colour PNG": (gradient().convert("RGB"), "PNG", {}),
    "opaque RGBA PNG": (gradient().convert("RGBA"), "PNG", {}),
    "grey and alpha": (gradient().convert("LA"), "PNG", {}),
    "palette": (gradient().convert("P"), "PNG", {}),
    "16 bit": (Image.fromarray(np.asarray(gradient()).astype(np.uint16) * 257), "PNG", {}),
    "CMYK JPEG": (gradient().convert("CMYK"), "JPEG", {"quality": 95}),
    "progressive JPEG": (gradient(), "JPEG", {"quality": 95, "progressive": True}),
}


@pytest.mark.parametrize("kind", PICTURES)
def test_every_kind_of_png_and_jpeg_shows_the_same_grey(kind):
    image, format, options = PICTURES[kind]
    plane = read_picture(encoded(image, format, **options))
    assert plane.dtype is torch.float64
    expected = torch.from_numpy(np.asarray(gradient()) / 255)
    torch.testing.assert_close(plane, expected, atol=0.03, rtol=0)


def test_what_is_transparent_is_paper():
    """A drawing exported from a paint program: black ink on nothing."""
    alpha = Image.fromarray(np.eye(8, dtype=np.uint8) * 255)
    ink = Image.merge("RGBA", [*Image.new("RGB", (8, 8)).split(), alpha])
    assert torch.equal(read_picture(encoded(ink, "PNG")), 1 - torch.eye(8, dtype=torch.float64))


@pytest.mark.parametrize("size", [(1, 1), (64, 64), (65, 65), (1000, 300), (3, 2000), (5000, 1)])
def test_pictures_of_every_size_are_brought_to_at_most_64(size):
    plane = read_picture(encoded(Image.new("L", size, 128), "PNG"))
    assert 1 <= min(plane.shape) <= max(plane.shape) <= 64
    if max(size) <= 64:
        assert plane.shape == size[::-1]
    assert torch.allclose(plane, torch.full_like(plane, 128 / 255))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb(side):
    """Return a PNG of a few hundred bytes that claims side x side pixels."""
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"PNG or JPEG file, and this (file )?is neither"),
        (b"hello, I am a text file\n" * 50, r"PNG or JPEG file, and this (file )?is neither"),
        (encoded(gradient(), "GIF"), r"PNG or JPEG file, and this (file )?is neither"),
        (encoded(gradient(), "BMP"), r"PNG or JPEG file, and this (file )?is neither"),
        (encoded(gradient(60, 60), "PNG")[:-60], "damaged"),
        (encoded(gradient(60, 60), "JPEG")[:300], "damaged|neither"),
        (bytes(MAX_PICTURE_BYTES + 1), "up to 8 MB"),
        (bomb(8000), "up to 50 million pixels"),
        (bomb(60_000), "pixels"),
    ],
    ids=["empty", "text", "GIF", "BMP", "truncated PNG", "truncated JPEG", "too many bytes", "large", "bomb"],
)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_what_is_no_usable_picture_is_one_sentence(open_app, sent, data, message):
    app = open_app()
    before = app.state()
    receive(app, {"type": "picture", "id": 1, "page": "one"}, data)
    ((refused, _),) = said(sent, "refused")
    with pytest.raises(ValueError, match=message):
        read_picture(data)
    assert app.state() == before
    assert "That did not work" not in refused["sentence"], "foreseen, not an accident"
    assert "\n" not in refused["sentence"]


PEAKS = """
import os, re, sys
from pathlib import Path
from convviz.app.upload import read_picture
def peak():
    return int(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])
for path in sys.argv[1:]:
    child = os.fork()  # what is loaded is loaded once, and each peak begins where the process stands
    if not child:
        data = Path(path).read_bytes()
        before = peak()
        try:
            read_picture(data)
        except ValueError as error:
            assert 'million pixels' in str(error)
        print((peak() - before) // 1024, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_a_large_picture_is_never_there_twice(tmp_path):
    """16 million pixels: one decoded copy of an RGBA picture is 61 MiB; with paper and conversions it was four."""
    square = (4000, 4000)
    pictures = {
        "RGBA PNG": (110, "RGBA", "PNG", square),
        "L PNG": (48, "L", "PNG", square),
        "wide L PNG": (48, "L", "PNG", (65_000, 246)),
        "L PNG of one row": (30, "L", "PNG", (50_000_000, 1)),  # refused: the decoder would keep it several times
        "RGB JPEG": (23, "RGB", "JPEG", square),  # half of a decoded copy
    }
    for kind, (_, mode, format, size) in pictures.items():
        (tmp_path / kind).write_bytes(encoded(Image.new(mode, size), format, compress_level=1))
    (tmp_path / "bomb").write_bytes(bomb(8000))
    most = {kind: limit for kind, (limit, *_) in pictures.items()} | {"bomb": 30}
    command = [sys.executable, "-c", PEAKS, *(str(tmp_path / kind) for kind in most)]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    for (kind, limit), peak in zip(most.items(), found, strict=True):
        assert int(peak) < limit, f"{kind}: {peak} MiB"


@pytest.mark.parametrize("format", ["PNG", "JPEG"])
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning", "ignore::UserWarning")
def test_no_damage_does_worse_than_a_sentence(format):
    whole = encoded(gradient(12, 12), format)
    draw = random.Random(8)
    damaged = [whole[:length] for length in range(0, len(whole), 3)]
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 6)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        damaged.append(bytes(data))
    sentences = []
    for data in damaged:
        try:
            assert read_picture(data).isfinite().all()
        except ValueError as error:
            sentences.append(str(error))
    assert len(sentences) > 20
    assert all("; save it" in sentence or "make it smaller" in sentence for sentence in sentences), set(sentences)


def test_in_marimo_an_app_has_its_own_script_in_one_language(monkeypatch):
    """Its visitors share a process, each with widgets of their own, which are made only while a cell runs."""
    monkeypatch.setitem(sys.modules, "marimo", SimpleNamespace(running_in_notebook=lambda: True))
    apps = [convviz.App(lang="zh-Hans") for _ in range(2)]
    assert [app._facts["languages"] for app in apps] == [["zh-Hans"]] * 2
    assert apps[0]._carrier is not apps[1]._carrier
    for app in apps:
        app.close()
        assert app._carrier.comm is None
    monkeypatch.setitem(sys.modules, "marimo", SimpleNamespace(running_in_notebook=lambda: False))
    one, other = convviz.App(), convviz.App()
    assert one._facts["languages"] == languages()
    assert one._carrier is other._carrier
