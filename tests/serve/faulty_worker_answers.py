"""Answers for tests of the workers: what a request names is done in the worker, which needs no torch for it.

Workers that have it are held in test_numbers_socket.py.
"""

import os
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

DEVICES = "convviz.ops.devices_and_dtypes"  # what a worker asks, which would load torch for seconds
sys.modules[DEVICES] = devices_and_dtypes = ModuleType(DEVICES)
devices_and_dtypes.available_devices = lambda: ("cpu",)


class Answer(NamedTuple):
    message: dict
    buffers: list


KEPT = []


def stop_within(connection, buf):
    """Send half of an answer, and be stopped."""
    os.write(connection.fileno(), bytes(buf[: len(buf) // 2]))
    os.kill(os.getpid(), signal.SIGSTOP)


def answered(request, buffers=(), *, page_maker=None):
    """Do what the settings say, and answer with them."""
    settings = request["settings"]
    spoiled = os.environ.get("SPOILED_STEM")
    if spoiled and os.path.exists(spoiled) and Path(spoiled).read_text() == str(os.getppid()):
        os._exit(1)
    if settings.get("hangs"):
        signal.pause()
    if settings.get("dies") or (settings.get("dies_once") and not os.path.exists(settings["dies_once"])):
        if path := settings.get("dies_once"):
            open(path, "w").close()
        os._exit(1)
    if settings.get("stops_once") and not os.path.exists(settings["stops_once"]):
        open(settings["stops_once"], "w").close()
        os.kill(os.getpid(), signal.SIGSTOP)
    if settings.get("stops_within_once") and not os.path.exists(settings["stops_within_once"]):
        open(settings["stops_within_once"], "w").close()
        Connection._send = stop_within
    if mib := settings.get("keeps_mib"):
        KEPT.append(b"x" * (mib << 20))
    return Answer({"type": "numbers", "id": request["id"], "pid": os.getpid(), **settings}, [b"abc"])
