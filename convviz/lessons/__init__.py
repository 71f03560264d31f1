"""The lessons: each is a file of plain data beside this one, played by ``web/lesson``, which knows none by name.

A lesson has steps; each is a state as a link, sentences by their ids in ``facts/data/words/guided/<name>.json``,
something to do. ``facts/data/words/lesson_titles.json`` has their order and titles. CONTRIBUTING.md says how to add
one; somebody else's is one file with its sentences in it, as ``docs/lessons.md`` describes.
"""

import functools
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.file_io import read_json

say = sentences("lesson_player")
FILE = ".json"  # ends the name of a lesson that is somebody's own file


def names() -> list[str]:
    """Return the names of all lessons, in the order of the path."""
    return [id.removesuffix(".title") for id in facts("words/lesson_titles")]


@functools.cache
def lesson(name: str) -> Any:
    """Return a lesson as plain data that nobody changes."""
    if name not in names():
        raise ValueError(say("unknown", name=name[:40], known=", ".join(names())))
    return json.loads(files("convviz.lessons").joinpath(f"{name}.json").read_text(encoding="utf-8"))


def lesson_bundle(name: str) -> dict[str, Any]:
    """Return a lesson, ours or in a file that ends in ``.json``, with its sentences."""
    if not name.endswith(FILE):
        return {"lesson": lesson(name), "words": facts(f"words/guided/{name}")}
    path = Path(name).resolve()
    ours = path.parent == Path(__file__).resolve().parent
    return {"lesson": own_file(name), "words": facts(f"words/guided/{path.stem}") if ours else {}}


def own_file(path: str) -> Any:
    """Return what a lesson's file holds; whether it is one, ``convviz lesson check`` says."""
    try:
        return read_json(path)
    except ValueError as error:
        raise ValueError(say("no_json", file=path[-60:], why=error)) from error


def short_name(name: str) -> str:
    """Return what a page calls a lesson: its name, or that of its file."""
    return Path(name).stem if name.endswith(FILE) else name
