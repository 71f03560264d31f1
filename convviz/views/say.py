"""The sentences about the picture, and the lists inside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from convviz.facts import facts
from convviz.facts.words import sentences

say = sentences("picture")

LINES = ("rows", "columns")  # what an axis is made of


def lines(counts: Sequence[int], which: str = "") -> str:
    """Return ``2 rows and 1 column``; an axis of which there are none is left out.

    Args:
        counts: of rows and of columns.
        which: ``".last"`` for ``the last 2 rows and the last column``.
    """
    return joined("list.and", (say(f"{LINES[axis]}{which}", count=n) for axis, n in enumerate(counts) if n))


def clauses(parts: Iterable[str]) -> str:
    """Return clauses as one sentence with a capital, between them what the language puts there."""
    text = say("clauses.end", clauses=joined("clauses.both", parts))
    return text[0].upper() + text[1:]


def if_there(id: str, **arguments: object) -> str:
    """Return the sentence, or nothing where there is none of this id: not everything has something to be said about."""
    return say(id, **arguments) if id in facts("words/picture") else ""


def joined(id: str, parts: Iterable[str]) -> str:
    """Return all parts as one, two at a time by the sentence that has this id; nothing if there are none."""
    these, *others = [*parts] or [""]
    return reduce(lambda these, last: say(id, these=these, last=last), others, these)
