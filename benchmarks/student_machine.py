"""What a server and its kernels take of the machine; Linux alone tells the memory that processes share."""

import contextlib
import os
from pathlib import Path

import psutil

MOST_MEMORY = 0.8  # of the machine's, or of the container's: beyond it a run stops
CGROUP = Path("/sys/fs/cgroup")


def tree(pid):
    """Return the processes that descend from one, itself included, without those that have ended."""
    try:
        root = psutil.Process(pid)
        found = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
    return [process for process in found if alive(process)]


def alive(process):
    """Whether a process has not ended; a zombie has."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill(processes):
    """Kill those that still are; psutil compares start times, so a new process with an old number is safe."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def pss_mib(processes):
    """Return the MiB of some processes, what several share counted in parts; None where the system does not tell."""
    total = 0
    for process in processes:
        try:
            lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        except (FileNotFoundError, ProcessLookupError):
            if not Path("/proc/self/smaps_rollup").exists():
                return None
            continue  # it has ended meanwhile
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def cpu_seconds(processes):
    """Return the seconds of CPU that some processes took, with those of their ended children."""
    total = 0.0
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def memory_share():
    """Return which part of the memory is taken: of the machine's or of the container's, whichever is nearer its end."""
    machine = psutil.virtual_memory()
    shares = [1 - machine.available / machine.total]
    with contextlib.suppress(OSError, ValueError):  # no limit reads "max"
        most = int((CGROUP / "memory.max").read_text(encoding="ascii"))
        kept = dict(line.split() for line in (CGROUP / "memory.stat").read_text(encoding="ascii").splitlines())
        shares.append((int((CGROUP / "memory.current").read_text(encoding="ascii")) - int(kept["file"])) / most)
    return max(shares)


def more_files():
    """Let this process, and the server that it starts, open as many files as the system allows it."""
    if os.name == "posix":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
