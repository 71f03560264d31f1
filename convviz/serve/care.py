"""How a server looks after its kernels: whoever serves himself is left alone, a class shares a machine."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from convviz.serve.options import ServeOptions


@dataclass(frozen=True)
class Care:
    """What kernels may use, and when they end.

    Attributes:
        comes_back_s: Seconds that a page which lost its connection, or has just arrived, has to connect.
        ping_s: Seconds between two looks whether a page is still there; one that misses two of them is gone.
        idle_s: Seconds of silence between page and kernel after which the kernel rests; 0: never.
        hung_s: Seconds without a sign of a kernel that was asked something after which it is ended; 0: never.
        memory_mib: How much more memory than at its start a kernel may use, in MiB; 0: as much as there is.
        nice: How far a kernel stands back behind the server when both want to compute.
    """

    comes_back_s: float = 120
    ping_s: float = 30
    idle_s: float = 0
    hung_s: float = 0
    memory_mib: int = 0
    nice: int = 0


ALONE = Care()
# A page gone without a word is missed after 3 pings, its connection given up 5 s later by tornado: in 30 s all is over.
CLASS = Care(comes_back_s=9, ping_s=5, idle_s=600, hung_s=30, memory_mib=512, nice=5)


def care_of(options: ServeOptions) -> Care:
    """Return how the kernels of a server are looked after.

    Args:
        options: Checked.
    """
    care = CLASS if options.class_size else ALONE
    return care if options.idle_minutes is None else replace(care, idle_s=options.idle_minutes * 60)


def starts_at_a_time() -> int:
    """Return how many kernels start at a time: a start keeps one core busy."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
