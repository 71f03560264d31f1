"""Reads JSON files, and writes files atomically: a file is complete or not there."""

import contextlib
import json
import os
import secrets
import stat
from pathlib import Path
from typing import Any


def read_json(path: str | os.PathLike[str]) -> Any:
    """Return what a file of JSON holds."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ValueError("its brackets are nested too deeply") from error


def utf8(text: str, what: str) -> bytes:
    """Return a text as a file holds it; half of a character, a lone surrogate, is a ValueError."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        half, before = text[error.start], text[max(0, error.start - 20) : error.start]
        raise ValueError(
            f"the {what} holds whole characters only: got half of one, {half!r}, after {before!r}; take it out of the "
            "text that was given"
        ) from error


def write_atomic(path: Path, content: bytes) -> None:
    """Write aside, wait for the disk, and rename; who may read the file stays."""
    mode = _mode(path)
    # A name that nobody can foresee, short enough to stand for the longest.
    aside = path.with_name(f".convviz-{secrets.token_hex(8)}")
    # O_EXCL follows no link. Without a mode it is the usual one, which the process's umask narrows.
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            aside.chmod(mode)
        aside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise


def _mode(path: Path) -> int | None:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return None
    return there.st_mode & 0o777 if stat.S_ISREG(there.st_mode) else None
