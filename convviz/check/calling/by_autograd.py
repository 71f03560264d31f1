"""The gradients of a layer or a Function, which autograd asks it for: once, or differentiated twice."""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from convviz.cases.further_questions import SECOND, TWICE, probing
from convviz.cases.tasks import forward_of
from convviz.check.calling.arrays import NotNumbers, hand_over
from convviz.check.calling.call_plan import Given
from convviz.check.calling.function_or_class import AUTOGRAD, Subject
from convviz.check.calling.inspect_source import is_function, mentions
from convviz.check.calling.names_and_layouts import DATA, to_layout
from convviz.check.calling.one_run import Run
from convviz.check.calling.results import only, take_apart
from convviz.facts.words import sentences

say = sentences("calling_student_code")


def derive(run: Run, output: torch.Tensor, leaves: dict[str, torch.Tensor], plain: list[torch.Tensor]) -> None:
    """Take the gradients of an output by its leaves; ``plain`` are biases that nothing would learn."""
    sent = to_layout(run.subject.task.tensor(run.case, "grad_output"), DATA[run.plan.data])
    sent = hand_over(sent, "torch", output.dtype, run.again.turned)
    if sent.shape != output.shape:
        return  # nothing can be sent back through an output of another shape: that is the mistake
    if not output.requires_grad:
        raise NotNumbers(say("no_graph"))
    run.given.hold("grad_output", sent, sent.clone())
    again, back = run.case.way == TWICE, "back" in run.again.disturbed
    sent.requires_grad_(again)
    how = {"allow_unused": True, "create_graph": again, "retain_graph": again or back}
    sums = run.timed(AUTOGRAD, output, (*leaves.values(), *plain), sent, **how)
    if back:
        with contextlib.suppress(Exception):  # what frees all that it needed gives no wrong number
            sums = run.timed(AUTOGRAD, output, (*leaves.values(), *plain), sent, **how)
    run.is_unlearned = any(value is not None for value in sums[len(leaves) :])
    run.is_biased = run.is_biased and (run.is_unlearned or not plain)
    run.returned = (output, *sums[: len(leaves)])
    for role, value in zip(leaves, sums, strict=False):
        if value is None:
            raise NotNumbers(say(_lost(run.subject), name=f"grad_{role}"))
        if again:
            _second(run, role, value, {**leaves, "grad_output": sent})
        else:
            run.take({f"grad_{role}": value}, f"grad_{role}")


def _lost(subject: Subject) -> str:
    """Return the id of the sentence on a gradient that is None, by what its code consists of."""
    if is_function(subject.fn):
        return "no_gradient.returned"
    return "no_gradient" if any(mentions(code, "apply") for code in subject.codes) else "no_gradient.cut"


def _second(run: Run, role: str, gradient: Any, leaves: dict[str, torch.Tensor]) -> None:
    """Derive a gradient again, by each tensor that it is made of; 0 where autograd knows of no way there."""
    task = run.subject.task
    probe = Given(forward_of(task), run.plan, probing(run.case)).value(role)
    for leaf in SECOND[f"grad_{role}"]:
        value, asked = None, leaves[leaf]
        if gradient.requires_grad:
            scalar = (gradient * probe).sum()
            (value,) = run.timed(AUTOGRAD, scalar, asked, allow_unused=True, retain_graph=True)
            if value is None:  # raises if that is marked once_differentiable
                scalar.backward(retain_graph=True)
        like = only(task, "output" if leaf == "grad_output" else f"grad_{leaf}")
        second = take_apart(torch.zeros_like(asked) if value is None else value, like, run.plan)
        run.found[f"grad_{role} by {leaf}"] = second[like.results[0]]
