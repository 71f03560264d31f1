"""What the server answers: the page, whose kernel goes when the page does, and errors that show nobody's paths."""

from __future__ import annotations

import http
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

import tornado.httputil
import tornado.iostream
import tornado.web
from jupyter_core.utils import ensure_async
from jupyter_server.base.handlers import APIHandler
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler
from voila.request_info_handler import RequestInfoSocketHandler
from voila.shutdown_kernel_handler import VoilaShutdownKernelHandler
from voila.tornado.handler import TornadoVoilaHandler

from convviz.serve.files import Files, KeptFiles

log = logging.getLogger("tornado.application")

GOING_AWAY = 1001  # a page that is closed says so; one that is reloaded, or loses its connection, says nothing


class Headers(tornado.web.OutputTransform):
    """Adds headers to every answer of the server, whoever gives it: Jupyter's own setting reaches no file."""

    def __init__(self, added: Mapping[str, str], request: tornado.httputil.HTTPServerRequest) -> None:
        """Prepare for one answer.

        Args:
            added: by name; what a handler sets itself is left as it is.
            request: what is answered.
        """
        super().__init__(request)
        self._added = added

    def transform_first_chunk(
        self, status_code: int, headers: tornado.httputil.HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, tornado.httputil.HTTPHeaders, bytes]:
        """Add what is missing.

        Args:
            status_code: of the answer.
            headers: of the answer, changed in place.
            chunk: its first bytes.
            finishing: whether they are the last ones too.
        """
        for name, value in self._added.items():
            headers.setdefault(name, value)
        return status_code, headers, chunk


class PlainErrors(tornado.web.RequestHandler):
    """Mixed into every handler: an error is a short page, and what the visitor did wrong is no event."""

    def write_error(self, status_code: int, **reason: Any) -> None:
        """Write the page of an error; it never fails, as Jupyter's own does without Jupyter's other parts.

        Args:
            status_code: of the answer.
            **reason: what happened; it stays with the server.
        """
        try:
            message = http.HTTPStatus(status_code).phrase
        except ValueError:
            message = "Error"
        if isinstance(self, APIHandler):  # its answers are JSON
            self.finish({"message": message})
            return
        page = self.settings["voila_jinja2_env"].get_template("page.html")
        base_url = self.settings["base_url"]
        self.set_header("Content-Type", "text/html; charset=UTF-8")
        self.finish(page.render(status_code=status_code, status_message=message, base_url=base_url))

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """Log what the server did wrong, without the visitor's address.

        Args:
            typ: class of the exception.
            value: the exception.
            tb: its traceback.
        """
        if not isinstance(value, tornado.web.HTTPError) or value.status_code >= 500:
            log.error("%s %r failed", self.request.method, self.request.path, exc_info=(typ, value, tb))


class Page(TornadoVoilaHandler):
    """The page. Its kernel is ended when the visitor leaves before it has arrived, or never connects to it."""

    kernel_id: str | None = None
    left = False
    socket: Any = None  # the connection that asked for the kernel, where it was not the page itself

    @property
    def holder(self) -> Any:
        """The visitor that the kernel is for."""
        return self.socket or self

    def hear(self, place: int) -> None:
        """Hear nothing: who asks for this page cannot wait in line."""

    def is_there(self) -> bool:
        """Return that no connection is left once the page is sent, beside the one to the kernel."""
        return False

    def lose(self, why: str) -> None:
        """Hear nothing: the page hears of its kernel by its own connection."""

    @property
    def kernel_manager(self) -> Any:
        """The manager of kernels, telling this page which one is its own."""
        return _Visit(super().kernel_manager, self)

    @tornado.web.authenticated
    async def get(self, path: str | None = None) -> None:
        """Send the page piece by piece.

        Args:
            path: empty; there is nothing but the page.
        """
        if path:
            raise tornado.web.HTTPError(404)
        manager = super().kernel_manager
        if not manager.places.enter(self):
            raise tornado.web.HTTPError(503)
        try:
            async for html in self.pieces():
                self.write(html)
                self.flush()
        except Exception:
            if not self.left:
                raise  # else: of no use to anybody, and mostly that the kernel has been ended
        finally:
            self.end_start()
        if self.kernel_id is not None and not self.left:
            manager.watch(self.kernel_id)
            manager.expect(self.kernel_id)

    def end_start(self) -> None:
        """Let the next visitor start; if no kernel came of it, there is a place, too."""
        manager = super().kernel_manager
        if self.kernel_id in manager:
            manager.places.started(self.holder)
        else:
            manager.places.leave(self.holder)

    async def pieces(self) -> AsyncIterator[str]:
        """Yield the page piece by piece, until all of it is there or the page is left.

        Raises:
            RuntimeError: The kernel has ended; Voilà itself would wait for it for ever.
        """
        manager = super().kernel_manager
        try:
            async for html in self.get_generator():
                if self.left:
                    return
                if self.kernel_id is not None and self.kernel_id not in manager:
                    raise RuntimeError("the kernel ended before the notebook did")
                yield html
        finally:
            # What the visitor asked for, which Voilà would keep for a kernel that does not ask for it.
            RequestInfoSocketHandler._cache.pop(self.kernel_id, None)

    def on_connection_close(self) -> None:
        """End the kernel of a page that is left while it still arrives."""
        super().on_connection_close()
        self.leave()

    def leave(self) -> None:
        """End the kernel, as soon as there is one: the page is gone."""
        self.left = True
        if self.kernel_id is not None:
            super().kernel_manager.leave(self.kernel_id)


class _Visit:
    """The manager of kernels as one page sees it."""

    def __init__(self, manager: Any, page: Page) -> None:
        self._manager = manager
        self._page = page

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manager, name)

    async def start_kernel(self, **options: Any) -> str:
        kernel_id: str = await ensure_async(self._manager.start_kernel(**options))
        self._take(kernel_id)
        return kernel_id

    async def get_rendered_notebook(self, **options: Any) -> tuple[Any, Any, str]:
        # Voilà would tell this visitor's address, what stands behind its ? included, to the next one's kernel.
        options["extra_kernel_env_variables"] = {}
        task, rendered, kernel_id = await self._manager.get_rendered_notebook(**options)
        self._take(kernel_id)
        return task, rendered, kernel_id

    def _take(self, kernel_id: str) -> None:
        self._page.kernel_id = kernel_id
        self._manager.give(kernel_id, self._page.holder)
        if self._page.left:
            self._manager.leave(kernel_id)
            raise tornado.iostream.StreamClosedError


class Channels(KernelWebsocketHandler):
    """Mixed into the handler of the websocket: a page that goes away ends its kernel. What is said here is heard."""

    def on_message(self, ws_message: Any) -> None:
        """Pass a message on to the kernel.

        Args:
            ws_message: Of the page.
        """
        manager: Any = self.kernel_manager
        manager.ask(self.kernel_id)
        super().on_message(ws_message)

    def write_message(self, message: Any, binary: bool = False) -> Any:
        """Pass a message on to the page.

        Args:
            message: Of the kernel.
            binary: Whether it is bytes.
        """
        manager: Any = self.kernel_manager
        manager.answer(self.kernel_id)
        return super().write_message(message, binary)

    def on_close(self) -> None:
        """End the kernel; where the connection may only be lost, the page has time to come back."""
        super().on_close()
        manager: Any = self.kernel_manager
        if self.close_code == GOING_AWAY:
            manager.leave(self.kernel_id)
        else:
            manager.lose(self.kernel_id)

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """Log that a page sent what is no message of the kernel's protocol; the connection is closed.

        Args:
            typ: class of the exception.
            value: the exception.
            tb: its traceback.
        """
        if not isinstance(value, tornado.web.HTTPError):
            log.error("a connection is closed, because a message of it cannot be read (%s)", typ.__name__)


class Goodbye(APIHandler):
    """What a page calls when it goes. Voilà's own asks the kernel to end, which then races with the end of all else."""

    @tornado.web.authenticated
    def post(self, kernel_id: str) -> None:
        """Have the kernel ended.

        Args:
            kernel_id: it may have been ended already.
        """
        manager: Any = self.kernel_manager
        manager.go(kernel_id)
        self.set_status(204)
        self.finish()


def mended(handler: type[tornado.web.RequestHandler], *, kept: bool = False) -> type[tornado.web.RequestHandler]:
    """Return one of Voilà's handlers with what it lacks.

    Args:
        handler: as Voilà registers it.
        kept: whether the addresses of its files name their versions.
    """
    if issubclass(handler, TornadoVoilaHandler):
        handler = Page
    elif issubclass(handler, VoilaShutdownKernelHandler):
        handler = Goodbye
    mixins: tuple[type, ...] = (PlainErrors,)
    if issubclass(handler, tornado.web.StaticFileHandler):
        mixins = (PlainErrors, KeptFiles if kept else Files)
    elif issubclass(handler, KernelWebsocketHandler):
        mixins = (Channels, PlainErrors)
    return type(handler.__name__, (*mixins, handler), {})
