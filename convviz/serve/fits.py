"""How many kernels fit the machine, said before a class finds out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

MIB = 1 << 20
# Private memory in MiB, measured on Linux with torch 2.13: a kernel after its page is shown and a hundred steps, by
# itself and forked; the server with some pages; the process that kernels are forked from.
OWN_MIB, SHARED_MIB = 210, 45
SERVER_MIB, WARM_MIB = 100, 260

MEMINFO = Path("/proc/meminfo")
OWN_CGROUP = Path("/proc/self/cgroup")
# Where each of the two kinds of cgroups is, what it calls the limit and the use, and what of that is but kept files.
CGROUPS = (
    (Path("/sys/fs/cgroup"), "memory.max", "memory.current", "inactive_file"),
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def words_of_room(kernels: int, *, shared: bool) -> tuple[int | None, str]:
    """Return how many kernels fit, None where that cannot be known; and a sentence, empty if all of them do.

    Args:
        kernels: How many there may be at a time.
        shared: Whether they share what they load.
    """
    available = available_mib()
    if available is None:
        return None, f"Whether {kernels} kernels fit this machine cannot be known: it does not tell its free memory."
    each, first = (SHARED_MIB, SERVER_MIB + WARM_MIB) if shared else (OWN_MIB, SERVER_MIB)
    fit = max(0, (available - first) // each)
    if fit >= kernels:
        return fit, ""
    return fit, (
        f"{kernels} kernels of {each} MiB do not fit the {available} MiB that are free here: {fit} do."
        if fit
        else f"not one kernel of {each} MiB fits the {available} MiB that are free here: free some, or take a larger "
        "machine; without kernels, `convviz export` writes pages that compute by themselves."
    )


def available_mib() -> int | None:
    """Return the MiB that programs may still take: of the machine, or of the container if that is less."""
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        machine = int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None
    return min([machine, *_left_in_cgroups()]) // MIB


def _left_in_cgroups() -> Iterator[int]:
    """Yield the bytes that each limit around this process leaves."""
    try:
        groups = [line.split(":", 2) for line in OWN_CGROUP.read_text().splitlines()]
    except OSError:
        return
    paths = [Path(path) for _, names, path in groups if not names or "memory" in names.split(",")]
    for root, limit, used, files in CGROUPS:
        for path in paths:
            for folder in {path, *path.parents}:
                left = _left(root / str(folder).lstrip("/"), limit, used, files)
                if left is not None:
                    yield left


def _left(folder: Path, limit: str, used: str, files: str) -> int | None:
    try:
        most = int((folder / limit).read_text())
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return max(0, most - int((folder / used).read_text()) + int(stat[files]))
    except (OSError, KeyError, ValueError):  # no such group; or "max", which is no number
        return None
