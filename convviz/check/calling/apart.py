"""Asking and searching in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from convviz.check.answer import Answer
from convviz.check.battery import Case
from convviz.check.calling.asking import ask
from convviz.check.calling.child import Bounds, Ended, in_child
from convviz.check.calling.parcel import pack, unpack
from convviz.check.calling.plan import Plan
from convviz.check.calling.search import Found, search
from convviz.check.calling.subject import Subject
from convviz.check.scope import Scope
from convviz.facts.words import sentences
from convviz.spec import ConvSpec

say = sentences("calling")


def ask_apart(subject: Subject, plan: Plan, case: Case, bounds: Bounds) -> Answer:
    """Return what comes of one case, asked in a child; ``"timeout"`` or ``"crashed"`` if it does not answer."""
    try:
        answer = unpack(in_child(lambda: pack(ask(subject, plan, case).answer, {}), bounds))[0]
    except Ended as ended:
        return Answer(ended.kind, message=str(ended), seconds=ended.seconds)
    except ValueError:  # the student's code wrote to the pipe itself
        return Answer("crashed", message=say("garbled"))
    return answer if answer is not None else Answer("crashed", message=say("garbled"))


def search_apart(
    subjects: Sequence[Subject], probes: Sequence[Case], layout: str | None, scope: Scope, bounds: Bounds
) -> Found:
    """Return how a function is called, found out in a child; the likeliest way if it does not answer."""

    def work() -> bytes:
        found = search(subjects, probes, layout, scope)
        spec = found.spec.to_dict() if found.spec else None
        more = {"plan": asdict(found.plan), "score": found.score, "read": sorted(found.read), "calls": found.calls}
        return pack(None, {**more, "spec": spec, "names": found.names, "binding": found.binding})

    first = Found.first(subjects[0], layout)
    try:
        more = unpack(in_child(work, bounds))[1]
        plan = Plan(**{**more["plan"], "form": tuple(more["plan"]["form"])})
        spec = ConvSpec.from_dict(more["spec"]) if more["spec"] else None
        whole, shapes, part = more["score"]
        score, binding = (int(whole), int(shapes), float(part)), int(more["binding"])
        if not 0 <= binding < len(subjects):
            return first
        return Found(plan, score, set(more["read"]), int(more["calls"]), spec, tuple(more["names"]), binding)
    except (Ended, ValueError, KeyError, TypeError):
        return first
