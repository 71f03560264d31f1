"""The workers of one server: as many processes as it has cores, each request answered by whichever is free.

One that dies, is stopped or takes too long is replaced. Threads talk to them: none holds up the server's loop.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from convviz.app.stateful_tab import Tab
from convviz.process_limits import MEMORY_VARIABLE
from convviz.serve.fair_queue import Turns, Wish
from convviz.serve.options import cores
from convviz.serve.worker import SINGLE
from convviz.serve.worker_processes import Stem, Worker, spawn

ANSWERS = "convviz.app.page_requests:answered"
TIMES = 2  # a request is tried

log = logging.getLogger("tornado.application")


class Refused(Exception):
    """There is no answer, because of "late", "died" or "none"."""


@dataclass(eq=False)
class Order:
    """What a worker is asked; ``deliver`` takes the answer, or "late", "died" or "none"."""

    request: bytes
    deliver: Callable[[bytes, str], Awaitable[None]]
    since: float = field(default_factory=time.monotonic)


class Workers:
    """Answers requests, fairly, with a number of processes."""

    def __init__(
        self,
        count: int = 0,
        *,
        memory_mib: int = 1024,
        seconds: float = 10.0,
        answers: str = ANSWERS,
        ended: Callable[[str], None] = lambda reason: None,
        answered: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        """Prepare; a ``count`` of 0 is as many as cores, and with accelerators there is one for each of them.

        ``answers`` is what answers, as module:function; ``ended`` hears, in a thread, "late", "died" or "grown";
        ``memory_mib`` is what a worker may take beyond what it has at first.
        """
        self.count = count or cores()
        self.devices: list[str] = []
        self.tabs: set[Tab] = set()  # with a state that this server holds
        self._seconds = seconds
        self._answers = answers
        self._ended, self._answered = ended, answered
        self._environment = {**SINGLE, "CONVVIZ_SERVED": "1", MEMORY_VARIABLE: str(memory_mib)}
        self._stem = Stem(answers, self._environment) if sys.platform.startswith("linux") else None
        self._slots: list[Slot] = []
        self._free: list[Slot] = []
        self.turns = Turns(self.count)
        self._threads = ThreadPoolExecutor(self.count + 1, "worker")
        self._starting: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def stem(self) -> int | None:
        """What workers are forked from, if anything."""
        return self._stem.pid if self._stem else None

    @property
    def pids(self) -> list[int]:
        return [slot.worker.pid for slot in self._slots if slot.worker]

    async def ready(self) -> None:
        """Start the workers, unless they have been; the first answer can come when this returns."""
        if self._starting is None or (self._starting.done() and self._starting.exception()):
            self._starting = asyncio.ensure_future(self._start())
        await asyncio.shield(self._starting)

    def close(self) -> None:
        self._closed = True
        for tab in list(self.tabs):
            tab.close()
        for slot in self._slots:
            if worker := slot.worker:
                worker.kill()  # the thread that hears of it closes the rest
        if self._stem:
            self._stem.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def wish(self, wish: Wish) -> None:
        """Let a page's wish, whose task is an ``Order``, wait for its turn."""
        self.turns.put(wish)
        self._go_on()

    async def _start(self) -> None:
        loop = asyncio.get_running_loop()
        if self._stem and not await loop.run_in_executor(self._threads, self._stem.start):
            self._stem.close()  # no process that has an accelerator, or threads, may fork
            self._stem = None
        slots = [self._slot()]
        await loop.run_in_executor(self._threads, slots[0].start)
        if len(self.devices) > 1:
            self.count = len(self.devices) - 1
            self.turns = Turns(self.count)
        slots += [self._slot() for _ in range(1, self.count)]
        await asyncio.gather(*(loop.run_in_executor(self._threads, slot.start) for slot in slots))
        self._slots, self._free = slots, list(slots)
        self._go_on()

    def _slot(self) -> Slot:
        return Slot(self._new, self._seconds, self._ended)

    def _new(self) -> Worker:
        if self._closed:
            raise OSError("the server ends")
        if self._stem:
            made = self._stem.fork()
            self.devices = self._stem.devices
            return made
        made, self.devices = spawn(self._answers, self._environment)
        return made

    def _go_on(self) -> None:
        while self._free and (wish := self.turns.take()):
            task = asyncio.ensure_future(self._answer(self._free.pop(), wish))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, slot: Slot, wish: Wish) -> None:
        order: Order = wish.task
        frame, refused, began = b"", "", time.monotonic()
        try:
            frame = await asyncio.get_running_loop().run_in_executor(self._threads, slot.answer, order.request)
        except Refused as error:
            refused = str(error)
        except Exception:
            if not self._closed:
                log.exception("A worker could not be asked")
            refused = "died"
        finally:
            self.turns.worked(wish, time.monotonic() - began)
            self._free.append(slot)
        if self._closed:  # the page asks the next server
            return
        self._answered(time.monotonic() - order.since)
        self._go_on()
        try:
            await order.deliver(frame, refused)
        finally:
            self.turns.read(wish)
        self._go_on()


class Slot:
    """The place of one worker, and of those that follow it."""

    def __init__(self, new: Callable[[], Worker], seconds: float, ended: Callable[[str], None]) -> None:
        self._new, self._seconds, self._ended = new, seconds, ended
        self.worker: Worker | None = None

    def start(self) -> None:
        if self.worker is None:
            self.worker = self._new()

    def answer(self, request: bytes) -> bytes:
        """Return the answer to a request; one whose worker dies is tried once more."""
        if self.worker and self.worker.is_gone():  # nothing has been asked of it
            self._end("died")
        for _ in range(TIMES):
            try:
                self.start()
            except (EOFError, OSError) as error:
                raise Refused("none") from error
            assert self.worker is not None
            try:
                frame, leaves = self.worker.answer(request, self._seconds)
            except TimeoutError as error:
                self._end("late")
                raise Refused("late") from error
            except (EOFError, OSError):
                self._end("died")
                continue
            if leaves:
                self._end("grown")
            return frame
        raise Refused("died")

    def _end(self, reason: str) -> None:
        worker, self.worker = self.worker, None
        if worker:
            worker.end()
        self._ended(reason)
