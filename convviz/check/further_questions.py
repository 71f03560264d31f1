"""What is asked beside the settings: without a bias, in float32, and of autograd for the gradients' own gradients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch

from convviz.cases.battery import Case, make_case
from convviz.cases.tasks import GRADIENTS, Task, forward_pass, truth
from convviz.check.call_outcome import Tried, errors, same
from convviz.check.diagnose import Diagnosis
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("check")

# Names of the cases, and of what is asked in them.
NO_BIAS, TWICE, FLOAT32 = "without a bias", "differentiated twice", "in float32"
SPEC, LINEAR_SPEC = ConvSpec((7, 6), 4, 3, 3, 1, 1, batch=2), ConvSpec(1, 5, 4, 1, batch=3)
# By which tensors each gradient has a gradient: it is a product of two of them, or a sum of one.
SECOND: Mapping[str, tuple[str, ...]] = {
    "grad_input": ("weight", "grad_output"),
    "grad_weight": ("input", "grad_output"),
    "grad_bias": ("grad_output",),
}
ROUNDED = 0.1  # of the largest number: no dtype rounds by more
REFUSED = "different than None"  # in autograd's sentence on a gradient for an input that is None


def right_of(task: Task, case: Case) -> dict[str, torch.Tensor]:
    """Return what is right in a case, whatever is asked there."""
    if case.way == TWICE:
        return _second(task, case)
    if case.way == NO_BIAS:
        whole = truth(task, case.without_bias())
        return {name: value for name, value in whole.items() if name != "grad_bias"}
    return truth(task, case)


def probing(case: Case) -> Case:
    """Return the case whose input, weight and bias the gradients are multiplied with before they are derived again."""
    return make_case("probing", case.spec, 83)


def probe(task: Task, case: Case, gradient: str) -> torch.Tensor:
    """Return what one gradient is multiplied with before it is derived again."""
    return task.tensor(probing(case), gradient.removeprefix("grad_"))


def _second(task: Task, case: Case) -> dict[str, torch.Tensor]:
    """Return the gradients of the sum of each gradient times its probe, as ``"grad_weight by input"``."""
    found: dict[str, torch.Tensor] = {}
    with torch.enable_grad():
        given = {name: task.tensor(case, name).clone().requires_grad_() for name in ("input", "weight", "bias")}
        output = forward_pass(task, case, given)
        sent = task.tensor(case, "grad_output").reshape(output.shape).clone().requires_grad_()
        sums = torch.autograd.grad(output, tuple(given.values()), sent, create_graph=True)
        for name, value in zip(GRADIENTS, sums, strict=True):
            scalar = (value * probe(task, case, name).reshape(value.shape)).sum()
            for leaf in SECOND[name]:
                (second,) = torch.autograd.grad(scalar, {**given, "grad_output": sent}[leaf], retain_graph=True)
                found[f"{name} by {leaf}"] = task.own(second) if second.dim() == 4 else second
    return found


def wrong_answers(tried: Tried) -> Iterator[Diagnosis]:
    """Yield what is wrong where such a question alone is answered wrongly."""
    way, answer = tried.case.way, tried.answer
    wrong = [name for name, value in tried.right.items() if not same(answer.results.get(name, value[:0]), value)]
    results = ", ".join(dict.fromkeys(name.split()[0] for name in wrong or tried.right))
    if way == NO_BIAS:
        id = "gradient" if REFUSED in answer.message else "raised" if answer.failed else "wrong"
        yield Diagnosis("?", results, say(f"further.bias.{id}"), answer.message, say("further.bias.fix"))
    elif way == TWICE and answer.kind != "ok":
        yield Diagnosis("?", results, say("further.twice.raised"), answer.message, say("further.twice.fix"))
    elif way == TWICE:
        yield from _cut(tried, wrong)
    elif answer.kind == "ok":
        off = max(float(errors(answer.results[name], tried.right[name]).max()) for name in wrong)
        largest = max(float(tried.right[name].abs().max()) for name in wrong)
        if off > ROUNDED * largest:
            evidence = say("further.float32.memory", part=f"{off / largest:.0e}")
            yield Diagnosis("?", results, say("further.float32"), evidence, "")
            return
        evidence = say("further.float32.seen", part=f"{off / largest:.0e}")
        yield Diagnosis("?", results, say("further.float32"), evidence, say("further.float32.fix"))
    else:
        evidence = say("further.float32.nan") if answer.kind == "not_finite" else answer.message
        yield Diagnosis("?", results, say("further.float32"), evidence, "")


def _cut(tried: Tried, wrong: list[str]) -> Iterator[Diagnosis]:
    """Yield for each gradient by what it cannot be derived, and whether that is left out or has wrong numbers."""
    for gradient in dict.fromkeys(name.split()[0] for name in wrong):
        leaves = [name.split()[-1] for name in wrong if name.startswith(f"{gradient} ")]
        is_none = not any(bool(tried.answer.results[f"{gradient} by {leaf}"].any()) for leaf in leaves)
        words = {"result": gradient, "names": comma(leaves)}
        title = say("further.twice.zero" if is_none else "further.twice.wrong", **words)
        yield Diagnosis("?", gradient, title, "", say("further.twice.fix"))
