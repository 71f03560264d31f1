"""What a race leaves behind: plain data that describes itself, as JSON."""

import base64
import datetime
import json
import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from convviz import __version__
from convviz.file_io import read_json, utf8
from convviz.lab.digits import Digits
from convviz.lab.settings import RaceSettings

FORMAT = "convviz race, version 1"
SHOWN = 12  # misclassified digits that are kept of each entrant
FINISHED, STARTED = "finished", "started"
Result = dict[str, Any]


def made(settings: RaceSettings) -> dict[str, Any]:
    """Return when, where and with what a race is run; nothing names a person or a place."""
    device = torch.device(settings.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else _processor()
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "convviz": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "system": f"{sys.platform} {platform.machine()}",
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": name,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not Linux
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def about(digits: Digits) -> dict[str, Any]:
    """Return what a result says of its data: enough to see whether another race had the same."""
    return {
        "name": digits.name,
        "checksum": digits.checksum,
        "train": len(digits.train_images),
        "test": len(digits.test_images),
        "labels": as_text(digits.test_labels),
    }


def as_text(labels: torch.Tensor) -> str:
    """Return labels ``[N]`` as a string of N digits."""
    return "".join(map(str, labels.tolist()))


def described(settings: RaceSettings, names: Iterable[str], exact: Iterable[str], digits: Digits) -> Result:
    return {
        "format": FORMAT,
        "state": STARTED,
        "made": made(settings),
        "settings": asdict(settings),
        "layers": list(names),
        "exact": list(exact),
        "data": about(digits),
        "runs": [],
        "costs": {},
        "digits": {},
    }


def columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the rows of one entrant's steps as columns: a third of the room."""
    curves: dict[str, Any] = {
        "loss": [row["loss"] for row in rows],
        "seconds": [_short(row["seconds"]) for row in rows],
    }
    if rows and "weights" in rows[0]:
        for key in ("weights", "loss_difference"):
            curves[key] = [_short(row[key]) for row in rows]
        names = rows[0]["gradients"]
        curves["gradients"] = {name: [_short(row["gradients"][name]) for row in rows] for name in names}
    return curves


def _short(number: float) -> float:
    return float(f"{number:.3e}")


def last_test(result: Result) -> tuple[dict[str, Any] | None, dict[str, list[int]]]:
    """Return the last run that has been tested, and entrant → the images that it misclassified then."""
    run = next((run for run in reversed(result["runs"]) if run["entrants"]["torch"]["predictions"]), None)
    pairs = {
        name: zip(entrant["predictions"], result["data"]["labels"], strict=True)
        for name, entrant in (run["entrants"].items() if run else ())
    }
    return run, {name: [at for at, (found, label) in enumerate(each) if found != label] for name, each in pairs.items()}


def misclassified(result: Result, images: torch.Tensor) -> dict[str, str]:
    """Return the first images misclassified in the last run: index → 784 bytes in base64."""
    chosen = {at for wrong in last_test(result)[1].values() for at in wrong[:SHOWN]}
    return {str(at): base64.b64encode(images[at].numpy().tobytes()).decode() for at in sorted(chosen)}


def to_json(result: Result) -> bytes:
    """Return a result as JSON; every number in it is finite."""
    text = json.dumps(result, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return utf8(f"{text}\n", "result")


def read(path: str | os.PathLike[str]) -> Result:
    """Return the result of a file.

    Raises:
        OSError: it cannot be read.
        ValueError: it holds no result of a race, or one of a newer version.
    """
    try:
        found = read_json(path)
    except ValueError as error:
        raise ValueError(f"{path} is no result of a race: {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        got = found.get("format") if isinstance(found, dict) else type(found).__name__
        raise ValueError(f"a result of a race says that it is a {FORMAT!r}: {path} says {got!r}")
    return found
