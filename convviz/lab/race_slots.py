"""How many races run at a time on one server: a race holds a file, and lets go of it however it ends."""

from pathlib import Path
from typing import IO


def take_slot(folder: Path, most: int) -> IO[bytes] | None:
    """Return a file that is held until it is closed; None where all are taken."""
    for at in range(most):
        file = folder.joinpath(f"race-{at}").open("ab")
        try:
            _lock(file)
        except OSError:  # somebody else's
            file.close()
        else:
            return file
    return None


def _lock(file: IO[bytes]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
