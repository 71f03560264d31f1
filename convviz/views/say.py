"""The sentences about the picture, and the lists inside them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from convviz.facts.words import sentences

say = sentences("picture")


def joined(id: str, parts: Iterable[str]) -> str:
    """Return all parts as one, two at a time by the sentence that has this id; nothing if there are none."""
    these, *others = [*parts] or [""]
    return reduce(lambda these, last: say(id, these=these, last=last), others, these)
