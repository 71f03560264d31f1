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
from dataclasses import asdict
from pathlib import Path

import psutil

from benchmarks.student_drags import drags
from benchmarks.student_load import ENDS_WITHIN_S, until
from benchmarks.student_machine import alive, kill, more_files, tree
from benchmarks.student_page import PAGE_FILES, text_of
from benchmarks.student_scene import BACK_WITHIN_S, suffered
from benchmarks.student_wire import HEADERS

SLOW_CLIENTS = 100
SLEEPS_S = 45


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
        found.back_s = time.perf_counter() - start
    found.more = "it goes on after that minute" if found.back_s is None else "from another kernel"
    for process in scene.own:
        with contextlib.suppress(psutil.NoSuchProcess):  # it has been ended meanwhile
            process.send_signal(signal.SIGCONT)
    found.since = time.perf_counter()


async def restarted(scene, found):
    """the server is killed and started again on its port (counted from there)"""
    scene.remember()
    left = [each for each in scene.processes if each.pid != scene.server.process.pid]
    scene.server.kill()
    await scene.start(scene.server.url.rstrip("/").rpartition(":")[2])
    found.since = time.perf_counter()
    ended = await until(lambda: not any(map(alive, left)), BACK_WITHIN_S)
    found.more = f"the {len(left)} processes of the killed one {'ended by themselves' if ended else 'DID NOT END'}"


async def cut(scene, found):
    """the kernel's websocket breaks"""
    scene.victim.kernel.cut()


async def broken_off(scene, found):
    """all connections of a page break"""
    scene.victim.break_off()


async def stalled(scene, found, seconds=2):
    """the page reads nothing for 2 s (counted from their end)"""
    scene.victim.kernel.reading.clear()
    await asyncio.sleep(seconds)
    scene.victim.kernel.reading.set()
    found.since = time.perf_counter()


async def stalled_long(scene, found):
    """the page reads nothing for 60 s (counted from their end)"""
    await stalled(scene, found, 60)


async def asleep(scene, found):
    """the student's laptop sleeps for 45 s (counted from their end)"""
    scene.victim.awake.clear()
    scene.victim.break_off()
    await asyncio.sleep(SLEEPS_S)
    found.since = time.perf_counter()
    scene.victim.awake.set()


async def slow(scene, found):
    """a hundred slow clients: half of them send a byte a second, half read nothing of a large file"""
    url = scene.server.url.rstrip("/").rpartition(":")[2]
    name = next(name for name in await _files_of(scene) if "plotly" in name)
    clients = [await asyncio.open_connection("127.0.0.1", int(url), limit=1024) for _ in range(SLOW_CLIENTS)]
    for number, (_, writer) in enumerate(clients):
        half = f"GET /{name} HTTP/1.1\r\nHost: 127.0.0.1:{url}\r\n{HEADERS}"
        writer.write(half.encode() + (b"\r\n" if number % 2 else b""))
    dripping = scene.do(_drip([writer for _, writer in clients[::2]]))
    found.more = "beside them " + await _told_by_a_guest(scene)
    dripping.cancel()
    for _, writer in clients:
        writer.close()
    found.since = time.perf_counter()


async def _drip(writers):
    while True:
        for writer in writers:
            writer.write(b"X")
        await asyncio.sleep(1)


async def _told_by_a_guest(scene):
    """Let a new visitor come; return what came of it."""
    guest = scene.come(99)
    scene.others.append(guest)
    await until(lambda: guest.seen.answers, BACK_WITHIN_S)
    page, kernel = (each and round(each, 2) for each in (guest.seen.page_s, guest.seen.kernel_s))
    return f"a new visitor has the live page after {page} s and torch's numbers after {kernel} s"


async def _files_of(scene):
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


async def parent_killed(scene, found):
    """what all kernels are started from is killed"""
    server = scene.server.process.pid
    parents = [each for each in tree(server) if each.pid != server and each.children()]
    kill(parents)
    found.more = f"processes killed: {len(parents)}; then " + await _told_by_a_guest(scene)
    found.since = time.perf_counter()


FAULTS = (killed, stopped, restarted, cut, broken_off, stalled, stalled_long, asleep, slow, abandoned, parent_killed)


async def measure(names, options, seed, say):
    """Return a Found a fault."""
    deck, found = drags(seed), []
    for fault in FAULTS:
        if names and fault.__name__ not in names:
            continue
        found.append(await suffered(fault, options, deck))
        say(f"{found[-1].fault}: numbers again after {found[-1].back_s}")
    return found


def table(found):
    """Return the faults as lines of text."""
    lines = []
    for each in found:
        back = "no numbers within a minute" if each.back_s is None else f"numbers again after {each.back_s:.1f} s"
        lines += ["", f"{each.fault}: {back}", *(f"    {line}" for line in each.saw)]
        slowest = "–" if each.slowest_s is None else f"{each.slowest_s:.2f} s"
        lines.append(f"    the others: slowest answer {slowest}, {', '.join(each.others) or 'nothing unusual'}")
        lines += [f"    {each.more}"] if each.more else []
        lines += [f"    {each.left} processes outlived the server"] if each.left else []
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
