"""The warm process as the server sees it: started once, asked for kernels, started again when it has died."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from traitlets import List, Unicode
from traitlets.config import SingletonConfigurable

from convviz.kernels.process import ForkedProcess
from convviz.kernels.warm import REQUEST_BYTES

# One thread each, so that none is missing after the fork; a kernel takes its own number.
SINGLE = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


ANSWER_BYTES = 1 << 12
# -P: the folder that the server works in is no place to import from. The other lets a debugger see what it stops in.
PROGRAM = (sys.executable, "-P", "-Xfrozen_modules=off", "-m", "convviz.kernels")


class WarmError(Exception):
    """The warm process gives no kernel; its text is the reason, a part of a sentence."""


class WarmParent(SingletonConfigurable):
    """Holds the warm process of one server."""

    modules = List(
        Unicode(),
        ["torch", "convviz.kernels.forked", "convviz.kernels.shared:load"],
        config=True,
        help="What the warm process imports: dotted names, and functions to call, as module:function.",
    )

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._lock = threading.Lock()  # a server asks from its threads: no answer may come to another's request
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._told: set[str] = set()
        self._reader, self._writer = os.pipe()  # closes with the server, whatever ends it

    def fork(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        streams: Mapping[str, int],
    ) -> ForkedProcess:
        """Return a new kernel's process.

        Args:
            arguments: of ipykernel.
            environment: of the kernel, whole.
            folder: where it works.
            streams: its stdout and stderr, where they are not the server's.

        Raises:
            WarmError: there is none to be had.
        """
        wish = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "folder": folder,
            "streams": list(streams),
        }
        message = json.dumps(wish).encode()
        if len(message) > REQUEST_BYTES:
            raise WarmError(f"its environment is larger than {REQUEST_BYTES} bytes")
        with self._lock:
            try:
                return self._ask(message, list(streams.values()))
            except OSError:  # the warm process has died since: another one
                self._close()
                try:
                    return self._ask(message, list(streams.values()))
                except OSError as failed:
                    self._close()
                    raise WarmError(f"the warm process has ended twice ({failed})") from failed

    def start(self) -> None:
        """Start the warm process unless it runs; it is ready when this returns.

        Raises:
            WarmError: it cannot be had.
        """
        with self._lock:
            try:
                self._connected()
            except OSError as failed:
                self._close()
                raise WarmError(f"the warm process does not start ({failed})") from failed

    @property
    def pid(self) -> int | None:
        """The warm process's number; None where there is none (0 would be the caller's own group, to ``os.kill``)."""
        return self._process.pid if self._process else None

    def is_news(self, reason: str) -> bool:
        """Return whether a reason for not sharing is given for the first time.

        Args:
            reason: a sentence's part.
        """
        told = reason in self._told
        self._told.add(reason)
        return not told

    def close(self) -> None:
        """End the warm process; its kernels go on."""
        with self._lock:
            self._close()

    def _ask(self, message: bytes, files: list[int]) -> ForkedProcess:
        connection = self._connected()
        socket.send_fds(connection, [message], files)
        answer, handles, _, _ = socket.recv_fds(connection, ANSWER_BYTES, 1)
        if not answer:
            raise ConnectionResetError("it closed the connection")
        told = json.loads(answer)
        if "refused" in told:
            raise WarmError(told["refused"])
        return ForkedProcess(told["pid"], handles[0])

    def _connected(self) -> socket.socket:
        """Return the connection to a warm process that is ready."""
        if self._connection is None:
            self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, REQUEST_BYTES)
            with theirs:
                command = [*PROGRAM, str(theirs.fileno()), str(self._reader), *self.modules]
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    env={**os.environ, **SINGLE},
                    pass_fds=[theirs.fileno(), self._reader],
                    start_new_session=True,  # Ctrl+C in the server's terminal is not meant for it
                )
            if not self._connection.recv(ANSWER_BYTES):
                raise ConnectionResetError("it ended while it imported")
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
