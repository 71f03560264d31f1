"""The catalogue of mistakes: one file each in ``facts/mistakes``, and what each would compute."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files

import torch

from convviz.check.battery import Case
from convviz.check.recipes.choices import Recipe
from convviz.check.recipes.grad_input import grad_input
from convviz.check.recipes.grad_weight import grad_bias, grad_weight


@dataclass(frozen=True, eq=False)
class Mistake:
    """A mistake that people make.

    Attributes:
        id: its name in the catalogue: I for grad_input, W for grad_weight, B for grad_bias, then a number.
        of: the gradient that it spoils.
        title: what is wrong, in plain words.
        fix: what to change, and why.
        setting: a link's text that opens the board where the mistake shows.
        met: where it was met in the wild.
        ways: the recipes that people arrive at; each differs from the right one in the choices that it names.
    """

    id: str
    of: str
    title: str
    fix: str
    setting: str
    met: tuple[str, ...]
    ways: tuple[Recipe, ...]

    def results(self, case: Case) -> Iterator[torch.Tensor | None]:
        """Yield what each way of this mistake computes for a case; None where it cannot be computed."""
        for way in self.ways:
            yield compute(self.of, way, case)


@functools.cache
def catalogue() -> Mapping[str, Mistake]:
    """Return every mistake by its id, in the order of the ids."""
    found = {}
    for file in sorted(files("convviz.facts").joinpath("mistakes").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".json"):
            data = json.loads(file.read_text(encoding="utf-8"))
            data |= {"met": tuple(data["met"]), "ways": tuple(data["ways"])}
            found[data["id"]] = Mistake(**data)
    return found


def compute(of: str, recipe: Recipe, case: Case) -> torch.Tensor | None:
    """Return the gradient named ``of`` by a recipe, for the tensors of a case; None where it cannot be computed."""
    if of == "grad_input":
        return grad_input(recipe, case.spec, case.grad_output, case.weight)
    if of == "grad_weight":
        return grad_weight(recipe, case.spec, case.grad_output, case.input)
    return grad_bias(recipe, case.spec, case.grad_output)
