"""Visitors of the page without a kernel, from nginx on this machine, which shares its cores with them.

Each visitor is one connection that asks for what a first visit fetches of `convviz site`, one file after the other. In
turn with them, as many fetch one plain file of the same size: what the page costs beside it.
"""

import asyncio
import gzip
import itertools
import statistics
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.figures_and_targets import Figure, main, p95
from benchmarks.simulated_student import FILES, fetched
from convviz.export.site import app_of, site_files, write_site
from convviz.facts.i18n.current_language import ENGLISH
from tests.environments.reverse_proxies import free_port, missing, nginx

PART = "the page alone, on a static server (beside one plain file of its size)"
ROUNDS = 5
CROWDS = (30, 300)  # who arrive at the same moment
TIMEOUT_S = 120
APP = app_of(ENGLISH)
PLAIN = "plain.bin"
SERVER = "server {{ listen 127.0.0.1:{port}; root {root}; }}"


def measure(say):
    files = site_files()
    # What a browser fetches until the board is coloured: the page, and what it names for that.
    first = {path: len(files[path]) for path in (APP, *FILES.findall(files[APP].decode()))}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        write_site(root)
        (root / PLAIN).write_bytes(b"0" * sum(first.values()))
        yield Figure("a first visit, as files", sum(first.values()), "bytes", None, f"{len(first)} requests")
        packed = (n if path.endswith(".bin") else len(gzip.compress(files[path], 6)) for path, n in first.items())
        yield Figure("a first visit, from a host that packs text", sum(packed), "bytes")
        if lacking := missing("nginx"):
            say(lacking)
            return
        port = free_port()
        with nginx(SERVER.format(port=port, root=root), port, Path(folder)) as process:
            for count in CROWDS:
                say(f"{count} visitors at once")
                yield from _crowds(port, process, count, sum(first.values()))


def _crowds(port, process, count, size):
    """Let crowds come to the site and to one plain file of its size, in turn."""
    taken, each, cpu = {APP: [], PLAIN: []}, [], 0
    for turn, path in itertools.product(range(ROUNDS + 1), taken):
        start, before = time.perf_counter(), _cpu_seconds(process)
        seconds = asyncio.run(_crowd(f"http://127.0.0.1:{port}/{path}", count, size))
        spent = time.perf_counter() - start
        if not turn:  # reads from a cold disk
            continue
        taken[path].append(spent)
        if path == APP:
            each += [1000 * s for s in seconds]
            cpu += _cpu_seconds(process) - before
    site, plain = (statistics.median(spent) for spent in taken.values())
    name = f"{count} visitors at once"
    yield Figure(f"{name}: last byte, half", statistics.median(each), "ms")
    yield Figure(f"{name}: last byte, 95 %", p95(each), "ms")
    yield Figure(f"{name}: the server's CPU, a visit", 1000 * cpu / (count * ROUNDS), "ms")
    detail = f"all served after {1000 * site:.0f} and {1000 * plain:.0f} ms"
    yield Figure(f"{name}: site / one plain file", site / plain, "×", 2, detail)


async def _crowd(address, count, size):
    async def visitor():
        start = time.perf_counter()
        assert await fetched(address) == size, f"{address} sent other bytes than its files have"
        return time.perf_counter() - start

    async with asyncio.timeout(TIMEOUT_S):
        return await asyncio.gather(*(visitor() for _ in range(count)))


def _cpu_seconds(process):
    root = psutil.Process(process.pid)
    return sum(sum(each.cpu_times()[:2]) for each in (root, *root.children(recursive=True)))


if __name__ == "__main__":
    main(measure)
