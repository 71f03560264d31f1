"""The one sentence that the sizes of the gradients prove, the gravest first; it speaks of this batch alone."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from convviz.facts.words import sentences
from convviz.features.network.numbers import power
from convviz.features.network.operations import Back, Operation, Run
from convviz.features.network.run_facts import Facts

say = sentences("features/network")

FAR = 1e4  # the factor between two layers' gradients from which on one is said to vanish or to explode
FAINT = 1e-3  # what an addition gets from one side, beside the other, to be said to get next to nothing
ZERO_BELOW = ("relu", "relu6")  # 0 only where nothing comes back


@dataclass(frozen=True)
class Said:
    """A sentence of ``words.json``."""

    id: str
    args: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return it in the caller's language."""
        return say(self.id, **self.args)


def sentence(run: Run) -> str:
    """Return the gravest thing in the caller's language; empty where nothing can be said."""
    found = find(run.operations, run.backs[0])
    return "" if found is None else str(titled(found, run.operations))


def titled(said: Said, operations: Sequence[Operation]) -> Said:
    """Return it with what people call the operations in place of their labels."""
    titles = {each.label: each.title for each in operations}
    read = {name: titles.get(value, value) if isinstance(value, str) else value for name, value in said.args.items()}
    return Said(said.id, read)


def find(operations: Sequence[Operation], back: Back) -> Said | None:
    """Return the gravest thing that is true of a run."""
    facts = Facts(operations, back)
    return next((said for rule in RULES if (said := rule(facts)) is not None), None)


def _not_finite(facts: Facts) -> Said | None:
    for operation in facts.operations:
        if math.isfinite(operation.rms):
            continue
        what = _what(operation.rms)
        if operation.kind == "input":
            return Said("find.input_not_finite", {"what": what, "name": operation.label})
        if operation.weight is not None and not math.isfinite(operation.weight.norm):
            return Said("find.weight_not_finite", {"name": operation.label})
        return Said("find.output_not_finite", {"what": what, "name": operation.label})
    for operation in reversed(facts.operations):
        size = facts.rms(operation)
        if not math.isfinite(size):
            return Said("find.gradient_not_finite", {"what": _what(size), "name": operation.label})
    for index, found in sorted(facts.back.weights.items()):
        if not math.isfinite(found.norm):
            args = {"what": _what(found.norm), "name": facts.operations[index].label}
            return Said("find.grad_weight_not_finite", args)
    return None


def _what(size: float) -> str:
    return "nan" if math.isnan(size) else "inf"


def _cut(facts: Facts) -> Said | None:
    cuts = [each for each in _outside(facts) if facts.lost(each)]
    if not cuts:
        return None
    before = [facts.operations[source] for source in cuts[-1].sources]
    name = next((each.label for each in before if each.differentiable and not facts.came(each)), before[0].label)
    args = {"count": len(facts.without), "all": len(facts.trained), "name": name, "cut": cuts[-1].label}
    return Said("find.cut", args) if len(cuts) == 1 else Said("find.cut.several", {**args, "places": len(cuts)})


def _branch_cut(facts: Facts) -> Said | None:
    cuts = _outside(facts)
    before = [each for each in facts.before(cuts[0]) if facts.came(each)] if cuts else []
    args = {"count": len(cuts), "name": before[0].label, "cut": cuts[0].label} if before else {}
    return Said("find.branch_cut", args) if args else None


def _outside(facts: Facts) -> list[Operation]:
    """Return where the run leaves autograd's graph, if something that got a gradient was computed from there."""
    return [
        operation
        for operation in facts.operations
        if not operation.differentiable
        and any(facts.operations[each].differentiable for each in operation.sources)
        and any(facts.came(facts.operations[index]) for index in facts.after(operation) - {operation.index})
    ]


def _dead(facts: Facts) -> Said | None:
    dead = [each for each in facts.operations if each.kind in ZERO_BELOW and each.zeros == 1 and facts.came(each)]
    return Said("find.dead", {"count": len(dead), "name": dead[0].label}) if dead else None


def _zero(facts: Facts) -> Said | None:
    weights = facts.back.weights
    lost = [each for each in facts.trained if each.index in weights and weights[each.index].norm == 0]
    if not lost:
        return None
    where = next(each for each in reversed(facts.uses) if each.index in weights and weights[each.index].norm == 0)
    after: list[Operation] = []
    while facts.is_zero(where) and not after:
        behind = [each for each in facts.readers[where.index] if facts.came(each)]
        after = [each for each in behind if not facts.is_zero(each)]
        if not behind:
            return None
        where = where if after else behind[0]
    args = {"count": len(lost), "all": len(facts.trained), "name": where.label, "first": lost[0].label}
    if not after:
        return Said("find.weight_zero", args)
    args["after"] = after[0].label
    weight = after[0].weight
    return Said("find.zero_by_weight" if weight is not None and weight.norm == 0 else "find.zero", args)


def _unused(facts: Facts) -> Said | None:
    ends = [each for each in facts.operations if each.differentiable and not facts.readers[each.index]]
    lost = [each for each in ends if not facts.came(each) and facts.lost(each)]
    return Said("find.unused", {"count": len(lost), "name": lost[0].label}) if lost else None


def _far(facts: Facts) -> Said | None:
    got = [each for each in facts.uses if facts.rms(each) > 0]
    if len(got) < 2:
        return None
    end = got[-1]
    least, most = min(got, key=facts.rms), max(got, key=facts.rms)
    for name, far, is_far in (
        ("find.vanishing", least, facts.rms(end) > FAR * facts.rms(least)),
        ("find.exploding", most, facts.rms(most) > FAR * facts.rms(end)),
    ):
        step = _largest_step(facts, far, end, 1 if name == "find.exploding" else -1) if is_far else None
        if step:
            found = facts.back.weights.get(far.index)
            ratio = None if found is None else found.ratio
            args = {"name": far.label, "end": end.label, "ratio": power(facts.rms(far) / facts.rms(end)), **step}
            return Said(name, args) if ratio is None else Said(f"{name}.step", {**args, "change": power(ratio)})
    return None


def _largest_step(facts: Facts, start: Operation, end: Operation, sign: int) -> dict[str, str]:
    """Return between which two operations the gradient changes most on its way back from the end to the start.

    Where the end is on another branch, the way begins where the two meet.
    """
    way, behind_end = facts.after(start), facts.after(end)
    if end.index in way:
        way &= {each.index for each in facts.before(end)}
        behind_end = set()
    steps = []
    for each in (facts.operations[index] for index in sorted(way - {start.index})):
        for before in (facts.operations[source] for source in (way - behind_end).intersection(each.sources)):
            if facts.rms(each) > 0 and facts.rms(before) > 0:
                steps.append((facts.rms(before) / facts.rms(each), before, each))
    if not steps:
        return {}
    ratio, before, at = max(steps, key=lambda step: sign * math.log(step[0]))
    return {"before": before.label, "after": at.label, "factor": power(ratio)}


def _faint_branch(facts: Facts) -> Said | None:
    for operation in facts.operations:
        if operation.kind != "add" or len(operation.sources) != 2:
            continue
        sides = sorted((facts.operations[source] for source in operation.sources), key=lambda each: each.rms)
        if sides[1].rms > 0 and sides[0].rms <= FAINT * sides[1].rms and facts.came(operation):
            args = {"name": operation.label, "faint": sides[0].label, "other": sides[1].label}
            if sides[0].zeros == 1:
                return Said("find.branch_zero", args)
            return Said("find.branch_faint", {**args, "ratio": power(sides[0].rms / sides[1].rms)})
    return None


def _frozen(facts: Facts) -> Said | None:
    frozen = [each for each in facts.weighted if each.weight is not None and not each.weight.trained]
    if not frozen:
        return None
    return Said("find.frozen", {"count": len(frozen), "all": len(facts.weighted), "name": frozen[0].label})


def _healthy(facts: Facts) -> Said | None:
    if lost := facts.without:
        return Said("find.some_none", {"count": len(lost), "all": len(facts.trained), "name": lost[0].label})
    sizes = [facts.rms(each) for each in facts.uses if facts.came(each)]
    if len(sizes) > 1 and min(sizes) > 0:
        return Said("find.healthy", {"factor": power(max(sizes) / min(sizes))})
    if len(sizes) == len(facts.trained) == 1:
        return Said("find.one_layer", {"name": facts.trained[0].label, "size": power(sizes[0])})
    return None


RULES: tuple[Callable[[Facts], Said | None], ...] = (
    _not_finite,
    _cut,
    _dead,
    _zero,
    _unused,
    _far,
    _faint_branch,
    _branch_cut,
    _frozen,
    _healthy,
)
