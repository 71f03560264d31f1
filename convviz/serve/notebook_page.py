"""A notebook as a page, whose kernel goes when the page does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import tornado.iostream
import tornado.web
from jupyter_core.utils import ensure_async
from voila.request_info_handler import RequestInfoSocketHandler
from voila.tornado.handler import TornadoVoilaHandler


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
