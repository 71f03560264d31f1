"""A call in a process of its own: ended when its time is over, whatever it started, and held back in what it takes."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import select
import signal
import struct
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import torch

from convviz.check.calling.bounds import Cage, limit_memory
from convviz.facts.words import sentences

say = sentences("calling")

MEMORY = 1 << 30  # bytes that a call may take beyond what the process has
PROCESSES = 64
MOST = 1 << 28  # bytes of an answer
_LENGTH = struct.Struct("<Q")


class Ended(Exception):
    """The process gave no answer; ``kind`` is that of the Answer: timeout or crashed."""

    def __init__(self, kind: str, message: str, seconds: float) -> None:
        super().__init__(message)
        self.kind, self.seconds = kind, seconds


@dataclass(frozen=True)
class Bounds:
    """What a call may take.

    Attributes:
        seconds: of time.
        memory: bytes beyond what the process has when it begins.
        processes: that it may start.
    """

    seconds: float
    memory: int = MEMORY
    processes: int = PROCESSES

    def __post_init__(self) -> None:
        if isinstance(self.seconds, bool) or not isinstance(self.seconds, int | float) or not 0 < self.seconds < 1e6:
            raise ValueError(f"time_limit is a positive number of seconds: got {self.seconds!r}")
        if not hasattr(os, "fork"):
            raise ValueError(
                f"time_limit needs os.fork, as Linux and macOS have it: got {self.seconds!r}; leave it out"
            )

    def sentences(self) -> tuple[str, ...]:
        """Say what is bounded here, and what is not."""
        with Cage(self.processes) as cage:
            processes = say(f"bounded.{cage.kind}", count=self.processes)
        memory = "bounded.memory" if sys.platform == "linux" else "bounded.no_memory"
        return (say("bounded.time", seconds=f"{self.seconds:g}"), say(memory, mib=self.memory >> 20), processes)


def in_child(work: Callable[[], bytes], bounds: Bounds) -> bytes:
    """Return what ``work`` gives, computed in a forked process that nothing outlives.

    Raises:
        Ended: it ran out of time, or its process ended before it gave anything.
    """
    begin = time.monotonic()
    with Cage(bounds.processes) as cage:
        reader, writer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fork with threads about: the child runs one thread, and ends by _exit
            _flush()
            pid = os.fork()
        if pid == 0:
            _live(work, reader, writer, bounds, cage)
        os.close(writer)
        try:
            answer = _read(reader, begin + bounds.seconds)
        finally:
            os.close(reader)
            status = _end(pid, cage)
    seconds = time.monotonic() - begin
    if answer is None:
        raise Ended("timeout", say("timeout", seconds=f"{bounds.seconds:g}"), seconds)
    if not answer:
        raise Ended("crashed", _why(status), seconds)
    return answer


def _live(work: Callable[[], bytes], reader: int, writer: int, bounds: Bounds, cage: Cage) -> None:
    """Be the child: nothing of it returns to the code around."""
    code = 1
    try:
        os.close(reader)
        with contextlib.suppress(PermissionError):  # the parent was quicker, and made it the head of a group
            os.setsid()
        _die_with_parent()
        faulthandler.disable()  # it would write a stack to the stderr that it was given at the start
        # The pool of threads that the parent had is not there after a fork; one thread asks for none.
        torch.set_num_threads(1)
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
        limit_memory(bounds.memory)
        cage.enter()
        data = work()
        _write(writer, _LENGTH.pack(len(data)) + data)
        code = 0
    except BaseException:  # the parent says that nothing came; a trace on stderr would cost a student the points
        code = 1
    finally:
        os._exit(code)


def _die_with_parent() -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _read(file: int, until: float) -> bytes | None:
    """Return one message; None when time is over, nothing when the other end closed before it was whole."""
    data = bytearray()
    wanted = _LENGTH.size
    while len(data) < wanted:
        left = until - time.monotonic()
        if left <= 0 or not select.select([file], [], [], left)[0]:
            return None
        piece = os.read(file, 1 << 16)
        data += piece
        if not piece:
            return b""
        if wanted == _LENGTH.size and len(data) >= wanted:
            wanted += _LENGTH.unpack(data[:wanted])[0]
            if wanted > MOST:
                return b""
    return bytes(data[_LENGTH.size : wanted])


def _end(pid: int, cage: Cage) -> int:
    """Kill the process and all that it started; return how it ended."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    cage.clear()
    return status


def _why(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        return say("killed", signal=signal.Signals(-code).name if -code in list(signal.Signals) else -code)
    return say("ended", code=code)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
