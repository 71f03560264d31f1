"""Answers as bytes and back: JSON and raw numbers, nothing that could run when it is read."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence

import torch

from convviz.check.answer import KINDS, Answer

_LENGTH = struct.Struct("<Q")


def pack(answer: Answer, read: Sequence[str]) -> bytes:
    """Return an answer, and the keys that were read on the way, as bytes."""
    body = b""
    shapes = []
    for name, value in answer.results.items():
        raw = value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b""
        shapes.append([name, str(value.dtype).removeprefix("torch."), list(value.shape), len(raw)])
        body += raw
    plain = {"kind": answer.kind, "message": answer.message, "seconds": answer.seconds, "remarks": answer.remarks}
    text = json.dumps({**plain, "results": shapes, "read": list(read)}).encode()
    return _LENGTH.pack(len(text)) + text + body


def unpack(data: bytes) -> tuple[Answer, list[str]]:
    """Return what ``pack`` was given.

    Raises:
        ValueError: these bytes are something else.
    """
    try:
        end = _LENGTH.size + _LENGTH.unpack(data[: _LENGTH.size])[0]
        plain = json.loads(data[_LENGTH.size : end])
        results = {}
        for name, dtype, shape, size in plain.pop("results"):
            kind = getattr(torch, dtype)
            raw = bytearray(data[end : end + size])
            flat = torch.frombuffer(raw, dtype=kind) if size else torch.zeros(0, dtype=kind)
            results[str(name)] = flat.reshape(shape)
            end += size
        read = list(map(str, plain.pop("read")))
        answer = Answer(results=results, remarks=tuple(map(str, plain.pop("remarks"))), **plain)
    except (KeyError, TypeError, AttributeError, RuntimeError, struct.error) as error:
        raise ValueError("this is no answer of a child process") from error
    if answer.kind not in KINDS:
        raise ValueError(f"an answer's kind is one of {', '.join(KINDS)}: got {answer.kind!r}")
    return answer, read
