"""Seeded random states of the app and random actions on it, for tests that hold two implementations together."""

import random
from collections.abc import Iterator
from typing import Any

from convviz.settings.bounds import LIMITS, bounds, group_choices, per_axis
from convviz.settings.change import edited

from convviz.axis_taps import PADDING_MODES
from convviz.settings.state import (
    CHOICES,
    KINDS,
    NAMED_KINDS,
    PRESETS,
    Settings,
)
from tests.geometries import random_specs

ACTIONS = (
    *("axis", "axis", "axis", "geometry", "channels", "kernel", "bias", "link", "transposed", "edit", "plane"),
    *("choice", "select", "set", "size", "undo", "redo", "reset"),
)
LOSSES = CHOICES["loss"]


def random_states(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Yield states of every kind, in float64 on the cpu: odd geometries, typed numbers, transposed ones."""
    draw = random.Random(seed)
    for transposed in (draw.random() < 0.3 for _ in range(count)):
        (spec,) = random_specs(draw.randrange(10**6), 1, ("zeros",) if transposed else PADDING_MODES)
        plane = {name: draw.randrange(4) for name in ("sample", "out_channel", "in_channel")}
        yield {
            "spec": spec.to_dict(),
            "input": _source(draw, KINDS["input"], 4),
            "weight": _source(draw, KINDS["weight"], 4),
            "bias": draw.choice((None, _source(draw, ("values",), 1))),
            "target": _source(draw, KINDS["target"], 4),
            "grad": _source(draw, KINDS["grad"], 4),
            "loss": draw.choice(LOSSES),
            "digit": draw.randrange(10),
            "seed": draw.choice((0, 7, 2**31 - 4)),
            "plane": plane,
            "link_axes": draw.random() < 0.5,
            "scale": draw.choice(CHOICES["scale"]),
            "input_view": draw.choice(("window", "stamps")),
            "transposed": transposed,
            "dtype": "float64",
        }


def _source(draw: random.Random, kinds: tuple[str, ...], axes: int) -> dict[str, Any]:
    kind = draw.choice(kinds)
    if kind == "one_hot":
        return {"kind": kind, "values": [float(draw.randrange(6)) for _ in range(4)]}
    if kind not in ("values", "image"):
        return {"kind": kind}
    shape = [draw.randint(1, 7) for _ in range(2 if kind == "image" else axes)]
    count = 1
    for size in shape:
        count *= size
    return {"kind": kind, "values": [round(draw.uniform(-9, 9), 3) for _ in range(count)], "shape": shape}


def random_action(draw: random.Random, settings: Settings) -> tuple[str, list[Any]]:
    """Return something that a person can do now: the name of the action and its arguments."""
    spec, transposed = settings.spec, settings.transposed
    kind = draw.choice(ACTIONS)
    if kind == "axis":
        name, axis = draw.choice(per_axis(transposed)), draw.randrange(2)
        low, high = bounds(spec, settings.link_axes, transposed)[name, axis]
        # A slider without room is disabled; linked, its own value may not even be possible for the other axis.
        return ("axis", [name, axis, draw.randint(low, high)]) if low < high else ("undo", [])
    if kind == "geometry":
        modes = ("zeros",) if transposed else PADDING_MODES
        changes = draw.choice(({"padding_mode": draw.choice(modes)}, {"groups": draw.choice(group_choices(spec))}))
        return "geometry", [changes]
    if kind == "channels":
        name = draw.choice(("in_channels", "out_channels", "batch"))
        return "geometry", [{name: draw.randint(*LIMITS[name])}]
    if kind == "kernel":
        return "kernel", [draw.choice((*PRESETS, "random"))]
    if kind in ("bias", "link", "transposed"):
        return kind, [draw.random() < 0.5]
    if kind == "edit":
        panel = draw.choice([*edited(transposed), "output"])
        row, column = draw.randrange(6), draw.randrange(6)
        value = (1.5, 1.5, -1e200, 1e305)[(row + column) % 4]  # the last two are too large, for a sum or by themselves
        return "send", [{"type": "edit", "panel": panel, "row": row, "column": column, "value": value}]
    if kind == "plane":
        panel = draw.choice(("weight", "rotated_weight", "input", "grad_output"))
        return "send", [{"type": "plane", "panel": panel, "at": [draw.randrange(2), draw.randrange(2)]}]
    if kind == "choice":
        return "send", [{"type": "axis", "axis": draw.choice("noc"), "index": draw.randrange(4)}]
    if kind == "select":
        return "send", [
            {
                "type": "select",
                "panel": draw.choice(("output", "grad_output", "grad_input", "input")),
                "row": 0,
                "column": 0,
            }
        ]
    if kind == "size":
        height, width = spec.input_size
        bigger = draw.choice(((height + 1, width), (height, width + 1), (max(height - 1, 1), width)))
        return ("undo", []) if transposed else ("send", [{"type": "size", "size": list(bigger)}])
    if kind == "set":
        name, kinds = draw.choice([(each, NAMED_KINDS[each]) for each in ("input", "target", "grad")])
        return draw.choice((("set", [{name: {"kind": draw.choice(kinds)}}]), ("set", [{"loss": draw.choice(LOSSES)}])))
    return kind, []
