"""What the app is measured against: the eight tensors that it opens with, shown in two other ways."""

from pathlib import Path

import torch

from convviz import stages
from convviz.settings.state import Settings
from convviz.settings.tensors import input_tensor, target_tensor, weight_tensor

NAMES = ["padded_input", "weight", "output", "grad_output", "padded_grad_output"]
NAMES += ["rotated_weight", "grad_input", "grad_weight"]
REACH, STEP = 3.0, 0.1  # of the sliders, as the app's
CENTRE = 4  # of the kernel: the number that a slider moves
SCRIPT = Path(__file__).with_name("bare_svg.js").read_text(encoding="utf-8")

_FIRST = Settings()
_INPUT, _TARGET = input_tensor(_FIRST), target_tensor(_FIRST)
SOBEL_X = weight_tensor(_FIRST).flatten().tolist()


def compute(weight, compare=True):
    kernel = torch.tensor(weight, dtype=torch.float64).reshape(_FIRST.spec.weight_shape)
    other = {"loss": _FIRST.loss, "target": _TARGET, "dtype": _FIRST.dtype}
    return stages(_FIRST.spec, _INPUT, kernel, **other, compare=compare)


def planes(weight):
    """Return {name: float32 array [rows, columns]} of the eight tensors."""
    result = compute(weight)
    return {name: getattr(result, name)[0, 0].numpy() for name in NAMES}


def figurewidget():
    """Return the usual way: ipywidgets' sliders, wired, above one plotly FigureWidget."""
    import ipywidgets as widgets
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    layout = widgets.Layout(width="auto")
    sliders = [widgets.FloatSlider(value, min=-REACH, max=REACH, step=STEP, layout=layout) for value in SOBEL_X]
    figure = make_subplots(rows=2, cols=4, subplot_titles=NAMES)
    look = {"zmid": 0, "colorscale": "RdBu_r", "texttemplate": "%{z:.2f}", "showscale": False, "hoverinfo": "skip"}
    for index, (name, plane) in enumerate(planes(SOBEL_X).items()):
        figure.add_trace(go.Heatmap(z=plane, name=name, **look), row=index // 4 + 1, col=index % 4 + 1)
    figure.update_yaxes(autorange="reversed")
    figure.update_layout(width=1300, height=680, margin={"l": 20, "r": 20, "t": 40, "b": 20})
    figure = go.FigureWidget(figure)  # only now: inside a box it shows the traces of its construction only

    def follow(_):
        with figure.batch_update():
            for trace, plane in zip(figure.data, planes([slider.value for slider in sliders]).values(), strict=True):
                trace.z = plane

    for slider in sliders:
        slider.observe(follow, names="value")
    grid = widgets.GridBox(sliders, layout=widgets.Layout(grid_template_columns="repeat(3, 1fr)"))
    return widgets.VBox([grid, figure])


def bare_svg():
    """Return the floor: range inputs, rectangles and texts, one message a step each way."""
    import anywidget
    import traitlets

    class Picture(anywidget.AnyWidget):
        _esm = SCRIPT
        weight = traitlets.List(SOBEL_X).tag(sync=True, echo_update=False)
        reach = traitlets.Float(REACH).tag(sync=True)
        step = traitlets.Float(STEP).tag(sync=True)
        planes = traitlets.Dict().tag(sync=True)

    def follow(_):
        found = planes(widget.weight).items()
        widget.planes = {name: {"columns": plane.shape[1], "bytes": plane.tobytes()} for name, plane in found}

    widget = Picture()
    widget.observe(follow, names="weight")
    follow(None)
    return widget
