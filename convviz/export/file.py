"""Write a file whole or not at all, and nothing but a file."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path


def write(path: Path, content: bytes, what: str) -> Path:
    """Write aside and rename, so that nobody ever finds half a file; a file that is there keeps who may read it.

    Args:
        path: of the file.
        content: all of it.
        what: names it when it cannot be written.

    Raises:
        OSError: it cannot be written there, or what is there is no plain file and would be lost.
    """
    try:
        mode = _mode(path)
        # A name that nobody can foresee, short enough to stand for the longest.
        aside = path.with_name(f".convviz-{secrets.token_hex(8)}")
        _write_new(aside, content, mode)
        try:
            aside.replace(path)
        except OSError:
            aside.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        shown = str(path) if str(path).isprintable() else ascii(str(path))
        kind = type(error) if isinstance(error, OSError) else OSError
        raise kind(f"the {what} cannot be written to {shown}: {why}; choose another path") from error
    return path


def _mode(path: Path) -> int | None:
    """Return who may do what with the file that is there, or None when there is none.

    Raises:
        OSError: it is something else: to replace a link, a device or a pipe by a file would take it away.
    """
    try:
        there = path.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISREG(there.st_mode):
        return there.st_mode & 0o777
    if stat.S_ISLNK(there.st_mode):
        raise OSError(f"it is a link to {os.readlink(path)}, not a file")
    raise OSError("it is a folder, not a file" if stat.S_ISDIR(there.st_mode) else "it is no plain file")


def _write_new(path: Path, content: bytes, mode: int | None) -> None:
    """Write a file that must not be there, not even as a link; take it away again when that fails half-way."""
    # O_EXCL follows no link. Without a mode it is the usual one, which the process's umask narrows.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(content)
        if mode is not None:
            path.chmod(mode)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise
