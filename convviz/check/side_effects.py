"""Mistakes that are not in the numbers: what a call did besides, and in which order its results came."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import torch

from convviz.check.answer import Answer
from convviz.check.compare import same
from convviz.check.diagnose import Diagnosis, diagnosis
from convviz.check.mistakes import catalogue
from convviz.check.tasks import Task
from convviz.facts.words import sentences

say = sentences("check")

Results = Mapping[str, torch.Tensor]


def slips(task: Task, answers: Sequence[Answer], rights: Sequence[Results]) -> list[Diagnosis]:
    """Return what the way of calling and answering says by itself; nothing where it says nothing."""
    kinds = {answer.kind: answer for answer in answers if answer.kind != "ok"}
    if answer := kinds.get("changed_input"):
        return [diagnosis(catalogue()["Q04" if task.quantised else "I28"], answer.message)]
    if answer := kinds.get("keeps_state"):
        return [diagnosis(catalogue()["I28"], answer.message)]
    if any("incorrect number of gradients" in answer.message for answer in kinds.values()):
        return [diagnosis(catalogue()["G04"], say("refused"))]
    order = _other_order(list(zip(answers, rights, strict=False)))
    if order:
        return [diagnosis(catalogue()["G03"], say("order", places=", ".join(rights[0]), names=", ".join(order)))]
    return []


def _other_order(pairs: Sequence[tuple[Answer, Results]]) -> tuple[str, ...]:
    """Return the names of the results in the order in which they came, if that is another one and all fit."""
    complete = [(answer.results, right) for answer, right in pairs if answer.results.keys() == right.keys()]
    names = tuple(complete[0][1]) if complete else ()
    for order in itertools.permutations(names):
        renamed = list(zip(names, order, strict=True))
        if order != names and all(same(got[place], right[name]) for got, right in complete for place, name in renamed):
            return order
    return ()
