"""The settings, a row each: ``fields`` of ``facts/data/settings.json``, which parsers, links, traits and menus follow.

``web/rules/schema.js`` reads the same rows for the page.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from convviz.facts import facts
from convviz.facts.features import TABS

FACTS = facts("settings")
KINDS_OF_VALUES = ("pair", "sides", "whole", "word", "flag", "source", "bias", "plane", "device")
WORDS = {"tab": ["", *TABS]}  # of what the table does not list
NAMED = 100  # whole numbers that a sentence may list


class Field(NamedTuple):
    """One setting: a row of the table."""

    name: str  # of the field of Settings, or of ConvSpec
    kind: str  # one of KINDS_OF_VALUES
    link: str  # its key in a link; empty for none
    trait: str  # of App; empty for none
    spec: bool = False  # a field of ConvSpec
    layer: bool = False  # of a transposed layer alone: it sets the geometry, and is no field
    view: bool = False  # no number depends on it
    limits: Sequence[int] = ()  # the smallest and the largest number; empty: those offered
    offered: Sequence[int] = ()  # the ends of its slider
    words: Sequence[Any] = ()  # its choices; of a tensor its kinds

    @property
    def range(self) -> Sequence[int]:
        return self.limits or self.offered or (0, 0)

    @property
    def known(self) -> Sequence[Any]:
        """Every value there is, where these are few enough to list."""
        low, high = self.range
        return self.words or (range(low, high + 1) if self.kind == "whole" and high - low < NAMED else ())

    @property
    def named(self) -> list[str]:
        """The words that need no numbers beside them, as an image and typed numbers do."""
        return [str(word) for word in self.words if word and word not in FACTS["kinds_with_own_numbers"]]


FIELDS = {
    name: Field(name, **{"link": name, "trait": name, "words": WORDS.get(name, ())} | row)
    for name, row in FACTS["fields"].items()
}
SPEC = {name: field for name, field in FIELDS.items() if field.spec}
PAIRS = [name for name, field in FIELDS.items() if field.kind in ("pair", "sides")]  # what each axis has of its own
FIELD_OF = {field.trait: field for field in FIELDS.values() if field.trait}
TENSORS = {name: field for name, field in FIELDS.items() if field.kind in ("source", "bias")}
VIEW = [name for name, field in FIELDS.items() if field.view]  # what changes no number
