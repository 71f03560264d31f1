"""The processes of the workers, as the server's threads see them: started, asked, looked after, ended."""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from convviz.serve.worker import spawned

LOOK_S = 0.25  # between two looks whether a process that does not answer has been stopped
STARTS_S, FORKS_S, SENDS_S = 120.0, 5.0, 2.0


@dataclass
class Worker:
    """A process that answers."""

    connection: Connection
    pid: int
    kill: Callable[[], None]

    def answer(self, request: bytes, seconds: float) -> tuple[bytes, bool]:
        """Return the answer, and whether the worker leaves after it."""
        self.connection.send_bytes(request)
        reply = self.hear(seconds)
        return reply[:-1], bool(reply[-1])

    def hear(self, seconds: float) -> bytes:
        """Return what the worker says next; it raises what ``answer`` does."""
        ends = time.monotonic() + seconds
        while not self.connection.poll(min(LOOK_S, max(0.0, ends - time.monotonic()))):
            look_after(self.pid)
            if time.monotonic() >= ends:
                raise TimeoutError
        return self.connection.recv_bytes()

    def is_gone(self) -> bool:
        return self.connection.poll(0)

    def end(self) -> None:
        """It has nothing to save."""
        self.kill()
        self.connection.close()


class Stem:
    """The process that workers are forked from; another one where it does not answer, or its workers die at once."""

    def __init__(self, answers: str, environment: dict[str, str]) -> None:
        """Prepare; ``answers`` is what answers in the workers, as module:function."""
        self._answers = answers
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._lock = threading.Lock()
        self._closed = False
        self.devices: list[str] = []

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> bool:
        """Return whether it forks."""
        with self._lock:
            return self._start()

    def fork(self) -> Worker:
        with self._lock:
            try:
                return self._fork()
            except OSError:  # the process has died since, somebody has stopped it, or what it forks dies
                self._end()
                return self._fork()

    def close(self) -> None:
        """Its workers go on."""
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
            if self._closed:  # the server was closed meanwhile
                raise OSError("the server ends")
            reply = json.loads(self._hear(STARTS_S)[0])
        except OSError:
            self._end()
            raise
        self.devices = reply["devices"]
        return bool(reply["forks"])

    def _fork(self) -> Worker:
        self._start()
        ours, theirs = socket.socketpair()
        # A worker that somebody stopped reads nothing, nor does it end an answer that it has begun.
        for way in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
            ours.setsockopt(socket.SOL_SOCKET, way, struct.pack("@ll", int(SENDS_S), 0))
        with theirs, ours:
            assert self._connection is not None
            socket.send_fds(self._connection, [b"w"], [theirs.fileno()])
            reply, (handle, *_) = self._hear(FORKS_S)
            worker = Worker(Connection(ours.detach()), struct.unpack("<I", reply)[0], Handle(handle).kill)
        try:
            worker.hear(FORKS_S)
        except (EOFError, OSError) as error:
            worker.end()
            raise ChildProcessError("a worker has ended before it was ready") from error
        return worker

    def _hear(self, seconds: float) -> tuple[bytes, list[int]]:
        """A stopped one says nothing any more."""
        connection, process = self._connection, self._process
        assert connection is not None
        assert process is not None
        connection.settimeout(LOOK_S)
        ends = time.monotonic() + seconds
        while True:
            try:
                reply, files, _, _ = socket.recv_fds(connection, 1 << 12, 1)
            except TimeoutError:
                look_after(process.pid)
                if time.monotonic() >= ends:
                    raise
                continue
            if not reply:
                raise ConnectionResetError("the process that workers are forked from has ended")
            return reply, files


class Handle:
    """A process that another one forked, held by a descriptor."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def __del__(self) -> None:
        os.close(self._handle)


def spawn(answers: str, environment: dict[str, str]) -> tuple[Worker, list[str]]:
    """Return a new worker that shares nothing with others, and the devices that torch finds in it."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    with theirs:
        process = context.Process(target=spawned, args=(theirs, answers, environment), daemon=True)
        process.start()
    worker = Worker(ours, process.pid or 0, process.kill)
    try:
        return worker, json.loads(worker.hear(STARTS_S))["devices"]
    except (EOFError, OSError):
        worker.end()
        raise


def look_after(pid: int) -> None:
    """Raise OSError if a process has been stopped or is gone, where that is reported."""
    if sys.platform.startswith("linux"):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state in "TtZX":
            raise ProcessLookupError(f"process {pid} has been stopped or has ended")
