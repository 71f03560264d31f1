"""What was assumed about a function, in sentences."""

from __future__ import annotations

from convviz.check.calling.plan import Plan
from convviz.check.calling.search import Found
from convviz.check.calling.source import is_function
from convviz.check.calling.subject import Subject
from convviz.facts.lists import comma
from convviz.facts.words import sentences

say = sentences("calling")


def assumed(subject: Subject, found: Found, layout: str | None, square: bool) -> tuple[str, ...]:
    """Return a sentence for each thing that was assumed about how a function is called."""
    return (*_called(subject, found.plan), *_shaped(subject, found, layout, square))


def _called(subject: Subject, plan: Plan) -> list[str]:
    binding, task = subject.binding, subject.task
    said = []
    if binding.placed:
        said.append(say("assumed.placed", names=comma(binding.placed)))
    other = [
        f"{each.name} = {each.role}"
        for each in binding.arguments
        if each.role and each.role != each.name and each.role not in binding.placed
    ]
    if other:
        said.append(say("assumed.named", names=comma(other)))
    if plan.form:
        said.append(say("assumed.dict") if plan.form == ("dict",) else say("assumed.cache", names=comma(plan.form)))
    if subject.passes is not None:
        said.append(say("assumed.passes") if subject.passes.maker is None else say("assumed.class"))
    if task.kind == "function":
        said.append(say(f"assumed.{plan.arrays}"))
    elif task.kind == "Function":
        said.append(say("assumed.apply") if is_function(subject.fn) else say("assumed.autograd"))
    else:
        said.append(say("assumed.layer"))
    return said


def _shaped(subject: Subject, found: Found, layout: str | None, square: bool) -> list[str]:
    plan, task = found.plan, subject.task
    said = []
    if task.name.startswith("linear"):
        said.append(say("assumed.linear", data=plan.data, kernel=plan.kernel))
    elif task.name == "conv2d_bias" and layout is None:
        said.append(say("assumed.channels"))
    elif layout is None:
        said.append(say("assumed.layout", data=plan.data, kernel=plan.kernel))
    else:
        said.append(say("assumed.stated", data=plan.data, kernel=plan.kernel))
    if plan.bias != "C":
        said.append(say("assumed.bias", shape=comma(["C" if letter == "C" else "1" for letter in plan.bias])))
    if plan.dtype == "float32":
        said.append(say("assumed.float32"))
    if plan.pairs != "any":
        said.append(say(f"assumed.{plan.pairs}"))
    if square:
        said.append(say("assumed.square"))
    if plan.sizes == "plane":
        said.append(say("assumed.plane"))
    if plan.words:
        said.append(say("assumed.words"))
    filled = subject.passes is not None and subject.passes.is_filled
    if not filled and not subject.has_bias(plan) and set(task.arguments) & {"bias"}:
        said.append(say("assumed.no_bias"))
    if found.score[0] < 0:
        said.append(say("assumed.unknown"))
    return said
