"""A class on one machine: students by the dozen, simulated down to their messages, against a server of its own.

Everything goes over this machine's loopback; the run is bounded in students, in minutes and in memory. What it starts
it ends. Options after -- go to `convviz serve`: python -m benchmarks.class --students 50 150 -- --kernels 100
"""

import argparse
import asyncio
import contextlib
import functools
import json
import os
import socket
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.student import Student
from benchmarks.student_browser import Visit, browser, look_around, tab
from benchmarks.student_drags import drags
from benchmarks.student_load import Plan, run_level, until
from benchmarks.student_machine import kill, more_files, tree
from benchmarks.student_table import table
from tests.browser.server import ROOT, STARTS_WITHIN_S, voila_server

MOST_STUDENTS, MOST_MINUTES = 500, 10
LINES = 20  # of what a server says, at most
PLAIN_STUDENTS, PLAIN_S, PLAIN_MINUTE_S = 30, 120, 10
LEVELS = (50, 150, 300)


def main(arguments=None):
    """Run the levels that were asked for, print the table, and exit 1 if a student saw an error."""
    options = read(arguments)
    more_files()
    levels = asyncio.run(measure(options, say))
    print(table(levels))
    if options.json:
        plain = {name: asdict(level) for name, level in levels.items()}
        options.json.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(level.errors for name, level in levels.items() if name != "plain"))


def read(arguments):
    """Return the options, or end with what is wrong with them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.class", description=__doc__)
    parser.add_argument(
        "--students", type=int, nargs="+", default=list(LEVELS), metavar="N", help="one level each (50 150 300)"
    )
    parser.add_argument("--minutes", type=int, default=2, help="of one drag each, once the kernel is there (2)")
    parser.add_argument("--arrive", type=float, default=10, metavar="S", help="seconds in which they come (10)")
    parser.add_argument("--patience", type=float, default=180, metavar="S", help="seconds to wait for kernels (180)")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (1)")
    parser.add_argument("--no-browser", action="store_true", help="without a real browser among them")
    parser.add_argument("--plain", action="store_true", help="plain Voilà beside it: 30 students, 2 minutes at most")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all that was measured there")
    parser.add_argument("serve", nargs="*", help="after --: options for convviz serve")
    options = parser.parse_args(arguments)
    for name, values, most in (
        ("--students", options.students, MOST_STUDENTS),
        ("--minutes", [options.minutes], MOST_MINUTES),
    ):
        for value in values:
            if not 1 <= value <= most:
                parser.error(f"{name} must lie between 1 and {most}, and {value} does not")
    if any(word.startswith("--host") for word in options.serve):
        parser.error("--host must stay as it is: this load is for the machine's own loopback alone")
    return options


def say(line):
    """Print a line of progress."""
    print(f"  … {line}", file=sys.stderr, flush=True)


async def measure(options, say):
    """Return {name: Level}: each level against a fresh server, and plain Voilà's if it is asked for."""
    deck, levels = drags(options.seed), {}
    async with contextlib.AsyncExitStack() as stack:
        chromium = None if options.no_browser else await stack.enter_async_context(browser())
        for count in options.students:
            plan = _plan(options, count)
            with voila_server(arguments=options.serve) as server:
                files, later = await _recorded(chromium, server.url) if chromium else ((), ())
                make = functools.partial(_make, server.url, deck, plan, files=files, later_files=later)
                levels[str(count)] = await run_level(plan, server.process.pid, make, chromium, server.url)
                levels[str(count)].said = server.said[1:]  # the first line is where it is
            _say_level(say, f"{count} students", levels[str(count)])
    if options.plain:
        levels["plain"] = await plain(options, deck)
        _say_level(say, "plain Voilà", levels["plain"])
    return levels


def _plan(options, count):
    return Plan(count, options.minutes, arrive_s=options.arrive, patience_s=options.patience, seed=options.seed)


def _make(address, deck, plan, *, seed, drags, **more):
    return Student(address, deck, seed=seed, drags=drags, minute=plan.minute, **more)


async def _recorded(chromium, address):
    """Return the paths of what Voilà's front end loads, as the real browser asks for it."""
    seen = Visit()
    async with tab(chromium, seen) as page:
        await look_around(page, address, seen, 120)
    if seen.trouble:
        raise SystemExit(f"The first visit, of a real browser, came to nothing: {seen.trouble}")
    return seen.front_end()


async def plain(options, deck):
    """Return the Level of plain Voilà on the same notebook: as many as it gets kernels for in two minutes."""
    count = min(max(options.students), PLAIN_STUDENTS)
    patience = max(0, PLAIN_S - options.arrive - PLAIN_MINUTE_S)
    times = {"arrive_s": options.arrive, "patience_s": patience, "ends_s": PLAIN_MINUTE_S}
    plan = Plan(count, 1, PLAIN_MINUTE_S, seed=options.seed, **times)
    async with plain_voila() as (process, address):
        make = functools.partial(_make, address, deck, plan, plain=True)
        return await run_level(plan, process.pid, make)


@contextlib.asynccontextmanager
async def plain_voila():
    """Run Voilà's own command on the app's notebook; yield its process and its address once it listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "voila", str(ROOT / "app.ipynb"), "--no-browser", f"--port={port}"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # as `convviz serve` sets them
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=said, stderr=said)
        try:
            if not await until(lambda: _listens(port), STARTS_WITHIN_S):
                raise SystemExit("Plain Voilà does not listen.")
            yield process, f"http://127.0.0.1:{port}/"
        finally:
            started = tree(process.pid)
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            kill(started)


def _listens(port):
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def _say_level(say, name, level):
    say(f"{name}: {level.held} of {level.students} held, {sum(level.errors.values())} errors, {level.took_s:.0f} s")
    for error, times in sorted(level.errors.items(), key=lambda each: -each[1])[:5]:
        say(f"  {times} × {error}")
    for line in level.said[-LINES:]:
        say(f"  the server said: {line}")


if __name__ == "__main__":
    main()
