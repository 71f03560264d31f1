"""The notebook of the app as Voilà's own page, whose kernel goes when the page does."""

import logging
from typing import Any

import tornado.iostream
import tornado.web
from jupyter_core.utils import ensure_async
from voila.tornado.handler import TornadoVoilaHandler

from convviz.facts.words import sentences
from convviz.serve.managers import MAX_KERNELS, NoKernel

NOTEBOOK = "voila/render/app.ipynb"  # below the server's path, as Voilà and Binder have it
say = sentences("access_control")
log = logging.getLogger("tornado.application")


class NotebookPage(TornadoVoilaHandler):
    """The page; its kernel ends when the visitor leaves early or never connects."""

    kernel_id: str | None = None
    left = False

    @property
    def kernel_manager(self) -> Any:
        return _Visit(super().kernel_manager, self)

    @tornado.web.authenticated
    async def get(self) -> None:
        """Send the page piece by piece; Voilà would wait for ever for an ended kernel."""
        manager = super().kernel_manager
        if manager.is_full():
            self._refuse(say("kernels", most=MAX_KERNELS))
            return
        self.set_header("Content-Security-Policy", self.settings["convviz_notebook_policy"])
        manager.making.add(self)
        try:
            async for html in self.get_generator():
                if self.kernel_id is not None and self.kernel_id not in manager:
                    raise NoKernel("A kernel ended before its page was complete.")
                self.write(html)
                self.flush()
        except Exception as problem:
            if not self.left:  # else: of no use to anybody, and mostly that the kernel has been ended
                self.leave()
                if not isinstance(problem, NoKernel):
                    raise
                log.error("%s", problem)
                if self.kernel_id is None:  # else a part of the page has been sent, and says that it is one
                    self._refuse(say("no_kernel"))
        finally:
            manager.making.discard(self)
        if self.kernel_id is not None and not self.left:
            manager.expect(self.kernel_id)

    def _refuse(self, sentence: str) -> None:
        self.set_status(503)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        self.finish(sentence + "\n")

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self.leave()

    def leave(self) -> None:
        """The kernel ends as soon as there is one."""
        self.left = True
        if self.kernel_id is not None:
            super().kernel_manager.leave(self.kernel_id)


class _Visit:
    """The manager of kernels as one page sees it."""

    def __init__(self, manager: Any, page: NotebookPage) -> None:
        self._manager = manager
        self._page = page

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manager, name)

    async def start_kernel(self, **options: Any) -> str:
        try:
            kernel_id: str = await ensure_async(self._manager.start_kernel(**options))
        except OSError as refused:  # such as of a full disk
            raise NoKernel(f"A kernel cannot start: {refused}") from refused
        self._page.kernel_id = kernel_id
        if self._page.left:
            self._manager.leave(kernel_id)
            raise tornado.iostream.StreamClosedError
        return kernel_id
