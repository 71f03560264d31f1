"""padding="same": how many rows it puts where, above stride 1 as TensorFlow defines it, and by which rule others do.

And what code pads that is told nothing of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from convviz.cases.battery import Case
from convviz.cases.tasks import Task, forward_pass, truth
from convviz.check.call_outcome import Tried, same
from convviz.check.diagnose import Diagnosis
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec, Pair, Sides

say = sentences("check")


def same_padding(spec: ConvSpec) -> Sides:
    """Return the rows and columns that "same" puts before and after an input: ⌈N / s⌉ windows, more at the end."""
    return (_sides(spec, 0, spec.stride[0]), _sides(spec, 1, spec.stride[1]))


def _sides(spec: ConvSpec, axis: int, stride: int) -> Pair:
    size = spec.input_size[axis]
    total = max((-(-size // stride) - 1) * stride + spec.effective_kernel[axis] - size, 0)
    return (total // 2, total - total // 2)


def padding_word(spec: ConvSpec) -> str | None:
    """Return the word that stands for a geometry's padding; None where there is none."""
    if not any(map(any, spec.padding)):
        return "valid"
    return "same" if spec.padding == same_padding(spec) else None


def _same(size: Pair, channels: int, out_channels: int, kernel: Pair | int, stride: int = 1) -> ConvSpec:
    loose = ConvSpec(size, channels, out_channels, kernel, stride, 9, batch=2)
    return loose.replace(padding=same_padding(loose))


# For functions that take the padding as a word.
SAME: Mapping[str, ConvSpec] = {
    "same padding, even kernel": _same((6, 5), 2, 3, (4, 2)),
    "same padding, stride 2": _same((6, 8), 2, 3, 3, 2),
    "same padding, stride 2, odd sizes": _same((7, 5), 3, 2, (4, 2), 2),
    "same padding, stride 3 with a remainder": _same((6, 9), 2, 3, (5, 2), 3),
}

# Which sides others choose, by the ends of their sentences' ids.
RULES: Mapping[str, Callable[[ConvSpec], Sides]] = {
    "turned": lambda spec: ((spec.padding[0][1], spec.padding[0][0]), (spec.padding[1][1], spec.padding[1][0])),
    "unstrided": lambda spec: (_sides(spec, 0, 1), _sides(spec, 1, 1)),
}


# What code does that is told no padding and pads by itself: K - 1 rows and columns, so that the size is kept.
OWN: Mapping[str, Callable[[ConvSpec], Sides]] = {
    "after": lambda spec: ((0, spec.effective_kernel[0] - 1), (0, spec.effective_kernel[1] - 1)),
    "before": lambda spec: ((spec.effective_kernel[0] - 1, 0), (spec.effective_kernel[1] - 1, 0)),
    "unstrided": lambda spec: (_sides(spec, 0, 1), _sides(spec, 1, 1)),
}


def other_rule(task: Task, tried: Sequence[Tried]) -> Diagnosis | None:
    """Return which other rule for "same" gives all that is wrong; None where it is not that."""
    wrong = [one for one in tried if not one.is_right]
    if not wrong or any(one.case.name not in SAME for one in wrong):
        return None
    for name, rule in RULES.items():
        if all(_follows(task, one, rule(one.case.spec)) for one in wrong):
            results = ", ".join(name for name in wrong[0].right if any(name in one.wrong for one in wrong))
            fix = say(f"same.{name}.fix")
            return Diagnosis("?", results, say(f"same.{name}"), say("same.seen", count=len(wrong)), fix)
    return None


def own_padding(task: Task, tried: Sequence[Tried]) -> Diagnosis | None:
    """Return by which rule code pads an output that is told no padding; None where it is not that."""
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
    """Return whether an answer is what is right with another padding."""
    spec = tried.case.spec.replace(padding=padding)
    if spec.output_size != tried.case.spec.output_size:
        return False
    other: Case = dataclasses.replace(tried.case, spec=spec)
    whole = truth(task, other)
    return tried.answer.kind == "ok" and tried.answer.has({name: whole[name] for name in tried.right})
