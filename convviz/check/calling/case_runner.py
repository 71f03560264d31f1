"""Puts cases to a student's code, in a warm process of its own where there is one."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Sequence
from typing import Any

import torch

from convviz.cases.battery import Case
from convviz.check.call_outcome import KINDS, Answer
from convviz.check.calling.call_case import ask
from convviz.check.calling.call_plan import Plan
from convviz.check.calling.describe_exception import failure
from convviz.check.calling.function_or_class import Subject
from convviz.check.calling.random_numbers import RandomNumbers
from convviz.facts.words import sentences
from convviz.sandbox.child_process import Bounds, Child, Ended

say = sentences("calling_student_code")


class _Quick(pickle.Pickler):
    """Hands tensors over as NumPy's arrays, which takes a tenth of the time."""

    def reducer_override(self, value: Any) -> Any:
        """Return how to make a tensor anew."""
        return (torch.from_numpy, (value.numpy(),)) if type(value) is torch.Tensor else NotImplemented


def _answer(subject: Subject, plan: Plan, case: Case, twice: bool, numbers: RandomNumbers) -> Answer:
    try:
        return ask(subject, plan, case, twice, numbers)
    except KeyboardInterrupt as error:  # raised by the student's code: nobody pressed Ctrl+C
        kind, message = failure(error, subject.fn)
        return Answer(kind, message=message)


class Asker:
    """Asks what a student wrote: in a process with bounds, or in this one if they are None."""

    def __init__(self, subject: Subject, bounds: Bounds | None) -> None:
        self._subject = subject

        def work(question: bytes) -> bytes:
            plan, cases, twice = pickle.loads(question)
            numbers = RandomNumbers()
            return _pack([_answer(subject, plan, case, twice, numbers) for case in cases])

        self._child = None if bounds is None else Child(work, bounds)

    def ask(self, plan: Plan, case: Case, twice: bool = True) -> Answer:
        """Return what comes of one case; ``"timeout"`` or ``"crashed"`` if the process does not answer.

        ``twice`` calls it a second time, to see that nothing is kept.
        """
        return self._asked(plan, [case], twice)[0]

    def ask_all(self, plan: Plan, cases: Sequence[Case], at_once: int) -> list[Answer]:
        """Return what comes of one call for each case, with one question for many, up to one that ends it."""
        found: list[Answer] = []
        for at in range(0, len(cases), at_once):
            several = cases[at : at + at_once]
            answers = self._asked(plan, several, False)
            # Fewer come back where one of them ended the process.
            found += answers if len(answers) == len(several) else self.ask_all(plan, several, 1)
            if found[-1].kind in ("timeout", "crashed"):
                break
        return found

    def _asked(self, plan: Plan, cases: Sequence[Case], twice: bool) -> list[Answer]:
        if self._child is None:
            numbers = RandomNumbers()
            return [ask(self._subject, plan, case, twice, numbers) for case in cases]
        question = io.BytesIO()
        _Quick(question, pickle.HIGHEST_PROTOCOL).dump((plan, cases, twice))
        try:
            return _unpack(self._child.ask(question.getvalue()))
        except Ended as ended:
            return [Answer(ended.kind, message=str(ended), seconds=ended.seconds)]
        except ValueError:  # the student's code wrote to the pipe itself
            return [Answer("crashed", message=say("garbled"))]

    def close(self) -> None:
        """End the process, if there is one."""
        if self._child is not None:
            self._child.close()


def _pack(answers: Sequence[Answer]) -> bytes:
    """Return answers as JSON, nothing that could run when it is read."""
    plain = []
    for answer in answers:
        results = {}
        for name, value in answer.results.items():
            flat = torch.empty(value.numel(), dtype=value.dtype)  # one number of a strided view has a stride of its own
            raw = flat.copy_(value.reshape(-1)).view(torch.uint8).numpy().tobytes() if value.numel() else b""
            results[name] = [str(value.dtype).removeprefix("torch."), list(value.shape), raw.hex()]
        plain.append({**vars(answer), "results": results, "read": sorted(answer.read)})
    return json.dumps(plain).encode()


def _unpack(data: bytes) -> list[Answer]:
    """Return what ``_pack`` was given.

    Raises:
        ValueError: these bytes are something else.
    """
    found = []
    try:
        for plain in json.loads(data):
            results = {}
            for name, (dtype, shape, raw) in plain.pop("results").items():
                kind = getattr(torch, dtype)
                flat = torch.frombuffer(bytearray.fromhex(raw), dtype=kind) if raw else torch.zeros(0, dtype=kind)
                results[name] = flat.reshape(shape)
            remarks, read = tuple(map(str, plain.pop("remarks"))), frozenset(map(str, plain.pop("read")))
            found.append(Answer(results=results, remarks=remarks, read=read, **plain))
    except (KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise ValueError("this is no answer of a child process") from error
    for answer in found:
        if answer.kind not in KINDS:
            raise ValueError(f"an answer's kind is one of {', '.join(KINDS)}: got {answer.kind!r}")
    return found
