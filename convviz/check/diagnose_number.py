"""Why a number is wrong: which mistakes of the catalogue give it in its cell. The page says the same of an answer."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from convviz.check.battery import Case, make_case
from convviz.check.mistakes import catalogue, compute
from convviz.check.recipes.recipe_steps import Recipe
from convviz.check.worked_sums import number_text
from convviz.facts import facts
from convviz.facts.words import sentences

say = sentences("reasons")

Cell = tuple[int, ...]


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
    for id in facts("reasons")["likeliest"]:
        mistake = catalogue()[id]
        for way in mistake.ways if result in mistake.of else ():
            tensor = compute(result, way, case)
            if tensor is not None and _is_whole(result, way, other):
                yield say(f"if.{id}"), tensor
    if not any(result in catalogue()[id].of for id in ("I26", "G07")):
        yield say("if.sign"), -right


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
