"""Whether this kernel may race: in a notebook yes, on a server where its owner allows it, and how many at a time."""

from __future__ import annotations

import os
from typing import Any

from convviz.facts.words import sentences

say = sentences("race")
VOILA_VARIABLE = "VOILA_KERNEL_ID"  # Voilà sets it in every kernel before the first cell
# Set by `convviz serve --races N`: how many races run at a time, and the folder in which each of them holds a file.
RACES_VARIABLE, FOLDER_VARIABLE = "CONVVIZ_RACES", "CONVVIZ_RACES_FOLDER"


def is_served() -> bool:
    """Return whether this kernel is a visitor's, and not somebody's own."""
    return VOILA_VARIABLE in os.environ


def why_not() -> str:
    """Return why there are no races here, in a sentence; empty where there are."""
    allowed = os.environ.get(RACES_VARIABLE) and os.environ.get(FOLDER_VARIABLE)
    return say("off") if is_served() and not allowed else ""


def slots() -> dict[str, Any] | None:
    """Return the server's limit as ``lab/slots.py`` takes it; None where there is none."""
    if not is_served():
        return None
    return {"folder": os.environ[FOLDER_VARIABLE], "most": int(os.environ[RACES_VARIABLE])}
