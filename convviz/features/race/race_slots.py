"""Whether this process may race for its visitor: in a notebook; on a server as many at a time as it says."""

import os
from pathlib import Path
from typing import IO

from convviz.app.permissions import is_served
from convviz.facts.words import sentences

say = sentences("features/race")
# Set by `convviz serve --races N`: how many races run at a time, and the folder in which each of them holds a file.
RACES_VARIABLE, FOLDER_VARIABLE = "CONVVIZ_RACES", "CONVVIZ_RACES_FOLDER"


def why_no_races() -> str:
    """Empty where there are."""
    allowed = os.environ.get(RACES_VARIABLE) and os.environ.get(FOLDER_VARIABLE)
    return say("off") if is_served() and not allowed else ""


def take_slot() -> IO[bytes] | None:
    """Return a file, closed when its race has ended: as many can be held as races may run. None without a limit."""
    if not is_served():
        return None
    most = int(os.environ[RACES_VARIABLE])
    for at in range(most):
        file = Path(os.environ[FOLDER_VARIABLE], f"race-{at}").open("ab")  # noqa: SIM115
        try:
            _lock(file)
        except OSError:  # another race has this slot
            file.close()
        else:
            return file
    raise ValueError(say("room", count=most))


def _lock(file: IO[bytes]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
