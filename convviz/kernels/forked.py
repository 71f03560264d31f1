"""What a process does that was forked to be a kernel: all that a process of its own would have had from its start."""

from __future__ import annotations

import os
import random
import shlex
import signal
import sys
import threading

import ipywidgets
from ipykernel.kernelapp import IPKernelApp
from setproctitle import setproctitle

from convviz.kernels.warm import Request

CLOSES_WITHIN_S = 0.5
LAUNCHER = "ipykernel_launcher"  # programs find kernels by their command: it is the one that was asked for


class Lifeline(threading.Thread):
    """Ends the kernel when the server is gone: the end of the pipe that it holds closes with it."""

    def __init__(self, lifeline: int) -> None:
        """Prepare.

        Args:
            lifeline: the end of the pipe to read from.
        """
        super().__init__(name="lifeline", daemon=True)
        self._lifeline = lifeline

    def run(self) -> None:
        """Wait; nobody ever writes."""
        os.read(self._lifeline, 1)
        os._exit(1)


class ForkedKernelApp(IPKernelApp):
    """ipykernel, where the process that started it is not the server that it belongs to."""

    lifeline = -1

    def init_poller(self) -> None:
        """Watch the server; ipykernel would watch the warm process, whose end is no reason to end."""
        self.poller = Lifeline(self.lifeline)

    def close(self) -> None:
        """Close the sockets; one of ipykernel's threads now and then waits ten seconds for another that has ended."""
        limit = threading.Timer(CLOSES_WITHIN_S, os._exit, (0,))
        limit.daemon = True
        limit.start()
        super().close()  # type: ignore[no-untyped-call]

    def init_kernel(self) -> None:
        """Make the kernel; widgets were imported when there was none that they could make themselves known to."""
        super().init_kernel()  # type: ignore[no-untyped-call]
        ipywidgets.register_comm_target()


def run_kernel(request: Request, lifeline: int) -> None:
    """Be the kernel until it ends.

    Args:
        request: what the server asked for.
        lifeline: the end of a pipe that closes with the server.
    """
    os.setsid()  # a group of its own, so that an interrupt reaches the kernel's own processes, too
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name, descriptor in request.streams.items():
        os.dup2(descriptor, {"stdout": 1, "stderr": 2}[name])
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.folder)
    setproctitle(shlex.join([sys.executable, "-m", LAUNCHER, *request.arguments]))
    sys.argv = [LAUNCHER, *request.arguments]
    seed_anew()
    set_threads()
    app = ForkedKernelApp.instance(parent_handle=os.getppid())
    app.lifeline = lifeline
    # A history would be one SQLite file for all of them, and a thread each.
    app.config.HistoryManager.enabled = False
    app.initialize(list(request.arguments))  # type: ignore[no-untyped-call]
    app.start()  # type: ignore[no-untyped-call]


def seed_anew() -> None:
    """Give every generator of random numbers a state of its own; Python's own does so at a fork by itself."""
    random.seed()
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed()
    if torch := sys.modules.get("torch"):
        torch.seed()


def set_threads() -> None:
    """Let torch compute with as many threads as in a process of its own; the warm one has it use a single one."""
    torch = sys.modules.get("torch")
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    count = int(wanted) if wanted.isdecimal() else len(os.sched_getaffinity(0))
    if torch and count > 1:
        torch.set_num_threads(count)
