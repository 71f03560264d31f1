"""The files of facts as they stand: in English."""

import functools
import json
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

HERE: Traversable = files("convviz.facts")
ENDING = ".json"


@functools.cache
def english(name: str) -> Any:
    """Return plain data that nobody changes, without the ``$comment`` of a file, which is for who reads that."""
    data = json.loads(HERE.joinpath(f"{name}{ENDING}").read_text(encoding="utf-8"))
    if isinstance(data, dict):
        data.pop("$comment", None)
    return data


def names_in(folder: str = "") -> Iterator[str]:
    """Yield the names of the files in a folder of facts, or of all."""
    there = HERE.joinpath(folder) if folder else HERE
    for path in sorted(there.iterdir(), key=lambda path: path.name):
        name = f"{folder}/{path.name}" if folder else path.name
        if path.is_dir():
            yield from names_in(name)
        elif name.endswith(ENDING):
            yield name.removesuffix(ENDING)
