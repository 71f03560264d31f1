"""What holds a process back: the kernel's own means, each where it is there and works."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
import time
from pathlib import Path

if sys.platform != "win32":
    import resource

_CGROUPS = Path("/sys/fs/cgroup")
_numbers = itertools.count()
_NOBODY = range(61_184, 65_520)  # systemd's own range for users that exist as long as a service


class Cage:
    """Bounds the number of processes, by the best means there is; cleared, nothing of what was in it runs.

    A control group, where one can be made (the kernel counts, and all that is in it is killed); else for root a user of
    its own, since RLIMIT_NPROC does not bind root, who may not read root's files; else RLIMIT_NPROC of this user, where
    what leaves the process group lives on. Without a number nothing is bounded.
    """

    def __init__(self, processes: int | None) -> None:
        self._processes = processes
        self._folder = None if processes is None else _make_group(processes)
        self._user = 0
        if processes is not None and self._folder is None and os.getuid() == 0:
            self._user = _unused_user()

    def enter(self) -> None:
        """Go in, as the process that is to be bounded."""
        if self._folder is not None:
            (self._folder / "cgroup.procs").write_text(str(os.getpid()))
        if self._folder is not None or self._processes is None:
            return
        count = self._processes
        if self._user:
            os.setgroups([])
            os.setgid(self._user)
            os.setuid(self._user)
        else:
            count += _processes_of(os.getuid())
        hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        count = count if hard == resource.RLIM_INFINITY else min(count, hard)
        resource.setrlimit(resource.RLIMIT_NPROC, (count, count))

    def clear(self) -> None:
        """Kill what is left in it; what forks meanwhile cannot outrun its own bound for long."""
        for _ in range(200):
            left = self._members()
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                break
            time.sleep(0.005)  # the kernel takes its time to bury them
        if self._folder is not None:
            with contextlib.suppress(OSError):
                self._folder.rmdir()

    def _members(self) -> list[int]:
        if self._folder is not None:
            with contextlib.suppress(OSError, ValueError):
                return [int(line) for line in (self._folder / "cgroup.procs").read_text().split()]
        if self._user:
            return _pids_of(self._user)
        return []


def limit_memory(allowance: int) -> None:
    """Bound the address space of this process to what it has and an allowance, and its files to 64 MiB."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + allowance
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _make_group(processes: int) -> Path | None:
    """Return a new control group that counts processes, None where none can be made."""
    name = f"convviz-{os.getpid()}-{next(_numbers)}"
    for parent in _parents():
        folder = parent / name
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            (folder / "pids.max").write_text(str(processes))
            return folder
        except OSError:
            with contextlib.suppress(OSError):
                folder.rmdir()
    return None


def _parents() -> list[Path]:
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        base = _CGROUPS / "pids" if "pids" in controllers.split(",") else _CGROUPS if not controllers else None
        if base is not None:
            found += [base / path.lstrip("/"), base]
    return [each for each in found if each.is_dir()]


def _unused_user() -> int:
    held = {_owner(pid) for pid in _pids()}
    first = os.getpid() % len(_NOBODY)
    return next((user for user in (*_NOBODY[first:], *_NOBODY[:first]) if user not in held), 0)


def _pids() -> list[int]:
    with contextlib.suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return []


def _owner(pid: int) -> int:
    """Return the user of a process that runs; -1 if it is gone, or dead and not yet buried."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        # Not the owner of its folder: that is root's for a process that has changed its user.
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        fields = {line.partition(":")[0]: line.partition(":")[2].split() for line in lines}
        return -1 if fields["State"][0] in "ZX" else int(fields["Uid"][0])
    return -1


def _pids_of(user: int) -> list[int]:
    return [pid for pid in _pids() if _owner(pid) == user]


def _processes_of(user: int) -> int:
    return len(_pids_of(user))
