"""The race of one page: a process of its own, which ends when the page goes."""

import asyncio
import threading
from collections.abc import Callable, Coroutine

from convviz.serve.processes import Worker
from convviz.serve.workers import Workers

WAITING = 16  # orders that a page may be ahead of its race


class Racing:
    """What a page says to its race, and what the race says to the page."""

    def __init__(
        self, workers: Workers, write: Callable[[bytes], Coroutine[object, object, None]], over: Callable[[], None]
    ) -> None:
        """Start the process; ``over`` is called when it has ended by itself, or there is none to be had."""
        self._write, self._over = write, over
        self._orders: asyncio.Queue[bytes] = asyncio.Queue(WAITING)
        self._worker: Worker | None = None
        self._ended = False
        self._task = asyncio.ensure_future(self._run(workers))

    def tell(self, frame: bytes) -> None:
        """Let the process hear the page; who is far ahead is not heard."""
        if not self._orders.full():
            self._orders.put_nowait(frame)

    def end(self) -> None:
        """End the process; nobody is told."""
        self._ended = True
        self._task.cancel()
        if self._worker:
            self._worker.kill()

    async def _run(self, workers: Workers) -> None:
        loop = asyncio.get_running_loop()
        try:
            made = asyncio.ensure_future(workers.race())
            made.add_done_callback(self._take)  # also where the page has gone meanwhile
            worker = await asyncio.shield(made)
            threading.Thread(target=self._hear, args=(worker, loop), daemon=True).start()
            while True:
                order = await self._orders.get()
                await loop.run_in_executor(None, worker.connection.send_bytes, order)
        except (EOFError, OSError):
            self._stop()

    def _take(self, made: asyncio.Future[Worker]) -> None:
        if not made.cancelled() and not made.exception():
            self._worker = made.result()
            if self._ended:
                self._worker.kill()

    def _hear(self, worker: Worker, loop: asyncio.AbstractEventLoop) -> None:
        """Hand on what the process says, in a thread; it is read no faster than the page reads."""
        try:
            while True:
                frame = worker.connection.recv_bytes()
                asyncio.run_coroutine_threadsafe(self._write(frame), loop).result()
        except (EOFError, OSError, RuntimeError):  # it has ended, or the loop has
            worker.kill()
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        if not self._ended:
            self.end()
            self._over()
