"""What the tab shows of a race: its curves, its table, its first layer's kernels, and the digits that were mistaken."""

import json
import os
from pathlib import Path
from typing import Any

import torch

from convviz.file_io import write
from convviz.lab.misclassified_digit import LAYER, opening
from convviz.lab.page_data import shown
from convviz.lab.run_race import Race

PLOTS = ("loss", "accuracy", "seconds", "weights")
DIGITS = 6  # misclassified ones that are shown of each entrant
KERNELS = 16  # of the first layer that are shown
# Of a recorded race: a curve's points, and misclassified digits of each entrant, whose numbers are what takes the room.
RECORDED_POINTS, RECORDED_DIGITS = 50, 2
MAX_RECORDED_BYTES = 60_000


def picture(race: Race, points: int, digits: int = DIGITS) -> dict[str, Any]:
    """Return what ``shown`` returns of a race as it is now, with ``kernels``."""
    return shown(race.result, PLOTS, points, digits) | {"kernels": kernels(race)}


def kernels(race: Race) -> dict[str, Any]:
    """Return each entrant's kernels of the first layer, and their last gradients, to four digits."""
    found = {}
    for name, lane in race.lanes.items():
        weight = lane.network.get_parameter(f"{LAYER}.weight")
        if weight.grad is not None:
            found[name] = {"weight": _plain(weight[:KERNELS]), "gradient": _plain(weight.grad[:KERNELS])}
    return found


def _plain(tensor: torch.Tensor) -> list[list[float]]:
    rows: list[list[float]] = tensor.detach().flatten(1).double().cpu().tolist()
    return [[float(f"{value:.4g}") for value in row] for row in rows]


def openings(race: Race, most: int = DIGITS, one: bool = False) -> dict[str, dict[str, Any]]:
    """Return what the board opens of the mistaken digits: entrant → index → opening."""
    told = shown(race.result, (), 0, most)["mistakes"]
    return {
        layer["name"]: {
            str(digit["at"]): opening(race.lanes[layer["name"]], race.test_image(digit["at"]), int(digit["label"]), one)
            for digit in layer["digits"]
        }
        for layer in (told["layers"] if told else ())
    }


def record(race: Race, command: str, path: str | os.PathLike[str]) -> None:
    """Write a finished race as ``facts/recorded_race.json`` has one, which a page shows before one of its own."""
    told = picture(race, RECORDED_POINTS, RECORDED_DIGITS)
    told |= {"command": command, "openings": openings(race, RECORDED_DIGITS, one=True)}
    content = (json.dumps(told, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")
    if len(content) > MAX_RECORDED_BYTES:
        raise ValueError(
            f"a recorded race takes up to {MAX_RECORDED_BYTES} bytes: got {len(content)}; record fewer layers or seeds"
        )
    write(Path(path), content, "recorded race")
