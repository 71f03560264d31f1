"""What the server answers when it serves the app: the live page at once, and a kernel to the page that asks for one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from typing import Any

import tornado.iostream
import tornado.web
from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado.websocket import WebSocketClosedError, WebSocketHandler
from voila.utils import get_page_config

from convviz.export.live import FOLDER
from convviz.serve.files import FOR_EVER, tag_of, takes_gzip
from convviz.serve.handlers import GOING_AWAY, Page, PlainErrors, mended
from convviz.serve.live import KERNEL, Answer, LivePage, live_page

log = logging.getLogger("tornado.application")
GONE = (WebSocketClosedError, tornado.iostream.StreamClosedError)


Route = tuple[Any, ...]


def live_routes(app: Any, routes: list[Route]) -> list[Route]:
    """Return the routes that come before Voilà's own when the server serves the app.

    Args:
        app: Voilà.
        routes: Its own; the last one is the notebook's page.
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
    live = {"live": live_page(front_end)}
    _, page, options = routes[-1]
    return [
        (app.server_url, Live, live),
        (app.server_url + KERNEL, KernelSocket, {"page": mended(page), "options": options}),
        (f"{app.server_url}{FOLDER}([^/]+)", LiveFile, live),
        *files,
    ]


def _front_end(app: Any) -> dict[str, Any]:
    """Return what Voilà's front end is told, as Voilà's own page tells it; it asks no CDN for MathJax."""
    config = get_page_config(app.base_url, {}, app.log, app.voila_configuration)
    return {**config, "baseUrl": app.base_url, "fullMathjaxUrl": None, "mathjaxConfig": None}


class Ready(PlainErrors):
    """Sends what was made before anybody came."""

    def initialize(self, live: LivePage) -> None:
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
        if found.packed is not None:
            self.set_header("Vary", "Accept-Encoding")
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

    def get(self) -> None:
        """Send the page."""
        self.send(self.live.page, "no-cache")

    head = get


class LiveFile(Ready):
    """A file of the page, whose name tells its content."""

    def get(self, name: str) -> None:
        """Send a file.

        Args:
            name: As the page gives it.
        """
        found = self.live.files.get(name)
        if found is None:
            raise tornado.web.HTTPError(404)
        self.send(found, FOR_EVER)

    head = get


class KernelSocket(PlainErrors, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """Starts a kernel for the page that opens this connection, and sends what its cells put out.

    A page of another origin is refused before, by Jupyter's own rules. The messages: ``{"type": "html", "html": ...}``,
    pieces of the page as Voilà's template makes it, then ``{"type": "done"}``; or ``{"type": "refused", "why": ...}``
    with ``"room"`` or ``"failed"``.
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
        self._sent = False

    def set_default_headers(self) -> None:
        """Leave out the headers of pages, as Jupyter's own connections do."""

    def get_compression_options(self) -> dict[str, Any] | None:
        """Return how messages are packed."""
        options: dict[str, Any] | None = self.settings.get("websocket_compression_options")
        return options

    @ws_authenticated
    async def get(self) -> None:
        """Accept the connection of somebody who may start kernels."""
        if not await ensure_async(self.authorizer.is_authorized(self, self.current_user, "execute", "kernels")):
            raise tornado.web.HTTPError(403)
        await super().get()

    def open(self) -> None:
        """Start the kernel beside the connection, which hears meanwhile that the page is left."""
        super().open()
        self._starting = asyncio.ensure_future(self._start())

    async def _start(self) -> None:
        page = self._make(self.application, self.request, **self._options)
        manager: Any = self.kernel_manager
        try:
            if not manager.admit(page):
                await self._tell("refused", why="room")
                return
            self._page = page
            async for html in page.pieces():
                await self._tell("html", html=html)
            if not page.left:
                await self._tell("done")
                self._sent = True
        except GONE:
            page.leave()
        except Exception:  # whatever Voilà, Jupyter or the system make of it: the visitor's board lives without
            if page.left:
                return  # of no use to anybody, and mostly that the kernel has been ended
            log.exception("A kernel could not be started")
            page.leave()
            with contextlib.suppress(*GONE):
                await self._tell("refused", why="failed")
        finally:
            page.starting = False

    async def _tell(self, kind: str, **more: str) -> None:
        await self.write_message(json.dumps({"type": kind, **more}))

    def on_message(self, message: str | bytes) -> None:
        """Hear nothing: the page has nothing to say here.

        Args:
            message: Of nobody that we know.
        """

    def on_close(self) -> None:
        """End the kernel of a page that goes away; where the connection may only be lost, it has time to come back."""
        page = self._page
        if page is None:
            return
        if self.close_code == GOING_AWAY or not self._sent:
            page.leave()
        elif page.kernel_id is not None:
            manager: Any = self.kernel_manager
            manager.expect(page.kernel_id)
