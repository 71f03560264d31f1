"""What the page calls each tensor and axis: a transposed convolution has its own words for the same panels."""

from __future__ import annotations

import re

from convviz.facts import facts

NAMES = facts("names")
# A panel is named after the convolution that is read the other way; these are the layer's words for it. What the one
# convolution puts out the other takes in, so the letters of the channels change places as well.
SHOWN: dict[str, str] = NAMES["transposed"]["panels"]
LETTERS: dict[str, str] = NAMES["transposed"]["letters"]


def shown_name(name: str, transposed: bool) -> str:
    """Return what the page calls a panel."""
    return SHOWN.get(name, name) if transposed else name


def axis_word(axis: str, transposed: bool) -> str:
    """Return what an axis of planes counts, in words: n, o and c of the convolution."""
    return str(NAMES["axes"][shown_letter(axis, transposed)])


def shown_letter(axis: str, transposed: bool) -> str:
    """Return the letter that the page uses for an axis of planes."""
    return LETTERS.get(axis, axis) if transposed else axis


def products(name: str, transposed: bool) -> str:
    """Return the product that a panel's sums run over, or nothing where its cells are no such sums.

    In the words of the taps: o an output cell, k a kernel cell, i an input cell.
    """
    return str(NAMES["products"][_kind(transposed)].get(name, ""))


def cell_words(transposed: bool) -> dict[str, str]:
    """Return what the page says about the cells that a stride leaves over."""
    return dict(NAMES["cells"][_kind(transposed)])


def _kind(transposed: bool) -> str:
    return "transposed" if transposed else "convolution"


def in_layers_words(formula: str) -> str:
    """Return a formula of the convolution in the words of the transposed layer."""
    formula = re.sub(r"[a-z]+(?:_[a-z]+)+|input|output", lambda found: SHOWN.get(found[0], found[0]), formula)
    return re.sub(r"(?<=[\[_ ])[oc](?=[\],\s]|ij\b|$)", lambda found: shown_letter(found[0], True), formula)
