"""A class at one server: students on plain websockets, each answer held against autograd through the definition.

    python -m benchmarks.class                                    300 students, 2 minutes, a move every 2 s each
    python -m benchmarks.class --students 1000
    python -m benchmarks.class --students 100 --minutes 10 --every 10 --faults
    python -m benchmarks.class --before ../older                  the same at an older tree, by its own benchmark, first
    python -m benchmarks.class --students 30 -- --class 30        what stands after -- goes to `convviz serve`

The students share one core, the server has the others (Linux). All come at once: each fetches the page and its files,
opens the socket, asks for torch's numbers, and then moves a control to a random state of the app again and again. One
student alone does so before, at the same server: what the class has is compared with that. With --faults there is one
every ten seconds: all sockets cut at once, and a worker, or all of them, killed, stopped, or starved of memory.
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
import subprocess
import sys
import time
from pathlib import Path

import psutil

from benchmarks.report import Figure, table
from benchmarks.student import Seen, Student, moves
from tests.browser.server import voila_server

PART = "a class at one server"
MOST_STUDENTS, MOST_MINUTES = 2000, 30
ALONE_MOVES = 100
FAULT_EVERY_S = 10
SETTLES_S = 15
MARK = "CONVVIZ_CLASS"  # the variable by which the processes of a run are known


def main(arguments=None):
    """Measure, print the table, and exit 1 if an answer was wrong or did not come."""
    options = read(arguments)
    if options.before:
        print(_older(options), flush=True)
    figures = run(options)
    print(table(figures))
    sys.exit(any(figure.missed for figure in figures if figure.target == 0))


def read(arguments):
    """Return the options, or end with what is wrong with them."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.class", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--students", type=int, default=300, metavar="N", help="who come at once (300)")
    parser.add_argument("--minutes", type=float, default=2, metavar="M", help="of moves (2)")
    parser.add_argument("--every", type=float, default=2, metavar="S", help="seconds between two moves of each (2)")
    parser.add_argument("--faults", action="store_true", help="meanwhile, one every ten seconds")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (1)")
    parser.add_argument("--before", type=Path, metavar="TREE", help="an older tree with a .venv, measured first")
    parser.add_argument("serve", nargs="*", help="after --: options for convviz serve")
    options = parser.parse_args(arguments)
    for name, value, most in (
        ("--students", options.students, MOST_STUDENTS),
        ("--minutes", options.minutes, MOST_MINUTES),
    ):
        if not 0 < value <= most:
            parser.error(f"{name} must be more than 0 and at most {most}, and {value:g} is not")
    if any(word.startswith("--host") for word in options.serve):
        parser.error("--host must stay as it is: this load is for the machine's own loopback alone")
    return options


def measure(say):
    """Return the figures of 300 students and half a minute, for `make bench`."""
    return run(read(["--minutes", "0.5"]), say)


def run(options, say=None):
    """Return the figures of a class at a server of its own."""
    say = say or (lambda line: print(f"  … {line}", file=sys.stderr, flush=True))
    say("what autograd says of the states")
    pool, cores = moves(options.seed), sorted(getattr(os, "sched_getaffinity", lambda _: [])(0))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most[1], most[1]))
    try:
        _stay_on(cores[:-1])  # a process that is started has the cores of who starts it
        workers = [] if any(word.startswith("--workers") for word in options.serve) else ["--workers", "2"]
        with voila_server(arguments=[*workers, *options.serve], env={MARK: _mark()}) as server:
            _stay_on(cores[-1:] if len(cores) > 1 else [])
            return asyncio.run(_class(options, server, pool, say))
    finally:
        _stay_on(cores)
        resource.setrlimit(resource.RLIMIT_NOFILE, most)


def _stay_on(cores):
    if cores:
        os.sched_setaffinity(0, cores)


async def _class(options, server, pool, say):
    root, right, alone, seen = psutil.Process(server.process.pid), {}, Seen(), Seen()
    single = Student(server.url, pool, right, alone, options.seed)
    first_s = (await single.come())[1]
    alone.answers.clear()
    for _ in range(ALONE_MOVES):
        await single.move(time.perf_counter())
    single.cut()
    say(f"one alone: {1000 * statistics.median(alone.answers):.1f} ms")
    resting, (_, _, idle) = len(_tree(root)), _taken(root)
    students = [Student(server.url, pool, right, seen, options.seed + number + 1) for number in range(options.students)]
    came = await asyncio.gather(*(each.come() for each in students))
    say(f"{len(students)} came: the last has torch's numbers after {max(torch_s for _, torch_s in came):.1f} s")
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
    for what in (seen.wrong, seen.refused, seen.errors):
        for sentence, times in what.most_common(5):
            say(f"{times} × {sentence}")
    return list(_figures(options, first_s, came, alone, seen, (idle, before, after), (own, left)))


async def _faults(options, students, root, until, say):
    """Do one fault after the other, until it is time to settle."""
    chance = random.Random(options.seed)
    for fault in itertools.cycle((_storm, _kill, _stop, _starve, _kill_all)):
        if time.perf_counter() + FAULT_EVERY_S + SETTLES_S > until:
            return
        workers = [each for each in _tree(root) if each != root]
        say(fault.__doc__)
        with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):  # it has been replaced meanwhile
            await fault(students, workers, chance)
        await asyncio.sleep(FAULT_EVERY_S)


async def _storm(students, workers, chance):
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


async def _starve(students, workers, chance):
    """a worker gets no more memory (Linux)"""
    worker = chance.choice([each for each in workers if not each.children()])  # not what the next are forked from
    _, most = resource.prlimit(worker.pid, resource.RLIMIT_DATA)
    resource.prlimit(worker.pid, resource.RLIMIT_DATA, (1 << 20, most))


async def _kill_all(students, workers, chance):
    """all workers are killed at once"""
    for each in workers:
        each.kill()


def _tree(root):
    """Return a process and all that it started: those, too, whose parent has been killed."""
    found = [root]
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if each != root and each.status() != psutil.STATUS_ZOMBIE and each.environ().get(MARK) == _mark():
                found.append(each)
    return found


def _mark():
    return str(os.getpid())


def _taken(root):
    """Return (MiB, open files, seconds of CPU) of a process and its descendants; what several share counts in parts."""
    memory = files = seconds = 0
    for each in _tree(root):
        with contextlib.suppress(psutil.NoSuchProcess, FileNotFoundError):
            memory += each.memory_full_info().pss / 2**20
            files += each.num_fds()
            seconds += sum(each.cpu_times()[:4])
    return memory, files, seconds


async def _left(root, resting):
    """Return how many processes more than at rest there are, some seconds after all tabs were closed."""
    deadline = time.perf_counter() + SETTLES_S
    while (more := len(_tree(root)) - resting) > 0 and time.perf_counter() < deadline:
        await asyncio.sleep(0.2)
    return more


def _figures(options, first_s, came, alone, seen, taken, rest):
    """Yield the figures; the targets are those of 300 students on a quiet machine, of 1,000 where there are so many."""
    many, quiet = options.students > 300, not options.faults
    idle, (memory, files, cpu), (memory_after, files_after, cpu_after) = taken
    page, first = ([pair[place] for pair in came] for place in (0, 1))
    p95, single = _p95(seen.answers), _p95(alone.answers)
    yield Figure(PART, "who came", options.students, "")
    yield Figure(PART, "one alone: arrival → torch's numbers", first_s, "s")
    yield Figure(PART, "all at once: page and files, last", max(page), "s")
    yield Figure(PART, "all at once: torch's numbers, half", statistics.median(first), "s")
    yield Figure(PART, "all at once: torch's numbers, last", max(first), "s", 5 if many else 3)
    detail = f"{len(seen.answers):,} moves; alone half {1000 * statistics.median(alone.answers):.1f} ms"
    yield Figure(PART, "CPU a visit, of server and workers", 1000 * (cpu - idle) / len(came), "ms")
    yield Figure(PART, "slider → answer, half", 1000 * statistics.median(seen.answers), "ms", None, detail)
    detail = f"alone 95 % {1000 * single:.1f} ms"
    yield Figure(PART, "slider → answer, 95 %", 1000 * p95, "ms", None, detail)
    yield Figure(PART, "the same / alone", p95 / single, "×", 4 if quiet and not many else None)
    yield Figure(PART, "memory of server and workers", memory_after, "MiB", 600 if many else 450)
    yield Figure(PART, "more than at the beginning", memory_after - memory, "MiB")
    yield Figure(PART, "open files, more than at the beginning", files_after - files, "", None, f"{files} then")
    if quiet:  # what a worker took that was killed nobody knows
        yield Figure(PART, "CPU a move, of server and workers", 1000 * (cpu_after - cpu) / len(seen.answers), "ms")
    yield Figure(PART, "CPU of the students", 100 * rest[0], "% of a core", None, "near 100 they are what is slow")
    yield Figure(PART, "answers that were wrong", seen.wrong.total(), "", 0)
    yield Figure(PART, "refused", seen.refused.total(), "", 0 if quiet else None)
    yield Figure(PART, "without an answer", seen.errors.total(), "", 0)
    yield Figure(PART, "requests sent again over a new socket", seen.reconnected, "")
    yield Figure(PART, "all tabs closed: processes more than at rest", rest[1], "", 0)


def _p95(values):
    return statistics.quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


def _older(options):
    """Return the table of as many students, minutes at an older tree, whose students have a kernel each."""
    count, minutes = min(options.students, 500), max(1, round(min(options.minutes, 10)))
    command = [".venv/bin/python", "-m", "benchmarks.class", "--students", count, "--minutes", minutes]
    command += ["--no-browser", "--arrive", 0, "--patience", 200, "--", "--class", count + 10]
    done = subprocess.run(list(map(str, command)), cwd=options.before, stdout=subprocess.PIPE, text=True, check=False)
    return f"{options.before} (a drag of ten moves a minute each)\n{done.stdout}"


if __name__ == "__main__":
    main()
