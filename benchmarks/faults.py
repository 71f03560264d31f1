"""What breaks in a class: each fault alone, what the student who has it sees, and when torch's numbers come again.

The simulated student does what the served page does: it goes back to a kernel that is there, else asks for one again,
in growing pauses. Options after -- go to `convviz serve`: python -m benchmarks.faults --only killed cut -- --kernels 3
"""

import argparse
import asyncio
import contextlib
import json
import signal
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.student import Student
from benchmarks.student_drags import drags
from benchmarks.student_load import ENDS_WITHIN_S, resting_processes, until
from benchmarks.student_machine import alive, kill, more_files, tree
from benchmarks.student_wire import HEADERS
from tests.browser.server import voila_server

BESIDE = 2  # students who do not have the fault, and must not feel it
MINUTE_S = 2.0  # each drags a slider nearly all the time
MANY_DRAGS = 10_000
BACK_WITHIN_S = 60
SLOW_CLIENTS = 100


@dataclass
class Found:
    """What one fault came to; times in seconds.

    Attributes:
        fault: Its name.
        back_s: From the fault, or from its end where it lasts, to right numbers; None: not within a minute.
        saw: What the student saw, after how long.
        slowest_s: The others' slowest answer meanwhile.
        others: What the others saw that they should not.
        more: What else was looked at.
    """

    fault: str
    back_s: float | None = None
    saw: list[str] = field(default_factory=list)
    slowest_s: float | None = None
    others: list[str] = field(default_factory=list)
    more: str = ""


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
        self._tasks.append(asyncio.create_task(student.live()))
        return student

    async def working(self, students):
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


# -- the faults: each is done to a scene, and returns when there is nothing left to do but to wait ----------------


async def killed(scene, found):
    """the kernel's process is killed"""
    kill(scene.own)


async def stopped(scene, found):
    """the kernel's process stands still, for a minute at most"""
    for process in scene.own:
        process.send_signal(signal.SIGSTOP)
    start = time.perf_counter()
    if await until(lambda: scene.victim.seen.right_asked > start, BACK_WITHIN_S):
        found.more = "numbers came while it stood still"
    for process in scene.own:
        with contextlib.suppress(Exception):  # it has been ended meanwhile
            process.send_signal(signal.SIGCONT)


async def restarted(scene, found):
    """the server is killed and started again, on its port"""
    scene.remember()
    left = [each for each in scene.processes if each.pid != scene.server.process.pid]
    scene.server.kill()
    await scene.start(scene.server.url.rstrip("/").rpartition(":")[2])
    ended = await until(lambda: not any(map(alive, left)), BACK_WITHIN_S)
    found.more = f"the {len(left)} processes of the killed one {'ended by themselves' if ended else 'DID NOT END'}"


async def cut(scene, found):
    """the kernel's websocket breaks"""
    scene.victim.kernel.cut()


async def broken_off(scene, found):
    """all connections of a page break"""
    scene.victim.break_off()


async def stalled(scene, found, seconds=2):
    """the page reads nothing for 2 s"""
    scene.victim.kernel.reading.clear()
    await asyncio.sleep(seconds)
    scene.victim.kernel.reading.set()


async def stalled_long(scene, found):
    """the page reads nothing for 60 s"""
    await stalled(scene, found, 60)


async def slow(scene, found):
    """a hundred slow clients: half of them send a byte a second, half read nothing of a large file"""
    url = scene.server.url.rstrip("/").rpartition(":")[2]
    name = next(name for name in await _files_of(scene) if "plotly" in name)
    clients = [await asyncio.open_connection("127.0.0.1", int(url), limit=1024) for _ in range(SLOW_CLIENTS)]
    for number, (_, writer) in enumerate(clients):
        half = f"GET /{name} HTTP/1.1\r\nHost: 127.0.0.1:{url}\r\n{HEADERS}"
        writer.write(half.encode() + (b"\r\n" if number % 2 else b""))
    dripping = asyncio.create_task(_drip([writer for _, writer in clients[::2]]))
    guest = scene.come(99)
    scene.others.append(guest)
    await until(lambda: guest.seen.answers, BACK_WITHIN_S)
    dripping.cancel()
    for _, writer in clients:
        writer.close()
    found.more = (
        f"a new visitor beside them: live page after {guest.seen.page_s} s, torch after {guest.seen.kernel_s} s"
    )


async def _drip(writers):
    while True:
        for writer in writers:
            writer.write(b"X")
        await asyncio.sleep(1)


async def _files_of(scene):
    from benchmarks.student_page import PAGE_FILES, text_of

    return PAGE_FILES.findall(text_of(await scene.victim.page.files.get("/")))


async def abandoned(scene, found):
    """all pages are gone without a word, and do not come back"""
    await scene.stop_students()
    start = time.perf_counter()
    for student in (scene.victim, *scene.others):
        student.break_off()
    ended = await until(lambda: len(tree(scene.server.process.pid)) <= scene.resting, ENDS_WITHIN_S)
    took = time.perf_counter() - start
    found.more = f"their kernels were ended {took:.0f} s later" if ended else f"their kernels live after {took:.0f} s"
    found.back_s = 0.0  # nobody waits for numbers
    scene.come(5)


async def parent_killed(scene, found):
    """what all kernels are started from is killed"""
    server = scene.server.process.pid
    parents = [each for each in tree(server) if each.pid != server and each.children()]
    found.more = f"{len(parents)} such processes" if parents else "there is no such process: nothing was done"
    kill(parents)


FAULTS = (killed, stopped, restarted, cut, broken_off, stalled, stalled_long, slow, abandoned, parent_killed)


async def measure(names, options, seed, say):
    """Return a Found a fault."""
    deck, found = drags(seed), []
    for fault in FAULTS:
        if names and fault.__name__ not in names:
            continue
        found.append(await suffered(fault, options, deck))
        say(f"{found[-1].fault}: numbers again after {found[-1].back_s}")
    return found


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
            kill([each for each in scene.processes if alive(each)])
    return found


async def _suffer(fault, scene, found):
    victim, others = scene.victim, list(scene.others)
    told, answers = len(victim.seen.story), [len(each.seen.answers) for each in others]
    errors = [len(each.seen.errors) for each in others]
    start = time.perf_counter()
    await fault(scene, found)
    end = time.perf_counter() if fault in (stalled, stalled_long, stopped) else start
    if found.back_s is None and await until(lambda: victim.seen.right_asked > end, BACK_WITHIN_S):
        found.back_s = time.perf_counter() - end
    moment = start - victim.seen.came
    found.saw = [f"{at - moment:.1f} s: {what}" for at, what in victim.seen.story[told:]]
    pairs = [(each, a, e) for each, a, e in zip(others, answers, errors, strict=True)]
    found.slowest_s = max((s for each, a, _ in pairs for s in each.seen.answers[a:]), default=None)
    found.others = [error for each, _, e in pairs for error in each.seen.errors[e:]]


def table(found):
    """Return the faults as lines of text."""
    lines = []
    for each in found:
        back = "no numbers within a minute" if each.back_s is None else f"numbers again after {each.back_s:.1f} s"
        lines += ["", f"{each.fault}: {back}", *(f"    {line}" for line in each.saw)]
        slowest = "–" if each.slowest_s is None else f"{each.slowest_s:.2f} s"
        lines.append(f"    the others: slowest answer {slowest}, {', '.join(each.others) or 'nothing unusual'}")
        lines += [f"    {each.more}"] if each.more else []
    return "\n".join(lines)


def main(arguments=None):
    """Do what was asked for, and tell what was seen."""
    names = [fault.__name__ for fault in FAULTS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=names, default=[], help="which faults (all)")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write what was seen there")
    parser.add_argument("serve", nargs="*", help="after --: options for convviz serve")
    options = parser.parse_args(arguments)
    more_files()
    found = asyncio.run(measure(options.only, options.serve, options.seed, say))
    print(table(found))
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n", encoding="utf-8")


def say(line):
    """Print a line of progress."""
    print(f"  … {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
