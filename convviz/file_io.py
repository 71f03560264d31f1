"""Reads JSON files, and writes files atomically: a file is complete or not there, and only a file is replaced."""

import contextlib
import json
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
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


def write(path: Path, content: bytes, what: str) -> Path:
    """Nobody finds half a file, and it keeps who may read it."""
    with _explaining_failures(path, what):
        _refuse_others(path)
        _write_atomic(path, content)
    return path


def refuse_unwritable(path: Path, what: str) -> None:
    """Raise, before anything is computed, what ``write`` would raise once it is."""
    with _explaining_failures(path, what):
        _refuse_others(path)
        with tempfile.TemporaryFile(dir=path.parent):
            pass


@contextlib.contextmanager
def _explaining_failures(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        shown = str(path) if str(path).isprintable() else ascii(str(path))
        kind = type(error) if isinstance(error, OSError) else OSError
        raise kind(f"the {what} cannot be written to {shown}: {why}; choose another path") from error


def _refuse_others(path: Path) -> None:
    """Refuse what is there and no file: a link, a device or a pipe would be replaced."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise OSError(f"it is a link to {os.readlink(path)}, not a file")
    if not stat.S_ISREG(mode):
        raise OSError("it is a folder, not a file" if stat.S_ISDIR(mode) else "it is no plain file")


def _write_atomic(path: Path, content: bytes) -> None:
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
    return there.st_mode & 0o777
