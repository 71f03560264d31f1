"""The workers of one server: as many processes as it has cores, each request answered by whichever is free.

A worker that dies, is stopped or takes too long is ended, and the next request gets a new one. Threads talk to them, so
that no worker holds up the server's loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from convviz.app.limits import MEMORY_VARIABLE
from convviz.serve.turns import Turns, Wish
from convviz.serve.worker import RACE, SINGLE, WORKER, spawned

ANSWERS = "convviz.app.answers:answered"
WAITING_BYTES = 128 << 20  # of all requests that wait
SMALL = 4096
TIMES = 2  # a request is tried
LOOK_S = 0.25  # between two looks whether a process that does not answer has been stopped
STARTS_S, FORKS_S, SENDS_S = 120.0, 5.0, 2.0

log = logging.getLogger("tornado.application")


class Refused(Exception):
    """There is no answer; its text is the reason in a word: "late", "died" or "none"."""


@dataclass
class Worker:
    """A process that answers.

    Attributes:
        connection: To it.
        pid: Its number.
        kill: Ends it.
    """

    connection: Connection
    pid: int
    kill: Callable[[], None]

    def answer(self, request: bytes, seconds: float) -> tuple[bytes, bool]:
        """Return the answer to a request, and whether the worker leaves after it.

        Args:
            request: As ``worker.answer`` reads it.
            seconds: That it may take.

        Raises:
            TimeoutError: It takes longer.
            OSError: There is no such worker any more, or somebody has stopped it.
            EOFError: It has ended.
        """
        self.connection.send_bytes(request)
        told = self.hear(seconds)
        return told[:-1], bool(told[-1])

    def hear(self, seconds: float) -> bytes:
        """Return what the worker says next; it raises what ``answer`` does."""
        ends = time.monotonic() + seconds
        while not self.connection.poll(min(LOOK_S, max(0.0, ends - time.monotonic()))):
            look_after(self.pid)
            if time.monotonic() >= ends:
                raise TimeoutError
        return self.connection.recv_bytes()

    def is_gone(self) -> bool:
        """Return whether a worker that was asked nothing has ended: it says nothing by itself."""
        return self.connection.poll(0)

    def end(self) -> None:
        """End the process; it has nothing to save."""
        self.kill()
        self.connection.close()


@dataclass(eq=False)
class Order:
    """What a worker is asked.

    Attributes:
        request: As ``worker.answer`` reads it.
        deliver: Takes the answer, or why there is none in a word: "late", "died" or "none"; until it has left.
        since: When the page asked.
    """

    request: bytes
    deliver: Callable[[bytes, str], Awaitable[None]]
    since: float = field(default_factory=time.monotonic)


class Stem:
    """The process that workers are forked from; another one where it does not answer."""

    def __init__(self, answers: str, environment: dict[str, str]) -> None:
        """Prepare.

        Args:
            answers: What answers in the workers, as module:function.
            environment: Variables of theirs, beside the server's own.
        """
        self._answers = answers
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._lock = threading.Lock()
        self._closed = False
        self.devices: list[str] = []

    @property
    def pid(self) -> int | None:
        """The process's number."""
        return self._process.pid if self._process else None

    def start(self) -> bool:
        """Start the process unless it runs; return whether it forks.

        Raises:
            OSError: It cannot be had.
        """
        with self._lock:
            return self._start()

    def fork(self, kind: bytes) -> Worker:
        """Return a new worker.

        Args:
            kind: What it does: ``WORKER`` or ``RACE``.

        Raises:
            OSError: There is none to be had.
        """
        with self._lock:
            try:
                return self._fork(kind)
            except OSError:  # the process has died since, or somebody has stopped it
                self._end()
                return self._fork(kind)

    def close(self) -> None:
        """End the process for good; its workers go on."""
        self._closed = True
        self._kill()  # whoever waits for it hears of it
        with self._lock:
            self._end()

    def _kill(self) -> None:
        if process := self._process:
            process.kill()
            process.wait()

    def _end(self) -> None:
        self._kill()
        self._process = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _start(self) -> bool:
        if self._connection is not None:
            return True
        if self._closed:
            raise OSError("the server ends")
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "convviz.serve.worker", str(theirs.fileno()), self._answers],
                stdin=subprocess.DEVNULL,
                env={**os.environ, **self._environment},
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl+C in the server's terminal is not meant for it
            )
        self._connection = ours
        try:
            if self._closed:  # meanwhile
                raise OSError("the server ends")
            told = json.loads(self._hear(STARTS_S)[0])
        except OSError:
            self._end()
            raise
        self.devices = told["devices"]
        return bool(told["forks"])

    def _fork(self, kind: bytes) -> Worker:
        self._start()
        ours, theirs = socket.socketpair()
        # A worker that somebody stopped reads nothing: who sends to it gives up.
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", int(SENDS_S), 0))
        with theirs, ours:
            assert self._connection is not None
            socket.send_fds(self._connection, [kind], [theirs.fileno()])
            told, (handle, *_) = self._hear(FORKS_S)
            return Worker(Connection(ours.detach()), struct.unpack("<I", told)[0], Handle(handle).kill)

    def _hear(self, seconds: float) -> tuple[bytes, list[int]]:
        """Return what the process says next; a stopped one says nothing any more."""
        connection, process = self._connection, self._process
        assert connection is not None
        assert process is not None
        connection.settimeout(LOOK_S)
        ends = time.monotonic() + seconds
        while True:
            try:
                told, files, _, _ = socket.recv_fds(connection, 1 << 12, 1)
            except TimeoutError:
                look_after(process.pid)
                if time.monotonic() >= ends:
                    raise
                continue
            if not told:
                raise ConnectionResetError("the process that workers are forked from has ended")
            return told, files


class Handle:
    """A process that another one forked, held by a descriptor."""

    def __init__(self, handle: int) -> None:
        """Take the process's descriptor."""
        self._handle = handle

    def kill(self) -> None:
        """End the process."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def __del__(self) -> None:
        """Let go of the descriptor with the last who could end the process."""
        os.close(self._handle)


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
        """Prepare; nothing runs before ``start``.

        Args:
            count: How many there are; 0: as many as cores. With accelerators: one for each of them.
            memory_mib: What a worker may take beyond what it has at first.
            seconds: That a request may take.
            answers: What answers in a worker, as module:function.
            ended: Hears why a worker was ended: "late", "died" or "grown".
            answered: Hears the seconds from a wish to its answer.
        """
        self.count = count or len(_cores())
        self.devices: list[str] = []
        self.racing: set[Any] = set()  # the pages' races
        self._seconds = seconds
        self._answers = answers
        self._ended, self._answered = ended, answered
        self._environment = {**SINGLE, "CONVVIZ_SERVED": "1", MEMORY_VARIABLE: str(memory_mib)}
        self._stem = Stem(answers, self._environment) if sys.platform.startswith("linux") else None
        self._slots: list[Slot] = []
        self._free: list[Slot] = []
        self._turns = Turns(self.count)
        self._threads = ThreadPoolExecutor(self.count + 1, "worker")
        self._starting: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def stem(self) -> int | None:
        """The number of the process that workers are forked from; None where there is none."""
        return self._stem.pid if self._stem else None

    @property
    def pids(self) -> list[int]:
        """The numbers of the workers, as far as it was not seen that they have ended."""
        return [slot.worker.pid for slot in self._slots if slot.worker]

    async def ready(self) -> None:
        """Start the workers, unless they have been; the first answer can come when this returns.

        Raises:
            OSError: They do not start.
        """
        if self._starting is None or (self._starting.done() and self._starting.exception()):
            self._starting = asyncio.ensure_future(self._start())
        await asyncio.shield(self._starting)

    def close(self) -> None:
        """End all workers."""
        self._closed = True
        for slot in self._slots:
            if worker := slot.worker:
                worker.kill()  # the thread that hears of it closes the rest
        if self._stem:
            self._stem.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def wish(self, wish: Wish) -> None:
        """Let a page's wish wait for its turn.

        Args:
            wish: Its task is an ``Order``.
        """
        self._turns.put(wish)
        self._go_on()

    def waits(self, client: Hashable, page: Hashable, kind: Hashable) -> bool:
        """Return whether a page has a wish of a kind in line."""
        return self._turns.waits(client, page, kind)

    def has_room(self, size: int) -> bool:
        """Return whether a request of so many bytes may wait; of small ones there is no end but that of pages."""
        return size < SMALL or self._turns.size() + size <= WAITING_BYTES

    def leave(self, client: Hashable, page: Hashable) -> None:
        """Forget what a page waits for."""
        self._turns.leave(client, page)

    async def race(self) -> Worker:
        """Return a new process that races for one page.

        Raises:
            OSError: There is none to be had.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._new, True)

    async def _start(self) -> None:
        loop = asyncio.get_running_loop()
        if self._stem and not await loop.run_in_executor(self._threads, self._stem.start):
            self._stem.close()  # no process that has an accelerator may fork
            self.count = max(1, len(self._stem.devices) - 1)
            self._stem = None
            self._turns = Turns(self.count)
        slots = [Slot(self._new, self._seconds, self._ended) for _ in range(self.count)]
        await asyncio.gather(*(loop.run_in_executor(self._threads, slot.start) for slot in slots))
        self._slots, self._free = slots, list(slots)
        self._go_on()

    def _new(self, race: bool = False) -> Worker:
        """Return a new worker, in a thread."""
        if self._closed:
            raise OSError("the server ends")
        if self._stem:
            made = self._stem.fork(RACE if race else WORKER)
            self.devices = self._stem.devices
            return made
        ours, theirs = get_context("spawn").Pipe()
        with theirs:
            process = get_context("spawn").Process(
                target=spawned, args=(theirs, self._answers, self._environment, race), daemon=True
            )
            process.start()
        worker = Worker(ours, process.pid or 0, process.kill)
        try:
            self.devices = json.loads(worker.hear(STARTS_S))["devices"]
        except (EOFError, OSError):
            worker.end()
            raise
        return worker

    def _go_on(self) -> None:
        while self._free and (wish := self._turns.take()):
            task = asyncio.ensure_future(self._answer(self._free.pop(), wish))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, slot: Slot, wish: Wish) -> None:
        order: Order = wish.task
        frame, refused = b"", ""
        try:
            frame = await asyncio.get_running_loop().run_in_executor(self._threads, slot.answer, order.request)
        except Refused as error:
            refused = str(error)
        except RuntimeError:  # the server ends, and its threads have
            return
        except Exception:
            log.exception("A worker could not be asked")
            refused = "died"
        finally:
            self._turns.worked(wish)
            self._free.append(slot)
        self._answered(time.monotonic() - order.since)
        self._go_on()
        await order.deliver(frame, refused)
        self._turns.read(wish)
        self._go_on()


class Slot:
    """The place of one worker, and of those that follow it."""

    def __init__(self, new: Callable[[], Worker], seconds: float, ended: Callable[[str], None]) -> None:
        """Prepare.

        Args:
            new: Makes a worker.
            seconds: That a request may take.
            ended: Hears why a worker was ended.
        """
        self._new, self._seconds, self._ended = new, seconds, ended
        self.worker: Worker | None = None

    def start(self) -> None:
        """Have a worker.

        Raises:
            OSError: There is none to be had.
        """
        if self.worker is None:
            self.worker = self._new()

    def answer(self, request: bytes) -> bytes:
        """Return the answer to a request; one whose worker dies is tried once more.

        Raises:
            Refused: There is none.
        """
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

    def end(self) -> None:
        """End the worker."""
        worker, self.worker = self.worker, None
        if worker:
            worker.end()

    def _end(self, reason: str) -> None:
        self.end()
        self._ended(reason)


def look_after(pid: int) -> None:
    """Look whether a process has been stopped; where nobody tells, it has not.

    Args:
        pid: Its number.

    Raises:
        OSError: It has, or it is not there any more.
    """
    if sys.platform.startswith("linux"):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state in "TtZX":
            raise ProcessLookupError(f"process {pid} has been stopped or has ended")


def _cores() -> Collection[int]:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
