"""A grid of sliders as one widget."""

from __future__ import annotations

from importlib.resources import files

import anywidget
import traitlets

from convviz.board.bundle import bundle


class SliderGrid(anywidget.AnyWidget):
    """Sliders in rows and columns, each with a field to type a number into.

    Attributes:
        shape: (rows, columns).
        values: the numbers, row by row; replaced as a whole by either side.
        label: what the numbers are, for screen readers.
        of: the label that the page had when it sent ``values``: a message may be late.
        reach: the sliders go from -reach to reach; a larger number widens its own slider.
        step: of the sliders; typed numbers are taken as they are.
    """

    _esm = bundle(files("convviz.board").joinpath("js"), "controls/sliders.js")
    # Not echoed: the page knows what it sent, and an old echo would pull a slider back under the finger.
    values = traitlets.List(traitlets.Float()).tag(sync=True, echo_update=False)
    shape = traitlets.Tuple(traitlets.Int(), traitlets.Int(), default_value=(0, 0)).tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)
    of = traitlets.Unicode().tag(sync=True)
    reach = traitlets.Float(3.0).tag(sync=True)
    step = traitlets.Float(0.1).tag(sync=True)
