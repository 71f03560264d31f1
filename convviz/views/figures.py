"""Panels as plotly figures: plain dicts for the board, ``go.Figure`` for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convviz.facts.words import sentences
from convviz.views.cells import DATA, INSERTED
from convviz.views.panels import Panel
from convviz.views.theme import COLORSCALES, GRID_LIMIT, format_number

if TYPE_CHECKING:
    import plotly.graph_objects as go

say = sentences("picture")

CELL = 44  # pixels a cell in a figure that stands alone


def limit(panels: tuple[Panel, ...]) -> float:
    """Return the number at the ends of the colour scale: the largest |finite value| of all planes, or 1."""
    largest = [float(p.tensor.nan_to_num(0, 0, 0).abs().max()) for p in panels if p.tensor.numel()]
    return max(largest, default=0.0) or 1.0


def frame(panel: Panel) -> dict[str, Any]:
    """Return the figure of a panel without its numbers, as plotly's JSON: what stays when a slider moves."""
    rows, columns = panel.values.shape
    title = say("figure.title", label=panel.label, shape=", ".join(map(str, panel.shape)))
    hover = say("figure.cell", name=panel.called, row="%{y}", column="%{x}", value="%{z}")
    side = max(min(CELL * max(rows, columns), 720), 220) / max(rows, columns)
    trace = {
        "type": "heatmap",
        "name": panel.called,
        "zmid": 0,
        "colorscale": COLORSCALES["light"],
        "hovertemplate": f"{hover}<extra></extra>",
        "colorbar": {"thickness": 12, "outlinewidth": 0},
    }
    axis = {
        "constrain": "domain",
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "dtick": 1 if rows <= 16 else 8,
    }
    layout = {
        "title": {"text": title, "font": {"size": 14}},
        "width": round(side * columns) + 130,
        "height": round(side * rows) + 100,
        "margin": {"l": 40, "r": 90, "t": 60, "b": 40},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "xaxis": {**axis, "range": [-0.5, columns - 0.5]},
        "yaxis": {**axis, "range": [rows - 0.5, -0.5], "scaleanchor": "x"},
        "shapes": _shapes(panel),
    }
    return {"data": [trace], "layout": layout}


def figure(panel: Panel, scale: float | None = None) -> go.Figure:
    """Return a panel as a plotly figure with its numbers.

    Args:
        panel: what to draw.
        scale: the number at the ends of the colour scale; default: the panel's own largest.
    """
    import plotly.graph_objects as go  # half a second to load, and the app itself never needs it

    end = limit((panel,)) if scale is None else scale
    values = panel.values.double().cpu()
    picture = frame(panel)
    picture["data"][0] |= {"z": values.tolist(), "zmin": -end, "zmax": end}
    if max(values.shape) <= GRID_LIMIT:
        text = [[format_number(value) for value in row] for row in values.tolist()]
        picture["data"][0] |= {"text": text, "texttemplate": "%{text}"}
    return go.Figure(picture)


def _shapes(panel: Panel) -> list[dict[str, Any]]:
    """Bands over the rows and columns that are not data, so that a printed figure tells them apart too."""
    shapes = []
    roles = panel.roles
    bands = ((roles.rows, roles.unread_rows, "y", "x"), (roles.columns, roles.unread_columns, "x", "y"))
    for letters, unread, along, across in bands:
        for index, letter in enumerate(letters):
            if letter == DATA and index not in unread:
                continue
            fill = "rgba(120,120,120,0.45)" if index in unread else "rgba(120,120,120,0.18)"
            band = {
                "type": "rect",
                "layer": "above",
                "line": {"width": 0},
                "fillcolor": fill if letter != INSERTED else "rgba(120,120,120,0.10)",
                f"{along}0": index - 0.5,
                f"{along}1": index + 0.5,
                f"{along}ref": along,
                f"{across}0": 0,
                f"{across}1": 1,
                f"{across}ref": f"{across} domain",
            }
            shapes.append(band)
    return shapes
