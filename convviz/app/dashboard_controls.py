"""Ordinary ipywidgets that are linked to the app's traits, for those who lay out a dashboard of their own."""

import contextlib
from typing import Any

import ipywidgets as widgets
import traitlets

from convviz.app.traits import SettingTraits
from convviz.app.traits_and_settings import GEOMETRY, with_named
from convviz.facts import facts
from convviz.ops.devices_and_dtypes import available_devices
from convviz.settings.schema import FIELD_OF
from convviz.settings.state import CHOICES, MAX_SIZES, Settings, largest
from convviz.settings.tensor_source import Source
from convviz.settings.tensors import weight_tensor

SLIDERS = {name: field.offered for name, field in FIELD_OF.items() if field.offered}
FLAGS = [name for name, field in FIELD_OF.items() if field.kind == "flag"]
REACH, STEP = 3.0, 0.1  # of the kernel's sliders


def linked_widget(app: SettingTraits, name: str) -> widgets.Widget:
    """Return an ipywidgets control for a trait, or for the shown weight (``"kernel"``), linked both ways."""
    labels: dict[str, str] = facts("names")["controls"]
    words: dict[str, str] = facts("names")["values"]
    label = labels.get(name, name)
    if name == "kernel":
        return _kernel(app)
    if name in SLIDERS:
        return _slider(app, name, label)
    if name == "groups":
        return _groups(app, label)
    if name in FLAGS:
        return _link(app, name, widgets.Checkbox(description=label))
    if name in CHOICES or name == "device":
        options = available_devices() if name == "device" else CHOICES[name]
        menu = widgets.Dropdown(description=label, options=[(words.get(each, each), each) for each in options])
        return _link(app, name, menu)
    known = ("kernel", *SLIDERS, "groups", *FLAGS, *CHOICES, "device")
    raise ValueError(f"there are controls for {', '.join(known)}: got {name!r}")


def _link(app: SettingTraits, name: str, widget: widgets.Widget) -> widgets.Widget:
    traitlets.link((app, name), (widget, "value"))
    return widget


def _slider(app: SettingTraits, name: str, label: str) -> widgets.IntSlider:
    """Return a slider that follows what the other settings allow; of a pair it shows the larger."""
    low, high = SLIDERS[name]
    slider = widgets.IntSlider(description=label, min=low, max=max(high, largest(getattr(app, name))))

    def fit(_: Any = None) -> None:
        least, most = _range(app.session.settings, name, low, high)
        now = largest(getattr(app, name))
        slider.min, slider.max = min(slider.min, least, now), max(most, now)
        slider.min = min(least, now)

    fit()
    app.session.observe(fit, names="settings")
    traitlets.link((app, name), (slider, "value"), transform=(largest, int))
    return slider


def _groups(app: SettingTraits, label: str) -> widgets.Dropdown:
    """Return a menu of what divides both channel numbers: a slider would offer the numbers between."""
    menu = widgets.Dropdown(description=label)
    following: list[bool] = []

    def move(event: dict[str, Any]) -> None:
        if not following:
            app.set_trait("groups", event["new"])

    def fit(_: Any = None) -> None:
        settings = app.session.settings
        following.append(True)  # with new options a menu goes to the first, which nobody has chosen
        try:
            choices = _possible(settings, "groups", 1, MAX_SIZES["groups"])
            menu.options = [(str(each), each) for each in choices]
            menu.value = settings.spec.groups
        finally:
            following.pop()

    fit()
    app.session.observe(fit, names="settings")
    menu.observe(move, names="value")
    return menu


def _range(settings: Settings, name: str, low: int, high: int) -> tuple[int, int]:
    possible = _possible(settings, name, low, high) if name in GEOMETRY else []
    return (possible[0], possible[-1]) if possible else (low, high)


def _possible(settings: Settings, name: str, low: int, high: int) -> list[int]:
    def allowed(value: int) -> bool:
        with contextlib.suppress(ValueError):
            with_named(settings, name, value)
            return True
        return False

    return [value for value in range(low, high + 1) if allowed(value)]


def _shown_plane(settings: Settings) -> tuple[int, int]:
    return settings.plane.out_channel, settings.plane.in_channel % settings.spec.weight_shape[1]


def _kernel(app: SettingTraits) -> widgets.GridBox:
    grid = widgets.GridBox()
    following: list[bool] = []

    def move(row: int, column: int, value: float) -> None:
        if not following:
            settings = app.session.settings
            weight = weight_tensor(settings)
            weight[(*_shown_plane(settings), row, column)] = value
            app.session.apply(settings.replace(weight=Source.of(weight)))

    def show(_: Any = None) -> None:
        settings = app.session.settings
        rows, columns = settings.spec.kernel_size
        plane = weight_tensor(settings)[_shown_plane(settings)].flatten().tolist()
        following.append(True)
        try:
            if len(grid.children) != rows * columns or grid.layout.grid_template_columns != _columns(columns):
                grid.children = [_cell(index // columns, index % columns, move) for index in range(rows * columns)]
                grid.layout.grid_template_columns = _columns(columns)
            for slider, value in zip(grid.children, plane, strict=True):
                slider.min, slider.max = min(-REACH, value), max(REACH, value)
                slider.value = value
        finally:
            following.pop()

    show()
    app.session.observe(show, names="settings")
    return grid


def _columns(count: int) -> str:
    return f"repeat({count}, 10em)"


def _cell(row: int, column: int, move: Any) -> widgets.FloatSlider:
    name = f"weight[{row}, {column}]"
    layout = widgets.Layout(width="auto")
    slider = widgets.FloatSlider(
        min=-REACH, max=REACH, step=STEP, tooltip=name, description_allow_html=False, layout=layout
    )
    slider.observe(lambda event: move(row, column, event["new"]), names="value")
    return slider
