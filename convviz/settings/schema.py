"""The settings, a row each: ``fields`` of ``facts/settings.json``, from which parsers, links, traits and menus follow.

``web/rules/schema.js`` reads the same rows for the page.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from convviz.facts import facts

FACTS = facts("settings")
KINDS_OF_VALUES = ("pair", "sides", "whole", "word", "flag", "source", "bias", "plane", "device")
NAMED = 100  # whole numbers that a sentence may list


class Field(NamedTuple):
    """One setting: a row of the table.

    Attributes:
        name: of the field of ``Settings``, or of ``ConvSpec``.
        kind: of its values; one of ``KINDS_OF_VALUES``.
        link: its key in a link; empty for none.
        trait: its trait of ``App``; empty for none.
        spec: whether it is a field of ``ConvSpec``.
        layer: whether only a transposed layer has it: it sets the geometry, and is no field.
        view: whether no number depends on it.
        limits: the smallest and the largest number; empty: those offered.
        offered: the ends of its slider.
        words: its choices; of a tensor its kinds.
    """

    name: str
    kind: str
    link: str
    trait: str
    spec: bool = False
    layer: bool = False
    view: bool = False
    limits: Sequence[int] = ()
    offered: Sequence[int] = ()
    words: Sequence[Any] = ()

    @property
    def range(self) -> Sequence[int]:
        """The smallest and the largest number."""
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


FIELDS = {name: Field(name, **{"link": name, "trait": name} | row) for name, row in FACTS["fields"].items()}
SPEC = {name: field for name, field in FIELDS.items() if field.spec}
PAIRS = [name for name, field in FIELDS.items() if field.kind in ("pair", "sides")]  # what each axis has of its own
FIELD_OF = {field.trait: field for field in FIELDS.values() if field.trait}
TENSORS = {name: field for name, field in FIELDS.items() if field.kind in ("source", "bias")}
VIEW = [name for name, field in FIELDS.items() if field.view]  # what changes no number
