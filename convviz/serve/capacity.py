"""How large a class the machine holds, said before the class finds out."""

from collections.abc import Iterator
from pathlib import Path

MIB = 1 << 20
# Memory in MiB, what is shared counted once, rounded up from what was measured on Linux with torch 2.13: the server;
# torch, which the workers share; each worker after all tabs; and what a student's page takes of the server.
SERVER_MIB, TORCH_MIB, WORKER_MIB, STUDENT_MIB = 100, 130, 100, 0.05

MEMINFO = Path("/proc/meminfo")
OWN_CGROUP = Path("/proc/self/cgroup")
# Where each of the two kinds of cgroups is, what it calls the limit and the use, and what of that is but kept files.
CGROUPS = (
    (Path("/sys/fs/cgroup"), "memory.max", "memory.current", "inactive_file"),
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def words_of_room(students: int, workers: int) -> tuple[int | None, str]:
    """Return how many fit, None where that cannot be known; and a sentence."""
    available = available_mib()
    if available is None:
        return (
            None,
            f"Whether {students} students fit this machine cannot be known: it does not report its free memory.",
        )
    first = SERVER_MIB + TORCH_MIB + workers * WORKER_MIB
    fit = max(0, int((available - first) / STUDENT_MIB))
    needs = f"{first + round(students * STUDENT_MIB)} MiB with {workers} workers"
    if fit >= students:
        return fit, f"A class of {students} needs about {needs}, and {available} MiB are free here: it fits."
    more = f"{fit} students do" if fit else "not even one student does: take fewer --workers, or a larger machine"
    return fit, f"A class of {students} needs about {needs}, and {available} MiB are free here: {more}."


def available_mib() -> int | None:
    """Return the MiB that are free: of the machine, or of the container if that is less."""
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        machine = int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None
    return min([machine, *_left_in_cgroups()]) // MIB


def _left_in_cgroups() -> Iterator[int]:
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
