"""What is asked beside the settings: without a bias, in float32, and of autograd for the gradients' own gradients."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from convviz.cases.battery import Case, make_case
from convviz.cases.tasks import GRADIENTS, Task, forward_pass, truth
from convviz.geometry.spec import ConvSpec

# Names of the cases, and of what is asked in them.
NO_BIAS, TWICE, FLOAT32 = "without a bias", "differentiated twice", "in float32"
SPEC, LINEAR_SPEC = ConvSpec((7, 6), 4, 3, 3, 1, 1, batch=2), ConvSpec(1, 5, 4, 1, batch=3)
# By which tensors each gradient has a gradient: it is a product of two of them, or a sum of one.
SECOND: Mapping[str, tuple[str, ...]] = {
    "grad_input": ("weight", "grad_output"),
    "grad_weight": ("input", "grad_output"),
    "grad_bias": ("grad_output",),
}


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
