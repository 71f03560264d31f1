"""The warm process: it has imported what kernels need, never computed anything, and forks a kernel for each request.

It has one thread: a pool of threads made before the fork would be missing in the kernel, whose first conv2d would wait
for it for ever.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import selectors
import signal
import socket
from dataclasses import dataclass

REQUEST_BYTES = 1 << 20  # a request holds an environment and a command, of which Linux allows less for one program
STREAMS = ("stdout", "stderr")  # a request may bring its own: open files beside its text


@dataclass(frozen=True)
class Request:
    """A wish for a kernel.

    Attributes:
        arguments: of ipykernel, such as ``("-f", "kernel-1.json")``.
        environment: of the kernel, whole.
        folder: where it works.
        streams: which of ``STREAMS`` are given, as open files.
    """

    arguments: tuple[str, ...]
    environment: dict[str, str]
    folder: str
    streams: dict[str, int]


def import_all(modules: tuple[str, ...]) -> None:
    """Import what kernels share, and put it where no collection of garbage in a kernel writes to its pages.

    Args:
        modules: dotted names; a name behind a colon is a function without arguments that is called: it prepares.
    """
    gc.disable()
    for each in modules:
        name, _, function = each.partition(":")
        module = importlib.import_module(name)
        if function:
            getattr(module, function)()
    gc.collect()
    gc.freeze()
    gc.enable()


def answer_requests(server: socket.socket) -> Request | None:
    """Fork a kernel for each request; return the request in each kernel, and None when the server is gone.

    It is the kernel that reads its request: what one is told, such as its visitor's address, no other one inherits.

    Args:
        server: gives one message a request, and gets one answer each.
    """
    ended, signalled = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(signalled)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # noticed through the pipe only
    with selectors.DefaultSelector() as selector:
        selector.register(server, selectors.EVENT_READ)
        selector.register(ended, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if ended in ready:
                os.read(ended, 1 << 16)
                _reap()
            if server in ready:
                if not _is_there(server):
                    return None
                request = _fork(server)
                if request is not None:
                    break
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for descriptor in (ended, signalled):
        os.close(descriptor)
    server.close()
    return request


def _is_there(server: socket.socket) -> bool:
    try:
        return server.recv(1, socket.MSG_PEEK) != b""
    except ConnectionResetError:
        return False


def _fork(server: socket.socket) -> Request | None:
    """Return the request in the new kernel, and None in the warm process, as soon as the kernel has read it."""
    threads = len(os.listdir("/proc/self/task"))
    waits, holds = os.pipe()
    try:
        if threads != 1:
            raise RuntimeError(f"the warm process has {threads} threads instead of one")
        is_kernel = os.fork() == 0
    except (OSError, RuntimeError) as refused:
        is_kernel = False
        server.recv(REQUEST_BYTES)
        server.send(json.dumps({"refused": str(refused)}).encode())
    if is_kernel:
        os.close(waits)
        request = _receive(server)
        os.close(holds)
        return request
    os.close(holds)
    os.read(waits, 1)  # nobody writes: it ends when the kernel has closed its end, however that came
    os.close(waits)
    return None


def _receive(server: socket.socket) -> Request:
    message, files, _, _ = socket.recv_fds(server, REQUEST_BYTES, len(STREAMS))
    wish = json.loads(message)
    handle = os.pidfd_open(os.getpid())
    socket.send_fds(server, [json.dumps({"pid": os.getpid()}).encode()], [handle])
    os.close(handle)
    streams = dict(zip(wish["streams"], files, strict=True))
    return Request(tuple(wish["arguments"]), wish["environment"], wish["folder"], streams)


def _reap() -> None:
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
