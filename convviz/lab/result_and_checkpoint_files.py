"""Files that are whole or not there: a result, and a checkpoint from which a race goes on."""

import errno
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import torch

from convviz.file_io import write_atomic


def write_file(path: Path, content: bytes, what: str) -> None:
    """Write a file of a race; what was there stays until the new one is whole."""
    try:
        write_atomic(path, content)
    except OSError as error:
        raise _unwritable(path, what, error) from error


def refuse_unwritable(path: Path, what: str) -> None:
    """Raise, before anything is computed, what ``write_file`` would raise once it is."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise _unwritable(path, what, error) from error


def _unwritable(path: Path, what: str, error: OSError) -> OSError:
    return OSError(f"the {what} cannot be written to {path}: {error.strerror or error}; what stood there stays")


def checkpoint_path(out: Path) -> Path:
    """Return where the checkpoint of a result file stands."""
    return out.with_name(f"{out.name}.checkpoint")


def write_checkpoint(path: Path, race: dict[str, Any], lanes: dict[str, Any]) -> None:
    """Write how far a race is: plain data, and the states of networks and optimizers."""
    buffer = io.BytesIO()
    torch.save({"race": json.dumps(race), "lanes": lanes}, buffer)
    write_file(path, buffer.getvalue(), "checkpoint")


def read_checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return what ``write_checkpoint`` was given, its tensors on the CPU; None where there is none."""
    if not path.exists():
        return None
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)  # numbers only: no code of a file is run
        return json.loads(found["race"]), found["lanes"]
    except Exception as error:  # torch.load raises whatever its parts raise
        raise ValueError(f"{path} is no checkpoint of a race; remove it, and the race begins anew") from error
