"""What every answer of the server has, and Voilà's handlers with what they lack."""

import http
import logging
from collections.abc import Mapping
from typing import Any

import tornado.httputil
import tornado.web
from jupyter_server.base.handlers import APIHandler
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler
from voila.shutdown_kernel_handler import VoilaShutdownKernelHandler
from voila.tornado.handler import TornadoVoilaHandler

from convviz.serve.access_control import is_over_tls
from convviz.serve.kernel_websocket import Channel
from convviz.serve.voila_page_handler import NotebookPage

log = logging.getLogger("tornado.application")


class Headers(tornado.web.OutputTransform):
    """Adds headers to every answer: Jupyter's own setting reaches no file."""

    def __init__(self, added: Mapping[str, str], request: tornado.httputil.HTTPServerRequest) -> None:
        super().__init__(request)
        self._added = added

    def transform_first_chunk(
        self, status_code: int, headers: tornado.httputil.HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, tornado.httputil.HTTPHeaders, bytes]:
        for name, value in self._added.items():
            headers.setdefault(name, value)
        return status_code, headers, chunk


class PlainErrors(tornado.web.RequestHandler):
    """Mixed into every handler: an error is a short page, a visitor's is no event."""

    def set_cookie(self, name: str, value: str | bytes, *args: Any, **options: Any) -> None:
        """Where a proxy ends TLS, Jupyter does not see it."""
        if is_over_tls(self.request):
            options["secure"] = True
        super().set_cookie(name, value, *args, **options)

    def write_error(self, status_code: int, **reason: Any) -> None:
        """Never fail, as Jupyter's does without its other parts."""
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
        """Leave out the visitor's address."""
        if not isinstance(value, tornado.web.HTTPError) or value.status_code >= 500:
            log.error("%s %r failed", self.request.method, self.request.path, exc_info=(typ, value, tb))


class Files(tornado.web.StaticFileHandler):
    """Mixed into the handlers of files: an address that leads to no file is one."""

    async def get(self, path: str, include_body: bool = True) -> None:
        try:
            await super().get(path, include_body=include_body)
        except (AssertionError, OSError, ValueError) as wrong:  # Voilà takes an address apart without looking
            raise tornado.web.HTTPError(404) from wrong
        except tornado.web.HTTPError as refused:
            raise tornado.web.HTTPError(404 if refused.status_code == 403 else refused.status_code) from refused


class Goodbye(APIHandler):
    """What a page calls when it goes; Voilà's own races with the end of all else."""

    @tornado.web.authenticated
    def post(self, kernel_id: str) -> None:
        manager: Any = self.kernel_manager
        manager.go(kernel_id)
        self.set_status(204)
        self.finish()


def mended(handler: type[tornado.web.RequestHandler]) -> type[tornado.web.RequestHandler]:
    if issubclass(handler, TornadoVoilaHandler):
        handler = NotebookPage
    elif issubclass(handler, VoilaShutdownKernelHandler):
        handler = Goodbye
    mixins: tuple[type, ...] = (PlainErrors,)
    if issubclass(handler, tornado.web.StaticFileHandler):
        mixins = (PlainErrors, Files)
    elif issubclass(handler, KernelWebsocketHandler):
        mixins = (Channel, PlainErrors)
    return type(handler.__name__, (*mixins, handler), {})
