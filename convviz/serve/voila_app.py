"""Voilà, run our way: our own page in front, on a socket that is already open, quiet, and ending cleanly."""

import asyncio
import contextlib
import functools
import logging
import re
import secrets
import signal
import socket
import threading
import webbrowser
from pathlib import Path
from typing import Any

import tornado.ioloop
import tornado.web
from voila.app import Voila

from convviz.serve.access_control import HEALTH, METRICS, Gate, content_policy
from convviz.serve.handlers import Headers, mended
from convviz.serve.live_page_handlers import Nothing, Route, live_routes
from convviz.serve.managers import without_kernel_ids
from convviz.serve.metrics import Health, Log, Metrics, MetricsPage
from convviz.serve.numbers_socket import numbers_routes
from convviz.serve.options import ServeOptions, is_loopback
from convviz.serve.shares import Clients
from convviz.serve.visitor_limits import BoundedServer, connections_for
from convviz.serve.voila_page_handler import NOTEBOOK, NotebookPage
from convviz.serve.worker_pool import Workers
from convviz.serve.zero_downtime_restart import all_answered, has_terminal

ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
ENDS_WITHIN_S = 15
CLASS_WORKER_MIB = 512  # that a worker may take beyond torch
CODE_SECONDS = 60.0  # that an answer may take where its visitor's own code is run
PING_MS = 30_000  # between two looks whether a page is still there; one that misses two of them is gone
# What the notebook's page asks for, below the server's path; of Voilà's other addresses there is none.
VOILAS = re.compile(r"/?(api/kernels/|voila/(templates|static|labextensions|api/themes|api/shutdown)/)")
ANYWHERE = {"", "0.0.0.0", "::"}


class ConvvizVoila(Voila):
    """Voilà that listens on a given socket, and says one line."""

    def __init__(
        self,
        options: ServeOptions,
        listener: socket.socket,
        *,
        connections: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(log_level=logging.ERROR, ip=options.host, base_url=options.base_url, **kwargs)
        self._options = options
        self._listener = listener
        self._connections = connections
        self.metrics = Metrics(Log(options.log))
        limits: dict[str, Any] = {"memory_mib": CLASS_WORKER_MIB} if options.class_size else {}
        if options.checks_code:
            limits["seconds"] = CODE_SECONDS
        callbacks: Any = {"ended": self.metrics.worker_ended, "answered": self.metrics.answer.observe}
        self.workers = Workers(options.workers or 0, **limits, **callbacks)
        self.restarts = False  # whether it ends only to begin anew
        self._had_terminal = has_terminal()

    def init_settings(self) -> dict[str, Any]:
        """Add what tornado reads at construction only."""
        # Whether a notebook is trusted would be written down in the home folder, which need not be there to write to.
        self.config.NotebookNotary.db_file = ":memory:"
        self.config.NotebookNotary.secret = secrets.token_bytes()
        settings = super().init_settings()
        # Over a network 6 MB of scripts become 1.6 MB; within one machine the compression only costs time.
        settings |= {"ws_ping_interval": PING_MS, "ws_ping_timeout": 2 * PING_MS}
        settings["compress_response"] = not self._options.is_for_oneself
        settings["convviz_metrics"], settings["convviz_workers"] = self.metrics, self.workers
        return settings

    def init_handlers(self) -> list[Any]:
        return [
            (self.server_url + HEALTH, Health),
            (self.server_url + METRICS, MetricsPage),
            *live_routes(self.server_url, self._options.lang),
            *numbers_routes(self.server_url, self.workers, Clients()),
            *(self._notebook_routes(super().init_handlers()) if self._options.has_notebook else []),
            (r".*", Nothing),
        ]

    def _notebook_routes(self, routes: list[Route]) -> list[Route]:
        *_, options = routes[-1]
        page = (self.server_url + re.escape(NOTEBOOK), mended(NotebookPage), options)
        needed = [route for route in routes if VOILAS.match(route[0].removeprefix(self.server_url))]
        return [page, *((pattern, mended(handler), *rest) for pattern, handler, *rest in needed)]

    def start(self) -> None:
        """Begin to serve, without the folder that Voilà's own version leaves behind."""
        self.connection_dir = ""  # the first kernel makes one
        self.app: Any = tornado.web.Application(**self.init_settings())
        self.app.settings.update(self.tornado_settings)
        self.app.add_handlers(".*$", self.init_handlers())
        self.listen()

    def listen(self) -> None:
        """Serve until a signal; Voilà's own version tries other ports without saying so."""
        self.app.settings["headers"]["Content-Security-Policy"] = content_policy(self._options)
        self.app.settings["convviz_notebook_policy"] = content_policy(self._options, notebook=True)
        self.app.transforms.append(functools.partial(Headers, self.app.settings["headers"]))
        gate = Gate(self.app, self._options, self.metrics.refused)
        self.app.settings["log_function"] = gate.answered
        server = BoundedServer(gate, self.metrics.refused, connections=self._connections, proxies=self._options.proxies)
        server.add_socket(self._listener.dup())  # the server closes its own, and a restart needs one
        self.ioloop = tornado.ioloop.IOLoop.current()
        signal.signal(signal.SIGINT, self._handle_signal_stop)
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, lambda *_: self.ioloop.add_callback_from_signal(self._hang_up, server, gate))
        self.log.addFilter(lambda record: not record.exc_info or self.kernel_manager.is_news(record.exc_info[1]))
        self.log.addFilter(without_kernel_ids)
        loop: Any = self.ioloop  # tornado's, around asyncio's
        loop.asyncio_loop.set_exception_handler(self._report)
        self.ioloop.add_callback(self._announce)  # runs when the loop does: from then on the page answers
        self.ioloop.add_callback(self._warm)
        try:
            self.ioloop.start()
        finally:
            server.stop()
            self.workers.close()
            self.stop()
            self.metrics.record("restarts" if self.restarts else "stopped")

    async def _hang_up(self, server: BoundedServer, gate: Gate) -> None:
        """Begin anew; where our terminal has been closed, end."""
        if not self._had_terminal or has_terminal():
            self.restarts = True
            server.stop()  # who comes now waits for the one that begins
            await all_answered(gate.is_answering)
        self.ioloop.stop()

    def stop(self) -> None:
        for number in ENDS:
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl+C would leave kernels behind
        for log in (self.log, logging.getLogger("asyncio")):
            log.setLevel(logging.CRITICAL)  # a page that is still loading loses its kernel, and both complain
        with contextlib.suppress(TimeoutError):
            self.ioloop.run_sync(self.kernel_manager.end_all, timeout=ENDS_WITHIN_S)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if self.kernel_manager.is_news(context.get("exception")):
            loop.default_exception_handler(context)

    async def _warm(self) -> None:
        with contextlib.suppress(OSError, EOFError, ValueError):  # the first page that comes tries again, and reports
            await self.workers.ready()

    def _announce(self) -> None:
        token = f"?token={self._options.token}" if self._options.token else ""
        url = page_address(self.ip, self.port) + self.base_url.removeprefix("/") + token
        print(f"convviz is served at {url} - stop with Ctrl+C", flush=True)
        if not is_loopback(self.ip) and not token:
            print("Everybody who reaches this machine can open it: --token lets in who has the address.", flush=True)
        self.metrics.record("started")
        if self._options.open_browser:
            # In a thread, because a text browser keeps this call until it is closed.
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def page_address(host: str, port: int) -> str:
    """Return the address to type into a browser: for "0.0.0.0" the machine's name."""
    name = socket.gethostname() if host in ANYWHERE else host
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


def run(options: ServeOptions, notebook: Path, listener: socket.socket, settings: Path) -> bool:
    # Warnings would be a line for every page: tornado and jupyter_server ping at different paces, and a page
    # whose kernel died asks once more to end it.
    logging.getLogger("tornado").setLevel(logging.ERROR)
    logging.getLogger("tornado.access").setLevel(logging.CRITICAL)
    app = ConvvizVoila(
        options,
        listener,
        connections=connections_for(options.class_size),
        notebook_path=str(notebook),
        port=listener.getsockname()[1],
        config_file_paths=[str(settings)],  # and no other: a voila.json elsewhere belongs to another dashboard
    )
    app.initialize([])
    app.start()
    return app.restarts
