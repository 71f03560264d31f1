"""What the server answers when it serves the app: the live page at once, and a kernel to the page that asks for one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from typing import Any, ClassVar

import tornado.iostream
import tornado.web
from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado.websocket import WebSocketClosedError, WebSocketHandler
from voila.utils import get_page_config

from convviz.export.live import FOLDER
from convviz.facts.spoken import ENGLISH, accepted, understood
from convviz.serve.files import FOR_EVER, tag_of, takes_gzip
from convviz.serve.handlers import GOING_AWAY, PlainErrors, mended
from convviz.serve.live import KERNEL, Answer, LivePages
from convviz.serve.notebook_page import Page

log = logging.getLogger("tornado.application")
GONE = (WebSocketClosedError, tornado.iostream.StreamClosedError)


Route = tuple[Any, ...]


def live_routes(app: Any, routes: list[Route], language: str | None = None) -> list[Route]:
    """Return the routes when the server serves the app: those of the live page before Voilà's own.

    Voilà's page is not among them, so that no address starts a kernel by being looked at.

    Args:
        app: Voilà.
        routes: Its own; the last one is the notebook's page.
        language: Of the page where its address asks for none; None leaves it to the browser.
    """
    handlers = {pattern.removeprefix(app.server_url): (handler, *rest) for pattern, handler, *rest in routes}
    folders = {"static": app.static_paths, "labextensions": app.labextensions_path}
    tag = tag_of([folder for several in folders.values() for folder in several])
    front_end = _front_end(app)
    files: list[Route] = []
    for name, option in (("static", "fullStaticUrl"), ("labextensions", "fullLabextensionsUrl")):
        handler, *rest = handlers[f"voila/{name}/(.*)"]
        files.append((f"{app.server_url}{FOLDER}{tag}/{name}/(.*)", mended(handler, kept=True), *rest))
        front_end[option] = f"{app.base_url}{FOLDER}{tag}/{name}"
    live = {"live": LivePages(front_end)}
    default = {"language": language}
    _, page, options = routes[-1]
    return [
        (app.server_url, Live, {**live, **default}),
        (app.server_url + KERNEL, KernelSocket, {"page": mended(page), "options": options}),
        (f"{app.server_url}{FOLDER}([^/]+)", LiveFile, live),
        *files,
        *((pattern, mended(handler), *rest) for pattern, handler, *rest in routes[:-1]),
        (r".*", Nothing),
    ]


def _front_end(app: Any) -> dict[str, Any]:
    """Return what Voilà's front end is told, as Voilà's own page tells it; it asks no CDN for MathJax."""
    config = get_page_config(app.base_url, {}, app.log, app.voila_configuration)
    return {**config, "baseUrl": app.base_url, "fullMathjaxUrl": None, "mathjaxConfig": None}


class Nothing(PlainErrors):
    """Answers every address that has nothing."""

    def prepare(self) -> None:
        """Refuse."""
        raise tornado.web.HTTPError(404)


class Ready(PlainErrors):
    """Sends what was made before anybody came.

    Attributes:
        varies: The headers of a request that choose between answers, beside whether it takes packed ones.
    """

    varies: ClassVar[tuple[str, ...]] = ()

    def initialize(self, live: LivePages) -> None:
        """Take what is served.

        Args:
            live: The page and its files.
        """
        self.live = live

    def send(self, found: Answer, cache: str) -> None:
        """Send an answer, or word that the browser's copy of it is still right.

        Args:
            found: What is asked for.
            cache: How long it may be kept.
        """
        self.set_header("Content-Type", found.kind)
        self.set_header("Cache-Control", cache)
        self.set_header("ETag", f'"{found.tag}"')
        varies = (*self.varies, *([] if found.packed is None else ["Accept-Encoding"]))
        if varies:
            self.set_header("Vary", ", ".join(varies))
        if self.check_etag_header():
            self.set_status(304)
            self.finish()
        elif found.packed is not None and takes_gzip(self.request):
            self.set_header("Content-Encoding", "gzip")
            self.finish(found.packed)
        else:
            self.finish(found.content)


class Live(Ready):
    """The page; asked for anew at every visit, and sent only when it is another one."""

    varies: ClassVar[tuple[str, ...]] = ("Accept-Language",)

    def initialize(self, live: LivePages, language: str | None = None) -> None:
        """Take what is served.

        Args:
            live: The page and its files.
            language: Of the page where its address asks for none; None leaves it to the browser.
        """
        super().initialize(live)
        self._default = language

    def get(self) -> None:
        """Send the page in the language that the address asks for, else the server, else the browser; else English."""
        # Read here: tornado refuses the whole page for an argument whose letters are none.
        if wanted := self.request.query_arguments.get("lang", [b""])[-1].decode("utf-8", "replace"):
            tag = understood(wanted)
        else:
            tag = self._default or accepted(self.request.headers.get("Accept-Language", ""))
        self.send(self.live.page(tag or ENGLISH), "no-cache")

    head = get


class LiveFile(Ready):
    """A file of the page, whose name tells its content."""

    def get(self, name: str) -> None:
        """Send a file.

        Args:
            name: As the page gives it.
        """
        found = self.live.file(name)
        if found is None:
            raise tornado.web.HTTPError(404)
        # A page in a sandboxed frame, as course platforms make them, has no origin, and loads no script without this.
        # The files are the same for everybody, and no answer that depends on who asks has it.
        self.set_header("Access-Control-Allow-Origin", "*")
        self.send(found, FOR_EVER)

    head = get


class KernelSocket(PlainErrors, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """Starts a kernel for the page that opens this connection, when it is its turn; open as long as the page is.

    A page of another origin is refused before, by Jupyter's own rules, and so is who names none: no browser does that.
    The messages: ``{"type": "queue", "place": k}``, where the page stands in line whenever that changes, 0 at its turn;
    ``{"type": "html", "html": ...}``, pieces of the page as Voilà's template makes it; then ``{"type": "done"}``, or
    ``{"type": "refused", "why": "failed"}``. Later, when the kernel ends before the page does,
    ``{"type": "lost", "why": ...}`` with ``"idle"``, ``"hung"`` or ``"ended"``.
    """

    def initialize(self, page: type[Page], options: dict[str, Any]) -> None:
        """Take what makes the notebook's page.

        Args:
            page: Its handler, of which only the making is used.
            options: As Voilà gives them to it.
        """
        self._make = page
        self._options = options
        self._page: Page | None = None
        self._has_kernel = False
        self._closed = False

    def set_default_headers(self) -> None:
        """Leave out the headers of pages, as Jupyter's own connections do."""

    def get_compression_options(self) -> dict[str, Any] | None:
        """Return how messages are packed."""
        options: dict[str, Any] | None = self.settings.get("websocket_compression_options")
        return options

    @ws_authenticated
    async def get(self) -> None:
        """Accept the connection of somebody who may start kernels."""
        asks = self.request.headers
        if asks.get("Upgrade", "").lower() == "websocket" and "Origin" not in asks:
            raise tornado.web.HTTPError(403)
        if not await ensure_async(self.authorizer.is_authorized(self, self.current_user, "execute", "kernels")):
            raise tornado.web.HTTPError(403)
        await super().get()

    def open(self) -> None:
        """Stand in line."""
        self.set_nodelay(True)
        super().open()
        self._manager.places.wait(self)

    @property
    def _manager(self) -> Any:
        return self.kernel_manager

    def hear(self, place: int) -> None:
        """Tell the page where it stands in line, or start its kernel.

        Args:
            place: 0: it is its turn.
        """
        self._say("queue", place=place)
        if not place:
            # Beside the connection, which hears meanwhile that the page is left.
            self._page = self._make(self.application, self.request, **self._options)
            self._page.socket = self
            self._starting = asyncio.ensure_future(self._start(self._page))

    async def _start(self, page: Page) -> None:
        began = time.monotonic()
        try:
            async for html in page.pieces():
                await self._tell("html", html=html)
            if not page.left:
                self._has_kernel = True
                self._manager.watch(page.kernel_id)
                await self._tell("done")
                self.settings["convviz_metrics"].kernel_started(page.kernel_id, time.monotonic() - began)
        except GONE:
            page.leave()
        except Exception:  # whatever Voilà, Jupyter or the system make of it: the visitor's board lives without
            if page.left:
                return  # of no use to anybody, and mostly that the kernel has been ended
            log.exception("A kernel could not be started")
            page.leave()
            self._say("refused", why="failed")
        finally:
            page.end_start()

    async def _tell(self, kind: str, **more: Any) -> None:
        await self.write_message(json.dumps({"type": kind, **more}))

    def _say(self, kind: str, **more: Any) -> None:
        with contextlib.suppress(*GONE):  # nobody hears it, and there is nothing else to do
            self.write_message(json.dumps({"type": kind, **more}))

    def is_there(self) -> bool:
        """Return whether the page has not gone."""
        return not self._closed

    def lose(self, why: str) -> None:
        """Tell the page why its kernel ends.

        Args:
            why: ``"idle"``, ``"hung"`` or ``"ended"``; what has been told once needs no other reason.
        """
        if self._has_kernel and not self._closed:
            self._say("lost", why=why)
        self._has_kernel = False

    def on_message(self, message: str | bytes) -> None:
        """Hear nothing: the page has nothing to say here.

        Args:
            message: Of nobody that we know.
        """

    def on_close(self) -> None:
        """Leave the line, or end the kernel; where the connection may only be lost, it has time to come back."""
        self._closed = True
        page = self._page
        if page is None:
            self._manager.places.leave(self)
        elif self.close_code == GOING_AWAY or not self._has_kernel:
            page.leave()
        else:
            self._manager.lose(page.kernel_id)
