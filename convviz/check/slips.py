"""Mistakes that are not in the numbers: what a call did besides, and in which order its results came."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import torch

from convviz.check.answer import Answer
from convviz.check.compare import same
from convviz.check.diagnose import Diagnosis
from convviz.check.mistakes import catalogue
from convviz.check.tasks import Task

Results = Mapping[str, torch.Tensor]


def slips(task: Task, answers: Sequence[Answer], rights: Sequence[Results]) -> list[Diagnosis]:
    """Return what the way of calling and answering says by itself; nothing where it says nothing."""
    kinds = {answer.kind: answer for answer in answers if answer.kind != "ok"}
    if answer := kinds.get("changed_input"):
        return [_diagnosis("Q04" if task.quantised else "I28", answer.message)]
    if answer := kinds.get("keeps_state"):
        return [_diagnosis("I28", answer.message)]
    if any("incorrect number of gradients" in answer.message for answer in kinds.values()):
        return [_diagnosis("G04", "Autograd counts them and refuses.")]
    order = _other_order(task, list(zip(answers, rights, strict=False)))
    if order:
        return [_diagnosis("G03", f"What comes as {', '.join(task.results)} is {', '.join(order)}.")]
    return []


def _other_order(task: Task, pairs: Sequence[tuple[Answer, Results]]) -> tuple[str, ...]:
    """Return the names of the results in the order in which they came, if that is another one and all fit."""
    complete = [(answer.results, right) for answer, right in pairs if answer.results.keys() == right.keys()]
    if len(task.results) < 2 or not complete:
        return ()
    for order in itertools.permutations(task.results):
        renamed = list(zip(task.results, order, strict=True))
        if order != task.results and all(
            same(got[place], right[name]) for got, right in complete for place, name in renamed
        ):
            return order
    return ()


def _diagnosis(id: str, evidence: str) -> Diagnosis:
    mistake = catalogue()[id]
    return Diagnosis(id, ", ".join(mistake.of), mistake.title, evidence, mistake.fix, mistake.setting)
