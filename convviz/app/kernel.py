"""The kernel: sliders in the kernel's own grid shape, and presets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from convviz.app.controls import GROUPS, WORDS
from convviz.app.model import Model
from convviz.board.sliders import SliderGrid
from convviz.settings import change
from convviz.settings.state import PRESETS, Settings


class KernelPad:
    """The kernel of the plane that is shown, as sliders.

    Attributes:
        group: the box that holds everything.
    """

    def __init__(self, model: Model) -> None:
        """Make the pad and show the model's kernel."""
        self._model = model
        self._refreshing = False
        self._preset = widgets.Dropdown(description=WORDS["preset"], layout=widgets.Layout(width="auto"))
        self._preset.add_class("cv-set-kernel")
        self._preset.observe(self._on_preset, names="value")
        self._grid = SliderGrid()
        self._grid.observe(self._on_slide, names="values")
        self.group = widgets.VBox([widgets.HTML(f"<h2>{GROUPS['kernel']}</h2>"), self._preset, self._grid])
        self.group.add_class("cv-group")
        self.refresh()

    def refresh(self) -> None:
        """Show the kernel of the plane that is chosen."""
        self._refreshing = True
        try:
            self._refresh_preset(self._model.settings)
            self._refresh_grid(self._model.settings)
        finally:
            self._refreshing = False

    def _refresh_preset(self, settings: Settings) -> None:
        name = change.kernel_name(settings)
        kinds = (*PRESETS, "random") if name != "values" else (*PRESETS, "random", "values")
        options = [(WORDS.get(kind, kind), kind) for kind in kinds]
        if list(self._preset.options) != options:
            self._preset.options = options
        if self._preset.value != name:
            self._preset.value = name

    def _refresh_grid(self, settings: Settings) -> None:
        out, into = settings.plane.out_channel, shown_in_group(settings)
        plane = settings.weight_tensor()[out, into]
        with self._grid.hold_sync():
            self._grid.label = f"weight[{out}, {into}]"
            self._grid.of = self._grid.label
            self._grid.shape = settings.spec.kernel_size
            self._grid.values = plane.flatten().tolist()

    def _on_slide(self, event: dict[str, Any]) -> None:
        if self._refreshing:
            return
        if self._grid.of != self._grid.label:  # meant for a plane or a size that is no longer shown
            self.refresh()
            return
        self._attempt(lambda: self._write(event["new"]))

    def _write(self, values: list[float]) -> None:
        settings, grad_output = self._model.settings, self._model.result.grad_output
        columns = settings.spec.kernel_size[1]
        shown = settings.weight_tensor()[settings.plane.out_channel, shown_in_group(settings)].flatten().tolist()
        moved = [index for index, (old, new) in enumerate(zip(shown, values, strict=True)) if old != new]
        edited = settings
        for index in moved:
            edited = change.edit_cell(edited, "weight", *divmod(index, columns), values[index], grad_output)
        self._model.apply(edited, move=f"weight {moved} {settings.plane}")

    def _on_preset(self, event: dict[str, Any]) -> None:
        if not self._refreshing and event["new"] not in (None, "values"):
            self._attempt(lambda: self._model.apply(change.choose_kernel(self._model.settings, event["new"])))

    def _attempt(self, action: Callable[[], None]) -> None:
        self._model.attempt(action)
        if self._model.failed:
            self.refresh()  # the page goes back to what holds


def shown_in_group(settings: Settings) -> int:
    """Return the index of the shown input channel within its group: the weight's second axis."""
    return settings.plane.in_channel % settings.spec.weight_shape[1]
