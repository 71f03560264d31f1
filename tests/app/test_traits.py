"""The app's settings and results as traits: read, set, observed and linked, before it is displayed."""

import asyncio
import dataclasses
import gc
import weakref

import ipywidgets as widgets
import pytest
import torch
import traitlets

import convviz
from convviz.app.dashboard_controls import linked_widget
from convviz.app.traits import SettingTraits
from convviz.app.traits_and_settings import GEOMETRY, PLAIN, RESULTS, SETTABLE, value_of, with_named
from convviz.ops.stages import Stages
from convviz.settings.compute import compute
from convviz.settings.tensor_display_names import shown_name
from tests.random_links import random_settings
from tests.run_in_thread import run_apart


@pytest.fixture
def app():
    app = convviz.App(state={})
    yield app
    app.close()


def test_the_first_picture_is_what_the_traits_say_from_the_start():
    app = convviz.App()
    assert {name: getattr(app, name) for name in (*GEOMETRY, *PLAIN)}.items() >= {
        **{"input_size": 5, "kernel_size": 3, "stride": 1, "padding": 0, "output_padding": 0, "dilation": 1},
        **{"in_channels": 1, "out_channels": 1, "batch": 1, "groups": 1, "padding_mode": "zeros"},
        **{"loss": "weighted_sum", "digit": 3, "seed": 0, "device": "cpu", "dtype": "float32"},
        **{"transposed": False, "link_axes": True, "scale": "quantity", "input_view": "both"},
        **{"theme": "auto", "tab": "", "mistake": "I01", "lr": 0},
    }.items()
    assert app.loss_value == app.output[0, 0, 0, 1] == 123
    app.close()


@pytest.mark.parametrize(
    ("name", "value", "reads"),
    [
        ("stride", 1, 1),
        ("stride", (1, 3), (1, 3)),
        ("padding", ((1, 0), (2, 1)), ((1, 0), (2, 1))),
        ("kernel_size", 2, 2),
        ("input_size", (7, 9), (7, 9)),
        ("loss", "mean", "mean"),
        ("dtype", torch.float64, "float64"),
        ("theme", "dark", "dark"),
        ("transposed", True, True),
    ],
)
def test_a_trait_that_is_set_is_what_the_board_shows(app, name, value, reads):
    heard = []
    app.observe(heard.append, name)
    setattr(app, name, value)
    assert getattr(app, name) == reads == value_of(app.session.settings, app.session.result, name)
    assert [(event["name"], event["new"]) for event in heard] == [(name, reads)]
    assert app._state == {k: v for k, v in app.state().items() if k not in ("input", "target", "grad")}
    app.set_state(app._start)
    assert getattr(app, name) != reads, "what a page or another cell sets reaches the traits"


def test_tensors_are_set_by_number_or_name_and_results_follow(app):
    heard = []
    app.observe(lambda event: heard.append(event["name"]), list(RESULTS))
    app.weight = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert app.weight[0, 0].tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert set(heard) >= {"output", "grad_input", "grad_weight", "loss_value"}
    app.weight = "box"
    assert torch.allclose(app.weight, torch.full((1, 1, 3, 3), 1 / 9))
    app.grad_output = torch.ones(1, 1, 4, 4)
    assert (app.loss, app.grad_output.sum().item()) == ("weighted_sum", 16)
    app.bias = [2.0]
    assert app.bias.tolist() == [2]
    assert app.grad_bias.tolist() == [16]
    app.bias = None
    assert app.bias is None
    app.target = "ones"
    assert app.loss == "half_squared_error"


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("kernel_size", 11, "use a smaller kernel"),
        ("stride", 0, "stride is a whole number of 1 or more"),
        ("groups", 3, "groups must divide"),
        ("output_padding", 1, "belongs to a transposed convolution"),
        ("seed", -1, "seed is a whole number from 0"),
        ("transposed", 1, "transposed is True or False"),
        ("weight", "sobel", "weight is a tensor, or one of identity"),
        ("input", [[float("nan")] * 8] * 8, "input must hold finite numbers"),
    ],
)
def test_what_breaks_a_rule_raises_it_and_nothing_changes(app, name, value, rule):
    before, heard = app.state(), []
    app.observe(heard.append, name)
    with pytest.raises(traitlets.TraitError, match=rule):
        setattr(app, name, value)
    assert (app.state(), heard) == (before, [])
    sentence, failed = app.session.notice
    assert (failed, len(sentence) > 20) == (True, True)


def test_every_trait_has_a_type_for_checkers():
    assert {*SETTABLE, *RESULTS} == SettingTraits.__annotations__.keys() - {"session"}


def test_results_are_read_only(app):
    for name in RESULTS:
        with pytest.raises(traitlets.TraitError, match="read-only"):
            setattr(app, name, 1)


def test_a_linked_slider_moves_the_app_and_follows_it(app):
    slider = widgets.IntSlider(min=1, max=9, value=2)
    widgets.link((slider, "value"), (app, "stride"))
    slider.value = 3
    assert app.stride == 3
    app.stride = 1
    assert slider.value == 1
    app.set_state(app._start)
    assert slider.value == 2


def test_a_refused_value_returns_at_both_ends(app):
    slider = widgets.IntSlider(min=0, max=30)
    widgets.link((app, "padding"), (slider, "value"))
    app.padding_mode = "reflect"

    async def move():
        with pytest.raises(traitlets.TraitError, match="use at most 7"):
            slider.value = 20
        await asyncio.sleep(0)

    run_apart(move())
    assert (slider.value, app.padding) == (1, 1)


def test_who_watches_a_trait_may_set_others(app):
    """One that comes before it and one that comes after it; and who set it, in Python or on a page, is no matter."""
    app.observe(lambda event: app.set_trait("input_size", 8 + event["new"]), "stride")
    app.observe(lambda event: setattr(app, "digit", event["new"]), "stride")
    for stride, move in ((1, lambda: setattr(app, "stride", 1)), (3, lambda: app.set_state(with_stride(app, 3)))):
        move()
        assert (app.stride, app.input_size, app.digit) == (stride, 8 + stride, stride)
        spec = app.session.settings.spec
        assert (spec.stride, spec.input_size, app.session.settings.digit) == ((stride,) * 2, (8 + stride,) * 2, stride)
        assert app.output.shape == app.session.result.output.shape


def with_stride(app, stride):
    return app.state() | {"spec": app.state()["spec"] | {"stride": [stride, stride]}}


def test_jslink_reaches_every_trait_but_tensors(app):
    label = widgets.IntSlider()
    for name in (*GEOMETRY, *PLAIN, "loss_value"):
        widgets.jslink((label, "value"), (app, name)).close()


def test_what_a_page_sets_holds_or_is_refused_in_a_sentence_and_sent_back(app, monkeypatch):
    """As a slider does that jslink links to the app: ipywidgets sends an update of the app's state."""
    sent = []
    monkeypatch.setattr(app, "_send", lambda message, **_: sent.append(message.get("state", {})))

    def update(**state):
        sent.clear()
        app._handle_msg({"content": {"data": {"method": "update", "state": state}}, "buffers": []})

    update(stride=3, theme="dark", padding=[[1, 0], [2, 1]])
    assert (app.stride, app.theme, app.padding, app._notice) == (3, "dark", ((1, 0), (2, 1)), ("", False))
    assert app.session.settings.spec.stride == (3, 3)
    assert sum("_numbers" in state for state in sent) == 1, "one step"
    assert not any("stride" in state for state in sent), "the page may be elsewhere by now"
    held = app.state()
    for name, value, rule in (
        ("stride", 0, "stride is a whole number of 1 or more"),
        ("stride", {"x": [1]}, "stride is a whole number of 1 or more"),
        ("theme", ["dark"], "theme is one of"),
        ("loss_value", 5, "loss_value cannot be set: only input_size,"),
        ("nonsense", 1, "nonsense cannot be set"),
        ("self", 1, "self cannot be set"),
    ):
        update(**{name: value})
        assert app.state() == held, name
        assert app._notice[0].startswith(rule), app._notice
        assert app._notice[1], name
        if name in app.keys:
            assert [state[name] for state in sent if name in state] == [getattr(app, name)], "whoever set it follows"


def test_every_result_is_the_stage_that_has_its_name_in_the_layers_words(app):
    """The stages are held by test_stages.py, and the layer's words by test_transposed.py."""
    for transposed, channels in ((False, {"in_channels": 4, "out_channels": 2, "groups": 2}), (True, {})):
        app.set_state({"spec": {"input_size": [7, 6], "stride": [2, 1], **channels}, "transposed": transposed})
        stages = {field.name: getattr(app.session.result, field.name) for field in dataclasses.fields(Stages)}
        named = {shown_name(name, transposed): tensor for name, tensor in stages.items()}
        for name in {*RESULTS} - {"loss_value"}:
            assert getattr(app, name) is named.get(name), (name, transposed)
        assert (app.dilated_grad_output is None, app.dilated_input is None) == (transposed, not transposed)


def test_those_who_answer_each_other_come_to_an_end(app):
    app.observe(lambda event: setattr(app, "digit", min(event["new"], 9)), "seed")
    app.observe(lambda event: setattr(app, "seed", event["new"]), "digit")
    app.seed = 12
    assert (app.seed, app.digit) == (9, 9)
    assert (app.session.settings.seed, app.session.settings.digit) == (9, 9)


def test_two_apps_can_be_linked(app):
    other = convviz.App()  # another picture
    widgets.link((app, "dilation"), (other, "dilation"))
    app.dilation = 2
    assert other.dilation == 2
    other.dilation = 1
    assert app.dilation == 1
    other.close()


def test_interactive_output_and_boxes_take_it(app):
    seen = []
    (slider,) = app.sliders("stride")
    out = widgets.interactive_output(lambda stride: seen.append((stride, app.stride)), {"stride": slider})
    widgets.VBox([slider, app, out])
    slider.value = 1
    assert seen == [(2, 2), (1, 1)]


@pytest.mark.parametrize(
    "name",
    [
        "kernel_size",
        "stride",
        "padding",
        "dilation",
        "input_size",
        "batch",
        "groups",
        "loss",
        "padding_mode",
        "transposed",
    ],
)
def test_controls_for_a_layout_of_ones_own(app, name):
    if name == "groups":
        app.set_state(app.state() | {"spec": app.state()["spec"] | {"in_channels": 4, "out_channels": 4}})
    (control,) = app.sliders(name)
    assert control.value == getattr(app, name)
    options = getattr(control, "options", None)
    value = options[-1][1] if options else not control.value if name == "transposed" else control.max
    control.value = value
    assert getattr(app, name) == value


def test_a_slider_offers_what_the_other_settings_allow(app):
    (padding,) = app.sliders("padding")
    app.set_state(app.state() | {"spec": app.state()["spec"] | {"input_size": [3, 3], "padding_mode": "reflect"}})
    assert (padding.min, padding.max) == (0, 2)
    app.padding = (2, 1)
    assert padding.value == 2


def test_the_menu_of_groups_offers_what_divides_both_channel_numbers(app):
    (groups,) = app.sliders("groups")
    for ins, outs, choices in ((4, 4, (1, 2, 4)), (3, 3, (1, 3)), (4, 2, (1, 2)), (1, 4, (1,))):
        spec = app.state()["spec"] | {"in_channels": ins, "out_channels": outs, "groups": choices[-1]}
        app.set_state(app.state() | {"spec": spec})
        assert [value for _, value in groups.options] == list(choices), (ins, outs)
        assert groups.value == app.groups == choices[-1], (ins, outs)
        groups.value = 1
        assert app.groups == 1, (ins, outs)


def test_the_kernels_sliders_are_a_grid_over_the_plane_that_is_shown(app):
    (grid,) = app.sliders("kernel")
    assert [cell.value for cell in grid.children] == [-1, 0, 1, -2, 0, 2, -1, 0, 1]
    grid.children[4].value = 1.5
    assert app.weight[0, 0, 1, 1] == 1.5
    app.weight = [[4, 0], [0, 0]] if app.kernel_size == 2 else torch.full((3, 3), 4.0)
    assert {cell.value for cell in grid.children} == {4}
    app.kernel_size = (2, 3)
    assert len(grid.children) == 6


def test_every_state_reads_back_by_its_traits():
    for settings in random_settings(3, 150):
        try:
            result = compute(settings, compare=False)
        except ValueError:  # numbers that the dtype cannot hold
            continue
        for name in (*GEOMETRY, *PLAIN):
            value = value_of(settings, result, name)
            assert with_named(settings, name, value) == settings, (name, value, settings.to_dict())
    assert set(SETTABLE) & set(RESULTS) == set()


def test_a_closed_app_lets_go_of_its_controls():
    app = convviz.App()
    (slider,) = app.sliders("stride")
    app.close()
    gone = weakref.ref(app.session)
    del app
    slider.close()
    del slider
    gc.collect()
    assert gone() is None


def test_there_is_no_control_for_a_word_that_is_none(app):
    with pytest.raises(ValueError, match="got 'strides'"):
        linked_widget(app, "strides")
