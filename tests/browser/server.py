"""Starts `convviz serve`, or `voila` with a notebook, for a test, and ends it with all that it started."""

import contextlib
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from convviz.serve import SLOW_TO_LOAD

ROOT = Path(__file__).parents[2]
APP = ROOT / "app.ipynb"
STARTS_WITHIN_S = 90
ADDRESS = re.compile(r"(?:served at |^)(http://\S+)")
# A notebook's page that went without a word has this long to come back; a minute is more than a test waits for.
IMPATIENT = "from convviz.serve import managers\nmanagers.COMES_BACK_S = 10\n"
# What `convviz serve` leaves out as well: two seconds of every start, and of what is prepared before it.
WITHOUT_SLOW = f"import sys\nsys.modules[{SLOW_TO_LOAD!r}] = None"
# As `python -m`.
QUICK_START = f"""{WITHOUT_SLOW}
import runpy
runpy.run_module(sys.argv.pop(1), None, "__main__", True)"""
CONNECTION_FILE = re.compile(r"kernel-([0-9a-f-]{36})\.json")


@dataclass
class Server:
    """A running `convviz serve`, or `voila`.

    Attributes:
        url: Where the page is.
        process: The server; each of its kernels is a descendant in a process group of its own.
        said: The lines it has printed so far, stdout and stderr together.
    """

    url: str
    process: subprocess.Popen
    said: list[str] = field(default_factory=list)

    def kernels(self):
        """Return {kernel id: psutil.Process} of the kernels that are alive."""
        found = {}
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(self.process.pid).children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                    if match := CONNECTION_FILE.search(" ".join(child.cmdline())):
                        found[match[1]] = child
        return found

    def kill_kernel(self, kernel_id):
        """Kill a kernel's process, as the operating system does when memory runs out."""
        self.kernels()[kernel_id].kill()

    def kill(self):
        """Kill the server; its kernels notice and end by themselves."""
        self.process.kill()
        self.process.wait(30)

    def interrupt(self):
        """Press Ctrl+C; return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)


@contextlib.contextmanager
def voila_server(notebook=None, env=None, arguments=(), root=ROOT, python=sys.executable, prepare=""):
    """Run `convviz serve`, or `voila` with a notebook, and yield a Server whose page answers.

    Args:
        notebook: Path of a notebook for `voila`; None serves the app.
        env: Variables to add to the server's environment.
        arguments: More words for the command line.
        root: The tree whose convviz serves.
        python: What it runs on.
        prepare: Lines of Python that run before it.
    """
    if notebook is not None:
        start = ["-c", f"{prepare}\n{QUICK_START}", "voila", str(notebook), "--no-browser", f"--port={_free_port()}"]
    else:
        # Port 0: the server takes a free port and reports which, so that no other process can take it in between.
        run = f"{WITHOUT_SLOW}\n{prepare}\nfrom convviz.cli import main\nraise SystemExit(main())"
        start = [*(["-c", run] if prepare else ["-m", "convviz"]), "serve", "--port", "0"]
    command = [str(python), *start, *map(str, arguments)]
    paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        command,
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # Ctrl+C in the terminal that runs the tests is not for the server
    )
    server = Server("", process)
    reader = threading.Thread(target=_read, args=(server, lines := queue.Queue()), daemon=True)
    reader.start()
    try:
        server.url = _wait_for_address(server, lines)
        yield server
    finally:
        _end(server)
        reader.join(10)


def _free_port():
    """Return a port that was free a moment ago: Voilà does not report which one it takes."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def wait_until(condition, within_s=60, what=None):
    """Return condition()'s first true value; fail after a deadline.

    Args:
        condition: Called again and again.
        within_s: The deadline.
        what: Words for the failure.
    """
    deadline = time.monotonic() + within_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within_s} s: {what or condition}")
        threading.Event().wait(0.05)  # between two looks; what is asserted is the condition
    return value


def _read(server, lines):
    for line in server.process.stdout:
        server.said.append(line.rstrip("\n"))
        lines.put(line)
    lines.put(None)


def _wait_for_address(server, lines):
    deadline = time.monotonic() + STARTS_WITHIN_S
    failure = f"reported no address within {STARTS_WITHIN_S} s"
    while (left := deadline - time.monotonic()) > 0:
        try:
            line = lines.get(timeout=left)
        except queue.Empty:
            break
        if line is None:
            failure = f"ended with {server.process.wait(10)}"
            break
        if found := ADDRESS.search(line):
            return found[1]
    raise AssertionError(f"convviz serve {failure}: " + "\n".join(server.said))


def _end(server):
    """Ask, then insist: SIGTERM lets the server end its kernels."""
    kernels = server.kernels()
    if server.process.poll() is None:
        server.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.process.wait(20)
    if server.process.poll() is None:
        server.process.kill()
        server.process.wait(10)
    for kernel in kernels.values():
        with contextlib.suppress(psutil.NoSuchProcess):
            kernel.kill()  # psutil compares start times: a new process with an old number is safe
