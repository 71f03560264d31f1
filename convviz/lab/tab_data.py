"""What the tab shows of a race: its curves, its table, its first layer's kernels, and the digits that were mistaken."""

import base64
import json
import os
from pathlib import Path
from typing import Any

import torch

from convviz.explanation.layer.crop_window import choose_window, cut
from convviz.explanation.layer.record_run import record_layer
from convviz.facts.words import sentences
from convviz.file_io import write
from convviz.lab.digits import DEVIATION, MEAN, normalized
from convviz.lab.entrant_training import LOSS, Lane
from convviz.lab.page_data import shown
from convviz.lab.race_error import FAILURES
from convviz.lab.run_race import Race

say = sentences("race")
LAYER = "conv1"
BYTES = {torch.float32: "float32", torch.float64: "float64"}
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
    shown_race = shown(race.result, (), 0, most)["mistakes"]
    return {
        layer["name"]: {
            str(digit["at"]): opening(race.lanes[layer["name"]], race.test_image(digit["at"]), int(digit["label"]), one)
            for digit in layer["digits"]
        }
        for layer in (shown_race["layers"] if shown_race else ())
    }


def opening(lane: Lane, image: torch.Tensor, label: int, one: bool = False) -> dict[str, Any]:
    """Return what the first layer took, had and was sent back when its network misclassified an image ``[28, 28]``.

    The network is asked as the test asks it; the loss is the cross-entropy of this one digit with its label. Of ``one``
    output channel, that with the largest grad_output, or of as many as the board shows. ``scale`` and ``offset`` make
    the layer's input of a byte.
    """
    lane.network.eval()
    batch = normalized(image[None].to(lane.device), lane.dtype)
    target = torch.tensor([label], device=lane.device)
    try:
        made = record_layer(lane.network, batch, LAYER, lambda scores: LOSS(scores, target))
        largest = int(made.grad_output.abs().sum((0, 2, 3)).argmax())
        part = choose_window(made, {"out_channels": largest} if one else None)
        tensors = cut(made, part)
    except FAILURES as error:  # it may be a layer of somebody's own, which can raise anything
        return {"error": say("open.refused", layer=lane.name, why=error)}
    finally:
        lane.network.train()
    return {
        "spec": part.spec.to_dict(),
        "dtype": BYTES[lane.dtype],
        "scale": 1 / (255 * DEVIATION),
        "offset": -MEAN / DEVIATION,
        "channels": [len(part.out_channels), made.output.shape[1]],
        **{name: packed(tensors[name]) for name in ("weight", "bias", "grad_output")},
    }


def packed(tensor: torch.Tensor | None) -> dict[str, Any] | None:
    """Return a tensor as plain data: its shape, and its bytes in base64, the lowest first."""
    if tensor is None:
        return None
    numbers = tensor.detach().cpu().contiguous().numpy()
    little = numbers.astype(numbers.dtype.newbyteorder("<"), copy=False)
    return {"shape": list(tensor.shape), "bytes": base64.b64encode(little.tobytes()).decode()}


def record(race: Race, command: str, path: str | os.PathLike[str]) -> None:
    """Write a finished race as ``features/race/recorded.json`` has one, which a page shows before one of its own."""
    shown_race = picture(race, RECORDED_POINTS, RECORDED_DIGITS)
    shown_race |= {"command": command, "openings": openings(race, RECORDED_DIGITS, one=True)}
    content = (json.dumps(shown_race, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n").encode(
        "utf-8"
    )
    if len(content) > MAX_RECORDED_BYTES:
        raise ValueError(
            f"a recorded race takes up to {MAX_RECORDED_BYTES} bytes: got {len(content)}; record fewer layers or seeds"
        )
    write(Path(path), content, "recorded race")
