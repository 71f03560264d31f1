"""Going on from a checkpoint: whether it is of the same race, and what that race has measured."""

from pathlib import Path
from typing import Any

from convviz.lab import result as results
from convviz.lab import result_and_checkpoint_files

Earlier = tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]


def earlier(out: Path, head: results.Result) -> Earlier | None:
    """Return what the checkpoint beside a result file holds; None where there is none."""
    path = result_and_checkpoint_files.checkpoint_path(out)
    found = result_and_checkpoint_files.read_checkpoint(path)
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
