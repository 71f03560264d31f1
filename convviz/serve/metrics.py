"""What can be seen of a running server: counted for Prometheus, and told to the log."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from convviz.serve.handlers import PlainErrors
from convviz.serve.log import Log

START_S = (0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 120)
ANSWER_S = (0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
MEMORY_EVERY_S = 10.0  # one look at a process costs the system milliseconds


class Metrics:
    """The one object that everything which happens is told to."""

    def __init__(self, log: Log) -> None:
        """Begin at nothing.

        Args:
            log: Gets a line for each event.
        """
        self._log = log
        self._registry = CollectorRegistry()
        common: Any = {"registry": self._registry}
        self._sessions = Gauge("convviz_sessions", "Pages that are connected to a kernel.", **common)
        self._kernels = Gauge("convviz_kernels", "Kernels that run.", **common)
        self._queue = Gauge("convviz_queue_length", "Pages that wait in line for a kernel.", **common)
        self._memory = Gauge(
            "convviz_memory_bytes",
            "Memory of the server and of all that it started, what is shared counted once (PSS); only with /proc.",
            ["part"],
            **common,
        )
        self._start = Histogram(
            "convviz_kernel_start_seconds",
            "From a page's wish for a kernel, or the end of its wait in line, to the notebook's outputs.",
            buckets=START_S,
            **common,
        )
        self._answer = Histogram(
            "convviz_answer_seconds",
            "From a page's message, such as a slider's move, to the moment when the kernel is idle again.",
            buckets=ANSWER_S,
            **common,
        )
        self._refused = Counter("convviz_refused", "Requests that were refused, by reason.", ["reason"], **common)
        self._ended = Counter("convviz_kernels_ended", "Kernels that ended, by reason.", ["reason"], **common)
        self._measured_at = -MEMORY_EVERY_S

    def tell(self, event: str, **more: float | str) -> None:
        """Log what is not counted.

        Args:
            event: What happened.
            **more: Such as ``seconds``.
        """
        self._log.write(event, kernel="", **more)

    def refused(self, reason: str) -> None:
        """Count a refusal.

        Args:
            reason: In a word.
        """
        self._refused.labels(reason).inc()
        self._log.write("refused", reason=reason)

    def kernel_started(self, kernel_id: str, seconds: float) -> None:
        """Count a kernel that a page has got.

        Args:
            kernel_id: Its id.
            seconds: That its page waited, its place in line aside.
        """
        self._start.observe(seconds)
        self._log.write("kernel_started", kernel=kernel_id, seconds=seconds)

    def kernel_ended(self, kernel_id: str, reason: str) -> None:
        """Count a kernel that has ended.

        Args:
            kernel_id: Its id.
            reason: In a word.
        """
        self._ended.labels(reason).inc()
        self._log.write("kernel_ended", kernel=kernel_id, reason=reason)

    def answered(self, seconds: float) -> None:
        """Count a kernel's answer to a page.

        Args:
            seconds: That the page waited for it, its way over the network aside.
        """
        self._answer.observe(seconds)

    async def text(self, kernels: Any) -> bytes:
        """Return all of it in Prometheus's text format.

        Args:
            kernels: Their manager, which knows the line, too.
        """
        models = kernels.list_kernels()
        self._kernels.set(len(models))
        self._sessions.set(sum(model["connections"] > 0 for model in models))
        self._queue.set(kernels.places.waiting)
        if time.monotonic() - self._measured_at >= MEMORY_EVERY_S:
            self._measured_at = time.monotonic()
            # In a thread: 300 processes take the system a second or two.
            await asyncio.get_running_loop().run_in_executor(None, self._measure)
        return generate_latest(self._registry)

    def _measure(self) -> None:
        own = memory_of(os.getpid())
        if own is None:
            return
        self._memory.labels("server").set(own)
        self._memory.labels("kernels").set(sum(memory_of(pid) or 0 for pid in descendants(os.getpid())))


def descendants(pid: int) -> list[int]:
    """Return the numbers of the processes that a process has started, and of theirs: kernels, and what forks them.

    Args:
        pid: Its number.
    """
    found: list[int] = []
    try:
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in path.read_text().split():
                found += [int(child), *descendants(int(child))]
    except OSError:  # no /proc, or it has ended meanwhile
        pass
    return found


def memory_of(pid: int) -> int | None:
    """Return the bytes that a process uses, what it shares with others divided among them (PSS); None if unknown.

    Args:
        pid: Its number.
    """
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:  # no /proc, or it has ended
        pass
    return None


class Health(PlainErrors):
    """Tells a proxy that the server's loop runs."""

    def get(self) -> None:
        """Answer."""
        self.set_header("Cache-Control", "no-store")
        self.finish({"status": "ok"})

    head = get


class MetricsPage(PlainErrors):
    """Tells Prometheus what there is; who may ask is for the gate to say."""

    async def get(self) -> None:
        """Answer."""
        self.set_header("Content-Type", CONTENT_TYPE_LATEST)
        self.set_header("Cache-Control", "no-store")
        self.finish(await self.settings["convviz_metrics"].text(self.settings["kernel_manager"]))
