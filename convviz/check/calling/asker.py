"""Puts cases to a student's code, in a warm process of its own where there is one."""

from __future__ import annotations

import io
import json
import pickle
import struct
from collections.abc import Sequence
from typing import Any

import torch

from convviz.check.answer import KINDS, Answer
from convviz.check.battery import Case
from convviz.check.calling.arrays import Kept
from convviz.check.calling.asking import ask
from convviz.check.calling.child import Bounds, Child, Ended
from convviz.check.calling.failures import failure
from convviz.check.calling.plan import Plan
from convviz.check.calling.subject import Subject
from convviz.facts.words import sentences

say = sentences("calling")
_LENGTH = struct.Struct("<Q")


class _Quick(pickle.Pickler):
    """Hands tensors over as NumPy's arrays, which takes a tenth of the time."""

    def reducer_override(self, value: Any) -> Any:
        """Return how to make a tensor anew."""
        return (torch.from_numpy, (value.numpy(),)) if type(value) is torch.Tensor else NotImplemented


def _question(number: int, parts: tuple[Any, ...]) -> bytes:
    file = io.BytesIO()
    _Quick(file, pickle.HIGHEST_PROTOCOL).dump((number, *parts))
    return file.getvalue()


def _answer(subject: Subject, plan: Plan, case: Case, twice: bool, kept: Kept) -> Answer:
    try:
        return ask(subject, plan, case, twice, kept)
    except KeyboardInterrupt as error:  # which nobody pressed
        kind, message = failure(error, subject.fn)
        return Answer(kind, message=message)


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
            return _pack([_answer(subjects[number], plan, case, twice, kept) for case in cases])

        self._child = None if bounds is None else Child(work, bounds)

    def ask(self, subject: Subject, plan: Plan, case: Case, twice: bool = True) -> Answer:
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

    def ask_all(self, subject: Subject, plan: Plan, cases: Sequence[Case], at_once: int) -> list[Answer]:
        """Return what comes of one call for each case, with one question for many, up to one that ends it."""
        if self._child is None:
            return [self.ask(subject, plan, case, False) for case in cases]
        found: list[Answer] = []
        for at in range(0, len(cases), at_once):
            several = cases[at : at + at_once]
            answers = self._asked(self._child, (subject, plan, several, False)) if at_once > 1 else []
            if len(answers) == len(several) > 1:
                found += answers
                continue
            for case in several:  # one of them ended the process
                found.append(self.ask(subject, plan, case, False))
                if found[-1].kind in ("timeout", "crashed"):
                    return found
        return found

    def _asked(self, child: Child, question: tuple[Subject, Plan, Sequence[Case], bool]) -> list[Answer]:
        """Return an answer for each case, or the one of a process that ended instead of answering."""
        number = next(at for at, each in enumerate(self._subjects) if each is question[0])
        try:
            return _unpack(child.ask(_question(number, question[1:])))
        except Ended as ended:
            return [Answer(ended.kind, message=str(ended), seconds=ended.seconds)]
        except ValueError:  # the student's code wrote to the pipe itself
            return [Answer("crashed", message=say("garbled"))]

    def close(self) -> None:
        """End the process, if there is one."""
        if self._child is not None:
            self._child.close()


def _pack(answers: Sequence[Answer]) -> bytes:
    """Return answers as bytes: JSON and raw numbers, nothing that could run when it is read."""
    body = b""
    plain = []
    for answer in answers:
        shapes = []
        for name, value in answer.results.items():
            flat = torch.empty(value.numel(), dtype=value.dtype)  # one number of a strided view has a stride of its own
            raw = flat.copy_(value.reshape(-1)).view(torch.uint8).numpy().tobytes() if value.numel() else b""
            shapes.append([name, str(value.dtype).removeprefix("torch."), list(value.shape), len(raw)])
            body += raw
        said = {"kind": answer.kind, "message": answer.message, "seconds": answer.seconds, "remarks": answer.remarks}
        plain.append({**said, "results": shapes, "read": sorted(answer.read)})
    text = json.dumps(plain).encode()
    return _LENGTH.pack(len(text)) + text + body


def _unpack(data: bytes) -> list[Answer]:
    """Return what ``_pack`` was given.

    Raises:
        ValueError: these bytes are something else.
    """
    found = []
    try:
        end = _LENGTH.size + _LENGTH.unpack(data[: _LENGTH.size])[0]
        for plain in json.loads(data[_LENGTH.size : end]):
            results = {}
            for name, dtype, shape, size in plain.pop("results"):
                kind = getattr(torch, dtype)
                raw = bytearray(data[end : end + size])
                flat = torch.frombuffer(raw, dtype=kind) if size else torch.zeros(0, dtype=kind)
                results[str(name)] = flat.reshape(shape)
                end += size
            remarks, read = tuple(map(str, plain.pop("remarks"))), frozenset(map(str, plain.pop("read")))
            found.append(Answer(results=results, remarks=remarks, read=read, **plain))
    except (KeyError, TypeError, AttributeError, RuntimeError, struct.error) as error:
        raise ValueError("this is no answer of a child process") from error
    for answer in found:
        if answer.kind not in KINDS:
            raise ValueError(f"an answer's kind is one of {', '.join(KINDS)}: got {answer.kind!r}")
    return found
