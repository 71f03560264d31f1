"""A class at one server: students on plain websockets, each answer held against autograd through the definition.

    python -m benchmarks.class_load --students 1000 --minutes 10 --every 10 --faults -- --workers 3

The students share one core, the server has the others (Linux). All come at once: each fetches the page and its files,
asks for torch's numbers, and then moves a control to a random state of the app again and again; with --states stride
the stride's slider through the first picture. One student alone does so before. With --faults there is one every ten
seconds: sockets cut, a worker killed or stopped, all workers killed.
"""

import argparse
import asyncio
import contextlib
import itertools
import os
import random
import resource
import signal
import statistics
import sys
import time

import psutil

from benchmarks.figures_and_targets import Figure, p95, progress, table
from benchmarks.simulated_student import Seen, Student, moves
from tests.browser.server import voila_server

PART = "a class at one server"
MAX_STUDENTS, MAX_MINUTES = 2000, 30
ALONE_MOVES = 100
FAULT_EVERY_S = 10
SETTLES_S = 15
MARK = "CONVVIZ_CLASS"  # the variable by which the processes of a run are known


def main(arguments=None):
    """Measure, print the table, and exit 1 if an answer was wrong or did not come."""
    options = read(arguments)
    figures = run(options)
    print(table({PART: figures}))
    sys.exit(any(figure.missed for figure in figures if figure.target == 0))


def read(arguments):
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.class_load", description=__doc__, formatter_class=kind)
    parser.add_argument("--students", type=int, default=300, metavar="N", help="(300)")
    parser.add_argument("--minutes", type=float, default=2, metavar="M", help="(2)")
    parser.add_argument("--every", type=float, default=2, metavar="S", help="between two moves (2)")
    parser.add_argument("--states", choices=("random", "stride"), default="random", help="of all controls (random)")
    parser.add_argument("--faults", action="store_true", help="meanwhile, one every ten seconds")
    parser.add_argument("--seed", type=int, default=1, help="(1)")
    parser.add_argument("serve", nargs="*", help="after --: options for convviz serve")
    options = parser.parse_args(arguments)
    for name, most in (("--students", MAX_STUDENTS), ("--minutes", MAX_MINUTES)):
        value = getattr(options, name[2:])
        if not 0 < value <= most:
            parser.error(f"{name} must be more than 0 and at most {most}, and {value:g} is not")
    if any(word.startswith("--host") for word in options.serve):
        parser.error("--host must stay as it is: this load is for the machine's own loopback alone")
    return options


def measure(say):
    """Return the figures of 300 students and half a minute, for `make bench`."""
    return run(read(["--minutes", "0.5"]), say)


def run(options, say=progress):
    say("what autograd says of the states")
    pool, cores = moves(options.seed, states=options.states), sorted(getattr(os, "sched_getaffinity", lambda _: [])(0))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        _stay_on(cores[:-1])  # a process that is started has the cores of who starts it
        workers = [] if any(word.startswith("--workers") for word in options.serve) else ["--workers", "2"]
        with voila_server(arguments=[*workers, *options.serve], env={MARK: str(os.getpid())}) as server:
            _stay_on(cores[-1:] if len(cores) > 1 else [])
            return asyncio.run(_class(options, server, pool, say))
    finally:
        _stay_on(cores)


def _stay_on(cores):
    if cores:
        os.sched_setaffinity(0, cores)


async def _class(options, server, pool, say):
    root, right, alone, seen = psutil.Process(server.process.pid), {}, Seen(), Seen()
    single = Student(server.url, pool, right, alone, options.seed)
    await single.come()
    alone.answers.clear()
    for _ in range(ALONE_MOVES):
        await single.move(time.perf_counter())
    single.cut()
    say(f"one alone: {1000 * statistics.median(alone.answers):.1f} ms")
    resting, (_, idle) = len(_tree(root)), _taken(root)
    students = [Student(server.url, pool, right, seen, options.seed + number + 1) for number in range(options.students)]
    came = await asyncio.gather(*(each.come() for each in students))
    say(f"{len(students)} came: the last has torch's numbers after {max(came):.1f} s")
    before, start, own = _taken(root), time.perf_counter(), time.process_time()
    seen.answers.clear()
    until = start + 60 * options.minutes
    faults = asyncio.create_task(_faults(options, students, root, until, say)) if options.faults else None
    await asyncio.gather(*(each.stay(options.every, until) for each in students))
    own = (time.process_time() - own) / (time.perf_counter() - start)
    if faults:
        await faults
        await asyncio.gather(*(each.move(time.perf_counter()) for each in students))
    after = _taken(root)
    for each in students:
        each.cut()
    left = await _left(root, resting)
    for sentence, times in (seen.wrong + seen.refused + seen.errors).most_common(5):
        say(f"{times} × {sentence}")
    return list(_figures(options, came, alone, seen, (idle, before, after), (own, left)))


async def _faults(options, students, root, until, say):
    """Do one fault after the other, until it is time to settle."""
    chance = random.Random(options.seed)
    for fault in itertools.cycle((_cut_all, _kill, _stop, _kill_all)):
        if time.perf_counter() + FAULT_EVERY_S + SETTLES_S > until:
            return
        say(fault.__doc__)
        with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):  # it has been replaced meanwhile
            await fault(students, [each for each in _tree(root) if each != root], chance)
        await asyncio.sleep(FAULT_EVERY_S)


async def _cut_all(students, workers, chance):
    """all sockets are cut, and all pages come back at once"""
    for each in students:
        each.cut()
    await asyncio.gather(*(each.reopen() for each in students))


async def _kill(students, workers, chance):
    """a worker is killed"""
    chance.choice(workers).kill()


async def _stop(students, workers, chance):
    """a worker stands still"""
    chance.choice(workers).send_signal(signal.SIGSTOP)


async def _kill_all(students, workers, chance):
    """all workers are killed at once"""
    for each in workers:
        each.kill()


def _tree(root):
    """Return a process and all that it started: those, too, whose parent has been killed."""
    found = [root]
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if each != root and each.status() != psutil.STATUS_ZOMBIE and each.environ().get(MARK) == str(os.getpid()):
                found.append(each)
    return found


def _taken(root):
    """Return (MiB, seconds of CPU) of a process and its descendants; what several share counts in parts."""
    memory = seconds = 0
    for each in _tree(root):
        with contextlib.suppress(psutil.NoSuchProcess, FileNotFoundError):
            memory += each.memory_full_info().pss / 2**20
            seconds += sum(each.cpu_times()[:4])
    return memory, seconds


async def _left(root, resting):
    """Return how many processes more than at rest there are, some seconds after all tabs were closed."""
    deadline = time.perf_counter() + SETTLES_S
    while (more := len(_tree(root)) - resting) > 0 and time.perf_counter() < deadline:
        await asyncio.sleep(0.2)
    return more


def _figures(options, came, alone, seen, taken, rest):
    """Yield the figures; the targets are those of 300 students on a quiet machine, or of 1,000."""
    many, quiet = options.students > 300, not options.faults
    idle, (_, cpu), (memory, cpu_after) = taken
    most, single = p95(seen.answers), p95(alone.answers)
    half = f"{len(came)} students"
    yield Figure("all at once: torch's numbers, half", statistics.median(came), "s", None, half)
    yield Figure("all at once: torch's numbers, last", max(came), "s", 5 if many else 3)
    yield Figure("CPU a visit, of server and workers", 1000 * (cpu - idle) / len(came), "ms")
    detail = f"{len(seen.answers):,} moves; alone half {1000 * statistics.median(alone.answers):.1f} ms"
    yield Figure("slider → answer, half", 1000 * statistics.median(seen.answers), "ms", None, detail)
    yield Figure("slider → answer, 95 %", 1000 * most, "ms", None, f"alone {1000 * single:.1f} ms")
    yield Figure("the same / alone", most / single, "×", 4 if quiet and not many else None)
    yield Figure("memory of server and workers", memory, "MiB", 600 if many else 450)
    if quiet:  # what a worker took that was killed nobody knows
        of = f"{options.states} states; load of the machine {psutil.getloadavg()[0]:.0f}"
        yield Figure("CPU a move, of server and workers", 1000 * (cpu_after - cpu) / len(seen.answers), "ms", None, of)
    yield Figure("CPU of the students", 100 * rest[0], "% of a core", None, "near 100 they are slow")
    yield Figure("answers that were wrong", seen.wrong.total(), "", 0)
    yield Figure("refused", seen.refused.total(), "", 0 if quiet else None)
    yield Figure("without an answer", seen.errors.total(), "", 0)
    yield Figure("all tabs closed: processes more than at rest", rest[1], "", 0)


if __name__ == "__main__":
    main()
