"""Panels as plotly figures: plain dicts for the board, ``go.Figure`` for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convviz.facts import facts
from convviz.facts.format_numbers import format_number
from convviz.facts.words import sentences
from convviz.views.cell_kinds import DATA, INSERTED
from convviz.views.panels import Panel
from convviz.views.scales import QUANTITIES, limit
from convviz.views.theme import COLORSCALES, GRID_LIMIT

if TYPE_CHECKING:
    import plotly.graph_objects as go

say = sentences("picture")

FIGURE: dict[str, Any] = facts("picture")["figure"]  # what is the same in all of them
SIDES: dict[str, int] = FIGURE["sides"]  # in pixels


def frame(panel: Panel) -> dict[str, Any]:
    """Return plotly's JSON without numbers."""
    rows, columns = panel.values.shape
    title = say("figure.title", label=panel.label, shape=", ".join(map(str, panel.shape)))
    hover = say("figure.cell", name=panel.called, row="%{y}", column="%{x}", value="%{z}")
    colors = COLORSCALES["light"][QUANTITIES[panel.called]]
    named = {"name": panel.called, "colorscale": colors, "hovertemplate": f"{hover}<extra></extra>"}
    side = max(min(SIDES["cell"] * max(rows, columns), SIDES["most"]), SIDES["least"]) / max(rows, columns)
    axis = {**FIGURE["axis"], "dtick": 1 if rows <= 16 else 8}
    layout = {
        **FIGURE["layout"],
        "title": {**FIGURE["title"], "text": title},
        "width": round(side * columns) + SIDES["beside"],
        "height": round(side * rows) + SIDES["above"],
        "xaxis": {**axis, "range": [-0.5, columns - 0.5]},
        "yaxis": {**axis, "range": [rows - 0.5, -0.5], "scaleanchor": "x"},
        "shapes": [
            *_bands(panel.roles.rows, panel.roles.unread_rows, "y"),
            *_bands(panel.roles.columns, panel.roles.unread_columns, "x"),
        ],
    }
    return {"data": [{**FIGURE["trace"], **named}], "layout": layout}


def figure(panel: Panel, scale: float | None = None) -> go.Figure:
    """``scale`` is the number at the ends of its colours."""
    import plotly.graph_objects as go  # half a second to load, and the app itself never needs it

    end = limit((panel,)) if scale is None else scale
    values = panel.values.double().cpu()
    picture = frame(panel)
    picture["data"][0] |= {"z": values.tolist(), "zmin": -end, "zmax": end}
    if max(values.shape) <= GRID_LIMIT:
        text = [[format_number(value) for value in row] for row in values.tolist()]
        picture["data"][0] |= {"text": text, "texttemplate": "%{text}"}
    return go.Figure(picture)


def _bands(letters: str, unread: tuple[int, ...], along: str) -> list[dict[str, Any]]:
    """Return bands over rows or columns that are no data, for a printed figure."""
    lines = [
        (index, "unread" if index in unread and letter != INSERTED else letter) for index, letter in enumerate(letters)
    ]
    return [
        {**FIGURE["bands"][along], f"{along}0": at - 0.5, f"{along}1": at + 0.5, "fillcolor": FIGURE["shades"][kind]}
        for at, kind in lines
        if kind != DATA
    ]
