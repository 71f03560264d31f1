"""The kernel: sliders in the kernel's own grid shape, presets, and the way to the other planes."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from convviz.app.controls import WORDS, FloatSlider
from convviz.app.model import Model
from convviz.settings import change
from convviz.settings.state import PRESETS, Settings

REACH = 3.0  # the sliders go from -REACH to REACH; a number typed beyond widens its own slider


class KernelPad:
    """A grid of sliders, one a kernel cell of the plane that is shown.

    Attributes:
        group: the box that holds everything.
    """

    def __init__(self, model: Model) -> None:
        """Make the pad; sliders are made when a kernel first needs them, and kept."""
        self._model = model
        self._refreshing = False
        self._sliders: dict[tuple[int, int], FloatSlider] = {}
        # One layout and one style for all sliders: each would otherwise send two more widgets to the page.
        self._layout = widgets.Layout(width="auto", min_width="0")
        self._style = widgets.SliderStyle()
        self._preset = widgets.Dropdown(description="kernel", layout=widgets.Layout(width="auto"))
        self._preset.add_class("cv-set-kernel")
        self._preset.observe(self._on_preset, names="value")
        self._grid = widgets.GridBox(layout=widgets.Layout(grid_gap="4px 6px"))
        self._grid.add_class("cv-kernel")
        self._label = widgets.HTML()
        self.group = widgets.VBox([widgets.HTML("<h2>Kernel</h2>"), self._preset, self._grid, self._label])
        self.group.add_class("cv-group")
        self.group.add_class("cv-kernel-group")
        self.refresh()

    def refresh(self) -> None:
        """Show the kernel of the plane that is chosen."""
        settings = self._model.settings
        self._refreshing = True
        try:
            self._refresh_preset(settings)
            self._refresh_grid(settings)
        finally:
            self._refreshing = False

    def close(self) -> None:
        """Close the sliders that the current kernel does not use; the others close with their box."""
        for slider in self._sliders.values():
            slider.close()

    def _refresh_preset(self, settings: Settings) -> None:
        name = change.kernel_name(settings)
        kinds = (*PRESETS, "random") if name != "values" else (*PRESETS, "random", "values")
        options = [(WORDS.get(kind, kind), kind) for kind in kinds]
        if list(self._preset.options) != options:
            self._preset.options = options
        if self._preset.value != name:
            self._preset.value = name

    def _refresh_grid(self, settings: Settings) -> None:
        height, width = settings.spec.kernel_size
        out, into = settings.plane.out_channel, settings.plane.in_channel % settings.spec.weight_shape[1]
        values = self._model.settings.weight_tensor()[out, into].tolist()
        places = [(row, column) for row in range(height) for column in range(width)]
        for place in places:
            slider = self._sliders.get(place) or self._make_slider(place)
            value = values[place[0]][place[1]]
            reach = max(REACH, abs(value))
            if slider.max != reach:
                with slider.hold_trait_notifications():
                    slider.min, slider.max = -reach, reach
            if slider.value != value:
                slider.value = value
        shown = tuple(self._sliders[place] for place in places)
        if self._grid.children != shown:
            self._grid.layout.grid_template_columns = f"repeat({width}, minmax(0, 1fr))"
            self._grid.children = shown
        several = settings.spec.out_channels * settings.spec.weight_shape[1] > 1
        label = f"weight[{out}, {into}]; choose another plane in the equations" if several else ""
        if self._label.value != label:
            self._label.value = label

    def _make_slider(self, place: tuple[int, int]) -> FloatSlider:
        slider = FloatSlider(
            min=-REACH, max=REACH, step=0.1, readout_format=".3", layout=self._layout, style=self._style
        )
        slider.tooltip = f"weight, row {place[0]}, column {place[1]}"
        slider.add_class(f"cv-weight-{place[0]}-{place[1]}")
        slider.observe(lambda event: self._on_slide(place, event), names="value")
        self._sliders[place] = slider
        return slider

    def _on_slide(self, place: tuple[int, int], event: dict[str, Any]) -> None:
        if not self._refreshing:
            self._model.attempt(lambda: self._write(place, event["new"]))

    def _write(self, place: tuple[int, int], value: float) -> None:
        # A slider's 0.30000000000000004 is meant as 0.3.
        number = round(value, 6)
        settings = change.edit_cell(self._model.settings, "weight", *place, number, self._model.result.grad_output)
        self._model.apply(settings, move=f"weight {place} {self._model.settings.plane}")

    def _on_preset(self, event: dict[str, Any]) -> None:
        if self._refreshing or event["new"] in (None, "values"):
            return
        self._model.attempt(lambda: self._model.apply(change.choose_kernel(self._model.settings, event["new"])))
