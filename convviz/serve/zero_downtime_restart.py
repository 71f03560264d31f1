"""A restart that refuses nobody: the process becomes a new one, on the socket that it already listens on."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Callable

ANSWERS_WITHIN_S = 2.0
ASKS_WITHIN_S = 0.1  # who has just been let in, and has asked for nothing yet
VARIABLE = "CONVVIZ_RESTART"  # the end of a pipe with what the new one needs; it is gone once it has been read


def inherited() -> tuple[socket.socket, str | None] | None:
    end = os.environ.pop(VARIABLE, None)  # at once: kernels get this environment
    if end is None:
        return None
    with open(int(end), encoding="utf-8") as pipe:
        left = json.load(pipe)
    listener = socket.socket(fileno=left["listener"])
    listener.set_inheritable(False)
    listener.setblocking(False)  # tornado's loop waits for many sockets at once
    return listener, left["token"]


async def all_answered(is_answering: Callable[[], bool]) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + ANSWERS_WITHIN_S
    await asyncio.sleep(ASKS_WITHIN_S)
    while is_answering() and loop.time() < deadline:
        await asyncio.sleep(0.02)


def become_anew(listener: socket.socket, token: str | None) -> None:
    """Run the same command in this process; connections wait in the socket."""
    sys.stdout.flush()
    sys.stderr.flush()
    read, write = os.pipe()
    os.write(write, json.dumps({"listener": listener.fileno(), "token": token}).encode())
    os.close(write)
    for number in (read, listener.fileno()):
        os.set_inheritable(number, True)
    # Not argv[0]: it may be a name that was looked up elsewhere.
    command = [sys.executable, *sys.orig_argv[1:]]
    os.execve(sys.executable, command, {**os.environ, VARIABLE: str(read)})


def has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
