"""Code in a process of its own: one warm child answers by pipe, and is ended with all that it started."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import math
import os
import select
import signal
import struct
import sys
import time
import warnings
import weakref
from collections.abc import Callable
from dataclasses import dataclass

import torch

from convviz.facts.words import sentences
from convviz.sandbox.kernel_limits import Cage, limit_memory

say = sentences("calling_student_code")

MEMORY = 1 << 30  # bytes that a child may take beyond what the process has
PROCESSES = 64
MAX_MESSAGE_BYTES = 1 << 28  # bytes of a message
_LENGTH = struct.Struct("<Q")


class NoDebugger(RuntimeError):
    """A debugger was called for, where nobody could type to it."""


class Ended(Exception):
    """The process gave no answer; ``kind`` is that of the Answer: timeout or crashed."""

    def __init__(self, kind: str, message: str, seconds: float) -> None:
        super().__init__(message)
        self.kind, self.seconds = kind, seconds


@dataclass(frozen=True)
class Bounds:
    """What a student's code may take."""

    seconds: float = 20.0  # that a call may take
    # that it may start; None where nobody asked for a limit, and the code is its user's own
    processes: int | None = None


def bounds_of(time_limit: float | None) -> Bounds | None:
    """Return the bounds of a child process, None for this process.

    Without a limit of the caller's a child is forked wherever that is safe: not on Windows, and not beside a GPU, whose
    driver and autograd threads do not live through a fork.

    Raises:
        ValueError: the limit is no positive number, or there is no fork here.
    """
    if time_limit is None:
        return Bounds() if hasattr(os, "fork") and not torch.accelerator.is_available() else None
    if time_limit == math.inf:
        return None
    if isinstance(time_limit, bool) or not isinstance(time_limit, int | float) or not 0 < time_limit < 1e6:
        raise ValueError(f"time_limit is a positive number of seconds: got {time_limit!r}")
    if not hasattr(os, "fork"):
        raise ValueError(f"time_limit needs os.fork, as Linux and macOS have it: got {time_limit!r}; leave it out")
    return Bounds(time_limit, PROCESSES)


class Child:
    """Forks at the first question; ``work`` answers in the child until it is closed, or does not answer."""

    def __init__(self, work: Callable[[bytes], bytes], bounds: Bounds) -> None:
        self._work, self._bounds = work, bounds
        self._reader = self._writer = -1
        self._close: weakref.finalize[[int, int, int, int, Cage], Child] | None = None

    def ask(self, question: bytes) -> bytes:
        """Return the answer.

        Raises:
            Ended: it ran out of time, or its process ended before it gave anything.
        """
        begin = time.monotonic()
        if self._close is None or not self._close.alive:
            self._fork()
        assert self._close is not None
        answer: bytes | None = b""
        status = 0
        try:
            with contextlib.suppress(BrokenPipeError):
                _write(self._writer, question)
            answer = _read(self._reader, begin + self._bounds.seconds)
        finally:
            if not answer:
                status = self._close() or 0
        seconds = time.monotonic() - begin
        if answer is None:
            raise Ended("timeout", say("timeout", seconds=f"{self._bounds.seconds:g}"), seconds)
        if not answer:
            raise Ended("crashed", _why(status), seconds)
        return answer

    def close(self) -> None:
        """End the process; the next question would begin another."""
        if self._close is not None:
            self._close()

    def _fork(self) -> None:
        cage = Cage(self._bounds.processes)
        questions, self._writer = os.pipe()
        self._reader, answers = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fork with threads about: the child runs one thread, and ends by _exit
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    stream.flush()
            try:
                pid = os.fork()
            except OSError as error:
                for file in (questions, self._writer, self._reader, answers):
                    os.close(file)
                cage.clear()
                raise Ended("crashed", say("no_fork", why=error.strerror), 0.0) from error
        if pid == 0:
            for file in (self._writer, self._reader):
                os.close(file)
            _live(self._work, questions, answers, cage)
        for file in (questions, answers):
            os.close(file)
        self._close = weakref.finalize(self, _end, os.getpid(), pid, self._reader, self._writer, cage)


def _live(work: Callable[[bytes], bytes], questions: int, answers: int, cage: Cage) -> None:
    """Be the child: nothing of it returns to the code around."""
    code = 1
    try:
        with contextlib.suppress(PermissionError):
            os.setsid()
        if sys.platform == "linux":
            with contextlib.suppress(OSError, AttributeError):
                ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it dies with the parent
        gc.freeze()  # what the parent left to be collected is not ours to close
        faulthandler.disable()  # it would write a stack to the stderr that it was given at the start
        # The pool of threads that the parent had is not there after a fork; one thread asks for none.
        torch.set_num_threads(1)
        _be_silent()
        limit_memory(MEMORY)
        cage.enter()
        while question := _read(questions, math.inf):
            _write(answers, work(question))
        code = 0
    except BaseException:  # the parent says that nothing came; a trace on stderr would cost a student the points
        code = 1
    finally:
        os._exit(code)


def _be_silent() -> None:
    """Let what is written reach nobody, from Python, from C and by ``os.write``; a debugger says that it cannot."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in (0, 1, 2):
        os.dup2(nothing, file)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(os.dup(nothing), mode) for mode in "rww")
    sys.breakpointhook = _no_debugger


def _no_debugger(*placed: object, **named: object) -> None:
    raise NoDebugger(say("breakpoint"))


def _write(file: int, data: bytes) -> None:
    view = memoryview(_LENGTH.pack(len(data)) + data)
    while view:
        view = view[os.write(file, view) :]


def _read(file: int, until: float) -> bytes | None:
    """Return one message; None when time is over, nothing when the other end closed before it was whole."""
    data = bytearray()
    wanted = _LENGTH.size
    while len(data) < wanted:
        left = until - time.monotonic()
        if left <= 0 or not select.select([file], [], [], None if math.isinf(left) else left)[0]:
            return None
        piece = os.read(file, min(wanted - len(data), 1 << 16))
        data += piece
        if not piece:
            return b""
        if wanted == _LENGTH.size and len(data) == wanted:
            wanted += _LENGTH.unpack(data)[0]
            if wanted > MAX_MESSAGE_BYTES:
                return b""
    return bytes(data[_LENGTH.size :])


def _end(parent: int, pid: int, reader: int, writer: int, cage: Cage) -> int:
    """Kill the process and all that it started; return how it ended."""
    if os.getpid() != parent:  # a copy of the parent, which forgets what is not its own
        return 0
    for file in (reader, writer):
        os.close(file)
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
