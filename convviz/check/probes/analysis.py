"""What a single 1 sent back leaves behind: orientation, pitch, spacing and place, read off the products.

In a right gradient the product (o, k) goes to row ``stride * o - padding + dilation * k``. A wrong one has other
numbers in that formula, and each number has a name that says what went wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from convviz.check.probes.border import unfolded
from convviz.check.probes.formula import Line, line_of, right_line
from convviz.check.probes.relations import beside, misread
from convviz.check.probes.traced_products import MEMBERS, Cell, Product, Provenance, named
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences

say = sentences("check")
LINES = ("row", "column")  # the name of a line, by axis

BEYOND: Mapping[str, Callable[[float, int], float]] = {
    "wrapped": lambda at, size: at % size,
    "edge": lambda at, size: min(max(at, 0), size - 1),
}
FEW = 6  # cells that are named one by one


def readings(found: Provenance) -> list[str]:
    """Return in sentences how a gradient's products lie otherwise than they should; nothing where none is wrong."""
    if only := _only_cell(found):
        return [only]
    said: list[str] = []
    for axis, name in enumerate(LINES if found.of != "grad_bias" else ()):
        got = None if found.unknown else line_of(found, axis)
        size = found.spec.kernel_size[axis]
        said += _apart(got, right_line(found, axis), name, found.of, size) if got is not None else ()
    factors = [factor for factor in found.factors if factor != 1]
    terms = Counter(product[2] for product in found.right)
    means = all(abs(factor * terms[product[2]] - 1) < 1e-6 for product, factor in found.found.items())
    if factors and means and found.found.keys() == found.right and len(set(terms.values())) > 1:
        said.append(say("read.mean"))
    elif factors and len(found.factors) == 1:
        said.append(say("read.factor", factor=f"{factors[0]:g}"))
    elif factors:
        said.append(_otherwise(found))
    return said


def _apart(got: Line, right: Line, line: str, of: str, size: int) -> Iterator[str]:
    if got.cross:
        yield say(f"read.crossed.{line}")
        return
    if (got.pitch, got.spacing) == (right.spacing, right.pitch) != (right.pitch, right.spacing):
        yield say(f"read.steps.{line}", pitch=got.pitch, spacing=got.spacing)
        return
    if got.spacing == -right.spacing:
        yield say(f"read.reversed.{line}")
    elif got.spacing != right.spacing:
        yield say(f"read.spacing.{line}", got=abs(got.spacing), right=right.spacing)
    if got.pitch == -right.pitch and of != "grad_input":
        yield say(f"read.opposite.{line}")
    elif got.pitch != right.pitch:
        if 1 < got.pitch == size < right.pitch:  # with a kernel of one cell it may as well not be read
            yield say(f"read.clamped.{line}", count=size, right=right.pitch)
        else:
            yield say(f"read.window.pitch.{line}", count=abs(got.pitch), right=right.pitch)
    if got.place != right.place and got.spacing == right.spacing and got.pitch == right.pitch:
        by = got.place - right.place  # everything in grad_input; in the other results it is the windows that are off
        way = {"row": ("above", "below"), "column": ("left", "right")}[line][by > 0]
        yield say(f"read.{way}" if of == "grad_input" else f"read.window.{way}", count=abs(by))


def _otherwise(found: Provenance) -> str:
    """Return which products count otherwise than once: those of which lines or cells, else how many there are."""
    others = [product for product, factor in found.found.items() if abs(factor - 1) > 1e-6]
    often = {round(found.found[product], 6) for product in others}
    if len(often) == 1 and (said := _just(found, set(others), "often", factor=f"{often.pop():g}")):
        return said
    counted = _example(say("read.factors", count=len(others), total=len(found.found)), found, others)
    in_result = _where(counted, found, others, 2)
    return in_result if in_result != counted else _where(counted, found, others, 0)


def _reaches(found: Provenance, product: Product, reached: Callable[[float, int], float]) -> bool:
    """Return whether a product takes what is beyond the input or the output from the other side, or from the edge."""
    outputs, _, inputs = beside(found, named(found.of, product))
    return any(
        wanted != list(cell) and [reached(at, size) for at, size in zip(wanted, sizes, strict=True)] == list(cell)
        for (cell, wanted), sizes in ((outputs, found.spec.output_size), (inputs, found.spec.input_size))
    )


def _where(counted: str, found: Provenance, wrong: Sequence[Product], at: int) -> str:
    """Return the sentence, with the one row or column of a tensor in which all cells are, if it has several."""
    for axis, line in enumerate(LINES if MEMBERS[found.of][at] != "grad_bias" and not found.unknown else ()):
        lines = {product[at][axis] for product in wrong}
        if len(lines) == 1 and len({product[at][axis] for product in found.right}) > 1:
            return say(f"read.only.{line}", what=counted, lines=min(lines), result=MEMBERS[found.of][at])
    return counted


def counts(found: Provenance) -> str:
    """Return how many products are missing or too many, and where from; empty where no number is a product."""
    if not (found.missing or found.extra) or not found.found:
        return ""
    for name, reached in BEYOND.items():
        beyond = sum(_reaches(found, product, reached) for product in found.extra)
        mode = found.spec.padding_mode
        # Of an input of one row every cell is its edge, and a border has its own way beyond it.
        is_distinct = 1 not in found.spec.input_size and (name == "edge" or mode == "zeros")
        if is_distinct and beyond * 5 >= len(found.extra) * 4 and beyond:
            return say(f"read.{name}" if mode == "zeros" else "read.edge.border", count=beyond, mode=mode)
    # Both come to the same where every second row has two windows: = for += is in the catalogue, and was not it.
    if pattern := unfolded(found) or _left_out(found) or _overwritten(found) or misread(found):
        return pattern
    missing, extra = len(found.missing), len(found.extra)
    total = len(found.right)
    words = {"total": total, "result": MEMBERS[found.of][2]}
    if missing == total and extra:
        counted = say("read.none", count=extra)
    elif missing and extra:
        counted = say("read.both", missing=missing, extra=extra, **words)
    else:
        counted = say("read.missing", count=missing, **words) if missing else say("read.extra", count=extra, **words)
    return _where(_example(counted, found), found, (*found.missing, *found.extra), 2)


def _example(counted: str, found: Provenance, others: Sequence[Product] = ()) -> str:
    """Return the sentence with one product that is in another place, missing, there by mistake or counted otherwise."""
    missing = {product[:2]: product[2] for product in found.missing}
    moved = [product for product in found.extra if product[:2] in missing]
    kinds = {"factor": others, "moved": moved, "missing": found.missing, "extra": found.extra}
    kind, product = next((kind, products[0]) for kind, products in kinds.items() if products)
    names = MEMBERS[found.of]
    factors = [name + _index(cell) for name, cell in zip(names[:2], product[:2], strict=True)]
    words = {
        "product": factors[0] if found.of == "grad_bias" else " · ".join(factors),
        "at": names[2] if found.of == "grad_bias" else names[2] + _index(product[2]),
        "right": _index(missing.get(product[:2], product[2])),
        "factor": f"{found.found.get(product, 0):g}",
    }
    return say(f"read.example.{kind}", what=counted, **words)


def unknown(found: Provenance) -> str:
    """Return in a sentence which number is none of the products, and what should be there."""
    sent, _, result = MEMBERS[found.of]
    cell, at, received, expected = found.unknown[0]
    numbers = {"received": f"{received:.6g}", "expected": f"{expected:.6g}"}
    return say("read.unknown", sent=sent + _index(cell), at=result + _index(at), **numbers)


def _overwritten(found: Provenance) -> str:
    """Return in a sentence that of the windows that meet in a line of grad_input only the last one counts."""
    kept = found.right & found.found.keys()
    for axis, name in enumerate(LINES if found.of == "grad_input" and not found.extra else ()):
        last: dict[tuple[int, Cell], int] = {}
        for o, _, cell in sorted(found.right):
            last[o[1 - axis], cell] = o[axis]
        if kept == {(o, k, cell) for o, k, cell in found.right if last[o[1 - axis], cell] == o[axis]}:
            return say(f"read.overwritten.{name}")
    return ""


def _left_out(found: Provenance) -> str:
    """Return in a sentence which rows, columns or cells have lost all their products; empty if it is not just these."""
    missing = set(found.missing)
    if found.extra or found.unknown or not missing or missing == found.right:
        return ""
    return _just(found, missing, "left_out")


def _only_cell(found: Provenance) -> str:
    """Return in a sentence that of what is sent, or of what it is multiplied with, one cell alone is used."""
    if found.extra or found.unknown or not found.missing:
        return ""
    often = found.factors
    for at in (0, 1):
        only = {each[at] for each in found.found}
        if len(only) == len(often) == 1 and len({each[at] for each in found.missing}) > 1:
            id = "read.only_cell" if often == [1] else "read.only_cell.often"
            words = {"what": MEMBERS[found.of][at], "cell": _index(only.pop()), "factor": f"{often[0]:g}"}
            return say(id, **words)
    return ""


def _just(found: Provenance, wrong: set[Product], what: str, **words: str) -> str:
    """Return what is wrong in a sentence about rows, columns or cells, if it is wrong of all their products alone."""
    kept = (found.right & found.found.keys()) - wrong
    if not kept:
        return ""
    for at, name in enumerate(MEMBERS[found.of]):
        rows, columns = ({each[at][axis] for each in wrong} - {each[at][axis] for each in kept} for axis in (0, 1))
        if (at, what) == (2, "left_out"):  # nobody uses a result
            what = "undone" if (rest := _rest(found, rows, columns)) else "unfilled"
            words = words | {"rest": rest}
        if wrong == {each for each in found.right if each[at][0] in rows or each[at][1] in columns}:
            kind = "both" if rows and columns else "row" if rows else "column"
            row_numbers, column_numbers = (comma([str(line) for line in sorted(lines)]) for lines in (rows, columns))
            numbers = {"count": len(rows or columns), "rows": row_numbers, "columns": column_numbers}
            return say(f"read.{what}.{kind}", what=name, **numbers, **words)
        cells = {product[at] for product in wrong}
        if len(cells) <= FEW and wrong == {each for each in found.right if each[at] in cells}:
            named = comma([_index(cell) for cell in sorted(cells)])
            return say(f"read.{what}.cells", what=name, count=len(cells), cells=named, **words)
    return ""


def _rest(found: Provenance, *lines: set[int]) -> str:
    """Return the remainder that all these rows and columns of grad_input belong to; empty where they do not."""
    if found.of != "grad_input" or found.spec.padding_mode != "zeros":
        return ""
    axes = list(zip(lines, found.spec.input_size, found.spec.remainder, strict=True))
    fits = all(each <= set(range(size - rest, size)) for each, size, rest in axes)
    return "×".join(str(rest) for each, _, rest in axes if each) if fits else ""


def _index(cell: Cell) -> str:
    return f"[{cell[0]},{cell[1]}]"
