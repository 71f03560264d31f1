"""A student's gradient asked for single ones, at settings of one channel and one sample, each of them once."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from convviz.check.battery import Case, make_case
from convviz.check.calling.student import Student
from convviz.check.provenance import Provenance, provenance
from convviz.check.tasks import Task
from convviz.spec import ConvSpec

PLANAR = ("grad_input", "grad_weight")  # results whose products lie in a plane
# One channel and one sample, asymmetric: what a single 1 leaves behind there can be read off.
PLANES = (ConvSpec((6, 7), kernel_size=(3, 2)), ConvSpec((7, 6), kernel_size=3, stride=2, padding=1))


class SingleOnes:
    """Asks a student's function, and keeps what it said."""

    def __init__(self, task: Task, student: Student) -> None:
        """Ask nothing yet."""
        self._task = task
        self._student = student
        self._known: dict[tuple[str, ConvSpec], Provenance | None] = {}

    def products(self, result: str, wrong: Case) -> Iterator[Provenance]:
        """Yield the products of a result at plain settings, then at that of a wrong case, as far as there are any.

        Args:
            result: such as ``"grad_input"``.
            wrong: whose geometry comes last, with one channel and one sample.
        """
        if recipe_of(self._task, result) not in PLANAR:
            return
        for spec in dict.fromkeys((*PLANES, single(wrong.spec))):
            if (result, spec) not in self._known:
                self._known[result, spec] = self._ask(result, spec)
            found = self._known[result, spec]
            if found is not None:
                yield found

    def _ask(self, result: str, spec: ConvSpec) -> Provenance | None:
        case = make_case("single ones", spec, 77, self._task.quantised)
        if self._student.takes(case):
            return None

        def ask(changed: Case) -> torch.Tensor | None:
            answer = self._student.answer(changed)
            return as_convolution(self._task, result, changed, answer.results.get(result))

        return provenance(recipe_of(self._task, result), spec, case, ask)


def single(spec: ConvSpec) -> ConvSpec:
    """Return a geometry with one channel and one sample."""
    return spec.replace(in_channels=1, out_channels=1, groups=1, batch=1)


def recipe_of(task: Task, result: str) -> str:
    """Return which gradient's recipe computes a result: a transposed convolution's output is a grad_input."""
    return "grad_input" if task.name == "conv_transpose2d" else result


def as_convolution(task: Task, result: str, case: Case, got: torch.Tensor | None) -> torch.Tensor | None:
    """Return a result in the form that the convolution of the same case has it in."""
    if got is None:
        return None
    if task.name == "conv_transpose2d" and got.dim() == 4 and got.shape[1] == case.spec.in_channels:
        return got - case.transposed_bias.to(got.dtype)[:, None, None]
    if task.name.startswith("linear") and got.dim() == 2:
        return got[:, :, None, None]
    return got
