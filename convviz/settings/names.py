"""What the page calls each tensor and axis: a transposed convolution has its own words for the same panels."""

from __future__ import annotations

import re

# A panel is named after the convolution that is read the other way; these are the layer's words for it.
SHOWN = {
    "input": "grad_output",
    "padded_input": "padded_grad_output",
    "output": "grad_input",
    "grad_output": "input",
    "dilated_grad_output": "dilated_input",
    "padded_grad_output": "padded_input",
    "grad_input": "output",
}
# What the one convolution puts out the other takes in, so the letters of the channels change places as well.
LETTERS = {"o": "c", "c": "o"}
AXIS_WORDS = {"n": "sample n", "o": "output channel o", "c": "input channel c"}
# The products behind one number, in the words of the taps: o an output cell, k a kernel cell, i an input cell.
PRODUCTS = {
    "output": "weight[k]·input[i]",
    "grad_input": "grad_output[o]·weight[k]",
    "grad_padded_input": "grad_output[o]·weight[k]",
    "grad_weight": "grad_output[o]·input[i]",
}
PRODUCTS_TRANSPOSED = {
    "grad_input": "input[i]·weight[k]",
    "output": "weight[k]·grad_output[o]",
    "grad_weight": "input[i]·grad_output[o]",
}


def shown_name(name: str, transposed: bool) -> str:
    """Return what the page calls a panel."""
    return SHOWN.get(name, name) if transposed else name


def axis_word(axis: str, transposed: bool) -> str:
    """Return what an axis of planes counts, in words: n, o and c of the convolution."""
    return AXIS_WORDS[shown_letter(axis, transposed)]


def shown_letter(axis: str, transposed: bool) -> str:
    """Return the letter that the page uses for an axis of planes."""
    return LETTERS.get(axis, axis) if transposed else axis


def products(name: str, transposed: bool) -> str:
    """Return the product that a panel's sums run over, or nothing where its cells are no such sums."""
    return (PRODUCTS_TRANSPOSED if transposed else PRODUCTS).get(name, "")


def cell_words(transposed: bool) -> dict[str, str]:
    """Return what the page says about the cells that a stride leaves over."""
    if transposed:
        return {"remainder": "padding for output_padding", "unread": "never reached"}
    return {"remainder": "padding for the remainder", "unread": "never read"}


def in_layers_words(formula: str) -> str:
    """Return a formula of the convolution in the words of the transposed layer."""
    formula = re.sub(r"[a-z]+(?:_[a-z]+)+|input|output", lambda found: SHOWN.get(found[0], found[0]), formula)
    return re.sub(r"(?<=[\[_ ])[oc](?=[\],\s]|ij\b|$)", lambda found: shown_letter(found[0], True), formula)
