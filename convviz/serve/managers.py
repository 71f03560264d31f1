"""The kernels of all visitors: who may have one, and when it is ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import traceback
from collections.abc import Callable
from typing import Any, Protocol

import tornado.web
import tornado.websocket
import zmq
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager, ServerKernelManager
from tornado.ioloop import PeriodicCallback
from traitlets import Float, Int, default

from convviz.serve.care import ALONE
from convviz.serve.places import Places, Visitor
from convviz.serve.pulse import Clock, Pulse

LOOKS_EVERY_S = 1.0


class Holder(Visitor, Protocol):
    """The visitor that a kernel is for."""

    def is_there(self) -> bool:
        """Return whether he holds a connection to the server, beside those to the kernel."""

    def lose(self, why: str) -> None:
        """Hear that the kernel ends, or has ended: ``"idle"``, ``"hung"`` or ``"ended"``; only the first counts."""


class VisitorKernelManager(ServerKernelManager):
    """Manages one kernel, whose tracebacks no page gets: they name the server's folders."""

    # Jupyter looks here for what stands at the manager of all kernels, and fails without it.
    traceback_replacement_message = "What happened is not shown here."

    # Jupyter types it as the wrapper for who cannot wait.
    async def start_kernel(self, *args: Any, **options: Any) -> None:  # type: ignore[override]
        """Start the kernel; where its process runs and something fails after it, nobody would know it to end it."""
        try:
            await super().start_kernel(*args, **options)
        except BaseException:
            if self.has_kernel:
                with contextlib.suppress(Exception):  # the first reason is the one to tell
                    await self._async_kill_kernel()
                    await self._async_cleanup_resources()
            raise

    async def _async_interrupt_kernel(self) -> None:
        """Interrupt the kernel, unless it is being ended: one that still starts would print a traceback first."""
        if not self.shutting_down:
            await super()._async_interrupt_kernel()


class PatientKernelManager(AsyncMappingKernelManager):
    """Ends the kernel of a page that is left, and an idle kernel only at the second look that finds it idle.

    A preheated kernel has been idle for as long as it waited. Voilà protects it until a visitor gets it; a
    look between that moment and the browser's first message would end it under the visitor's eyes.
    """

    most = Int(0, config=True, help="How many visitors may have a kernel at a time; 0 is as many as come.")
    starts = Int(0, config=True, help="How many kernels may start at a time; 0 is all.")
    comes_back_s = Float(ALONE.comes_back_s, config=True, help="How long a page without connection is waited for.")
    idle_s = Float(ALONE.idle_s, config=True, help="After how many seconds of silence a kernel rests; 0 is never.")
    hung_s = Float(ALONE.hung_s, config=True, help="After how many seconds a kernel hangs; 0 is never.")

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.places = Places(self.most, self.starts)
        self._holders: dict[str, Holder] = {}
        self._pulses: dict[str, Pulse] = {}
        self._clock = Clock(time.monotonic(), 2 * LOOKS_EVERY_S)
        self._looks: PeriodicCallback | None = None
        self._seen: set[str] = set()
        self._ending: dict[str, asyncio.Task[None]] = {}
        self._left: set[str] = set()
        self._going: set[str] = set()
        self._why: dict[str, str] = {}  # kernel id → why it is ended
        self.ended: Callable[[str, str], None] = lambda kernel_id, why: None

    @default("context")
    def _context_default(self) -> zmq.Context[Any]:
        """Allow more sockets than the 1023 of ZeroMQ, which end at the 167th kernel."""
        context: zmq.Context[Any] = super()._context_default()
        context.set(zmq.MAX_SOCKETS, context.get(zmq.SOCKET_LIMIT))
        return context

    # Jupyter types it as the wrapper for who cannot wait.
    async def start_kernel(self, *, kernel_id: str | None = None, **options: Any) -> str:  # type: ignore[override]
        """Start a kernel; where that fails halfway, it is ended.

        Args:
            kernel_id: One of our own making; None makes one.
            **options: As Jupyter takes them.
        """
        kernel_id = kernel_id or self.new_kernel_id()
        try:
            started: str = await super().start_kernel(kernel_id=kernel_id, **options)
        except BaseException:
            self.leave(kernel_id)
            raise
        return started

    # -- who has which kernel

    def give(self, kernel_id: str, holder: Holder) -> None:
        """Note whose a kernel is.

        Args:
            kernel_id: It has just been started, or was waiting for somebody.
            holder: He gives his place back when it has ended.
        """
        self._holders[kernel_id] = holder

    def watch(self, kernel_id: str) -> None:
        """See to it that a kernel rests where nobody uses it, and ends where it hangs.

        Args:
            kernel_id: It has run the notebook; its page comes next. It may have ended already.
        """
        if kernel_id not in self:
            return
        self._pulses[kernel_id] = Pulse(self._clock.seconds)
        if self._looks is None:
            self._looks = PeriodicCallback(self._look, 1000 * LOOKS_EVERY_S)
            self._looks.start()

    def ask(self, kernel_id: str) -> None:
        """Hear that a page says something to its kernel."""
        if pulse := self._pulses.get(kernel_id):
            pulse.ask(self._clock.seconds)

    def answer(self, kernel_id: str) -> None:
        """Hear that a kernel says something to its page."""
        if pulse := self._pulses.get(kernel_id):
            pulse.answer(self._clock.seconds)

    def remove_kernel(self, kernel_id: str) -> Any:
        """Forget a kernel, however it has ended; its place is free."""
        # A page that hears of the end closes its connection meanwhile, and Jupyter keeps the four sockets of the last
        # connection for the next one, which never comes.
        self.stop_buffering(kernel_id)
        removed = super().remove_kernel(kernel_id)
        self._pulses.pop(kernel_id, None)
        self.ended(kernel_id, self._why.pop(kernel_id, "died"))
        if holder := self._holders.pop(kernel_id, None):
            holder.lose("ended")
            self.places.leave(holder)
        return removed

    # Jupyter types it, too, as the wrapper for who cannot wait.
    async def shutdown_all(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        """End all kernels; nobody gets a place that becomes free by it."""
        self.places.close()
        for kernel_id in self.list_kernel_ids():
            self._why.setdefault(kernel_id, "stopped")
        await super().shutdown_all(*args, **kwargs)

    def _look(self) -> None:
        """End what rests and what hangs."""
        now = self._clock.look(time.monotonic())
        for kernel_id, pulse in list(self._pulses.items()):
            busy = getattr(self.get_kernel(kernel_id), "execution_state", None) == "busy"
            if why := pulse.trouble(now, busy=busy, idle_s=self.idle_s, hung_s=self.hung_s):
                if holder := self._holders.get(kernel_id):
                    holder.lose(why)
                self._why.setdefault(kernel_id, why)
                self.leave(kernel_id)

    # -- when it ends

    def go(self, kernel_id: str) -> None:
        """End a kernel whose page says that it goes, once it is gone: a link that is a download leads nowhere.

        Args:
            kernel_id: It may have been ended already.
        """
        if kernel_id not in self:
            return
        self._going.add(kernel_id)
        if not self._is_watched(kernel_id):
            self.leave(kernel_id)

    def lose(self, kernel_id: str) -> None:
        """End a kernel whose page closed its connection: at once if it has said that it goes, else if it stays away.

        Args:
            kernel_id: It may have been ended already.
        """
        if kernel_id in self._going:
            self.leave(kernel_id)
        else:
            self.expect(kernel_id)

    def leave(self, kernel_id: str) -> None:
        """End a kernel whose page is gone.

        Args:
            kernel_id: It may have been ended already, by the page itself.
        """
        if kernel_id in self and kernel_id not in self._ending:
            self._left.add(kernel_id)
            self._why.setdefault(kernel_id, "left")
            self._ending[kernel_id] = asyncio.ensure_future(self._end(kernel_id))

    def expect(self, kernel_id: str) -> None:
        """End a kernel if its page does not connect in time.

        Args:
            kernel_id: Of a page that has been sent whole, or has lost its connection.
        """

        def look() -> None:
            if kernel_id in self and not self._is_watched(kernel_id):
                self.leave(kernel_id)

        asyncio.get_running_loop().call_later(self.comes_back_s, look)

    def is_news(self, error: BaseException | None) -> bool:
        """Return whether a failure is more than the end of a page, or of a kernel that was at work for one.

        Args:
            error: As Voilà or asyncio reports it.
        """
        if isinstance(error, tornado.websocket.WebSocketClosedError):  # a message was on its way to the page
            return False
        frames = traceback.walk_tb(error.__traceback__ if error else None)
        return not any(frame.f_locals.get("kernel_id") in self._left for frame, _ in frames)

    # Jupyter types it as the wrapper for who cannot wait.
    async def shutdown_kernel(  # type: ignore[override]
        self, kernel_id: str, now: bool = False, restart: bool = False
    ) -> None:
        """End a kernel; it is asked only where a page is there to hear its last words, else killed.

        A kernel that is asked takes its threads and sockets down one by one, and some of ipykernel's threads still
        send on sockets that another one closes: now and then libzmq aborts, with a line in the server's output.

        Args:
            kernel_id: One of ours.
            now: Whether to kill it in any case.
            restart: Whether it is started again.
        """
        self._why.setdefault(kernel_id, "asked")
        await super().shutdown_kernel(kernel_id, now or not self._is_connected(kernel_id), restart)

    def _is_connected(self, kernel_id: str) -> bool:
        return bool(self.kernel_model(kernel_id)["connections"])

    def _is_watched(self, kernel_id: str) -> bool:
        holder = self._holders.get(kernel_id)
        return self._is_connected(kernel_id) or (holder is not None and holder.is_there())

    async def _end(self, kernel_id: str) -> None:
        try:
            await self.shutdown_kernel(kernel_id, now=True)
        except (KeyError, tornado.web.HTTPError):
            pass  # somebody asked for the same meanwhile
        except Exception:  # nobody awaits this task: a kernel that stays would go unseen
            logging.getLogger("tornado.application").exception("A kernel could not be ended")
        finally:
            del self._ending[kernel_id]

    async def cull_kernel_if_idle(self, kernel_id: str) -> None:
        """End the kernel when it is idle, unless this is the first look at it.

        Args:
            kernel_id: A kernel that no pool holds any more.
        """
        if kernel_id in self._seen:
            self._why.setdefault(kernel_id, "idle")
            await super().cull_kernel_if_idle(kernel_id)
            self._why.pop(kernel_id, None)  # it was not idle
        self._seen.add(kernel_id)
        self._seen &= set(self.list_kernel_ids())
