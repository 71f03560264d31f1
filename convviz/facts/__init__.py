"""What Python and JavaScript both know, said once: the files beside this one are read by both.

``settings.json`` has the fields of a state, their kinds, limits, keys in a link and the first picture; ``names.json``
the labels; ``digits.json`` the pictures that an input may show; ``picture.json`` the rows of the picture, how they are
walked through, and what all figures share; ``mistakes/`` a file for each mistake of the catalogue; ``language.json``
says which language all of them speak. What is read in another language is written there, in ``languages/``.
"""

from __future__ import annotations

import functools
import json
from importlib.resources import files
from typing import Any

from convviz.facts.spoken import ENGLISH, language

CATALOGUES = ("mistakes",)  # folders of which all files are one fact: who adds a file names it nowhere else


def facts(name: str) -> Any:
    """Return what a file of facts holds, in the language that is spoken here, as plain data that nobody changes.

    Args:
        name: of the file, such as ``"settings"``; of a folder, such as ``"mistakes"``, for the list of its files.
    """
    return _spoken(name, language())


@functools.cache
def _spoken(name: str, tag: str) -> Any:
    if name in CATALOGUES:
        paths = sorted(path.name for path in files("convviz.facts").joinpath(name).iterdir())
        return [_spoken(f"{name}/{path.removesuffix('.json')}", tag) for path in paths if path.endswith(".json")]
    data = english(name)
    if tag == ENGLISH:
        return data
    from convviz.facts.translation import translated  # who speaks English has no use for a reader of catalogues

    return translated(name, data, tag)


@functools.cache
def english(name: str) -> Any:
    """Return what a file of facts holds, as it stands there.

    Args:
        name: as for ``facts``, of a file.
    """
    return json.loads(files("convviz.facts").joinpath(f"{name}.json").read_text(encoding="utf-8"))
