"""The kernels of the notebook route: a few at a time, and each ends when its page goes."""

import asyncio
import contextlib
import logging
import re
import shutil
import traceback
from typing import Any

import tornado.web
import tornado.websocket
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager, ServerKernelManager

from convviz.serve.temporary_folders import make_folder

MAX_KERNELS = 4
KERNEL_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
COMES_BACK_S = 60  # that a page which lost its connection, or has just been sent, has to connect


class NoKernel(Exception):
    """A page of the notebook has no kernel, or none any more; the words are for the operator."""


class NotebookKernel(ServerKernelManager):
    """Manages one kernel, whose tracebacks, with the server's folders, no page gets."""

    # Jupyter looks here for what stands at the manager of all kernels, and fails without it.
    traceback_replacement_message = "What happened is not shown here."

    async def _async_interrupt_kernel(self) -> None:
        """Interrupt the kernel, unless it ends: one that still starts would print a traceback."""
        if not self.shutting_down:
            await super()._async_interrupt_kernel()


class NotebookKernels(AsyncMappingKernelManager):
    """Starts a few kernels, and ends that of a page that is left; Jupyter culls what is forgotten."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.making: set[Any] = set()  # the pages that are being made, with a kernel of theirs or before it
        self._going: set[str] = set()
        self._left: set[str] = set()
        self._ending: dict[str, asyncio.Task[None]] = {}

    def is_full(self) -> bool:
        counted = {page.kernel_id for page in self.making} | self._ending.keys()
        return len(self.making) + len(set(self.list_kernel_ids()) - counted) >= MAX_KERNELS

    # Jupyter types it as the wrapper for who cannot wait.
    async def start_kernel(self, **options: Any) -> str:  # type: ignore[override]
        self.connection_dir = self.connection_dir or make_folder("kernels")
        started: str = await super().start_kernel(**options)
        return started

    def remove_kernel(self, kernel_id: str) -> Any:
        # A page that hears of the end closes its connection meanwhile, and Jupyter keeps the four sockets of the last
        # connection for the next one, which never comes.
        self.stop_buffering(kernel_id)
        self._going.discard(kernel_id)
        self._left.add(kernel_id)
        return super().remove_kernel(kernel_id)

    def go(self, kernel_id: str) -> None:
        """End a kernel whose page goes, once it is gone: a link that is a download leads nowhere."""
        if kernel_id in self:
            self._going.add(kernel_id)
            if not self._is_connected(kernel_id):
                self.leave(kernel_id)

    def lose(self, kernel_id: str) -> None:
        """End a kernel whose page closed its connection: at once if it said so, else if it stays away."""
        if kernel_id in self._going:
            self.leave(kernel_id)
        else:
            self.expect(kernel_id)

    def expect(self, kernel_id: str) -> None:
        def look() -> None:
            if kernel_id in self and not self._is_connected(kernel_id):
                self.leave(kernel_id)

        asyncio.get_running_loop().call_later(COMES_BACK_S, look)

    def leave(self, kernel_id: str) -> None:
        if kernel_id in self and kernel_id not in self._ending:
            self._left.add(kernel_id)
            self._ending[kernel_id] = asyncio.ensure_future(self._end(kernel_id))

    async def _end(self, kernel_id: str) -> None:
        try:
            # Killed, not asked: it has nothing to save, and some of ipykernel's threads send on sockets that another
            # one closes, at which libzmq aborts now and then, with a line in the server's output.
            await self.shutdown_kernel(kernel_id, now=True)
        except (KeyError, tornado.web.HTTPError):
            pass  # somebody asked for the same meanwhile
        except Exception:  # nobody awaits this task: a kernel that stays would go unseen
            logging.getLogger("tornado.application").exception("A kernel could not be ended")
        finally:
            del self._ending[kernel_id]

    async def end_all(self) -> None:
        while True:
            for kernel_id, start in [*self._pending_kernels.items()]:
                if start.done():  # of a kernel that could not start: Jupyter keeps it, and then finds no such kernel
                    del self._pending_kernels[kernel_id]
            with contextlib.suppress(asyncio.InvalidStateError, tornado.web.HTTPError):  # known, but not started yet
                await self.shutdown_all(now=True)
                break
            await asyncio.sleep(0.05)
        if self.connection_dir:
            shutil.rmtree(self.connection_dir, ignore_errors=True)

    def is_news(self, error: BaseException | None) -> bool:
        """Return whether a failure is more than the end of a page or its kernel, which the page's handler reports."""
        if isinstance(error, tornado.websocket.WebSocketClosedError):  # a message was on its way to the page
            return False
        frames = [frame.f_locals for frame, _ in traceback.walk_tb(error.__traceback__ if error else None)]
        if isinstance(error, OSError) and any(_is_not_started(each.get("self")) for each in frames):
            return False
        return not any(self._is_over(each["kernel_id"]) for each in frames if "kernel_id" in each)

    def _is_over(self, kernel_id: str) -> bool:
        kernel = self._kernels.get(kernel_id)
        process = getattr(kernel.provisioner, "process", None) if kernel else None
        return kernel_id in self._left or (process is not None and process.poll() is not None)

    def _is_connected(self, kernel_id: str) -> bool:
        return bool(self.kernel_model(kernel_id)["connections"])


def without_kernel_ids(record: logging.LogRecord) -> bool:
    """Take the ids out of what is logged: whoever knows one may speak to that kernel."""
    record.msg, record.args = KERNEL_ID.sub("…", record.getMessage()), None
    return True


def _is_not_started(manager: object) -> bool:
    return isinstance(manager, NotebookKernel) and not manager.has_kernel
