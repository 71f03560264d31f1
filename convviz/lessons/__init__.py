"""The lessons: each is a file of plain data beside this one, played by ``board/js/lesson``, which knows none by name.

A lesson has steps; each is a state as a link, sentences by their ids in ``facts/words/guided.json``, something to do.
CONTRIBUTING.md says how to add one, ``tests/test_lessons.py`` holds what a file may say.
"""

from __future__ import annotations

import functools
import json
from importlib.resources import files
from typing import Any

from convviz.facts.words import sentences

say = sentences("player")


def names() -> list[str]:
    """Return the names of all lessons, as a link and the command line take them."""
    found = (entry.name for entry in files("convviz.lessons").iterdir())
    return sorted(name.removesuffix(".json") for name in found if name.endswith(".json"))


@functools.cache
def lesson(name: str) -> Any:
    """Return a lesson as plain data that nobody changes.

    Args:
        name: of its file, such as ``"why_rotated"``.

    Raises:
        ValueError: there is no such lesson.
    """
    if name not in names():
        raise ValueError(say("unknown", name=name[:40], known=", ".join(names())))
    return json.loads(files("convviz.lessons").joinpath(f"{name}.json").read_text(encoding="utf-8"))
