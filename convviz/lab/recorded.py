"""The race that a page shows before it has one of its own: a file in the package, made by ``convviz lab --record``."""

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from convviz.lab.result_and_checkpoint_files import write_file
from convviz.lab.run_race import Race
from convviz.lab.tab_data import openings, picture

FILE = "recorded.json"
POINTS = 50  # of a curve
DIGITS = 2  # misclassified ones of each entrant: their numbers are what takes the room
MAX_RECORDED_BYTES = 60_000


def record(race: Race, command: str, path: str | os.PathLike[str]) -> None:
    """Write a finished race as the page shows it, with a few misclassified digits."""
    told = picture(race, POINTS, DIGITS) | {"command": command, "openings": openings(race, DIGITS, one=True)}
    content = (json.dumps(told, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")
    if len(content) > MAX_RECORDED_BYTES:
        raise ValueError(
            f"a recorded race takes up to {MAX_RECORDED_BYTES} bytes: got {len(content)}; record fewer layers or seeds"
        )
    write_file(Path(path), content, "recorded race")


def recorded() -> dict[str, Any]:
    """Return the race that the package has."""
    found: dict[str, Any] = json.loads(files("convviz.lab").joinpath(FILE).read_text(encoding="utf-8"))
    return found
