"""One level of load: students come within some seconds, stay, drag their sliders, and close their tabs at once."""

import asyncio
import contextlib
import random
import time
from collections import Counter
from dataclasses import dataclass, field

from benchmarks.student_browser import STEPS, Visit, look_around, tab
from benchmarks.student_machine import MOST_MEMORY, cpu_seconds, memory_share, pss_mib, tree

LOOK_EVERY_S = 0.2
STANDS_FOR_S = 30  # a line that has not moved for so long will not: those in it are counted and leave
ENDS_WITHIN_S = 150  # longer than the server gives a page that may come back
BROWSER_COMES_AT = 0.5  # of the time in which the students arrive


@dataclass(frozen=True)
class Plan:
    """What is asked of a level.

    Attributes:
        students: How many come, besides the real browser.
        drags: How many each one does.
        minute: Seconds between two.
        arrive_s: Within how many seconds they come.
        patience_s: How long they wait for kernels, at most, before the level ends.
        seed: Of all that is random.
        ends_s: How long to wait for the kernels of closed tabs to end.
    """

    students: int
    drags: int = 2
    minute: float = 60.0
    arrive_s: float = 10.0
    patience_s: float = 180.0
    seed: int = 1
    ends_s: float = ENDS_WITHIN_S


@dataclass
class Level:
    """What a level came to; times in seconds, one number a visit or a move.

    Attributes:
        students: How many came.
        held: How many had a kernel that answers when the last drag was done.
        page_s: To the live page's last byte.
        kernel_s: From the wish for a kernel to torch's first numbers.
        answers: From moves of sliders to torch's numbers.
        refused: {reason: students without a kernel}.
        waiting: How many stood in line at the end.
        longest_line: The last place that was given.
        errors: {what was seen: how often}.
        memory_mib: Of the server and its kernels, when all that come were there; None where the system does not tell.
        student_mib: What one student's kernel adds to it.
        cpu_s: What the server and its kernels took until then.
        own_cpu: The share of one core that the students took, all together.
        received_mb: Of files, one student's.
        took_s: From the first arrival to the last drag.
        closed_s: From all tabs closed to no process more than before; None if it did not come to that.
        browser: What the real one saw, or None.
        stopped: Why it ended before its time, or empty.
        said: What the server printed meanwhile.
    """

    students: int
    held: int = 0
    page_s: list[float] = field(default_factory=list)
    kernel_s: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    waiting: int = 0
    longest_line: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    memory_mib: float | None = None
    student_mib: float | None = None
    cpu_s: float = 0.0
    own_cpu: float = 0.0
    received_mb: float = 0.0
    took_s: float = 0.0
    closed_s: float | None = None
    browser: Visit | None = None
    stopped: str = ""
    said: list[str] = field(default_factory=list)


async def first_visitor(make):
    """Have one student come and go, so that the server has made what it makes once; return whether it got numbers."""
    student = make(seed=0, drags=0)
    task = asyncio.create_task(student.live())
    await until(lambda: student.held or student.seen.refused or task.done(), 120)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return student


async def until(condition, within_s):
    """Wait for a condition; return whether it came true in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(LOOK_EVERY_S / 4)
    return True


async def resting_processes(pid, make, within_s=ENDS_WITHIN_S):
    """Return how many processes a server has when nobody is there, and every one that is started once is."""
    student = await first_visitor(make)
    there = len(tree(pid))
    await student.leave()
    kernels = 1 if student.seen.kernel_s else 0
    await until(lambda: len(tree(pid)) <= there - kernels, within_s)
    return len(tree(pid))


async def run_level(plan, pid, make, chromium=None, address=""):
    """Run a level against a server; return a Level.

    Args:
        plan: What is asked of it.
        pid: The server's process.
        make: Called with seed and drags; makes a Student.
        chromium: A browser of which one tab is among the students, or None.
        address: The page's, for the browser.
    """
    resting = await resting_processes(pid, make, plan.ends_s)
    before_mib, before_s = pss_mib(tree(pid)), cpu_seconds(tree(pid))
    students = [make(seed=plan.seed * 1000 + number, drags=plan.drags) for number in range(plan.students)]
    level = Level(plan.students, browser=Visit() if chromium else None)
    start, own = time.monotonic(), time.process_time()
    chance = random.Random(plan.seed)
    tasks = [asyncio.create_task(_come(each, chance.uniform(0, plan.arrive_s))) for each in students]
    leave = asyncio.Event()
    guest = asyncio.create_task(_real(chromium, address, level.browser, plan, leave)) if chromium else None
    level.stopped = await _until_settled(plan, students, start)
    if level.browser:
        await until(lambda: level.browser.trouble or len(level.browser.answers) == STEPS, STANDS_FOR_S)
    level.took_s = time.monotonic() - start
    level.own_cpu = (time.process_time() - own) / level.took_s
    processes = tree(pid)
    level.cpu_s = cpu_seconds(processes) - before_s
    level.memory_mib = pss_mib(processes)
    _collect(level, students)
    if level.memory_mib is not None and before_mib is not None and len(processes) > resting:
        level.student_mib = (level.memory_mib - before_mib) / (len(processes) - resting)
    await _all_leave(students, tasks, guest, leave)
    closed = time.monotonic()
    if await until(lambda: len(tree(pid)) <= resting, plan.ends_s):
        level.closed_s = time.monotonic() - closed
    return level


async def _come(student, after_s):
    await asyncio.sleep(after_s)
    await student.live()


async def _real(chromium, address, seen, plan, leave):
    await asyncio.sleep(plan.arrive_s * BROWSER_COMES_AT)
    async with tab(chromium, seen) as page:
        await look_around(page, address, seen, plan.patience_s)
        await leave.wait()


async def _until_settled(plan, students, start):
    """Wait until everybody has done what there was to do; return why not, or an empty text."""
    deadline = start + plan.arrive_s + plan.patience_s + plan.drags * plan.minute
    line, moved = [], time.monotonic()
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        open_ones = [each for each in students if each.drags_left and not each.seen.refused]
        if not open_ones:
            return ""
        if memory_share() > MOST_MEMORY:
            return f"memory: {MOST_MEMORY:.0%} of it is taken"
        if time.monotonic() > deadline:
            return f"the hard stop, {deadline - start:.0f} s after the first arrival"
        places = [each.seen.places[-1] if each.waits else None for each in students]
        if places != line:
            line, moved = places, time.monotonic()
        if all(each.waits for each in open_ones) and time.monotonic() - moved > STANDS_FOR_S:
            return ""


def _collect(level, students):
    seen = [student.seen for student in students]
    level.held = sum(student.held for student in students)
    level.waiting = sum(student.waits for student in students)
    level.page_s = [each.page_s for each in seen if each.page_s is not None]
    level.kernel_s = [each.kernel_s for each in seen if each.kernel_s is not None]
    level.answers = [seconds for each in seen for seconds in each.answers]
    level.refused = dict(Counter(each.refused for each in seen if each.refused))
    level.longest_line = max((place for each in seen for place in each.places), default=0)
    level.errors = dict(Counter(error for each in seen for error in each.errors))
    level.received_mb = sum(student.page.files.received for student in students) / len(students) / 1e6


async def _all_leave(students, tasks, guest, leave):
    """Close all tabs at once."""
    leave.set()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.gather(*(student.leave() for student in students))
    if guest is not None:
        guest.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await guest
