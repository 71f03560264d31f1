"""What can be seen of a running server: counted for Prometheus, and written to the log, one JSON object a line.

Nothing of it leads to a visitor: no address, no URL, no state.
"""

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any, TextIO

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from convviz.serve.handlers import PlainErrors
from convviz.serve.options import ServeError

ANSWER_S = (0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
MEMORY_EVERY_S = 10.0  # one look at a process costs the system milliseconds


class Log:
    """Writes events, or nothing at all."""

    def __init__(self, where: str | None) -> None:
        """Open the file for more lines; "-" is standard output, None writes nothing."""
        self._file: TextIO | None = None
        if where == "-":
            self._file = sys.stdout
        elif where is not None:
            try:
                self._file = Path(where).open("a", encoding="utf-8")  # noqa: SIM115 - open as long as the server is
            except OSError as refused:
                raise ServeError(
                    f"--log must be a file that can be written, or -, and {where!r} is not: {refused.strerror}."
                ) from refused

    def write(self, event: str, **more: float | str) -> None:
        """A full disk costs the line, not the server."""
        if self._file is None:
            return
        line: dict[str, float | str] = {"time": round(time.time(), 3), "event": event}
        line.update({name: round(value, 3) if isinstance(value, float) else value for name, value in more.items()})
        with contextlib.suppress(OSError):
            print(json.dumps(line), file=self._file, flush=True)


class Metrics:
    """The one object that records everything which happens."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._registry = CollectorRegistry()
        common: Any = {"registry": self._registry}
        self.pages = Gauge("convviz_pages", "Pages that are connected.", **common)
        self._workers = Gauge("convviz_workers", "Processes that compute and live.", **common)
        self._memory = Gauge(
            "convviz_memory_bytes",
            "Memory of the server, and of the workers and kernels that it started, what is shared counted once (PSS); "
            "only with /proc.",
            ["part"],
            **common,
        )
        self.requests = Counter("convviz_requests", "What pages asked torch for, by kind.", ["kind"], **common)
        self.answer = Histogram(
            "convviz_answer_seconds",
            "From a page's request, such as a slider's move, to its answer, at the server.",
            buckets=ANSWER_S,
            **common,
        )
        self._refused = Counter("convviz_refused", "Requests that were refused, by reason.", ["reason"], **common)
        self._ended = Counter("convviz_workers_ended", "Workers that were replaced, by reason.", ["reason"], **common)
        self._measured_at = -MEMORY_EVERY_S

    def record(self, event: str, **more: float | str) -> None:
        self._log.write(event, **more)

    def refused(self, reason: str) -> None:
        self._refused.labels(reason).inc()
        self._log.write("refused", reason=reason)

    def worker_ended(self, reason: str) -> None:
        self._ended.labels(reason).inc()
        self._log.write("worker_ended", reason=reason)

    async def text(self, workers: Collection[int], stem: int | None) -> bytes:
        self._workers.set(len(workers))
        if time.monotonic() - self._measured_at >= MEMORY_EVERY_S:
            self._measured_at = time.monotonic()
            # In a thread: each process takes the system milliseconds.
            await asyncio.get_running_loop().run_in_executor(None, self._measure, {*workers, *([stem] if stem else [])})
        return generate_latest(self._registry)

    def _measure(self, workers: set[int]) -> None:
        own = memory_of(os.getpid())
        if own is None:
            return
        self._memory.labels("server").set(own)
        self._memory.labels("workers").set(sum(memory_of(pid) or 0 for pid in workers.union(descendants(os.getpid()))))


def descendants(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in path.read_text().split():
                found += [int(child), *descendants(int(child))]
    except OSError:  # no /proc, or it has ended meanwhile
        pass
    return found


def memory_of(pid: int) -> int | None:
    """Return its bytes, shared ones divided (PSS)."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:  # no /proc, or it has ended
        pass
    return None


class Health(PlainErrors):
    """Answers a proxy that the server's loop runs."""

    def get(self) -> None:
        self.set_header("Cache-Control", "no-store")
        self.finish({"status": "ok"})

    head = get


class MetricsPage(PlainErrors):
    """Answers Prometheus with what there is; who may ask is for the gate to say."""

    async def get(self) -> None:
        self.set_header("Content-Type", CONTENT_TYPE_LATEST)
        self.set_header("Cache-Control", "no-store")
        workers = self.settings["convviz_workers"]
        self.finish(await self.settings["convviz_metrics"].text(workers.pids, workers.stem))
