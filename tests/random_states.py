"""Seeded random states of the app, and random actions on it as tests/browser/call_javascript.py plays them."""

import random
from collections.abc import Iterator
from typing import Any

from convviz.geometry.axis_taps import PADDING_MODES
from convviz.settings.schema import FIELDS, TENSORS
from convviz.settings.schema import PAIRS as PER_AXIS
from convviz.settings.state import CHOICES, KINDS, PRESETS
from tests.geometries import random_specs

ACTIONS = (
    *("axis", "axis", "axis", "beyond", "mode", "groups", "channels", "kernel", "bias", "link", "transposed", "edit"),
    *("plane", "choice", "select", "set", "size", "view", "undo", "redo", "reset", "wait"),
)
NAMED_KINDS = {name: field.named for name, field in TENSORS.items()}
COUNTS = {name: FIELDS[name].offered for name in ("in_channels", "out_channels", "batch")}
PANELS = ("padded_input", "weight", "grad_output", "bias", "output", "padded_grad_output", "input")
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


def random_action(draw: random.Random) -> list[Any]:
    """Return something that a person can try whatever is set: some of it is not possible there."""
    kind = draw.choice(ACTIONS)
    actions: dict[str, Any] = {
        "axis": lambda: ["slide", draw.choice(PER_AXIS), draw.randrange(2), draw.random()],
        "beyond": lambda: ["setAxis", draw.choice(PER_AXIS[:4]), draw.randrange(2), draw.choice((-1, 0, 40, 10**6))],
        "mode": lambda: ["chooseMode", draw.choice(PADDING_MODES)],
        "groups": lambda: ["chooseGroups", draw.random()],
        "channels": lambda: ["setGeometry", _count(draw)],
        "kernel": lambda: ["chooseKernel", draw.choice((*PRESETS, "random"))],
        "bias": lambda: ["setBias", draw.random() < 0.5],
        "link": lambda: ["linkAxes", draw.random() < 0.5],
        "transposed": lambda: ["setTransposed", draw.random() < 0.5],
        "edit": lambda: ["send", _edit(draw)],
        "plane": lambda: ["send", {"type": "plane", "panel": draw.choice(PANELS[1:3]), "at": _pair(draw, 2)}],
        "choice": lambda: ["send", {"type": "axis", "axis": draw.choice("noc"), "index": draw.randrange(4)}],
        "select": lambda: ["send", {"type": "select", "panel": draw.choice(PANELS), "row": 0, "column": 0}],
        "size": lambda: ["send", {"type": "size", "size": [draw.randint(1, 10), draw.randint(1, 10)]}],
        "view": lambda: ["send", {"type": "view", "view": draw.choice(("window", "stamps"))}],
        "set": lambda: ["set", _fields(draw)],
        "wait": lambda: ["wait", draw.choice((100, 5000))],
    }
    return actions[kind]() if kind in actions else [kind]


def _count(draw: random.Random) -> dict[str, int]:
    name = draw.choice(list(COUNTS))
    return {name: draw.randint(*COUNTS[name])}


def _pair(draw: random.Random, below: int) -> list[int]:
    return [draw.randrange(below), draw.randrange(below)]


def _edit(draw: random.Random) -> dict[str, Any]:
    row, column = _pair(draw, 6)
    value = draw.choice((1.5, -3.25, -1e200, 1e305))  # the last two are too large, for a sum or by themselves
    return {"type": "edit", "panel": draw.choice(PANELS), "row": row, "column": column, "value": value}


def _fields(draw: random.Random) -> dict[str, Any]:
    name, kinds = draw.choice([(each, NAMED_KINDS[each]) for each in ("input", "target", "grad")])
    return draw.choice(
        ({name: {"kind": draw.choice(kinds)}}, {"loss": draw.choice(LOSSES)}, {"digit": draw.randrange(10)})
    )
