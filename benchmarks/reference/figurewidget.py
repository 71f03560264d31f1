"""The usual way: ipywidgets' sliders and one plotly FigureWidget with a heatmap a tensor."""

import ipywidgets as widgets
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from benchmarks.reference.scene import NAMES, REACH, SOBEL_X, STEP, planes


def explorer():
    """Return nine sliders above the figure, wired."""
    sliders = [
        widgets.FloatSlider(value, min=-REACH, max=REACH, step=STEP, layout=widgets.Layout(width="auto"))
        for value in SOBEL_X
    ]
    figure = make_subplots(rows=2, cols=4, subplot_titles=NAMES)
    for index, (name, plane) in enumerate(planes(SOBEL_X).items()):
        row, column = divmod(index, 4)
        heatmap = go.Heatmap(
            z=plane, name=name, zmid=0, colorscale="RdBu_r", texttemplate="%{z:.2f}", showscale=False, hoverinfo="skip"
        )
        figure.add_trace(heatmap, row=row + 1, col=column + 1)
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
