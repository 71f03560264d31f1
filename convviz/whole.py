"""A file that is whole or not there, whatever happens while it is written."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write aside, wait for the disk, and rename: what was there stays until the new file is whole.

    A file that is there keeps who may read it. Nothing is left behind where the writing fails.

    Args:
        path: of the file; its folder is there.
        content: all of it.

    Raises:
        OSError: it cannot be written.
        ValueError: no file can have that name.
    """
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
    """Return who may do what with the file that is there, or None when there is none."""
    try:
        there = path.lstat()
    except FileNotFoundError:
        return None
    return there.st_mode & 0o777 if stat.S_ISREG(there.st_mode) else None
