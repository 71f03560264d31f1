"""The app as widgets, without a browser: controls, messages to the page, what is left when it closes."""

import gc
import io
import json
import random
import struct
import subprocess
import sys
import weakref
import zlib

import comm
import ipywidgets
import numpy as np
import pytest
import torch
from comm.base_comm import BaseComm
from convviz.board.sliders import SliderGrid
from convviz.board.widget import BETWEEN_BUNDLES, Board
from convviz.settings.bounds import PER_AXIS, value_of
from convviz.settings.change import kernel_name
from PIL import Image

import convviz
from convviz.app.upload import MOST_BYTES, Upload, read_picture
from convviz.ops.device import available_devices
from convviz.settings.state import Settings
from convviz.spec import ConvSpec
from tests.geometries import integers
from tests.test_settings import random_settings

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
def open_app(sent):
    """Open apps that are closed at the end of the test."""
    opened = []

    def open_one(*arguments, **keys):
        opened.append(convviz.App(*arguments, **keys))
        sent.clear()
        return opened[-1]

    yield open_one
    for app in opened:
        app.close()


def widgets_in(box):
    yield box
    for child in getattr(box, "children", ()):
        yield from widgets_in(child)


def find(app, name, axis=0):
    """Find a control by its class cv-set-<name>; those without one by what stands beside them."""
    found = [w for w in widgets_in(app) if f"cv-set-{name}" in w._dom_classes]
    found += [w for w in widgets_in(app) if not found and getattr(w, "description", None) == name]
    return found[axis]


def only(app, kind):
    (widget,) = (w for w in widgets_in(app) if isinstance(w, kind))
    return widget


def receive(widget, **state):
    """Take a change as the page sends it."""
    data = {"method": "update", "state": state, "buffer_paths": []}
    widget._handle_msg({"content": {"data": data}, "buffers": []})


def receive_custom(widget, content, buffers=()):
    data = {"method": "custom", "content": content}
    widget._handle_msg({"content": {"data": data}, "buffers": list(buffers)})


def size_of(message):
    _, data, buffers = message
    return len(json.dumps(data)) + sum(len(bytes(buffer)) for buffer in buffers)


# Controls to model.

CONTROLS = [
    ("input_size", 0, 6, lambda s: s.spec.input_size[0]),
    ("kernel_size", 0, 5, lambda s: s.spec.kernel_size[0]),
    ("stride", 0, 3, lambda s: s.spec.stride[0]),
    ("padding", 0, 4, lambda s: value_of(s.spec, "padding", 0)),
    ("dilation", 0, 2, lambda s: s.spec.dilation[0]),
    ("padding_mode", 0, "circular", lambda s: s.spec.padding_mode),
    ("in_channels", 0, 3, lambda s: s.spec.in_channels),
    ("out_channels", 0, 4, lambda s: s.spec.out_channels),
    ("batch", 0, 2, lambda s: s.spec.batch),
    ("bias", 0, True, lambda s: s.bias is not None),
    ("link_axes", 0, False, lambda s: s.link_axes),
    ("input", 0, "checkerboard", lambda s: s.input.kind),
    ("digit", 0, 7, lambda s: s.digit),
    ("seed", 0, 41, lambda s: s.seed),
    ("kernel", 0, "box", kernel_name),
    ("loss", 0, "mean", lambda s: s.loss),
    ("target", 0, "ones", lambda s: s.target.kind),
    ("grad_output", 0, "one_hot", lambda s: s.grad.kind),
    ("dtype", 0, "bfloat16", lambda s: s.dtype),
    ("scale", 0, "panel", lambda s: s.scale),
    ("theme", 0, "dark", lambda s: s.theme),
]


@pytest.mark.parametrize(("name", "axis", "value", "get"), CONTROLS, ids=[name for name, *_ in CONTROLS])
def test_every_control_changes_its_setting_and_follows_undo(open_app, name, axis, value, get):
    app = open_app()
    control = find(app, name, axis)
    before = get(app.model.settings)
    assert control.value == before != value
    control.value = value
    assert get(app.model.settings) == value
    assert not app.model.failed
    assert {**app.board.state, **app.board.sources} == app.model.state()
    if app.model.can_undo:
        app.model.undo()
        assert control.value == get(app.model.settings) == before
    else:
        assert name in ("link_axes", "scale", "theme")


def test_the_groups_menu_offers_what_divides(open_app):
    app = open_app()
    find(app, "in_channels").value, find(app, "out_channels").value = 4, 2
    groups = find(app, "groups")
    assert [value for _, value in groups.options] == [1, 2]
    groups.value = 2
    assert app.model.settings.spec.groups == 2
    find(app, "in_channels").value = 3
    assert (app.model.settings.spec.groups, groups.value) == (1, 1)
    assert "groups moved from 2 to 1" in app.model.notice


def test_linked_axes_move_together_and_unlinked_ones_alone(open_app):
    app = open_app()
    find(app, "stride").value = 3
    assert app.model.settings.spec.stride == (3, 3)
    assert "cv-hidden" in find(app, "stride", 1)._dom_classes
    find(app, "link_axes").value = False
    assert "cv-hidden" not in find(app, "stride", 1)._dom_classes
    find(app, "stride", 1).value = 1
    assert app.model.settings.spec.stride == (3, 1)
    find(app, "link_axes").value = True
    assert app.model.settings.spec.stride == (3, 3)
    assert "stride of the width moved from 1 to 3" in app.model.notice


def test_the_device_menu_offers_what_there_is(open_app):
    assert [value for _, value in find(open_app(), "device").options] == list(available_devices())


def test_only_controls_that_matter_are_shown(open_app):
    app = open_app()

    def hidden(name):
        return "cv-hidden" in find(app, name)._dom_classes

    assert (hidden("digit"), hidden("target"), hidden("grad_output")) == (False, False, True)
    find(app, "input").value, find(app, "loss").value = "ramp", "weighted_sum"
    assert (hidden("digit"), hidden("target"), hidden("grad_output")) == (True, True, False)


def test_kernel_sliders_write_one_cell(open_app):
    app = open_app()
    grid = only(app, SliderGrid)
    assert (grid.shape, grid.label) == ((3, 3), "weight[0, 0]")
    assert grid.values == app.model.result.weight.flatten().tolist()
    values = [*grid.values]
    values[5] = 0.1 + 0.2
    receive(grid, values=values)
    assert app.model.settings.weight_tensor().flatten().tolist() == values, "all digits, not a step of the slider"
    assert find(app, "kernel").value == "values"
    find(app, "kernel").value = "box"
    assert grid.values == pytest.approx([1 / 9] * 9)
    find(app, "kernel_size").value = 2
    assert (grid.shape, grid.values) == ((2, 2), [0.25] * 4)
    receive(grid, values=values)  # on its way before the page heard of the new size
    assert grid.shape == (2, 2)
    assert find(app, "kernel").value == "box"


def test_kernel_sliders_follow_the_plane(open_app):
    app = open_app(ConvSpec(5, 4, 4, groups=2))
    receive_custom(app.board, {"type": "plane", "panel": "weight", "at": [3, 1]})
    grid = only(app, SliderGrid)
    assert grid.label == "weight[3, 1]"
    receive(grid, values=[9.0, *grid.values[1:]])
    assert float(app.model.result.weight[3, 1, 0, 0]) == 9


def test_buttons(open_app):
    app = open_app()
    undo, redo, reset = (find(app, word) for word in ("Undo", "Redo", "Reset"))
    assert (undo.disabled, redo.disabled) == (True, True)
    find(app, "digit").value = 5
    assert (undo.disabled, redo.disabled) == (False, True)
    undo.click()
    assert (undo.disabled, redo.disabled, find(app, "digit").value) == (True, False, 3)
    redo.click()
    assert find(app, "digit").value == 5
    reset.click()
    assert app.model.settings == Settings()


# Model to controls.


def assert_controls_show(app):
    settings = app.model.settings
    for name in PER_AXIS:
        for axis in (0, 1):
            assert find(app, name, axis).value == value_of(settings.spec, name, axis), (name, axis)
    for name, axis, _, get in CONTROLS:
        if name not in PER_AXIS:
            assert find(app, name, axis).value == get(settings), name
    plane = settings.plane
    shown = settings.weight_tensor()[plane.out_channel, plane.in_channel % settings.spec.weight_shape[1]]
    assert only(app, SliderGrid).values == shown.flatten().tolist()
    assert only(app, SliderGrid).shape == settings.spec.kernel_size


def test_controls_show_any_state_that_is_set(open_app):
    app = open_app()
    for state in random_settings(71, 25):
        app.set_state(state.to_dict())
        assert app.state() == state.to_dict()
        assert_controls_show(app)


def test_a_slider_follows_into_a_larger_geometry(open_app):
    app = open_app(ConvSpec(3, kernel_size=3))
    app.set_state({"spec": {"input_size": 8, "kernel_size": 5}})
    assert app.model.settings.spec.kernel_size == (5, 5)
    assert_controls_show(app)


def test_a_sliders_range_comes_before_its_value(open_app):
    """In the other order a page pushes the value into the old range, and sends that as if a person had moved it."""
    slider = find(open_app(), "input_size")
    assert list(slider.get_state(["value", "min", "max"])) == ["min", "max", "value"]


def test_controls_show_more_channels_than_they_offer(open_app):
    app = open_app(ConvSpec(5, 6, 8, batch=5))
    assert_controls_show(app)
    find(app, "in_channels").value = 4
    assert app.model.settings.spec.in_channels == 4


def test_state_goes_through_json_into_another_app(open_app):
    app = open_app()
    find(app, "stride").value, find(app, "in_channels").value = 3, 2
    state = json.loads(json.dumps(app.state(), allow_nan=False))
    other = open_app(state=state)
    assert other.state() == app.state()
    assert_controls_show(other)
    assert torch.equal(other.model.result.grad_weight, app.model.result.grad_weight)


# Refusals.


def notice_of(app):
    (html,) = (w for w in widgets_in(app) if "cv-notice" in w._dom_classes)
    return html.value


def test_an_impossible_value_is_refused_with_a_sentence_and_the_control_goes_back(open_app):
    app = open_app(ConvSpec(4, kernel_size=2))
    before = app.state()
    slider = find(app, "kernel_size")
    assert (slider.min, slider.max) == (1, 4), "sliding cannot reach it"
    slider.max = 5
    slider.value = 5
    assert "the kernel must fit into the padded input" in notice_of(app)
    assert 'role="alert"' in notice_of(app)
    assert 'data-failed="true"' in notice_of(app)
    assert app.state() == before
    assert slider.value == 2
    find(app, "stride").value = 2
    assert notice_of(app) == ""


def test_notices_cannot_carry_markup(open_app):
    app = open_app()
    app.model.tell('<img src=x onerror="alert(1)"> & so on')
    assert "<img" not in notice_of(app)
    assert "&lt;img" in notice_of(app)
    assert "&amp; so on" in notice_of(app)
    assert 'role="status"' in notice_of(app)


def test_a_broken_state_from_the_page_is_refused(open_app):
    app = open_app()
    before = app.state()
    for state in (None, [], {"version": 99}, {"spec": {"input_size": 10**9}}, {"seed": 2**90}, {"device": "abacus"}):
        receive_custom(app.board, {"type": "restore", "state": state})
        assert app.model.failed, state
        assert app.state() == before
    receive_custom(app.board, {"type": "restore", "state": {**before, "digit": 9}})
    assert not app.model.failed
    assert find(app, "digit").value == 9
    with pytest.raises(ValueError, match="update convviz"):
        app.set_state({"version": 99})


# Messages to the page.


def test_a_kernel_step_is_one_small_message_of_numbers(open_app, sent):
    app = open_app()
    grid = only(app, SliderGrid)
    receive(grid, values=[0.1, *grid.values[1:]])  # the first step also turns the menu to "typed by hand"
    for step in range(-30, 31, 3):
        sent.clear()
        receive(grid, values=[step / 10, *grid.values[1:]])
        assert [widget for widget, _, _ in sent] == [app.board], "one message, and it is the board's"
        ((_, data, buffers),) = sent
        assert set(data["state"]) == {"values", "state"}, "the structure stayed"
        assert buffers
        assert size_of(sent[0]) <= 6000


def test_typed_inputs_and_kernels_stay_small_on_the_wire(open_app, sent):
    app = open_app(input=np.random.default_rng(0).normal(size=(8, 8)).round(2), weight=torch.ones(3, 3) / 7)
    grid = only(app, SliderGrid)
    receive(grid, values=[0.1, *grid.values[1:]])
    sent.clear()
    receive(grid, values=[0.2, *grid.values[1:]])
    assert [widget for widget, _, _ in sent] == [app.board]
    assert size_of(sent[0]) <= 6000


@pytest.mark.parametrize(
    ("name", "value"), [("stride", 1), ("padding", 3), ("kernel_size", 5), ("digit", 9), ("seed", 2)]
)
def test_any_slider_step_is_one_message_to_the_board(open_app, sent, name, value):
    app = open_app()
    receive(find(app, name), value=value)
    board = [data["state"] for widget, data, _ in sent if widget is app.board]
    assert len(board) == 1
    assert ("structure" in board[0]) == (name not in ("digit", "seed"))
    if "structure" in board[0]:
        assert board[0]["structure"]["version"] == board[0]["values"]["version"], "both halves belong together"
    if name != "seed":  # a field is not dragged
        own = [data["state"] for widget, data, _ in sent if widget is find(app, name)]
        assert all("value" not in state for state in own), "an echo would pull the slider back under the finger"


def test_steps_and_versions_count_up(open_app):
    app = open_app()
    before = app.board.values
    find(app, "digit").value = 5
    assert (app.board.values["step"], app.board.values["version"]) == (before["step"] + 1, before["version"])
    find(app, "stride").value = 1
    assert (app.board.values["step"], app.board.values["version"]) == (before["step"] + 2, before["version"] + 1)


def test_the_bytes_are_the_results(open_app):
    for dtype, wire in (("float32", np.float32), ("float64", np.float64), ("bfloat16", np.float32)):
        app = open_app(dtype=dtype)
        values = app.board.values
        assert values["dtype"] == np.dtype(wire).name
        for name, buffer in values["planes"].items():
            expected = getattr(app.model.result, name).double().flatten().tolist()
            assert np.frombuffer(buffer, wire).tolist() == expected, name


def test_thumbnails_are_planes_in_the_order_of_their_labels(open_app):
    app = open_app(ConvSpec(5, 4, 2, groups=2))
    (item,) = (i for i in app.board.structure["equations"][0]["items"] if i.get("name") == "weight")
    numbers = np.frombuffer(app.board.values["thumbs"]["weight"], np.float32).reshape(-1, 3, 3)
    assert len(numbers) == len(item["thumbs"]["planes"]) == 4
    for plane, shown in zip(item["thumbs"]["planes"], numbers, strict=True):
        a, b = plane["at"]
        assert plane["label"] == f"weight[{a}, {b}]"
        assert shown.tolist() == app.model.result.weight[a, b].tolist()
    assert [plane["shown"] for plane in item["thumbs"]["planes"]] == [True, False, False, False]


def test_a_large_boards_thumbnails_are_thinned_out(open_app):
    app = open_app(ConvSpec(64, 2, 2))
    (item,) = (i for i in app.board.structure["equations"][0]["items"] if i.get("name") == "padded_input")
    assert (item["thumbs"]["rows"], item["thumbs"]["columns"]) == (16, 16)
    assert len(app.board.values["thumbs"]["padded_input"]) == 2 * 16 * 16 * 4


def test_the_boards_own_state_is_small(open_app):
    app = open_app()
    state, _, buffers = ipywidgets.widgets.widget._remove_buffers(app.board.get_state())
    assert "render" in state["_esm"]
    assert ".cv-look" in state["_css"]
    assert len(json.dumps(state)) + sum(len(bytes(buffer)) for buffer in buffers) < 200_000


def test_plotly_is_sent_when_a_page_asks_for_it(open_app, sent):
    app = open_app()
    receive_custom(app.board, {"type": "plotly"})
    ((widget, data, buffers),) = sent
    assert widget is app.board
    assert data["content"] == {"type": "plotly"}
    assert zlib.decompress(bytes(buffers[0]), wbits=31).startswith(b"/**\n* plotly.js")


def test_requests_for_plotly_that_nobody_waits_for_cost_one_answer_a_second(open_app, sent, monkeypatch):
    """400 of them at once made the server keep 400 copies for a page that did not read."""
    app = open_app()
    now = 1000.0
    monkeypatch.setattr("convviz.board.widget.time.monotonic", lambda: now)

    def answers():
        sent.clear()
        for _ in range(400):
            receive_custom(app.board, {"type": "plotly"})
        return [buffers[0] for _, data, buffers in sent if data.get("content") == {"type": "plotly"}]

    (first,) = answers()
    assert not answers()
    now += BETWEEN_BUNDLES
    (second,) = answers()
    assert first is second, "packed once a process"


def test_theme_and_selection_reach_the_board(open_app):
    app = open_app(theme="light")
    assert app.board.theme == "light"
    find(app, "theme").value = "dark"
    assert app.board.theme == "dark"
    receive_custom(app.board, {"type": "select", "panel": "output", "row": 1, "column": 2})
    assert app.board.selected == app.model.selected == {"panel": "output", "row": 1, "column": 2}


# Figures.


def test_a_figure_is_the_result(open_app):
    app = open_app()
    for name in ("grad_weight", "grad_input", "padded_grad_output", "output"):
        (trace,) = app.figure(name).data
        assert [list(row) for row in trace.z] == getattr(app.model.result, name)[0, 0].tolist()
    with pytest.raises(ValueError, match="there is no bias"):
        app.figure("grad_bias")


def test_a_figure_shows_the_plane_that_is_chosen(open_app):
    app = open_app(ConvSpec(5, 2, 3))
    receive_custom(app.board, {"type": "plane", "panel": "grad_weight", "at": [2, 1]})
    (trace,) = app.figure("grad_weight").data
    assert [list(row) for row in trace.z] == app.model.result.grad_weight[2, 1].tolist()
    assert "grad_weight[2, 1]" in app.figure("grad_weight").layout.title.text


# App(...).


@pytest.mark.parametrize(
    ("arguments", "input_shape", "weight_shape"),
    [
        ({"input": np.ones((6, 5))}, (1, 1, 6, 5), (1, 1, 3, 3)),
        ({"input": [[1, 2], [3, 4]]}, (1, 1, 2, 2), (1, 1, 3, 3)),
        ({"input": torch.ones(2, 6, 5)}, (1, 2, 6, 5), (1, 2, 3, 3)),
        ({"input": torch.ones(2, 3, 6, 5, dtype=torch.uint8)}, (2, 3, 6, 5), (1, 3, 3, 3)),
        ({"weight": torch.ones(2, 4)}, (1, 1, 8, 8), (1, 1, 2, 4)),
        ({"weight": torch.ones(3, 2, 2, 4)}, (1, 2, 8, 8), (3, 2, 2, 4)),
        ({"input": torch.ones(1, 2, 6, 5), "weight": torch.ones(3, 2, 1, 1)}, (1, 2, 6, 5), (3, 2, 1, 1)),
        ({"bias": [1.0, 2, 3]}, (1, 1, 8, 8), (3, 1, 3, 3)),
        ({"spec": ConvSpec(5, 4, 2, groups=2), "input": torch.ones(4, 5, 5)}, (1, 4, 5, 5), (2, 2, 3, 3)),
        ({"input": torch.ones(6, 5, requires_grad=True)}, (1, 1, 6, 5), (1, 1, 3, 3)),
        ({"input": np.ones((6, 5))[::-1]}, (1, 1, 6, 5), (1, 1, 3, 3)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_sizes_are_taken_from_the_tensors(open_app, arguments, input_shape, weight_shape):
    app = open_app(**arguments)
    assert app.model.result.input.shape == input_shape
    assert app.model.result.weight.shape == weight_shape
    for name in {"input", "weight", "bias"} & set(arguments):
        value = arguments[name]
        given = value.detach() if isinstance(value, torch.Tensor) else torch.tensor(np.array(value))
        assert getattr(app.model.result, name).flatten().tolist() == given.float().flatten().tolist()


def test_a_grad_output_of_ones_own(open_app):
    grad_output = integers((4, 4), 5)
    app = open_app(grad_output=grad_output)
    assert app.model.settings.loss == "weighted_sum"
    assert torch.equal(app.model.result.grad_output[0, 0].double(), grad_output)


def test_a_target_of_ones_own(open_app):
    target = integers((4, 4), 5)
    app = open_app(target=target)
    difference = app.model.result.output[0, 0] - app.model.result.grad_output[0, 0]
    assert torch.equal(difference.double(), target)


def test_the_callers_tensor_is_not_written_to(open_app):
    image = torch.zeros(8, 8, dtype=torch.float64)
    app = open_app(input=image)
    receive_custom(app.board, {"type": "edit", "panel": "padded_input", "row": 3, "column": 3, "value": 5})
    assert not image.any()
    image[0, 0] = 9
    assert float(app.model.result.input[0, 0, 0, 0]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"input": torch.ones(5)}, r"input must have the shape 2 to 4 axes.*: got \[5\]"),
        ({"input": torch.ones(1, 1, 1, 1, 5)}, r"input must have the shape"),
        ({"input": torch.tensor(3.0)}, r"input must have the shape"),
        ({"input": "cat"}, "input must be a tensor, an array or nested lists of numbers"),
        ({"input": [[1, 2], [3]]}, "input must be a tensor, an array or nested lists of numbers"),
        ({"input": torch.full((5, 5), float("nan"))}, "finite numbers"),
        ({"input": torch.ones(5, 5) * 1j}, "real numbers"),
        ({"input": torch.ones(65, 8)}, "up to 64"),
        ({"input": torch.ones(0, 8)}, "1 or more"),
        ({"weight": torch.ones(9, 20)}, r"the board shows|the kernel must fit"),
        ({"weight": torch.ones(3, 12)}, r"the board shows|the kernel must fit"),
        ({"bias": torch.ones(2, 2)}, r"bias must have the shape \[C_out\]"),
        ({"grad_output": torch.ones(3, 3)}, r"grad_output must have the shape \[1, 1, 4, 4\].*got \[1, 1, 3, 3\]"),
        ({"target": torch.ones(4, 4), "loss": "sum"}, "target"),
        ({"grad_output": torch.ones(4, 4), "loss": "mean"}, "needs loss='weighted_sum'"),
        ({"input": torch.ones(2, 5, 5), "weight": torch.ones(1, 3, 2, 2)}, r"weight must have the shape"),
        ({"spec": ConvSpec(5), "input": torch.ones(6, 5)}, r"input must have the shape \[1, 1, 5, 5\]"),
        ({"spec": ConvSpec(65)}, "up to 64"),
        ({"loss": "huber"}, "loss is one of"),
        ({"dtype": "float16"}, "dtype is one of"),
        ({"theme": "blue"}, "theme is one of"),
        ({"device": "abacus"}, "device is one of cpu.* on this machine: got 'abacus'"),
        ({"device": "meta"}, "device is one of cpu.* on this machine: got 'meta'"),
        ({"state": {"version": 99}}, "update convviz"),
        ({"state": {}, "loss": "sum"}, "a state holds everything"),
        ({"state": {"device": "abacus"}}, "device is one of"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_arguments_that_contradict_teach_and_leave_no_widget(sent, arguments, message):
    before = set(ALIVE)
    with pytest.raises(ValueError, match=message):
        convviz.App(**arguments)
    assert set(ALIVE) == before


def test_the_device_comes_from_the_argument_or_the_variable(open_app, monkeypatch):
    assert open_app().model.settings.device == "cpu"
    monkeypatch.setenv("CONVVIZ_DEVICE", "cpu")
    assert open_app().model.settings.device == "cpu"
    monkeypatch.setenv("CONVVIZ_DEVICE", "abacus")
    assert open_app(device="cpu").model.settings.device == "cpu", "the argument counts more"
    with pytest.raises(ValueError, match=r"device is one of cpu.*: got 'abacus'"):
        convviz.App()
    monkeypatch.setenv("CONVVIZ_DEVICE", "")
    assert open_app().model.settings.device == "cpu"


# Closing.


def test_opening_and_closing_leaves_nothing_alive(sent):
    gc.collect()
    before = set(ALIVE)
    apps = []
    for number in range(20):
        app = convviz.App()
        find(app, "digit").value = (number + 4) % 10
        find(app, "in_channels").value = 2
        app.figure("output")
        apps.append(weakref.ref(app))
        app.close()
        assert set(ALIVE) == before, "closing the app closes every widget in it"
        del app
    sent.clear()  # the recorded messages name their widgets
    gc.collect()
    assert [app() for app in apps] == [None] * 20


def test_a_closed_app_is_silent_and_closing_again_is_harmless(sent):
    app = convviz.App()
    board, model, before = app.board, app.model, app.state()
    app.close()
    sent.clear()
    shown = board.values
    receive_custom(board, {"type": "edit", "panel": "weight", "row": 0, "column": 0, "value": 9})
    assert model.state() == before, "a message that was still under way moves nothing"
    model.apply(model.settings.replace(digit=5))
    assert board.values is shown
    app.close()
    assert sent == []


def test_two_apps_share_nothing(open_app, sent):
    one, other = open_app(), open_app()
    before, shown = other.state(), dict(other.board.values)
    sent.clear()
    find(one, "digit").value = 5
    find(one, "stride").value = 1
    receive_custom(one.board, {"type": "select", "panel": "output", "row": 0, "column": 0})
    one.model.tell("Only here.")
    assert {widget for widget, _, _ in sent} <= set(widgets_in(one))
    assert (other.state(), other.board.values, other.board.selected, notice_of(other)) == (before, shown, None, "")
    assert only(one, Board) is not only(other, Board)


# Pictures of the user's own.


def encoded(image, format, **options):
    stream = io.BytesIO()
    image.save(stream, format, **options)
    return stream.getvalue()


def gradient(height=6, width=9):
    return Image.fromarray(np.linspace(0, 255, height * width).round().astype(np.uint8).reshape(height, width))


def upload(app, data):
    receive_custom(only(app, Upload), {"type": "file", "name": "x"}, [data])


def test_a_good_png_becomes_the_input(open_app):
    app = open_app(ConvSpec((6, 9)))
    upload(app, encoded(gradient(), "PNG"))
    assert not app.model.failed
    assert find(app, "input").value == "image"
    expected = torch.from_numpy(np.asarray(gradient()) / 255)
    torch.testing.assert_close(app.model.result.input[0, 0].double(), expected, atol=6e-4, rtol=0)
    find(app, "input").value = "ramp"
    assert "image" not in [value for _, value in find(app, "input").options]
    app.model.undo()
    assert find(app, "input").value == "image"


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
        (bytes(MOST_BYTES + 1), "up to 8 MB"),
        (bomb(8000), "up to 50 million pixels"),
        (bomb(60_000), "pixels"),
    ],
    ids=["empty", "text", "GIF", "BMP", "truncated PNG", "truncated JPEG", "too many bytes", "large", "bomb"],
)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_what_is_no_usable_picture_is_one_sentence(open_app, data, message):
    app = open_app()
    before = app.state()
    upload(app, data)
    assert app.model.failed
    with pytest.raises(ValueError, match=message):
        read_picture(data)
    assert app.state() == before
    assert "That did not work" not in app.model.notice, "foreseen, not an accident"
    assert "\n" not in app.model.notice


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("kind", ["RGBA PNG", "L PNG", "RGB JPEG", "bomb"])
def test_a_large_picture_is_never_there_twice(kind, tmp_path):
    """49 million pixels: one decoded copy of an RGBA picture is 187 MiB; with paper and conversions it was four."""
    mode, _, format = kind.partition(" ")
    large = bomb(8000) if kind == "bomb" else encoded(Image.new(mode, (7000, 7000)), format)
    file = tmp_path / "picture"
    file.write_bytes(large)
    code = (
        "import re, sys, PIL.Image\n"
        "from pathlib import Path\n"
        "from convviz.app.upload import read_picture\n"
        "def peak():\n    return int(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])\n"
        "data = Path(sys.argv[1]).read_bytes()\n"
        "before = peak()\n"
        "try:\n    read_picture(data)\nexcept ValueError as error:\n    assert 'million pixels' in str(error)\n"
        "print((peak() - before) // 1024)"
    )
    found = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    most = {"RGBA PNG": 260, "L PNG": 110, "RGB JPEG": 60, "bomb": 30}[kind]
    assert int(found.stdout) < most, f"{found.stdout} MiB"


def test_a_bomb_is_called_too_large_not_damaged():
    with pytest.raises(ValueError, match="up to 50 million pixels"):
        read_picture(bomb(60_000))


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


def test_a_picture_that_the_page_refused_is_said(open_app):
    app = open_app()
    receive_custom(only(app, Upload), {"type": "refused", "megabytes": 12})
    assert app.model.failed
    assert "got 12 MB" in notice_of(app)
    receive_custom(only(app, Upload), {"type": "file"})  # a message without its bytes
    assert "got 12 MB" in notice_of(app)
