"""Voilà, run our way: on a socket that is already open, quiet, and ending cleanly."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import shutil
import signal
import socket
import threading
import webbrowser
from pathlib import Path
from typing import Any

import tornado.ioloop
import tornado.web
from voila.app import Voila
from voila.request_info_handler import RequestInfoSocketHandler

from convviz.serve.bounds import BoundedServer, raise_file_limit
from convviz.serve.care import care_of, starts_at_a_time
from convviz.serve.channel import measured
from convviz.serve.gate import HEALTH, METRICS, Gate, content_policy, is_loopback
from convviz.serve.handlers import Headers, mended
from convviz.serve.live_handlers import live_routes
from convviz.serve.log import Log
from convviz.serve.metrics import Health, Metrics, MetricsPage
from convviz.serve.numbers import numbers_routes
from convviz.serve.options import ServeOptions
from convviz.serve.restart import all_answered, has_terminal
from convviz.serve.workers import Workers

ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
ENDS_WITHIN_S = 15
ANYWHERE = {"", "0.0.0.0", "::"}


class ConvvizVoila(Voila):
    """Voilà that listens on a given socket, says one line, and ends without a word."""

    def __init__(
        self,
        options: ServeOptions,
        listener: socket.socket,
        *,
        live: bool,
        ping_s: float,
        connections: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(log_level=logging.ERROR, ip=options.host, base_url=options.base_url, **kwargs)
        self._options = options
        self._listener = listener
        self._live = live
        self._ping_ms = 1000 * ping_s
        self._connections = connections
        self.metrics = Metrics(Log(options.log))
        self.workers = Workers()
        self.restarts = False  # whether it ends only to begin anew
        self._had_terminal = has_terminal()

    def init_settings(self) -> dict[str, Any]:
        """Add what tornado reads at construction only, which no configuration file reaches."""
        # Whether a notebook is trusted is written down in the home folder, which need not be there to write to.
        self.config.NotebookNotary.data_dir = self.connection_dir
        settings = super().init_settings()
        # Over a network 6 MB of scripts become 1.6 MB; within one machine the compression only costs time.
        settings |= {"ws_ping_interval": self._ping_ms, "ws_ping_timeout": 2 * self._ping_ms}
        settings["compress_response"] = not is_loopback(self.ip)
        settings["convviz_metrics"] = self.metrics
        self.kernel_manager.ended = self.metrics.kernel_ended
        return settings

    def init_handlers(self) -> list[Any]:
        """Return Voilà's routes with handlers that answer every wish; without login and logout: nobody has a name."""
        unused = [handler for _, handler, *_ in self.identity_provider.get_handlers()]
        if self._live:
            unused.append(RequestInfoSocketHandler)  # the app's kernel does not ask who came
        routes = [route for route in super().init_handlers() if route[1] not in unused]
        routes = (
            live_routes(self, routes, self._options.lang)
            if self._live
            else [(pattern, mended(handler), *rest) for pattern, handler, *rest in routes]
        )
        return [
            (self.server_url + HEALTH, Health),
            (self.server_url + METRICS, MetricsPage),
            *numbers_routes(self.server_url, self.workers),
            *((pattern, measured(handler), *rest) for pattern, handler, *rest in routes),
        ]

    def listen(self) -> None:
        """Serve until a signal; Voilà's own version tries other ports without saying so."""
        self.app.settings["headers"]["Content-Security-Policy"] = content_policy(self._options, live=self._live)
        self.app.transforms.append(functools.partial(Headers, self.app.settings["headers"]))
        gate = Gate(self.app, self._options, self.metrics.refused)
        self.app.settings["log_function"] = gate.answered
        server = BoundedServer(gate, self.metrics.refused, connections=self._connections)
        server.add_socket(self._listener.dup())  # the server closes its own, and a restart needs one
        self.ioloop = tornado.ioloop.IOLoop.current()
        signal.signal(signal.SIGINT, self._handle_signal_stop)
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, lambda *_: self.ioloop.add_callback_from_signal(self._hang_up, server, gate))
        self.log.addFilter(lambda record: not record.exc_info or self.kernel_manager.is_news(record.exc_info[1]))
        loop: Any = self.ioloop  # tornado's, around asyncio's
        loop.asyncio_loop.set_exception_handler(self._report)
        self.ioloop.add_callback(self._announce)  # runs when the loop does: from then on the page answers
        try:
            self.ioloop.start()
        finally:
            server.stop()
            self.workers.close()
            self.stop()
            self.metrics.tell("restarts" if self.restarts else "stopped")

    async def _hang_up(self, server: BoundedServer, gate: Gate) -> None:
        """Begin anew; where the terminal that this was started in has been closed, end."""
        if not self._had_terminal or has_terminal():
            self.restarts = True
            server.stop()  # who comes now waits for the one that begins
            await all_answered(gate.is_answering)
        self.ioloop.stop()

    def stop(self) -> None:
        """End all kernels, on the loop that started them."""
        for number in ENDS:
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl+C would leave kernels behind
        for log in (self.log, logging.getLogger("asyncio")):
            log.setLevel(logging.CRITICAL)  # a page that is still loading loses its kernel, and both complain
        with contextlib.suppress(TimeoutError):
            self.ioloop.run_sync(self._end_kernels, timeout=ENDS_WITHIN_S)
        shutil.rmtree(self.connection_dir, ignore_errors=True)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    async def _end_kernels(self) -> None:
        while True:
            try:
                # Killed, not asked: a kernel has nothing to save, and one that starts prints a traceback.
                return await self.kernel_manager.shutdown_all(now=True)
            except (asyncio.InvalidStateError, tornado.web.HTTPError):  # one is known, but not started yet
                await asyncio.sleep(0.05)

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if self.kernel_manager.is_news(context.get("exception")):
            loop.default_exception_handler(context)

    def _announce(self) -> None:
        token = f"?token={self._options.token}" if self._options.token else ""
        url = page_address(self.ip, self.port) + self.base_url.removeprefix("/") + token
        print(f"convviz is served at {url} - stop with Ctrl+C", flush=True)
        if not is_loopback(self.ip) and not token:
            print("Everybody who reaches this machine can open it: --token lets in who has the address.", flush=True)
        self.metrics.tell("started")
        if self._options.open_browser:
            # In a thread, because a text browser keeps this call until it is closed.
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def page_address(host: str, port: int) -> str:
    """Return the address to type into a browser.

    Args:
        host: What the server listens on; "0.0.0.0" is no address to type, the machine's name is.
        port: Its port.
    """
    name = socket.gethostname() if host in ANYWHERE else host
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


def run(options: ServeOptions, notebook: Path, listener: socket.socket, settings: Path, *, live: bool) -> bool:
    """Run Voilà on one notebook until Ctrl+C, SIGTERM or SIGHUP; return whether it is to begin anew.

    Args:
        options: Checked.
        notebook: Its absolute path.
        listener: Bound, listening and not blocking.
        settings: The folder with voila.json.
        live: Whether the app's own page answers, which lives before it has a kernel.
    """
    # Warnings would be a line for every page: tornado and jupyter_server ping at different paces, and a page
    # whose kernel died asks once more to end it.
    logging.getLogger("tornado").setLevel(logging.ERROR)
    logging.getLogger("tornado.access").setLevel(logging.CRITICAL)
    care = care_of(options)
    app = ConvvizVoila(
        options,
        listener,
        live=live,
        ping_s=care.ping_s,
        connections=raise_file_limit(),
        notebook_path=str(notebook),
        port=listener.getsockname()[1],
        config_file_paths=[str(settings)],  # and no other: a voila.json elsewhere belongs to another dashboard
    )
    patience = {
        "most": options.places,
        "starts": starts_at_a_time(),
        "comes_back_s": care.comes_back_s,
        "idle_s": care.idle_s,
        "hung_s": care.hung_s,
    }
    app.initialize(
        [
            f"--VoilaConfiguration.preheat_kernel={options.preheat}",
            *(f"--PatientKernelManager.{name}={value}" for name, value in patience.items()),
        ]
    )
    app.start()
    return app.restarts
