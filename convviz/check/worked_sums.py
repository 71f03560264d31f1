"""A result by hand: which products stand behind each of its cells, written as a sum."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

import torch

from convviz.check.battery import Case
from convviz.facts.words import sentences

say = sentences("exercise")

Cell = tuple[int, ...]
Terms = dict[Cell, list[tuple[float, ...]]]


def worked(result: str, case: Case, right: torch.Tensor) -> list[str]:
    """Return a line for each cell of a result, such as ``grad_input[0,1] = 2·3 + (−1)·2 = 4``."""
    terms = products(result, case)
    return [_line(result, cell, right, terms[cell]) for cell in itertools.product(*map(range, right.shape))]


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


def _line(result: str, cell: Cell, right: torch.Tensor, terms: Sequence[tuple[float, ...]]) -> str:
    name = cell_name(result, cell, right.shape)
    if not terms:
        return say("no_term", cell=name)
    sums = " + ".join("·".join(_factor(number) for number in factors) for factors in terms)
    return f"{name} = {sums} = {number_text(float(right[cell]))}"


def cell_name(result: str, cell: Cell, shape: Sequence[int]) -> str:
    """Return a cell as it is called on paper: without sample and channel where there is one of each."""
    shown = cell[-2:] if len(shape) == 4 and shape[0] == shape[1] == 1 else cell
    return f"{result}[{','.join(map(str, shown))}]"


def _factor(number: float) -> str:
    text = number_text(number)
    return f"({text})" if number < 0 else text


def number_text(number: float) -> str:
    """Return a number as short as it can be said, with a true minus sign."""
    return f"{number + 0.0:.4g}".replace("-", "−")
