"""The one form of everything binary between page, server and workers: JSON, then bytes beside it. Imports no torch."""

import json
import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

UNIT = 8  # bytes: the page looks at numbers where they lie
HEAD_BYTES = 1 << 20
# Each becomes an object of its own, a hundred times as large as its text; a page's largest message has 25.
MAX_BRACKETS = 4096


def packed(message: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> bytes:
    """Return a message and its buffers, with their ``sizes``, as one frame; NaN is "nan"."""
    content = {**message, "sizes": [len(each) for each in buffers]}
    try:
        text = json.dumps(content, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(content))
    text += " " * (-(4 + len(text)) % UNIT)
    parts = [struct.pack("<I", len(text)), text.encode()]
    for each in buffers:
        parts += [each, bytes(-len(each) % UNIT)]
    return b"".join(parts)


def unpacked(frame: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return the message, without its sizes, and the buffers of a stranger's frame."""
    length = struct.unpack_from("<I", frame)[0] if len(frame) >= UNIT else 0
    if not 0 < length <= min(HEAD_BYTES, len(frame) - 4) or (4 + length) % UNIT:
        raise ValueError("a packed message begins with the length of its JSON, padded to a multiple of 8 bytes")
    message = read_json(frame[4 : 4 + length].decode())
    sizes, at, buffers = message.pop("sizes", None), 4 + length, []
    if not isinstance(sizes, list) or not all(type(size) is int and 0 <= size <= len(frame) for size in sizes):
        raise ValueError("a packed message states the sizes of its buffers")
    for size in sizes:
        buffers.append(frame[at : at + size])
        at += size + -size % UNIT
    if at != len(frame):
        raise ValueError(f"a packed message is as long as it states, {at} bytes: got {len(frame)}")
    return message, buffers


def read_json(text: str) -> dict[str, Any]:
    """Return a stranger's JSON object."""
    if text.count("[") + text.count("{") > MAX_BRACKETS:  # counted in a thousandth of the time that reading takes
        raise ValueError(f"a message has {MAX_BRACKETS} brackets at most")
    try:
        read = json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("a message has few levels") from error
    if not isinstance(read, dict):
        raise ValueError("a message is an object")
    return read


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}")


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
