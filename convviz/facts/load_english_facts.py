"""The files of facts as they stand, those of the features too: in English."""

import functools
import json
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

DATA: Traversable = files("convviz.facts").joinpath("data")
FEATURES = "features"  # begins the names of what the folders of ``convviz/features`` hold
ENDING = ".json"


@functools.cache
def english(name: str) -> Any:
    """Return plain data that nobody changes, without the ``$comment`` of a file, which is for who reads that."""
    data = json.loads(_place(f"{name}{ENDING}").read_text(encoding="utf-8"))
    if isinstance(data, dict):
        data.pop("$comment", None)
    return data


def names_in(folder: str = "") -> Iterator[str]:
    """Yield the names of the files in a folder of facts, ``"features"`` among them, or of all but the features."""
    there = _place(folder)
    for path in sorted(there.iterdir(), key=lambda path: path.name):
        name = f"{folder}/{path.name}" if folder else path.name
        if path.is_dir():
            yield from names_in(name)
        elif name.endswith(ENDING):
            yield name.removesuffix(ENDING)


def feature_names() -> list[str]:
    """Return the features, by name: each is a folder that says what it is in its ``feature.json``."""
    return [path.name for path in _place(FEATURES).iterdir() if path.joinpath(f"feature{ENDING}").is_file()]


def _place(name: str) -> Traversable:
    if name.partition("/")[0] == FEATURES:
        return files("convviz").joinpath(name)
    return DATA.joinpath(name) if name else DATA
