"""Folders for a while, of which none is left for long though its server is killed."""

import os
import re
import shutil
import tempfile
from pathlib import Path


def make_folder(kind: str) -> str:
    """Return a new folder, and remove those of killed processes of the same kind."""
    begins = f"convviz-{kind}-"
    for path in Path(tempfile.gettempdir()).glob(f"{begins}*"):
        if (owner := re.match(r"(\d+)-", path.name.removeprefix(begins))) and not _runs(int(owner[1])):
            shutil.rmtree(path, ignore_errors=True)  # of somebody else it stays
    return tempfile.mkdtemp(prefix=f"{begins}{os.getpid()}-")


def _runs(pid: int) -> bool:
    """Return whether a process is there; where that cannot be asked, it is taken to be."""
    if os.name != "posix":  # Windows would end the process that is asked after
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
