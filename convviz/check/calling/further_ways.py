"""Which of the further questions somebody's code can be asked."""

from __future__ import annotations

from convviz.check.calling.binding import Argument
from convviz.check.calling.call_plan import Plan
from convviz.check.calling.function_or_class import AUTOGRAD, Subject
from convviz.check.further_questions import FLOAT32, NO_BIAS, TWICE


def ways_of(subject: Subject, plan: Plan) -> list[str]:
    """Return what it can be asked beside the settings."""
    bias, task = _bias(subject), subject.task
    is_plain = subject.style == "function" and task.results == ("output",)
    ways = {
        FLOAT32: plan.dtype == "float64" and plan.arrays != "lists",
        NO_BIAS: bias is not None
        and (subject.style in ("Function", "Module") or (is_plain and not demands_bias(subject))),
        # What comes of pieces, a sample each or a plane, has no gradient of its own.
        TWICE: subject.backward is AUTOGRAD and not task.quantised and plan.data[0] == "N",
    }
    return [way for way, holds in ways.items() if holds]


def demands_bias(subject: Subject) -> bool:
    """Return whether its signature leaves nobody the choice to have no bias: None is not its own default."""
    bias = _bias(subject)
    return bias is None or (subject.style != "Module" and bias.default is not None)


def _bias(subject: Subject) -> Argument | None:
    binding = subject.makes if subject.style == "Module" else subject.binding
    return next((each for each in binding.arguments if each.role == "bias"), None)
