"""Puts cases to a student's code, in a warm process of its own where there is one."""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any

import torch

from convviz.check.answer import Answer
from convviz.check.battery import Case
from convviz.check.calling.asking import Outcome, ask
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


def _question(*parts: Any) -> bytes:
    file = io.BytesIO()
    _Quick(file, pickle.HIGHEST_PROTOCOL).dump(parts)
    return file.getvalue()


class Asker:
    """Asks what a student wrote.

    Args:
        subjects: it, with each way to bind its arguments.
        bounds: of its process; None asks it in this one.
    """

    def __init__(self, subjects: Sequence[Subject], bounds: Bounds | None) -> None:
        self._subjects = subjects

        def work(question: bytes) -> bytes:
            number, plan, case, twice = pickle.loads(question)
            try:
                outcome = ask(subjects[number], plan, case, twice)
            except KeyboardInterrupt as error:
                kind, message = failure(error, subjects[number].fn)
                outcome = Outcome(Answer(kind, message=message))
            return pack(outcome.answer, sorted(outcome.read))

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
            return ask(subject, plan, case, twice)
        number = next(at for at, each in enumerate(self._subjects) if each is subject)
        try:
            answer, read = unpack(self._child.ask(_question(number, plan, case, twice)))
        except Ended as ended:
            return Outcome(Answer(ended.kind, message=str(ended), seconds=ended.seconds))
        except ValueError:  # the student's code wrote to the pipe itself
            return Outcome(Answer("crashed", message=say("garbled")))
        return Outcome(answer, frozenset(read))

    def close(self) -> None:
        """End the process, if there is one."""
        if self._child is not None:
            self._child.close()
