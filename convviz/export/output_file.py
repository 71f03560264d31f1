"""Write a file whole or not at all, and nothing but a file."""

import os
import stat
from pathlib import Path

from convviz.file_io import write_atomic


def write(path: Path, content: bytes, what: str) -> Path:
    """Nobody finds half a file, and it keeps who may read it."""
    try:
        _refuse_others(path)
        write_atomic(path, content)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        shown = str(path) if str(path).isprintable() else ascii(str(path))
        kind = type(error) if isinstance(error, OSError) else OSError
        raise kind(f"the {what} cannot be written to {shown}: {why}; choose another path") from error
    return path


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
