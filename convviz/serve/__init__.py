"""Serve the app, or another notebook, as a web page: Voilà with the packaged template and settings."""

from __future__ import annotations

import errno
import importlib.util
import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from convviz.app.limits import MEMORY_VARIABLE, NICE_VARIABLE
from convviz.serve.care import Care, care_of
from convviz.serve.fits import words_of_room
from convviz.serve.options import ServeError, ServeOptions
from convviz.serve.restart import become_anew, inherited

DEFAULT_PORT = 8866
PORTS_TO_TRY = 50
BACKLOG = 1024  # a class that arrives at once, or while the server restarts
# jsonschema, which Jupyter's server loads, would check internationalised addresses with it and does without; it makes a
# parser of their whole grammar as it is imported, in two seconds of every start, and nothing here has such an address.
SLOW_TO_LOAD = "rfc3987_syntax"
SHARE = Path(__file__).resolve().parent.parent / "share"
APP_NOTEBOOK = SHARE / "app.ipynb"


def serve(options: ServeOptions) -> int:
    """Serve until Ctrl+C; return the exit code.

    Args:
        options: As the user gave them.
    """
    try:
        options = options.checked()
        path = find_notebook(options.notebook)
        need_voila()
        if options.device is not None:
            need_device(options.device)
        listener, options = listen(options)
        live = path == APP_NOTEBOOK  # another notebook has no page but Voilà's
        if options.places:
            tell_room(options.places)
        added = kernel_environment(options.device, live=live) | limits_of(care_of(options))
        with listener:
            with places_for(options.races) as places, environment({**added, **places}):
                # Only here, inside the changed environment: Voilà looks for templates through JUPYTER_PATH.
                with left_out(SLOW_TO_LOAD):
                    from convviz.serve.voila_app import run

                restarts = run(options, path, listener, SHARE, live=live)
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
    """Import something as where an optional module that it would load is not installed.

    Args:
        module: The module's name.
    """
    there = sys.modules.get(module)
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]
        if there is not None:
            sys.modules[module] = there


def find_notebook(notebook: str | os.PathLike[str] | None) -> Path:
    """Return the notebook to serve as an absolute path."""
    path = APP_NOTEBOOK if notebook is None else Path(notebook)
    try:
        path = path.resolve()
        found = path.suffix == ".ipynb" and path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        found = False
    if not found:
        raise ServeError(f"a notebook file (.ipynb) is needed, and {str(notebook or path)!r} is none.")
    return path


def need_voila() -> None:
    """Refuse with the remedy when Voilà is missing."""
    if importlib.util.find_spec("voila") is None:
        raise ServeError("serving needs Voilà, which is not installed: pip install voila")


def need_device(device: str) -> None:
    """Refuse a device that torch does not offer here.

    Args:
        device: As torch names it.
    """
    from convviz.ops.device import check_device

    try:
        check_device(device)
    except ValueError as refused:
        raise ServeError(f"--{refused}") from refused


def listen(options: ServeOptions) -> tuple[socket.socket, ServeOptions]:
    """Return a listening socket, and the options that go with it: a server that restarted keeps socket and token.

    Args:
        options: Checked.
    """
    if kept := inherited():
        listener, token = kept
        return listener, replace(options, token=token, open_browser=False)
    listener, moved = bind(options.host, options.port)
    if moved:
        print(f"Port {DEFAULT_PORT} is taken, so convviz takes {listener.getsockname()[1]}.", flush=True)
    return listener, options


def bind(host: str, port: int | None) -> tuple[socket.socket, bool]:
    """Return a listening socket, and whether it stands on another port than the usual one.

    The server gets the socket as it is: between "is it free?" and "take it" another program could come first.

    Args:
        host: A name or number of this machine.
        port: The one to take; None tries the usual one and those after it.
    """
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


def kernel_environment(device: str | None, *, live: bool = False) -> dict[str, str]:
    """Return the variables that the server and its kernels need on top of the user's own.

    Args:
        device: Reaches the kernel as CONVVIZ_DEVICE; None leaves the user's variable as it is.
        live: Whether a page with a board of its own awaits the kernel, which then draws none: CONVVIZ_PAGE tells it.
    """
    paths = [str(SHARE), *filter(None, [os.environ.get("JUPYTER_PATH")])]
    added = {
        # First in the search: our template, and a kernel that is this very Python, not another "python3".
        "JUPYTER_PATH": os.pathsep.join(paths),
        # Tensors of a few hundred numbers gain nothing from threads, and many kernels share the cores.
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        "MKL_NUM_THREADS": os.environ.get("MKL_NUM_THREADS", "1"),
    }
    if device is not None:
        added["CONVVIZ_DEVICE"] = device
    if live:
        added["CONVVIZ_PAGE"] = "1"
    return added


def limits_of(care: Care) -> dict[str, str]:
    """Return the variables that tell a kernel what it may use.

    Args:
        care: How kernels are looked after; those of a server for oneself have no limits.
    """
    given = {MEMORY_VARIABLE: care.memory_mib, NICE_VARIABLE: care.nice}
    return {name: str(value) for name, value in given.items() if value}


def tell_room(kernels: int) -> None:
    """Say so where the machine is too small for so many kernels.

    Args:
        kernels: How many there may be at a time.

    Raises:
        ServeError: Not one fits.
    """
    fit, words = words_of_room(kernels, shared=sys.platform.startswith("linux"))
    if fit == 0:
        raise ServeError(words)
    if words:
        print(words, flush=True)


@contextmanager
def places_for(races: int) -> Iterator[dict[str, str]]:
    """Yield the variables that allow races in the kernels; none where none are allowed.

    Args:
        races: How many may run at a time, in all kernels: each holds one file of a folder that is there meanwhile.
    """
    if not races:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="convviz-races-", ignore_cleanup_errors=True) as folder:
        yield {"CONVVIZ_RACES": str(races), "CONVVIZ_RACES_FOLDER": folder}


@contextmanager
def environment(added: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the duration of a block."""
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
