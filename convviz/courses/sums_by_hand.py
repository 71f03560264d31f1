"""A result by hand: the products behind each cell as a sum, and which mistake gives a wrong number.

The page says the same of an answer.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from convviz.cases.battery import Case, make_case
from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.mistakes.catalogue import catalogue, compute
from convviz.mistakes.recipe_steps import Recipe

say = sentences("exercise")
say_reason = sentences("wrong_number_reasons")

Cell = tuple[int, ...]
Terms = dict[Cell, list[tuple[float, ...]]]


def worked(result: str, case: Case, right: torch.Tensor) -> list[str]:
    """Return a line for each cell of a result, such as ``grad_input[0,1] = 2·3 + (−1)·2 = 4``."""
    terms = products(result, case)
    lines = []
    for cell in itertools.product(*map(range, right.shape)):
        name = cell_name(result, cell, right.shape)
        factors = ((f"({number_text(one)})" if one < 0 else number_text(one) for one in each) for each in terms[cell])
        sums = f"{name} = {' + '.join(map('·'.join, factors))} = {number_text(float(right[cell]))}"
        lines.append(sums if terms[cell] else say("no_term", cell=name))
    return lines


def products(result: str, case: Case) -> Terms:
    """Return the factors of each product by the cell that it goes to, read from the taps."""
    terms: Terms = defaultdict(list)
    if result == "grad_bias":
        for n, o, row, column in itertools.product(*map(range, case.spec.output_shape)):
            terms[(o,)].append((float(case.grad_output[n, o, row, column]),))
        return terms
    for sent, weight, read in _cells(case):
        cell, factors = {
            "output": (sent, (case.weight[weight], case.input[read])),
            "grad_input": (read, (case.grad_output[sent], case.weight[weight])),
            "grad_weight": (weight, (case.grad_output[sent], case.input[read])),
        }[result]
        terms[cell].append(tuple(map(float, factors)))
    if result == "output":
        for cell in itertools.product(*map(range, case.spec.output_shape)):
            terms[cell].append((float(case.bias[cell[1]]),))
    return terms


def _cells(case: Case) -> Iterator[tuple[Cell, Cell, Cell]]:
    spec = case.spec
    per, out = spec.in_channels // spec.groups, spec.out_channels // spec.groups
    for n, o, c in itertools.product(range(spec.batch), range(spec.out_channels), range(per)):
        for (row, i, y), (column, j, x) in itertools.product(spec.axis_taps(0), spec.axis_taps(1)):
            yield (n, o, row, column), (o, c, i, j), (n, o // out * per + c, y, x)


def cell_name(result: str, cell: Cell, shape: Sequence[int]) -> str:
    """Return a cell as it is called on paper: without sample and channel where there is one of each."""
    shown = cell[-2:] if len(shape) == 4 and shape[0] == shape[1] == 1 else cell
    return f"{result}[{','.join(map(str, shown))}]"


def number_text(number: float) -> str:
    """Return a number as short as it can be said, with a true minus sign."""
    return f"{number + 0.0:.4g}".replace("-", "−")


@dataclass(frozen=True)
class Reason:
    """A wrong number of one cell, and what gives it."""

    cell: Cell  # its indices
    number: str  # as it is written
    clauses: tuple[str, ...]  # each mistake that gives it, after "if", the likeliest first


def reasons(result: str, case: Case, right: torch.Tensor) -> Iterator[Reason]:
    """Yield every wrong number that some mistake gives, cell by cell; what a mistake leaves right says nothing."""
    made = list(_made(result, case, right))
    for cell in itertools.product(*map(range, right.shape)):
        found: dict[str, dict[str, None]] = {}
        for clause, tensor in made:
            number = _at(tensor, right.shape, cell)
            if number is not None:
                found.setdefault(number_text(number), {})[clause] = None
        found.pop(number_text(float(right[cell])), None)
        yield from (Reason(cell, number, tuple(clauses)) for number, clauses in found.items())


def _made(result: str, case: Case, right: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    other = make_case("numbers that hide nothing", case.spec, 0)
    for id in facts("diagnosable_mistakes")["likeliest"]:
        mistake = catalogue()[id]
        for way in mistake.ways if result in mistake.of else ():
            tensor = compute(result, way, case)
            if tensor is not None and _is_whole(result, way, other):
                yield say_reason(f"if.{id}"), tensor
    if not any(result in catalogue()[id].of for id in ("I26", "G07")):
        yield say_reason("if.sign"), -right


def _is_whole(result: str, way: Recipe, case: Case) -> bool:
    """Return whether each choice of a way matters in a geometry: where one does nothing, it is another mistake."""
    whole = compute(result, way, case)
    for step in way:
        less = compute(result, {name: choice for name, choice in way.items() if name != step}, case)
        if whole is not None and less is not None and whole.shape == less.shape and torch.allclose(whole, less):
            return False
    return True


def _at(tensor: torch.Tensor, shape: torch.Size, cell: Cell) -> float | None:
    """Return the number of a cell in a tensor that may have come out in another shape; None where it has none."""
    if len(shape) == 1:
        if tensor.numel() == 1:
            return float(tensor.reshape(()))  # one number for all
        return float(tensor[cell]) if tensor.shape == shape else None
    inside = tensor.dim() == 4 and all(at < size for at, size in zip(cell, tensor.shape, strict=True))
    return float(tensor[cell]) if inside and tensor.shape[:2] == shape[:2] else None
