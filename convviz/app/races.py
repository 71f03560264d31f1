"""Whether this process may race: in a notebook yes, on a server where its owner allows it, and how many at a time."""

from __future__ import annotations

import os
from typing import Any

from convviz.facts.words import sentences

say = sentences("race")
# Voilà sets the one in every kernel before the first cell, a server the other in each of its workers.
SERVED_VARIABLES = ("VOILA_KERNEL_ID", "CONVVIZ_SERVED")
# Set by `convviz serve --races N`: how many races run at a time, and the folder in which each of them holds a file.
RACES_VARIABLE, FOLDER_VARIABLE = "CONVVIZ_RACES", "CONVVIZ_RACES_FOLDER"


def is_served() -> bool:
    """Return whether this process computes for visitors, and is not somebody's own."""
    return any(name in os.environ for name in SERVED_VARIABLES)


def why_not() -> str:
    """Return why there are no races here, in a sentence; empty where there are."""
    allowed = os.environ.get(RACES_VARIABLE) and os.environ.get(FOLDER_VARIABLE)
    return say("off") if is_served() and not allowed else ""


def slots() -> dict[str, Any] | None:
    """Return the server's limit as ``lab/slots.py`` takes it; None where there is none."""
    if not is_served():
        return None
    return {"folder": os.environ[FOLDER_VARIABLE], "most": int(os.environ[RACES_VARIABLE])}
