"""The floor: one anywidget that draws rectangles and texts, without plotly and without comfort."""

from pathlib import Path

import anywidget
import traitlets

from benchmarks.reference.scene import REACH, SOBEL_X, STEP, planes


class BareSvg(anywidget.AnyWidget):
    """Nine range inputs and eight pictures; one message a step each way."""

    _esm = Path(__file__).with_name("bare_svg.js").read_text(encoding="utf-8")
    weight = traitlets.List(SOBEL_X).tag(sync=True, echo_update=False)
    reach = traitlets.Float(REACH).tag(sync=True)
    step = traitlets.Float(STEP).tag(sync=True)
    planes = traitlets.Dict().tag(sync=True)

    def __init__(self):
        super().__init__()
        self.observe(self._follow, names="weight")
        self._follow(None)

    def _follow(self, _):
        self.planes = {
            name: {"columns": plane.shape[1], "bytes": plane.tobytes()} for name, plane in planes(self.weight).items()
        }


def explorer():
    """Return the widget."""
    return BareSvg()
