"""One simulated student: opens the page, gets a kernel, drags sliders, comes back by itself, closes the tab."""

import asyncio
import random
import time

from tornado.httpclient import HTTPError
from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError, WebSocketError

from benchmarks.student_drags import wrong
from benchmarks.student_kernel import Kernel, Lost
from benchmarks.student_page import Page, Refused, Seen
from benchmarks.student_wire import HttpError

BETWEEN_MOVES_S = (0.05, 0.15)
DRAG_TAKES_S = 3
RESTS = "the kernel rests"
LATE_S = 10  # after which the page itself waits no longer: numbers/asking.js
MOST_FAILURES = 3  # after which the page offers a button
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8
# What a browser would tell its page as "the connection is gone".
GONE = (
    *(OSError, asyncio.IncompleteReadError, HTTPError, HttpError),
    *(StreamClosedError, WebSocketClosedError, WebSocketError),
)


class Student:
    """Does what a student's browser does; what goes wrong is noted, and it tries again.

    Attributes:
        seen: What it saw.
        page: Its page.
        kernel: The Kernel that answers it now, or None.
        drags_left: How many it has still to do.
        awake: Cleared while its machine sleeps.
    """

    def __init__(self, address, deck, *, seed, drags, minute=60.0, files=(), later_files=(), plain=False):
        """Prepare.

        Args:
            address: Of the page.
            deck: Lists of moves.
            seed: Of all that is random.
            drags: How many it does, one a minute.
            minute: Seconds of a minute.
            files: Paths of what Voilà's front end loads while the kernel starts.
            later_files: Paths of what it loads once the kernel is there.
            plain: Whether the page is Voilà's own.
        """
        self.seen = Seen()
        self.page = Page(address, self.seen, files, later_files)
        self.kernel, self.drags_left = None, drags
        self._deck, self._chance = deck, random.Random(seed)
        self._minute, self._plain = minute, plain
        self._kernel_id, self._wished, self._failures = "", 0.0, 0
        self.awake = asyncio.Event()
        self.awake.set()

    @property
    def held(self):
        """Whether a kernel answers now."""
        return self.kernel is not None and not self.kernel.lost.done()

    @property
    def waits(self):
        """Whether it is in line."""
        return bool(self.seen.places) and not self.held and not self.seen.refused

    async def live(self):
        """Visit until cancelled."""
        self.seen.came = time.perf_counter()
        pause = FIRST_PAUSE_S
        while True:
            await self.awake.wait()
            try:
                if not self._plain:
                    await self.page.open()
                await self._get_kernel()
                pause = FIRST_PAUSE_S
                await self._use_kernel()
            except Refused as refused:
                await self._take_refusal(str(refused))
            except Lost as lost:
                await self._take_loss(str(lost))
            except GONE as gone:
                self.seen.fail(f"{type(gone).__name__}: {gone}")
            await asyncio.sleep(pause * self._chance.uniform(0.5, 1.5))
            pause = min(2 * pause, LONGEST_PAUSE_S)

    async def _take_refusal(self, why):
        """Try again where a kernel could not be started; elsewhere the page offers a button, and nobody presses it."""
        self._failures += 1
        if why == "failed" and self._failures < MOST_FAILURES:
            self.seen.fail("a kernel could not be started")
            return
        self.seen.refused = why
        self.seen.note(f"refused: {why}")
        await asyncio.get_running_loop().create_future()

    async def _take_loss(self, why):
        """Try again, unless the kernel only rests and there is no move to come."""
        if why != RESTS:
            self.seen.fail(why)
            return
        self.seen.note(why)
        if not self.drags_left:
            await asyncio.get_running_loop().create_future()

    async def _get_kernel(self):
        """Go back to the kernel that is there, or ask for one; wait for its first numbers."""
        start = time.perf_counter()
        self._wished = self._wished or start
        if not (self._kernel_id and not self._has_ended() and await self.page.kernel_is_there(self._kernel_id)):
            self._kernel_id = await (self.page.open_plain() if self._plain else self.page.new_kernel(self._hear))
        self.kernel = None
        self.kernel = await Kernel.open(self.page, self._kernel_id)
        await self._compute(self._chance.choice(self._deck)[0])
        now = time.perf_counter()
        self.seen.kernel_s = self.seen.kernel_s or now - self._wished
        self.seen.note(f"numbers of torch, {now - start:.1f} s after they were wished for")

    def _hear(self, why):
        """Hear that the server has taken the kernel back: one that nobody used comes again with the next move."""
        if self.kernel is not None:
            self.kernel.end(RESTS if why == "idle" else f"the server says that the kernel is lost: {why}")

    def _has_ended(self):
        """Whether the kernel itself is gone, not only the way to it: its process is not started again."""
        return self.kernel is not None and self.kernel.ended

    async def _use_kernel(self):
        """Drag at a moment of every minute; afterwards only look."""
        while self.drags_left:
            start = self._chance.uniform(0, max(self._minute - DRAG_TAKES_S, self._minute / 2))
            await self._rest(start)
            await self.drag(self._chance.choice(self._deck))
            self.drags_left -= 1
            if self.drags_left:
                await self._rest(max(0, self._minute - start - DRAG_TAKES_S))
        raise Lost(await self.kernel.lost)

    async def _rest(self, seconds):
        """Look at the board for a while, unless the kernel is lost."""
        if (await asyncio.wait((self.kernel.lost,), timeout=seconds))[0]:
            raise Lost(self.kernel.lost.result())

    async def drag(self, moves):
        """Move a slider; as in the page one request is under way, and behind it only the newest waits."""
        moved, wake, left = [], asyncio.Event(), len(moves)

        async def hand():
            for move in moves:
                moved.append((time.perf_counter(), move))
                wake.set()
                await asyncio.sleep(self._chance.uniform(*BETWEEN_MOVES_S))

        task = asyncio.create_task(hand())
        try:
            while left:
                await wake.wait()
                batch = list(moved)
                await self._compute(batch[-1][1])
                self.seen.answers += [time.perf_counter() - start for start, _ in batch]
                del moved[: len(batch)]
                left -= len(batch)
                if not moved:
                    wake.clear()
        finally:
            task.cancel()

    async def _compute(self, move):
        """Ask for numbers, and hold them against autograd's."""
        asked = time.perf_counter()
        answer = asyncio.ensure_future(self.kernel.compute(move.settings))
        try:
            if not (await asyncio.wait((answer,), timeout=LATE_S))[0]:
                self.seen.fail(f"no answer within {LATE_S} s")
            while not (await asyncio.wait((answer,), timeout=LATE_S / 2))[0]:
                if not await self.page.kernel_is_there(self._kernel_id):
                    self.kernel.end("the server has the kernel no more")
            off = wrong(move, *await answer)
        except ValueError as refused:
            off = str(refused)
        finally:
            answer.cancel()
        if off:
            self.seen.fail(off)
        else:
            self.seen.right_asked = asked

    def break_off(self):
        """Cut all connections without a word: a laptop that is closed, a line that fails."""
        if self.kernel is not None:
            self.kernel.cut()
        self.page.cut()

    async def leave(self):
        """Close the tab: the page's last call, then its connections, as a browser does it."""
        if self._kernel_id and not self._plain:
            try:
                await self.page.say_goodbye(self._kernel_id)
            except GONE as gone:
                self.seen.fail(f"at the end: {gone}")
        self.page.forget()
        if self.kernel is not None:
            self.kernel.close()
            await self.kernel.closed()
        self.page.files.close()
