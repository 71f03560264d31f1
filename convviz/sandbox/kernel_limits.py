"""What holds a process back: the kernel's own means, each where it is there and works."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

if sys.platform != "win32":
    import resource

_NOBODY = range(61_184, 65_520)  # systemd's own range for users that exist as long as a service


class Cage:
    """Bounds the number of processes; cleared, nothing of what was in it runs.

    As root they become a user of its own, who may not read root's files, since RLIMIT_NPROC does not bind root; else
    RLIMIT_NPROC of this user holds, and what leaves the process group lives on. Without a number nothing is bounded.
    """

    def __init__(self, processes: int | None) -> None:
        self._processes = processes
        self._user = 0
        if processes is not None and os.getuid() == 0:
            held, first = {_owner(pid) for pid in _pids()}, os.getpid() % len(_NOBODY)
            self._user = next((user for user in (*_NOBODY[first:], *_NOBODY[:first]) if user not in held), 0)

    def enter(self) -> None:
        """Go in, as the process that is to be bounded."""
        if self._processes is None:
            return
        count = self._processes
        if self._user:
            os.setgroups([])
            os.setgid(self._user)
            os.setuid(self._user)
        else:
            count += len(_pids_of(os.getuid()))
        hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        count = count if hard == resource.RLIM_INFINITY else min(count, hard)
        resource.setrlimit(resource.RLIMIT_NPROC, (count, count))

    def clear(self) -> None:
        """Kill what is left in it; what forks meanwhile cannot outrun its own bound for long."""
        for _ in range(200 if self._user else 0):
            left = _pids_of(self._user)
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                return
            time.sleep(0.005)  # the kernel takes its time to bury them


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


def _pids() -> list[int]:
    with contextlib.suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return []


def _owner(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError, KeyError):
        # Not the owner of its folder: that is root's for a process that has changed its user.
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        fields = {line.partition(":")[0]: line.partition(":")[2].split() for line in lines}
        return -1 if fields["State"][0] in "ZX" else int(fields["Uid"][0])
    return -1


def _pids_of(user: int) -> list[int]:
    return [pid for pid in _pids() if _owner(pid) == user]
