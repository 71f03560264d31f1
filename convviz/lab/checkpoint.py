"""The checkpoint of a race, a file that is whole or not there: how far the race is, from where it goes on."""

import io
import json
from pathlib import Path
from typing import Any

import torch

from convviz.file_io import write
from convviz.lab import result as results

Earlier = tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]


def checkpoint_path(out: Path) -> Path:
    return out.with_name(f"{out.name}.checkpoint")


def write_checkpoint(path: Path, race: dict[str, Any], lanes: dict[str, Any]) -> None:
    """Write how far a race is: plain data, and the states of networks and optimizers."""
    buffer = io.BytesIO()
    torch.save({"race": json.dumps(race), "lanes": lanes}, buffer)
    write(path, buffer.getvalue(), "checkpoint")


def read_checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return what ``write_checkpoint`` was given, its tensors on the CPU; None where there is none."""
    if not path.exists():
        return None
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)  # numbers only: no code of a file is run
        return json.loads(found["race"]), found["lanes"]
    except Exception as error:  # torch.load raises whatever its parts raise
        raise ValueError(f"{path} is no checkpoint of a race; remove it, and the race begins anew") from error


def earlier(out: Path, head: results.Result) -> Earlier | None:
    """Return what the checkpoint beside a result file holds; None where there is none."""
    path = checkpoint_path(out)
    found = read_checkpoint(path)
    if found is None:
        if out.exists() and results.read(out)["state"] == results.FINISHED:
            raise ValueError(f"{out} is a finished race; show it with --show, or name another file")
        return None
    there, states = found
    for key in ("settings", "layers"):
        if there[key] != head[key]:
            raise ValueError(_other(path, key, there[key], head[key]))
    for part, key in (("data", "checksum"), ("made", "torch")):
        if there[part][key] != head[part][key]:
            raise ValueError(_other(path, f"{part}'s {key}", there[part][key], head[part][key]))
    return there["made"], there["runs"], states


def _other(path: Path, what: str, there: Any, here: Any) -> str:
    if isinstance(there, dict):
        changed = [key for key in here if here[key] != there.get(key)]
        what, there, here = ", ".join(changed), [there.get(key) for key in changed], [here[key] for key in changed]
    return (
        f"{path} is the checkpoint of another race: its {what} is {there}, and not {here}; give the same, remove the "
        "checkpoint, or name another file"
    )
