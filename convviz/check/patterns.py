"""What the missing and the foreign products of a plane have in common: one line, a few cells, another order."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from convviz.check.provenance import Cell, Product, Provenance
from convviz.facts.lists import comma
from convviz.facts.words import sentences

say = sentences("check")

# What the three cells of a product are cells of.
MEMBERS: Mapping[str, tuple[str, str, str]] = {
    "grad_input": ("grad_output", "weight", "grad_input"),
    "grad_weight": ("grad_output", "input", "grad_weight"),
    "output": ("input", "weight", "output"),
    "grad_bias": ("grad_output", "bias", "grad_bias"),
}
FEW = 6  # cells that are named one by one


def left_out(found: Provenance) -> str:
    """Return in a sentence which rows, columns or cells have lost all their products; empty if it is not just these."""
    missing = set(found.missing)
    if found.extra or not missing or missing == found.right:
        return ""
    for at, name in enumerate(MEMBERS[found.of]):
        rows, columns = (_lost({product[at][axis] for product in missing}, found, at, axis) for axis in (0, 1))
        if missing == {each for each in found.right if each[at][0] in rows or each[at][1] in columns}:
            kind = "both" if rows and columns else "row" if rows else "column"
            row_numbers, column_numbers = (comma([str(line) for line in sorted(lines)]) for lines in (rows, columns))
            return say(f"read.left_out.{kind}", what=name, rows=row_numbers, columns=column_numbers)
        cells = {product[at] for product in missing}
        if len(cells) <= FEW and missing == {each for each in found.right if each[at] in cells}:
            return say("read.left_out.cells", what=name, cells=" ".join(_index(cell) for cell in sorted(cells)))
    return ""


def _lost(lines: Collection[int], found: Provenance, at: int, axis: int) -> set[int]:
    kept = {product[at][axis] for product in found.right & found.found.keys()}
    return set(lines) - kept


def permuted(found: Provenance) -> str:
    """Return in a sentence that all cells of a tensor act, each in the place of another; empty if they do not."""
    if found.unknown:
        return ""
    for at, name in enumerate(MEMBERS[found.of]):
        right, got = (_partners(products, at) for products in (found.right, found.found))
        places = {partners: cell for cell, partners in right.items()}
        moved = {cell: places.get(partners) for cell, partners in got.items()}
        if got.keys() == right.keys() and set(moved.values()) == right.keys():
            here, there = next((cell, place) for cell, place in sorted(moved.items()) if place and place != cell)
            return say("read.permuted", what=name, here=_index(here), there=_index(there))
    return ""


def _partners(products: Collection[Product], at: int) -> dict[Cell, frozenset[tuple[Cell, ...]]]:
    found: dict[Cell, set[tuple[Cell, ...]]] = {}
    for product in products:
        found.setdefault(product[at], set()).add(product[:at] + product[at + 1 :])
    return {cell: frozenset(partners) for cell, partners in found.items()}


def _index(cell: Cell) -> str:
    return f"[{cell[0]},{cell[1]}]"
