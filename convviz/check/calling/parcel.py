"""Answers as bytes and back: JSON and raw numbers, nothing that could run when it is read."""

from __future__ import annotations

import json
import struct
from typing import Any

import torch

from convviz.check.answer import KINDS, Answer

_LENGTH = struct.Struct("<Q")


def pack(answer: Answer | None, more: dict[str, Any]) -> bytes:
    """Return an answer and plain data as bytes."""
    head: dict[str, Any] = {"more": more, "answer": None}
    body = b""
    if answer is not None:
        shapes = []
        for name, value in answer.results.items():
            raw = value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b""
            shapes.append([name, str(value.dtype).removeprefix("torch."), list(value.shape), len(raw)])
            body += raw
        plain = {"kind": answer.kind, "message": answer.message, "seconds": answer.seconds, "printed": answer.printed}
        head["answer"] = {**plain, "remarks": answer.remarks, "results": shapes}
    text = json.dumps(head).encode()
    return _LENGTH.pack(len(text)) + text + body


def unpack(data: bytes) -> tuple[Answer | None, dict[str, Any]]:
    """Return what ``pack`` was given.

    Raises:
        ValueError: these bytes are something else.
    """
    try:
        end = _LENGTH.size + _LENGTH.unpack(data[: _LENGTH.size])[0]
        head = json.loads(data[_LENGTH.size : end])
        plain = head["answer"]
        if plain is None:
            return None, dict(head["more"])
        results = {}
        for name, dtype, shape, size in plain.pop("results"):
            kind = getattr(torch, dtype)
            raw = bytearray(data[end : end + size])
            flat = torch.frombuffer(raw, dtype=kind) if size else torch.zeros(0, dtype=kind)
            results[str(name)] = flat.reshape(shape)
            end += size
        answer = Answer(results=results, remarks=tuple(map(str, plain.pop("remarks"))), **plain)
    except (KeyError, TypeError, AttributeError, RuntimeError, struct.error) as error:
        raise ValueError("this is no answer of a child process") from error
    if answer.kind not in KINDS:
        raise ValueError(f"an answer's kind is one of {', '.join(KINDS)}: got {answer.kind!r}")
    return answer, dict(head["more"])
