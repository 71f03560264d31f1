"""What Python and JavaScript both know, said once: the files beside this one are read by both.

``settings.json`` has the fields of a state, their kinds, limits, keys in a link and the first picture; ``names.json``
the labels; ``digits.json`` the pictures that an input may show; ``picture.json`` the rows of the picture, how they are
walked through, and what all figures share; ``mistakes/`` a file for each mistake of the catalogue.
"""

from __future__ import annotations

import functools
import json
from importlib.resources import files
from typing import Any

CATALOGUES = ("mistakes",)  # folders of which all files are one fact: who adds a file names it nowhere else


@functools.cache
def facts(name: str) -> Any:
    """Return what a file of facts holds, as plain data that nobody changes.

    Args:
        name: of the file, such as ``"settings"``; of a folder, such as ``"mistakes"``, for the list of its files.
    """
    if name in CATALOGUES:
        paths = sorted(path.name for path in files("convviz.facts").joinpath(name).iterdir())
        return [facts(f"{name}/{path.removesuffix('.json')}") for path in paths if path.endswith(".json")]
    return json.loads(files("convviz.facts").joinpath(f"{name}.json").read_text(encoding="utf-8"))
