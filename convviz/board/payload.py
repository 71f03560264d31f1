"""The board's two messages: the structure, which changes with the geometry, and the values of every step."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from convviz.ops.by_rotate import backward_padding
from convviz.plane import Plane
from convviz.settings.change import edited
from convviz.settings.names import axis_word, cell_words, products
from convviz.spec import ConvSpec
from convviz.views.figures import frame, limit
from convviz.views.panels import Equation, Panel, Sign
from convviz.views.remainder import Story
from convviz.views.theme import COLORSCALES

THUMB = 16  # most rows and columns of a thumbnail


def structure(
    equations: tuple[Equation, ...], plane: Plane, one_scale: bool, transposed: bool = False
) -> dict[str, Any]:
    """Return everything about the picture but its numbers.

    Args:
        equations: from ``views.equations``.
        plane: the chosen sample and channels.
        one_scale: one colour scale an equation; otherwise one a panel.
        transposed: whether the picture is that of a transposed convolution.
    """
    return {
        "colorscales": COLORSCALES,
        "cell_words": cell_words(transposed),
        "equations": [
            {
                "name": equation.name,
                "title": equation.title,
                "one_scale": one_scale,
                "view": equation.view,
                "items": [_item(equation.name, item, transposed) for item in equation.items],
                "choices": [
                    {"axis": axis, "word": axis_word(axis, transposed), "count": count, "value": plane.index(axis)}
                    for axis, count in equation.choices
                ],
            }
            for equation in equations
        ],
    }


def geometry(spec: ConvSpec, plane: Plane, transposed: bool = False) -> dict[str, Any]:
    """Return what the page needs to find the taps by itself: which cells belong together.

    Args:
        spec: the geometry.
        plane: the chosen sample and channels.
        transposed: whether it is read as a transposed convolution.
    """
    at = plane.within(spec)
    return spec.to_dict() | {
        "output_size": list(spec.output_size),
        "gradient_padding": [before for before, _ in backward_padding(spec)],  # a negative number crops
        "plane": {"n": at.sample, "o": at.out_channel, "c": at.in_channel},
        "transposed": transposed,
    }


def remainder(told: Story | None) -> dict[str, Any] | None:
    """Return the story of the remainder as plain data; None where there is none."""
    return None if told is None else dataclasses.asdict(told)


def values(equations: tuple[Equation, ...], one_scale: bool) -> dict[str, Any]:
    """Return the numbers of the planes that are shown, as bytes, with the ends of their colour scales."""
    panels = {panel.name: panel for equation in equations for panel in equation.panels}
    dtype = torch.float64 if any(p.tensor.dtype is torch.float64 for p in panels.values()) else torch.float32
    limits = {}
    for equation in equations:
        shared = limit(equation.panels)
        for panel in equation.panels:
            end = shared if one_scale else limit((panel,))
            limits[f"{equation.name}:{panel.name}"] = float(f"{end:.6g}")
    return {
        "dtype": str(dtype).removeprefix("torch."),
        "limits": limits,
        "planes": {name: _bytes(panel.values, dtype) for name, panel in panels.items()},
        "thumbs": {name: _bytes(_thumbs(panel), dtype) for name, panel in panels.items() if _has_thumbs(panel)},
    }


def _item(equation: str, item: Panel | Sign, transposed: bool) -> dict[str, Any]:
    if isinstance(item, Sign):
        return {"symbol": item.symbol, "note": item.note}
    return {
        "key": f"{equation}:{item.name}",
        "name": item.name,
        "called": item.called,
        "label": item.label,
        "products": products(item.name, transposed),
        "shape": str(list(item.shape)),
        "at": list(item.at),
        "rows": item.roles.rows,
        "columns": item.roles.columns,
        "unread_rows": list(item.roles.unread_rows),
        "unread_columns": list(item.roles.unread_columns),
        "words": cell_words(transposed),
        "editable": item.name in edited(transposed),
        "figure": frame(item),
        "thumbs": _planes(item) if _has_thumbs(item) else None,
    }


def _has_thumbs(panel: Panel) -> bool:
    return panel.tensor.shape[0] * panel.tensor.shape[1] > 1


def _thumbs(panel: Panel) -> torch.Tensor:
    """Every plane, thinned out to at most THUMB rows and columns: ``[A * B, h, w]``."""
    height, width = panel.tensor.shape[-2:]
    thin = panel.tensor[..., :: -(-height // THUMB), :: -(-width // THUMB)]
    return thin.flatten(0, 1)


def _planes(panel: Panel) -> dict[str, Any]:
    first, second = panel.tensor.shape[:2]
    thumbs = _thumbs(panel)
    planes = [
        {"label": f"{panel.called}[{a}, {b}]", "at": [a, b], "shown": (a, b) == panel.at}
        for a in range(first)
        for b in range(second)
    ]
    return {"rows": thumbs.shape[-2], "columns": thumbs.shape[-1], "planes": planes}


def _bytes(tensor: torch.Tensor, dtype: torch.dtype) -> bytes:
    array: bytes = tensor.detach().to("cpu", dtype).contiguous().numpy().tobytes()
    return array
