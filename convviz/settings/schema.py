"""The settings, a row each: ``fields`` of ``facts/settings.json``, from which parsers, links, traits and menus follow.

``board/js/rules/schema.js`` reads the same rows for the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from convviz.facts import facts

FACTS = facts("settings")
NAMED = 100  # whole numbers that a sentence may list


class Field(NamedTuple):
    """One setting.

    Attributes:
        name: in a state; of a setting of the geometry in ``ConvSpec``.
        kind: of its values: ``"pair"``, ``"sides"``, ``"whole"``, ``"word"``, ``"flag"``, ``"source"``, ``"bias"``,
            ``"plane"`` or ``"device"``.
        link: what a link calls it; empty where a link leaves it out.
        trait: what the app calls it; empty where it is no trait.
        spec: whether it belongs to the geometry.
        layer: whether it is a transposed layer's way to set the geometry; a state has no such field.
        view: whether it changes no number.
        limits: the smallest and the largest number; empty: as offered.
        offered: the ends of its slider.
        words: what can be chosen; of a tensor its kinds.
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
        """The smallest and the largest number that a link may have."""
        return self.limits or self.offered or (0, 0)

    @property
    def known(self) -> Sequence[Any]:
        """What a value may be, where that is few enough to be named."""
        low, high = self.range
        return self.words or (range(low, high + 1) if self.kind == "whole" and high - low < NAMED else ())

    @property
    def named(self) -> list[str]:
        """What can be chosen by its name alone; an image and typed numbers have to be given."""
        return [str(word) for word in self.words if word and word not in FACTS["kinds_with_own_numbers"]]


FIELDS = {name: Field(name, **{"link": name, "trait": name} | row) for name, row in FACTS["fields"].items()}
SPEC = {name: field for name, field in FIELDS.items() if field.spec}
PAIRS = [name for name, field in FIELDS.items() if field.kind in ("pair", "sides")]  # what each axis has of its own
FIELD_OF = {field.trait: field for field in FIELDS.values() if field.trait}
TENSORS = {name: field for name, field in FIELDS.items() if field.kind in ("source", "bias")}
VIEW = [name for name, field in FIELDS.items() if field.view]  # what changes no number
