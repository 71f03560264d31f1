"""Answers as bytes and back: JSON and raw numbers, nothing that could run when it is read."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence

import torch

from convviz.check.answer import KINDS, Answer, Outcome

_LENGTH = struct.Struct("<Q")


def pack(outcomes: Sequence[Outcome]) -> bytes:
    """Return answers, and the keys that were read on the way, as bytes."""
    body = b""
    plain = []
    for outcome in outcomes:
        answer, shapes = outcome.answer, []
        for name, value in answer.results.items():
            raw = value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b""
            shapes.append([name, str(value.dtype).removeprefix("torch."), list(value.shape), len(raw)])
            body += raw
        said = {"kind": answer.kind, "message": answer.message, "seconds": answer.seconds, "remarks": answer.remarks}
        plain.append({**said, "results": shapes, "read": sorted(outcome.read)})
    text = json.dumps(plain).encode()
    return _LENGTH.pack(len(text)) + text + body


def unpack(data: bytes) -> list[Outcome]:
    """Return what ``pack`` was given.

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
            read = frozenset(map(str, plain.pop("read")))
            found.append(Outcome(Answer(results=results, remarks=tuple(map(str, plain.pop("remarks"))), **plain), read))
    except (KeyError, TypeError, AttributeError, RuntimeError, struct.error) as error:
        raise ValueError("this is no answer of a child process") from error
    for outcome in found:
        if outcome.answer.kind not in KINDS:
            raise ValueError(f"an answer's kind is one of {', '.join(KINDS)}: got {outcome.answer.kind!r}")
    return found
