"""A worker: answers requests, one after the other, in a process of its own.

``python -m convviz.serve.worker`` is what workers are forked from, where that is safe: it has imported torch and made
the first picture with one thread, on the cpu. Its arguments are the number of a socket to the server and what answers,
as module:function. The server imports this file, and never torch.
"""

import gc
import json
import os
import pkgutil
import signal
import socket
import struct
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from convviz import process_limits
from convviz.facts.features import QUICK
from convviz.facts.i18n.current_language import ENGLISH, languages, match_locale, use_locale
from convviz.facts.words import sentences
from convviz.serve.binary_frames import packed, read_json, unpacked

TEXT, BINARY = b"t", b"b"  # what a request begins with: the kind of the page's frame
READY = b"r"  # what a worker says first
SINGLE = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}

say = sentences("app")


def main() -> None:
    server = socket.socket(fileno=int(sys.argv[1]))
    answered = pkgutil.resolve_name(sys.argv[2])
    gc.disable()
    devices = forked(devices_here)  # to ask may wake a driver, which no fork survives
    if len(devices) == 1:
        warm(answered)
    gc.collect()
    gc.freeze()  # no collection in a worker writes to pages that are shared
    gc.enable()
    threads = len(os.listdir("/proc/self/task"))
    server.send(json.dumps({"devices": devices, "forks": len(devices) == 1 and threads == 1}).encode())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system buries workers
    while True:
        asked, files, _, _ = socket.recv_fds(server, 1, 1)
        if not asked:
            return
        if os.fork() == 0:
            break
        os.close(files[0])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # A number may belong to another process later, a handle not.
    socket.send_fds(server, [struct.pack("<I", os.getpid())], [handle := os.pidfd_open(os.getpid())])
    os.close(handle)
    server.close()
    work(Connection(files[0]), answered, READY)
    os._exit(0)


def spawned(connection: Connection, answers: str, environment: dict[str, str]) -> None:
    """Be a worker that shares nothing; what torch finds here is sent first."""
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the server ends us
    answered = pkgutil.resolve_name(answers)
    warm(answered)
    work(connection, answered, json.dumps({"devices": devices_here()}).encode())


def work(connection: Connection, answered: Callable[..., Any], ready: bytes) -> None:
    """Answer until the server is gone, or this process has grown too large.

    It is ready once it has made the first picture: whoever dies before was not ended by a visitor's request.
    """
    process_limits.apply()
    answer(request_of({"type": "compute"}), answered)
    try:
        connection.send_bytes(ready)
        while True:
            made = answer(connection.recv_bytes(), answered)
            leaves = process_limits.is_near()
            connection.send_bytes(made + bytes([leaves]))
            if leaves:
                return
    except (EOFError, OSError):
        return


def answer(given: bytes, answered: Callable[..., Any]) -> bytes:
    request, buffers = (read_json(given[1:].decode()), []) if given[:1] == TEXT else unpacked(given[1:])
    acts = request.get("type") == "act"  # on a tab that has no state here: it is shown for what was chosen
    if acts:
        inner, language = request["message"], request.get("language")
        choices = {key: inner[key] for key in inner if key != "type"} if inner.get("type") == "check" else {}
        tab = {"tab": request["tab"], "settings": {}, "choices": choices}
        request = {"type": "tab", "id": 0, "language": language, **tab}
    with use_locale(match_locale(request.get("language")) or ENGLISH):
        try:
            message, made = answered(request, buffers, page_maker=_page_bytes)
            if acts:
                del message["id"]
            return packed(message, made)
        except MemoryError:
            return packed({"type": "refused", "id": request.get("id"), "sentence": say("memory")})


def warm(answered: Callable[..., Any]) -> None:
    """Answer what comes first: what is loaded for it is there when somebody asks."""
    for tag in languages():
        for request in ({"type": "compute"}, *({"type": "tab", "tab": tab} for tab in QUICK)):
            answer(request_of({"language": tag, **request}), answered)


def request_of(given: dict[str, Any]) -> bytes:
    """Return a request for what the first picture's settings give."""
    return TEXT + json.dumps({"id": 0, "settings": {}, **given}).encode()


def _page_bytes(state: Any) -> bytes:
    from convviz.export.page import page_bytes

    return page_bytes(state)


def devices_here() -> list[str]:
    from convviz.ops.devices_and_dtypes import available_devices

    return list(available_devices())


def forked(make: Callable[[], Any]) -> Any:
    """Return what a function makes in a process of its own."""
    reads, writes = os.pipe()
    if os.fork() == 0:
        os.write(writes, json.dumps(make()).encode())
        os._exit(0)
    os.close(writes)
    with open(reads, "rb") as settings:
        made = json.loads(settings.read())
    os.wait()
    return made


if __name__ == "__main__":
    main()
