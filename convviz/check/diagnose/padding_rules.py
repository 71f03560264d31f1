"""By which rule others than torch and TensorFlow put the rows of padding="same", or of any padding of two sides.

And what code pads that gets no padding.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from convviz.cases.battery import Case
from convviz.cases.same_padding import SAME, sides_of_same
from convviz.cases.tasks import Task, forward_pass, truth
from convviz.check.call_outcome import Tried, same
from convviz.check.diagnosis import Diagnosis
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec, Sides

say = sentences("check")


# Which sides others choose, by the ends of their sentences' ids.
RULES: Mapping[str, Callable[[ConvSpec], Sides]] = {
    "turned": lambda spec: ((spec.padding[0][1], spec.padding[0][0]), (spec.padding[1][1], spec.padding[1][0])),
    "unstrided": lambda spec: (sides_of_same(spec, 0, 1), sides_of_same(spec, 1, 1)),
}


# What code does that gets no padding and pads by itself: K - 1 rows and columns, so that the size is kept.
OWN: Mapping[str, Callable[[ConvSpec], Sides]] = {
    "after": lambda spec: ((0, spec.effective_kernel[0] - 1), (0, spec.effective_kernel[1] - 1)),
    "before": lambda spec: ((spec.effective_kernel[0] - 1, 0), (spec.effective_kernel[1] - 1, 0)),
    "unstrided": lambda spec: (sides_of_same(spec, 0, 1), sides_of_same(spec, 1, 1)),
}


def other_rule(task: Task, tried: Sequence[Tried]) -> Diagnosis | None:
    """Return which other rule for "same", or for two sides, gives all that is wrong; None where it is not that."""
    wrong = [one for one in tried if not one.is_right]
    is_word = all(one.case.name in SAME for one in wrong)
    is_apart = all(any(before != after for before, after in one.case.spec.padding) for one in wrong)
    if not wrong or not (is_word or is_apart):
        return None
    rules = RULES if is_word else {"turned": RULES["turned"]}
    found = [name for name, rule in rules.items() if all(_follows(task, one, rule(one.case.spec)) for one in wrong)]
    if not found:
        return None
    results = ", ".join(name for name in wrong[0].right if any(name in one.wrong for one in wrong))
    # A square kernel of 3 with stride 2 gives the same numbers by both.
    id = "same.either" if len(found) > 1 else f"same.{found[0]}" if is_word else "sides.turned"
    fix = say("same.unstrided.fix" if len(found) > 1 else f"{id}.fix")
    return Diagnosis("?", results, say(id), say("same.seen", count=len(wrong)), fix)


def own_padding(task: Task, tried: Sequence[Tried]) -> Diagnosis | None:
    """Return by which rule code pads an output that gets no padding; None where it is not that."""
    wrong = [one for one in tried if not one.is_right]
    for name, rule in OWN.items() if len(tried) > 1 and not task.is_transposed else ():
        if all(_comes(task, one, rule(one.case.spec)) for one in tried):
            spec = max((one.case.spec for one in wrong), key=lambda spec: spec.kernel_size)
            at = {"input": spec.input_shape, "weight": spec.weight_shape, "padding": rule(spec)}
            seen, fix = say("same.seen", count=len(wrong)), say("own.fix", at=str(at).replace("'", '"'))
            return Diagnosis("?", "output", say(f"own.{name}"), seen, fix)
    return None


def _comes(task: Task, tried: Tried, padding: Sides) -> bool:
    """Return whether an output is what is right with another padding, whatever its size."""
    case, got = tried.case, tried.answer.results.get("output")
    other = dataclasses.replace(case, spec=case.spec.replace(padding=padding))
    given = {name: task.tensor(case, name) for name in ("input", "weight", "bias")}
    return got is not None and same(task.whole(got), forward_pass(task, other, given))


def _follows(task: Task, tried: Tried, padding: Sides) -> bool:
    """Return whether what is wrong in an answer is what is right with another padding."""
    spec = tried.case.spec.replace(padding=padding)
    if spec.output_size != tried.case.spec.output_size:
        return False
    other: Case = dataclasses.replace(tried.case, spec=spec)
    whole = truth(task, other)
    return tried.answer.kind == "ok" and tried.answer.has({name: whole[name] for name in tried.wrong})
