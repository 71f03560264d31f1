"""Serve the app as a web page: Voilà with a page of our own, and workers that compute for all of its visitors."""

import errno
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from convviz.app.permissions import OWN_VARIABLE
from convviz.process_limits import MEMORY_VARIABLE, NICE_VARIABLE
from convviz.serve.capacity import words_of_room
from convviz.serve.options import ServeError, ServeOptions
from convviz.serve.temporary_folders import make_folder
from convviz.serve.zero_downtime_restart import become_anew, inherited

DEFAULT_PORT = 8866
PORTS_TO_TRY = 50
KERNEL_MIB, KERNEL_NICE = 512, 5  # what a kernel of the notebook's page may take where others come
BACKLOG = 1024  # a class that arrives at once, or while the server restarts
# jsonschema, which Jupyter's server loads, would check internationalised addresses with it and does without; it makes a
# parser of their whole grammar as it is imported, in two seconds of every start, and nothing here has such an address.
SLOW_TO_LOAD = "rfc3987_syntax"
SHARE = Path(__file__).resolve().parent.parent / "share"
APP_NOTEBOOK = SHARE / "app.ipynb"


def serve(options: ServeOptions) -> int:
    """Serve until Ctrl+C; return the exit code."""
    try:
        options = options.checked()
        if options.device is not None:
            need_device(options.device)
        listener, options = listen(options)
        if options.class_size:
            report_capacity(options.class_size, options.processes)
        with listener:
            with places_for(options.most_races) as places, environment({**server_environment(options), **places}):
                # Only here, inside the changed environment: Voilà looks for templates through JUPYTER_PATH.
                with left_out(SLOW_TO_LOAD):
                    import voila  # noqa: F401 - first: where it is missing, so is what it brings

                    from convviz.serve.voila_app import run

                restarts = run(options, APP_NOTEBOOK, listener, SHARE)
            if restarts:
                become_anew(listener, options.token)
    except ServeError as refusal:
        print(f"convviz: {refusal}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass  # while Voilà was loading; later the server itself takes Ctrl+C
    return 0


@contextmanager
def left_out(module: str) -> Iterator[None]:
    """Import something as if an optional module were not installed."""
    there = sys.modules.get(module)
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]
        if there is not None:
            sys.modules[module] = there


def need_device(device: str) -> None:
    """Refuse a device that torch does not offer; another process asks: this one never loads it."""
    if device == "cpu":
        return
    asks = "import sys; from convviz.ops.devices_and_dtypes import check_device; check_device(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", asks, device], capture_output=True, text=True, check=False)
    if done.returncode:
        refused = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        raise ServeError(f"--{refused.removeprefix('ValueError: ')}")


def listen(options: ServeOptions) -> tuple[socket.socket, ServeOptions]:
    """A restarted server keeps socket and token."""
    if kept := inherited():
        listener, token = kept
        return listener, replace(options, token=token, open_browser=False)
    listener, moved = bind(options.host, options.port)
    if moved:
        print(f"Port {DEFAULT_PORT} is taken, so convviz takes {listener.getsockname()[1]}.", flush=True)
    return listener, options


def bind(host: str, port: int | None) -> tuple[socket.socket, bool]:
    """Return a socket on this port, or the usual or next free one, and whether that is another one."""
    if port is not None and not 0 <= port <= 65535:
        raise ServeError(f"--port must lie between 0 and 65535, and {port} does not.")
    for candidate in range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TO_TRY) if port is None else [port]:
        try:
            family = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM)[0][0]
            listener = socket.create_server((host, candidate), family=family, backlog=BACKLOG)
        except OSError as refused:
            if port is None and refused.errno == errno.EADDRINUSE:
                continue
            raise ServeError(_why_not(refused, host, candidate)) from refused
        listener.setblocking(False)  # tornado's loop waits for many sockets at once
        return listener, candidate not in (port, DEFAULT_PORT)
    last = DEFAULT_PORT + PORTS_TO_TRY - 1
    raise ServeError(f"the ports {DEFAULT_PORT} to {last} are all taken: choose another one with --port.")


def _why_not(refused: OSError, host: str, port: int) -> str:
    if refused.errno == errno.EADDRINUSE:
        other = port + 1 if port < 65535 else DEFAULT_PORT
        return (
            f"port {port} is taken by another program: choose another one, for example --port {other}, "
            "or leave --port out and convviz finds a free one."
        )
    if refused.errno == errno.EACCES:
        return f"port {port} is for administrators (all below 1024 are): take --port {DEFAULT_PORT}."
    if isinstance(refused, socket.gaierror) or refused.errno == errno.EADDRNOTAVAIL:
        return f"--host must be an address of this machine, such as 127.0.0.1 or 0.0.0.0; {host!r} is none."
    return f"cannot listen on {host!r}, port {port}: {refused.strerror or refused}."


def server_environment(options: ServeOptions) -> dict[str, str]:
    """Return the variables that the server and all that it starts need."""
    paths = [str(SHARE), *filter(None, [os.environ.get("JUPYTER_PATH")])]
    added = {
        "CONVVIZ_SERVED": "1",  # read by app/permissions.py
        # First in the search: our template, and a kernel that is this very Python, not another "python3".
        "JUPYTER_PATH": os.pathsep.join(paths),
        # Tensors of a few hundred numbers gain nothing from threads, and the workers share the cores.
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        "MKL_NUM_THREADS": os.environ.get("MKL_NUM_THREADS", "1"),
    }
    if options.device is not None:
        added["CONVVIZ_DEVICE"] = options.device
    if options.checks_code:
        added[OWN_VARIABLE] = "1"
    if not options.is_for_oneself:  # a kernel is a stranger's
        added |= {MEMORY_VARIABLE: str(KERNEL_MIB), NICE_VARIABLE: str(KERNEL_NICE)}
    return added


def report_capacity(students: int, workers: int) -> None:
    """Refuse where not one student fits."""
    fit, words = words_of_room(students, workers)
    if fit == 0:
        raise ServeError(words)
    print(words, flush=True)


@contextmanager
def places_for(races: int) -> Iterator[dict[str, str]]:
    """Yield the variables for so many races, each of which holds a file."""
    if not races:
        yield {}
        return
    folder = make_folder("races")
    try:
        yield {"CONVVIZ_RACES": str(races), "CONVVIZ_RACES_FOLDER": folder}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def environment(added: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
