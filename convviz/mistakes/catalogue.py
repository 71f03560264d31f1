"""The catalogue of mistakes: one file each in ``facts/data/mistakes``, and what each would compute."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import torch

from convviz.facts import OF_BINARY_WEIGHTS, OF_POOLINGS, facts
from convviz.facts.i18n.current_language import each_language
from convviz.geometry.spec import ConvSpec
from convviz.mistakes.grad_input import grad_input
from convviz.mistakes.grad_weight import (
    grad_bias,
    grad_weight,
    output,
    to_kept_weight,
    weight_behind,
    weight_in_use,
)
from convviz.mistakes.pooling import pooled
from convviz.mistakes.recipe_steps import Recipe


@dataclass(frozen=True, eq=False)
class Mistake:
    """A mistake that people make."""

    # its name in the catalogue: I for grad_input, W for grad_weight, B for grad_bias, F for the output, Q for binary
    # weights, P for poolings, M for max pooling, A for average pooling, G for what is in no formula, then a number
    id: str
    of: tuple[str, ...]  # the results that it spoils
    title: str  # what is wrong, in plain words
    fix: str  # what to change, and why
    setting: str  # a link's text that opens the board where the mistake shows
    met: tuple[str, ...]  # where it was met in the wild
    # the recipes that people arrive at; each differs from the right one in the choices that it names
    ways: tuple[Recipe, ...]

    def is_of(self, rule: str) -> bool:
        """Return whether a layer can have it: one of binary weights, a pooling, or with no rule a convolution."""
        if rule in ("max", "average", "average inside"):
            return self.id[0] in ("PM" if rule == "max" else "PA") or (self.id[0] == "G" and "grad_input" in self.of)
        return self.id[0] not in OF_POOLINGS + ("" if rule else OF_BINARY_WEIGHTS)


class Setting(Protocol):
    """A geometry with its numbers, such as a case of the checker."""

    @property
    def spec(self) -> ConvSpec:
        """The geometry."""

    @property
    def input(self) -> torch.Tensor:
        """``[N, C_in, H, W]``."""

    @property
    def weight(self) -> torch.Tensor:
        """``[C_out, C_in / groups, kH, kW]``."""

    @property
    def bias(self) -> torch.Tensor:
        """``[C_out]``."""

    @property
    def grad_output(self) -> torch.Tensor:
        """``[N, C_out, H_out, W_out]``."""

    @property
    def quantised(self) -> str:
        """The rule of binary weights; empty for others."""

    @property
    def pooling(self) -> str:
        """The rule of a pooling; empty for others."""


@each_language
def catalogue() -> Mapping[str, Mistake]:
    """Return every mistake by its id, in the order of the ids."""
    lists = ("met", "ways")
    return {
        data["id"]: Mistake(
            **data | {"of": tuple(data["of"].split(", "))} | {name: tuple(data[name]) for name in lists}
        )
        for data in facts("mistakes")
    }


def compute(of: str, recipe: Recipe, case: Setting) -> torch.Tensor | None:
    """Return the result named ``of`` by a recipe, for the tensors of a case; None where it cannot be computed."""
    if case.pooling:
        return pooled(of, recipe, case)
    used = weight_in_use(recipe, case.quantised, case.weight) if case.quantised else case.weight
    with contextlib.suppress(RuntimeError):  # what torch refuses comes to nothing, too
        if of == "output":
            return output(recipe, case.spec, case.input, used, case.bias)
        if of == "grad_input":
            behind = weight_behind(recipe, case.weight, used) if case.quantised else used
            return grad_input(recipe, case.spec, case.grad_output, behind)
        if of == "grad_bias":
            return grad_bias(recipe, case.spec, case.grad_output)
        found = grad_weight(recipe, case.spec, case.grad_output, case.input)
        if case.quantised and found is not None and found.shape == case.weight.shape:
            return to_kept_weight(recipe, case.quantised, found, case.weight)
        return found
    return None
