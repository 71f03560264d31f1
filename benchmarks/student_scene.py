"""A server with some students at work on it, one of whom has a fault; what they saw of it."""

import asyncio
import contextlib
import time
from dataclasses import dataclass, field

from benchmarks.student import Student
from benchmarks.student_load import ENDS_WITHIN_S, resting_processes, until
from benchmarks.student_machine import alive, kill, tree
from tests.browser.server import voila_server

BESIDE = 2  # students who do not have the fault, and must not feel it
MINUTE_S = 2.0  # each drags a slider nearly all the time
MANY_DRAGS = 10_000
BACK_WITHIN_S = 60
GO_WITHIN_S = 10


@dataclass
class Found:
    """What one fault came to; times in seconds.

    Attributes:
        fault: Its name.
        since: The moment, of time.perf_counter(), from which the return of numbers counts; 0: from the fault itself.
        back_s: From there to right numbers; None: not within a minute.
        saw: What the student saw, after how long.
        slowest_s: The others' slowest answer meanwhile.
        others: What the others saw that they should not.
        more: What else was looked at.
        left: How many processes outlived the server that was asked to end.
    """

    fault: str
    since: float = 0.0
    back_s: float | None = None
    saw: list[str] = field(default_factory=list)
    slowest_s: float | None = None
    others: list[str] = field(default_factory=list)
    more: str = ""
    left: int = 0


class Scene:
    """A server, and some students who are at work.

    Attributes:
        server: As tests.browser.server starts it.
        victim: The student who has the fault.
        others: Those who do not.
        own: The processes of the victim's kernel.
        resting: How many processes there are when nobody is.
    """

    def __init__(self, stack, options, deck, beside):
        self._stack, self._options, self._deck = stack, options, deck
        self._beside = beside
        self._tasks = []
        self.processes = set()

    async def open(self):
        """Start the server, let the students come, and wait until all have numbers."""
        await self.start()
        self.resting = await resting_processes(self.server.process.pid, self.student)
        before = set(tree(self.server.process.pid))
        self.victim = self.come(1)
        await self.working([self.victim])
        self.own = [each for each in tree(self.server.process.pid) if each not in before]
        self.others = [self.come(seed) for seed in range(2, 2 + self._beside)]
        await self.working(self.others)
        self.remember()

    async def start(self, port=0):
        """Start a server on a port; 0 is any."""
        context = voila_server(arguments=[*self._options, "--port", port])
        self.server = await asyncio.to_thread(self._stack.enter_context, context)

    def student(self, *, seed, drags):
        return Student(self.server.url, self._deck, seed=seed, drags=drags, minute=MINUTE_S)

    def come(self, seed):
        """Return a student who has come and stays."""
        student = self.student(seed=seed, drags=MANY_DRAGS)
        self.do(student.live())
        return student

    def do(self, what):
        """Do something beside everything else, until the students stop; return the task."""
        task = asyncio.create_task(what)
        self._tasks.append(task)
        return task

    async def working(self, students):
        """Wait until some students have had answers to a drag."""
        if not await until(lambda: all(each.seen.answers for each in students), ENDS_WITHIN_S):
            raise SystemExit(f"No numbers before any fault: {[each.seen.story for each in students]}")

    def remember(self):
        """Note which processes there are, so that none is left in the end."""
        self.processes |= set(tree(self.server.process.pid))

    async def stop_students(self):
        """Let nobody do anything any more; connections stay as they are."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self):
        """Let all leave."""
        self.remember()
        await self.stop_students()
        await asyncio.gather(*(each.leave() for each in (self.victim, *self.others)))


async def suffered(fault, options, deck, beside=BESIDE):
    """Return what a fault came to, on a server of its own.

    Args:
        fault: One of the functions above.
        options: For convviz serve.
        deck: Lists of moves.
        beside: How many students do not have it.
    """
    found = Found(fault.__doc__)
    with contextlib.ExitStack() as stack:
        scene = Scene(stack, options, deck, beside)
        try:
            await scene.open()
            await _suffer(fault, scene, found)
            await scene.close()
        finally:
            await asyncio.to_thread(stack.close)
            await until(lambda: not any(map(alive, scene.processes)), GO_WITHIN_S)
            left = [each for each in scene.processes if alive(each)]
            kill(left)
    found.left = len(left)
    return found


async def _suffer(fault, scene, found):
    victim, others = scene.victim, list(scene.others)
    told, answers = len(victim.seen.story), [len(each.seen.answers) for each in others]
    errors = [len(each.seen.errors) for each in others]
    start = time.perf_counter()
    await fault(scene, found)
    since = found.since or start
    if found.back_s is None and await until(lambda: victim.seen.right_asked > since, BACK_WITHIN_S):
        found.back_s = time.perf_counter() - since
    moment = start - victim.seen.came
    found.saw = [f"{at - moment:.1f} s: {what}" for at, what in victim.seen.story[told:]]
    pairs = [(each, a, e) for each, a, e in zip(others, answers, errors, strict=True)]
    found.slowest_s = max((s for each, a, _ in pairs for s in each.seen.answers[a:]), default=None)
    found.others = [error for each, _, e in pairs for error in each.seen.errors[e:]]
