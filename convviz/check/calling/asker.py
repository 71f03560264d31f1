"""Puts cases to a student's code, in a warm process of its own where there is one."""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any

import torch

from convviz.check.answer import Answer, Outcome
from convviz.check.battery import Case
from convviz.check.calling.asking import Kept, ask
from convviz.check.calling.child import Bounds, Child, Ended
from convviz.check.calling.failures import failure
from convviz.check.calling.parcel import pack, unpack
from convviz.check.calling.plan import Plan
from convviz.check.calling.subject import Subject
from convviz.facts.words import sentences

say = sentences("calling")


class _Quick(pickle.Pickler):
    """Hands tensors over as NumPy's arrays, which takes a tenth of the time."""

    def reducer_override(self, value: Any) -> Any:
        """Return how to make a tensor anew."""
        return (torch.from_numpy, (value.numpy(),)) if type(value) is torch.Tensor else NotImplemented


def _question(number: int, parts: tuple[Any, ...]) -> bytes:
    file = io.BytesIO()
    _Quick(file, pickle.HIGHEST_PROTOCOL).dump((number, *parts))
    return file.getvalue()


def _outcome(subject: Subject, plan: Plan, case: Case, twice: bool, kept: Kept) -> Outcome:
    try:
        return ask(subject, plan, case, twice, kept)
    except KeyboardInterrupt as error:  # which nobody pressed
        kind, message = failure(error, subject.fn)
        return Outcome(Answer(kind, message=message))


class Asker:
    """Asks what a student wrote.

    Args:
        subjects: it, with each way to bind its arguments.
        bounds: of its process; None asks it in this one.
    """

    def __init__(self, subjects: Sequence[Subject], bounds: Bounds | None) -> None:
        self._subjects = subjects
        self._kept = kept = Kept()

        def work(question: bytes) -> bytes:
            number, plan, cases, twice = pickle.loads(question)
            return pack([_outcome(subjects[number], plan, case, twice, kept) for case in cases])

        self._child = None if bounds is None else Child(work, bounds)

    def ask(self, subject: Subject, plan: Plan, case: Case, twice: bool = True) -> Outcome:
        """Return what comes of one case; ``"timeout"`` or ``"crashed"`` if the process does not answer.

        Args:
            subject: one of those.
            plan: how it is called.
            case: what it is asked.
            twice: whether it is called a second time, to see that nothing is kept.
        """
        if self._child is None:
            return ask(subject, plan, case, twice, self._kept)
        return self._asked(self._child, (subject, plan, [case], twice))[0]

    def ask_all(self, subject: Subject, plan: Plan, cases: Sequence[Case], at_once: int) -> list[Outcome]:
        """Return what comes of one call for each case, with one question for many, up to one that ends it."""
        if self._child is None:
            return [self.ask(subject, plan, case, False) for case in cases]
        found: list[Outcome] = []
        for at in range(0, len(cases), at_once):
            several = cases[at : at + at_once]
            outcomes = self._asked(self._child, (subject, plan, several, False)) if at_once > 1 else []
            if len(outcomes) == len(several) > 1:
                found += outcomes
                continue
            for case in several:  # one of them ended the process
                found.append(self.ask(subject, plan, case, False))
                if found[-1].answer.kind in ("timeout", "crashed"):
                    return found
        return found

    def _asked(self, child: Child, question: tuple[Subject, Plan, Sequence[Case], bool]) -> list[Outcome]:
        """Return an outcome for each case, or the one of a process that ended instead of answering."""
        number = next(at for at, each in enumerate(self._subjects) if each is question[0])
        try:
            return unpack(child.ask(_question(number, question[1:])))
        except Ended as ended:
            return [Outcome(Answer(ended.kind, message=str(ended), seconds=ended.seconds))]
        except ValueError:  # the student's code wrote to the pipe itself
            return [Outcome(Answer("crashed", message=say("garbled")))]

    def close(self) -> None:
        """End the process, if there is one."""
        if self._child is not None:
            self._child.close()
