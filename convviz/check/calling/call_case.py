"""One case put to a student's function, and what came of it."""

from __future__ import annotations

import dataclasses
import math

import torch

from convviz.cases.battery import Case
from convviz.cases.further_questions import FLOAT32, TWICE
from convviz.check.call_outcome import SEVERAL, Answer, period_of, same
from convviz.check.calling.arrays import shares_memory
from convviz.check.calling.call_plan import Plan
from convviz.check.calling.describe_exception import failure
from convviz.check.calling.forward_backward import Call
from convviz.check.calling.function_or_class import Subject
from convviz.check.calling.one_run import Again
from convviz.check.calling.random_numbers import RandomNumbers
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences

say = sentences("calling_student_code")

ONCE_BEYOND = 20_000  # products; in a larger case loops in pure Python would take twice as long


# What may come before a second call, or into it: another image, one of another size, other weights, another layer or
# setting, a backward pass before its own; and the gradients of the call before stay.
DISTURBED = ("image", "size", "weights", "layer", "grads", "back")


def ask(subject: Subject, plan: Plan, case: Case, twice: bool, numbers: RandomNumbers) -> Answer:
    """Return what comes of one case; whatever the code throws, it ends here. Each call begins with these numbers."""
    plan = dataclasses.replace(plan, dtype="float32") if case.way == FLOAT32 else plan
    first = Call(subject, plan, case, numbers)
    kind, message, error = _run(first)
    if kind == "raised" and case.way == TWICE and "once_differentiable" in message:
        kind, message = "said_once", say("said_once")
    if case.way == FLOAT32:  # what was summed in float64 then has the digits of what went in
        first.found = {name: value.to(torch.float32) for name, value in first.found.items()}
    broken = next((name for name, value in first.found.items() if not _is_finite(value)), None)
    if kind == "ok" and broken is not None:
        what = "nan" if bool(first.found[broken].isnan().any()) else "inf"
        kind, message = "not_finite", say("not_finite", name=broken, what=what)
    elif kind == "ok" and (changed := set(first.given.changed)):
        own = subject.task.kind == "Module" and changed <= {"weight", "bias"}
        sentence = "changed_own" if own else "changed_input"
        kind, message = "changed_input", say(sentence, names=", ".join(sorted(changed)))
    elif kind == "ok" and first.is_unlearned and twice:
        kind, message = "wrong_type", say("plain_bias")
    if kind == "ok" and twice and case.way not in (TWICE, FLOAT32) and case.spec.products <= ONCE_BEYOND:
        kind, message = _again(first)
    given = first.given
    return Answer(
        kind, dict(first.found), message, error, first.seconds, tuple(sorted(given.remarks)), frozenset(given.read)
    )


def _is_finite(numbers: torch.Tensor) -> bool:
    # Their sum is finite only if each of them is; only of huge ones it is not.
    return math.isfinite(float(numbers.sum())) or bool(numbers.isfinite().all())


def _run(call: Call) -> tuple[str, str, str]:
    """Run a call, and return its kind, the sentence for it, and the type of what was thrown.

    One that draws has other random numbers, so that what depends on them gives itself away; a layer begins with the
    same, as what it keeps of its first weights is not drawn again.
    """
    try:
        with torch.enable_grad():
            call.run()
    except KeyboardInterrupt:  # of whoever waits; in a process of its own nobody can press it
        raise
    except BaseException as error:  # SystemExit is a student's mistake like others
        return *failure(error, call.subject.fn), type(error).__name__
    finally:
        call.numbers.restore()
    return "ok", "", ""


def _like(first: Call, again: Again | None = None, case: Case | None = None) -> Call:
    """Return one more call of the same code, otherwise or for another case."""
    return Call(first.subject, first.plan, case or first.case, first.numbers, again)


def _again(first: Call) -> tuple[str, str]:
    """Call it a second time, with the same numbers in another order in memory, as they are after a transpose."""
    disturbed: tuple[str, ...] = DISTURBED
    turned = _differs(first, Again(disturbed, turned=True, draws=True))
    if turned[0] == "raised":  # as a layer may that is made for one size
        disturbed = tuple(each for each in DISTURBED if each != "size")
        turned = _differs(first, Again(disturbed, turned=True, draws=True))
    kind, message = _differs(first, Again(disturbed, draws=True)) if turned[0] != "ok" else turned
    likes = [_is_like(first, Again(draws=True)) for _ in range(SEVERAL * (turned[0] != "ok"))]
    if step := period_of(likes):
        return "keeps_state", say("kept.count", step=step)
    # The same call differs, and with the same random numbers does not, or it comes back to what it was.
    if False in likes and (_is_like(first) or True in likes[likes.index(False) :]):
        return "wrong_type", say("random")
    if kind != "ok":
        return "keeps_state", _why(first) or _adds_up(first) or message
    if spoilt := _spoilt(first):
        return "keeps_state", say("kept.own", names=comma(spoilt))
    if turned[0] == "keeps_state":  # what raises, as .view does, gives no wrong number
        if first.plan.arrays != "numpy":
            return "wrong_type", say("memory_order")
        first.given.remarks.add("memory_order")  # NumPy's arrays are in order, unless somebody transposed one
    return _alone(first) if first.subject.task.kind == "Function" else ("ok", "")


def _why(first: Call) -> str:
    """Return in a sentence which disturbance alone makes a difference; empty if none is needed, or an image."""
    if not _is_like(first) or not _is_like(first, Again(("image",))):
        return ""
    kept = ((each, _unlike(first, Again((each,)))) for each in DISTURBED[1:])
    return next((say(f"kept.{each}", names=comma(names)) for each, names in kept if names), "")


def _adds_up(first: Call) -> str:
    """Return in a sentence which results grow by the same in each call, as a sum does that nothing sets to zero."""
    calls = [_like(first) for _ in range(3)]
    if any(_run(call)[0] != "ok" for call in calls):
        return ""
    one, two, three = (call.found for call in calls)
    steps = {name: (two[name] - one[name], three[name] - two[name]) for name in one.keys() & two.keys() & three.keys()}
    grown = [name for name in first.found if name in steps and steps[name][0].any() and same(*steps[name])]
    return say("kept.sum", names=comma(grown)) if grown else ""


def _spoilt(first: Call) -> list[str]:
    """Return which of its own weights an object leaves behind as others, so that the next pass gives something else.

    An update may do so. It is made of the gradient: where zeros are sent back, nothing moves, or it decays by a factor.
    """
    if not first.moved or _is_like(first, Again(("image", "left"))):
        return []
    case = first.case.with_tensor("grad_output", torch.zeros_like(first.case.grad_output))
    second = _like(first, case=case)
    _run(second)
    return [
        role.removeprefix("grad_")
        for role, factor in second.moved.items()
        if role in first.moved and not (factor is not None and 0 < factor <= 1)
    ]


def _is_like(first: Call, again: Again | None = None) -> bool:
    """Return whether one more call gives what the first gave."""
    return not _unlike(first, again)


def _unlike(first: Call, again: Again | None = None) -> list[str]:
    """Return what one more call gives otherwise than the first, or does not give as it fails."""
    second = _like(first, again)
    ran = _run(second)[0] == "ok"
    return _off(first, second) or ([] if ran else list(first.found))


def _off(first: Call, second: Call) -> list[str]:
    return [name for name, was in first.found.items() if name not in second.found or not same(second.found[name], was)]


def _differs(first: Call, again: Again) -> tuple[str, str]:
    second = _like(first, again)
    kind, message, _ = _run(second)
    if kind != "ok":
        return "raised", say("second_failed", why=message)
    if shares_memory(first.returned, second.returned):
        return "keeps_state", say("shared_buffer")
    if names := _off(first, second):
        kept = {"class": "keeps_image", "pair": "keeps_between"}.get(first.subject.style, "keeps_state")
        return "keeps_state", say(kept, name=comma(names))
    return "ok", ""


def _alone(first: Call) -> tuple[str, str]:
    """Ask for each gradient by itself: a Function may look at the wrong one of needs_input_grad."""
    for name in [name for name in first.found if name != "output"]:
        second = _like(first, Again(only=name.removeprefix("grad_")))
        _run(second)
        if name not in second.found:
            return "wrong_type", say("alone.none", name=name)
        if name in _off(first, second):
            return "wrong_type", say("alone", name=name)
    return "ok", ""
