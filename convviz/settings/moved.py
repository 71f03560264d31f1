"""A setting that had to give way, as data until it is said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from convviz.facts.words import sentences

say = sentences("rules")


@dataclass(frozen=True)
class Moved:
    """One setting that was moved because a rule demanded it.

    Attributes:
        why: id of the sentence that says it.
        axis: 0 for the height, 1 for the width, None where it has no axis.
        values: the arguments of the sentence, without the axis.
    """

    why: str
    axis: int | None
    values: Mapping[str, Any]

    def said(self) -> str:
        """Return the sentence."""
        axis = {} if self.axis is None else {"axis": axis_name(self.axis)}
        return say(self.why, **axis, **self.values)


def moved(why: str, axis: int | None, old: Any, new: Any, **values: Any) -> Moved:
    """Return that a setting went from an old value to a new one, by the id of the sentence that says why."""
    return Moved(why, axis, {"old": old, "new": new, **values})


def said(moves: Iterable[Moved]) -> list[str]:
    """Return a sentence for every setting that was moved."""
    return [each.said() for each in moves]


def axis_name(axis: int) -> str:
    """Return what a visitor calls an axis of the picture."""
    return say("axis.width" if axis else "axis.height")
