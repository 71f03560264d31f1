"""The controls: ipywidgets that are made once, follow the settings, and ask the model for changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets
import traitlets

from convviz.app.model import Model
from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.ops.device import available_devices
from convviz.ops.losses import kinds_taken
from convviz.settings import change
from convviz.settings.bounds import LIMITS, PER_AXIS_TRANSPOSED, bounds, group_choices, value_of
from convviz.settings.state import CHOICES, NAMED_KINDS, Settings, Source, offered_kinds
from convviz.spec import ConvSpec

WORDS: dict[str, str] = facts("names")["controls"] | facts("names")["values"]
WORDS |= {"input": WORDS["input_kind"], "loss": WORDS["loss_kind"]}
GROUPS: dict[str, str] = facts("names")["groups"]
SIDES = ("control.height", "control.width")
say = sentences("app")
say_page = sentences("board")
Change = Callable[[Settings], Settings | tuple[Settings, list[str]]]


class IntSlider(widgets.IntSlider):
    """An ipywidgets slider whose moves are not echoed to the page that made them: half the messages a step."""

    value = traitlets.CInt(0).tag(sync=True, echo_update=False)

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """Return the state with the value last, after the range in which it is.

        A page follows a message in its order: a value that is out of the old range would be pushed into it, and
        be sent back as if a person had moved the handle. ipywidgets gives the order of a set of strings.
        """
        state: dict[str, Any] = super().get_state(key, drop_defaults)
        if "value" in state:
            state["value"] = state.pop("value")
        return state


class Controls:
    """All controls of one app, in groups.

    Attributes:
        groups: one box a group, in reading order.
    """

    def __init__(self, model: Model) -> None:
        """Make the controls and keep them in step with the model."""
        self._model = model
        self._layout = widgets.Layout(width="auto")
        self._refreshers: list[Callable[[Settings], None]] = []
        self._refreshing = False
        self._bounded: tuple[ConvSpec, bool, bool] | None = None
        self.groups = [self._geometry(), self._channels(), self._input(), self._loss(), self._look()]
        self.refresh()

    def refresh(self) -> None:
        """Show the model's settings; a control that already shows its setting sends nothing."""
        self._refreshing = True
        try:
            for refresh in self._refreshers:
                refresh(self._model.settings)
        finally:
            self._refreshing = False

    # -- the groups ------------------------------------------------------------------------------------

    def _geometry(self) -> widgets.Box:
        transposed = widgets.Checkbox(description=WORDS["transposed"], indent=False, layout=self._layout)
        transposed.add_class("cv-set-transposed")
        self._wire(transposed, lambda s: s.transposed, lambda s, value: change.set_transposed(s, bool(value)))
        linked = widgets.Checkbox(description=WORDS["link_axes"], indent=False, layout=self._layout)
        linked.add_class("cv-set-link_axes")
        self._wire(linked, lambda settings: settings.link_axes, lambda s, value: change.link_axes(s, bool(value)))
        sliders = [self._axis_slider(name, axis) for name in PER_AXIS_TRANSPOSED for axis in (0, 1)]
        # Before the values, which a slider would otherwise push into its old bounds.
        self._refreshers.insert(0, lambda settings: self._refresh_bounds(sliders, settings))
        mode = self._menu(
            "padding_mode", CHOICES["padding_mode"], lambda s: s.spec.padding_mode, _geometry_setter("padding_mode")
        )
        self._refreshers.append(lambda s: _show(mode, not s.transposed))  # torch's layer pads with zeros only
        return self._group(GROUPS["geometry"], [transposed, linked, *(slider for _, _, slider in sliders), mode])

    def _channels(self) -> widgets.Box:
        counts = []
        for name in ("in_channels", "out_channels", "batch"):
            low, high = LIMITS[name]
            slider = self._slider(name, low, high)
            self._refreshers.append(_widener(slider, name, high))
            self._wire(slider, _channel_getter(name), _channel_setter(name))
            counts.append(slider)
        groups = widgets.Dropdown(description=WORDS.get("groups", "groups"), options=[1], layout=self._layout)
        groups.add_class("cv-set-groups")
        self._refreshers.append(lambda s: _set_options(groups, [(str(g), g) for g in group_choices(s.spec)]))
        self._wire(groups, lambda s: s.spec.groups, _geometry_setter("groups"))
        bias = widgets.Checkbox(description=WORDS.get("bias", "bias"), indent=False, layout=self._layout)
        bias.add_class("cv-set-bias")
        self._wire(bias, lambda s: s.bias is not None, lambda s, value: change.set_bias(s, bool(value)))
        return self._group(GROUPS["channels"], [*counts, groups, bias])

    def _input(self) -> widgets.Box:
        kinds = NAMED_KINDS["input"]
        menu = self._menu("input", kinds, lambda s: s.input.kind, lambda s, kind: s.replace(input=Source(kind)))
        self._refreshers.insert(-1, lambda s: _offer(menu, kinds, s.input.kind))
        digit = self._slider("digit", 0, 9)
        self._wire(digit, lambda s: s.digit, lambda s, value: s.replace(digit=value, input=Source("digit")))
        self._refreshers.append(lambda s: _show(digit, s.input.kind == "digit"))
        seed = widgets.BoundedIntText(description=WORDS["seed"], min=0, max=2**31 - 1, layout=self._layout)
        seed.add_class("cv-seed")
        self._wire(seed, lambda s: s.seed, lambda s, value: s.replace(seed=value))
        self.upload_slot = widgets.Box()
        return self._group(GROUPS["input"], [menu, digit, self.upload_slot, seed])

    def _loss(self) -> widgets.Box:
        loss = self._menu("loss", CHOICES["loss"], lambda s: s.loss, lambda s, value: s.replace(loss=value))
        targets, grads = NAMED_KINDS["target"], NAMED_KINDS["grad"]
        target = self._menu("target", targets, lambda s: s.target.kind, lambda s, kind: s.replace(target=Source(kind)))
        self._refreshers.insert(-1, lambda s: _offer(target, offered_kinds(s, "target"), s.target.kind))
        self._refreshers.append(lambda s: _show(target, bool(kinds_taken(s.loss, "target"))))
        grad = self._menu("grad_output", grads, lambda s: s.grad.kind, lambda s, kind: s.replace(grad=Source(kind)))
        self._refreshers.insert(-1, lambda s: _offer(grad, offered_kinds(s, "grad"), s.grad.kind))
        self._refreshers.append(lambda s: _show(grad, bool(kinds_taken(s.loss, "grad"))))
        return self._group(GROUPS["loss"], [loss, target, grad])

    def _look(self) -> widgets.Box:
        entries = [
            ("device", available_devices()),
            ("dtype", CHOICES["dtype"]),
            ("scale", CHOICES["scale"]),
            ("theme", CHOICES["theme"]),
        ]
        menus = [self._menu(name, options, _getter(name), _replacer(name)) for name, options in entries]
        return self._group(say("group.look"), menus)

    def _refresh_bounds(self, sliders: list[tuple[str, int, IntSlider]], settings: Settings) -> None:
        """Set the sliders' ranges, but not while only numbers change: that would be most of a step's time."""
        bounded = (settings.spec, settings.link_axes, settings.transposed)
        if bounded != self._bounded:
            _set_bounds(sliders, settings)
            self._bounded = bounded

    # -- the pieces ------------------------------------------------------------------------------------

    def _group(self, title: str, children: list[widgets.Widget]) -> widgets.Box:
        heading = widgets.HTML(f"<h2>{title}</h2>")
        box = widgets.VBox([heading, *children])
        box.add_class("cv-group")
        return box

    def _axis_slider(self, name: str, axis: int) -> tuple[str, int, IntSlider]:
        slider = self._slider(name, *LIMITS[name])

        def describe(settings: Settings) -> None:
            word = WORDS.get(name, name)
            together = settings.link_axes and _equal(settings, name)
            slider.description = word if together else say_page(SIDES[axis], name=word)
            matters = name != "output_padding" or (settings.transposed and max(settings.spec.stride) > 1)
            _show(slider, matters and (axis == 0 or not settings.link_axes or not _equal(settings, name)))

        self._refreshers.append(describe)
        self._wire(
            slider,
            lambda settings: _axis_value(settings, name, axis),
            lambda settings, value: _moved(settings, change.set_axis(settings, name, axis, value)),
        )
        return name, axis, slider

    def _slider(self, name: str, low: int, high: int) -> IntSlider:
        slider = IntSlider(description=WORDS.get(name, name), min=low, max=high, value=low, layout=self._layout)
        slider.tooltip = WORDS.get(name, name)
        slider.add_class(f"cv-set-{name}")
        return slider

    def _menu(
        self,
        name: str,
        options: Sequence[str],
        get: Callable[[Settings], Any],
        put: Callable[[Settings, Any], Any],
    ) -> widgets.Dropdown:
        menu = widgets.Dropdown(
            description=WORDS.get(name, name),
            options=[(WORDS.get(o, o), o) for o in options],
            layout=self._layout,
        )
        menu.add_class(f"cv-set-{name}")
        self._wire(menu, get, put)
        return menu

    def _wire(
        self, widget: widgets.Widget, get: Callable[[Settings], Any], put: Callable[[Settings, Any], Any]
    ) -> None:
        """Keep a widget's value and a setting equal, in both directions."""

        def on_change(event: dict[str, Any]) -> None:
            if self._refreshing or event["new"] is None:
                return

            def act() -> None:
                made = put(self._model.settings, event["new"])
                settings, notices = made if isinstance(made, tuple) else (made, [])
                self._model.apply(settings, notices, move=widget.model_id)

            self._model.attempt(act)
            if self._model.failed:
                self.refresh()  # the widget goes back to what holds

        def show(settings: Settings) -> None:
            value = get(settings)
            if widget.value != value:
                widget.value = value

        widget.observe(on_change, names="value")
        self._refreshers.append(show)


def _getter(name: str) -> Callable[[Settings], Any]:
    return lambda settings: getattr(settings, name)


def _channel_field(settings: Settings, name: str) -> str:
    """Return the geometry's word for a number of channels: what the transposed layer takes in, it calls out."""
    swapped = {"in_channels": "out_channels", "out_channels": "in_channels"}
    return swapped.get(name, name) if settings.transposed else name


def _channel_getter(name: str) -> Callable[[Settings], Any]:
    return lambda settings: getattr(settings.spec, _channel_field(settings, name))


def _channel_setter(name: str) -> Callable[[Settings, Any], tuple[Settings, list[str]]]:
    return lambda settings, value: change.set_geometry(settings, **{_channel_field(settings, name): value})


def _replacer(name: str) -> Callable[[Settings, Any], Settings]:
    return lambda settings, value: settings.replace(**{name: value})


def _geometry_setter(name: str) -> Callable[[Settings, Any], tuple[Settings, list[str]]]:
    return lambda settings, value: change.set_geometry(settings, **{name: value})


def _moved(before: Settings, after: Settings) -> tuple[Settings, list[str]]:
    return after, change.moved_along(before, after)


def _axis_value(settings: Settings, name: str, axis: int) -> int:
    if name == "output_padding" and not settings.transposed:
        return 0  # its slider is hidden, and should not speak up with every remainder
    return value_of(settings.spec, name, axis, settings.transposed)


def _equal(settings: Settings, name: str) -> bool:
    return _axis_value(settings, name, 0) == _axis_value(settings, name, 1)


def _widener(slider: IntSlider, name: str, high: int) -> Callable[[Settings], None]:
    """Let a slider reach a number of planes that only a state or a tensor from outside can bring."""

    def widen(settings: Settings) -> None:
        value = getattr(settings.spec, _channel_field(settings, name))
        _set_range(slider, slider.min, max(high, value), value)

    return widen


def _show(widget: widgets.Widget, visible: bool) -> None:
    (widget.remove_class if visible else widget.add_class)("cv-hidden")


def _set_options(menu: widgets.Dropdown, options: list[tuple[str, Any]]) -> None:
    if list(menu.options) != options:
        menu.options = options


def _offer(menu: widgets.Dropdown, kinds: Sequence[str], current: str) -> None:
    """Offer what can be chosen, and what is there though it cannot be chosen: typed numbers, an image."""
    offered = kinds if current in kinds else (*kinds, current)
    _set_options(menu, [(WORDS.get(kind, kind), kind) for kind in offered])


def _set_bounds(sliders: list[tuple[str, int, IntSlider]], settings: Settings) -> None:
    limits = bounds(settings.spec, settings.link_axes, settings.transposed)
    for name, axis, slider in sliders:
        low, high = limits.get((name, axis), LIMITS[name])
        _set_range(slider, low, high, _axis_value(settings, name, axis))


def _set_range(slider: IntSlider, low: int, high: int, value: int) -> None:
    """Set a range with its value, in one message: a page that hears of the range alone pushes the handle into it."""
    if (slider.min, slider.max) != (low, high):
        with slider.hold_sync(), slider.hold_trait_notifications():
            slider.max, slider.min = high, low
            slider.value = value
