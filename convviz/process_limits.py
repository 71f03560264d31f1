"""What a worker, or a visitor's kernel, may use of a machine that others share; the server says so by variables."""

import os
from pathlib import Path

MEMORY_VARIABLE = "CONVVIZ_MEMORY_MIB"  # beyond what the kernel has when it begins
NICE_VARIABLE = "CONVVIZ_NICE"  # how far it stands back behind the server
STATUS = Path("/proc/self/status")
MIB = 1 << 20


def apply() -> None:
    """Take the limits upon this process and what it starts, when torch is loaded: what that takes is no visitor's."""
    nice = os.environ.get(NICE_VARIABLE)
    if nice is not None and hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, 0, max(int(nice), os.getpriority(os.PRIO_PROCESS, 0)))
    memory = os.environ.get(MEMORY_VARIABLE)
    if memory is not None:
        limit_memory(int(memory))


def is_near() -> bool:
    """Return whether this process has taken half of the memory that it may take."""
    memory, used = os.environ.get(MEMORY_VARIABLE), _private_memory()
    if memory is None or used is None:
        return False
    import resource  # there is one where memory is counted

    most, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return most != resource.RLIM_INFINITY and most - used < int(memory) * MIB // 2


def limit_memory(more: int) -> None:
    """Let this process take so many MiB beyond what it has, where that is counted."""
    if (used := _private_memory()) is None:
        return
    import resource  # Windows has none

    # Never above what is there already: a second app has what the first took, and not as much on top.
    limits = [each for each in resource.getrlimit(resource.RLIMIT_DATA) if each != resource.RLIM_INFINITY]
    least = min([used + more * MIB, *limits])
    resource.setrlimit(resource.RLIMIT_DATA, (least, least))


def _private_memory() -> int | None:
    try:
        lines = STATUS.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:")), None)
