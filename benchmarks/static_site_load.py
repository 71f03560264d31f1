"""Visitors of the page without a kernel, from a plain static server on this machine, which shares its cores with them.

Each visitor is one connection that asks for what a first visit fetches of `convviz site`, one file after the other. In
turn with them, as many fetch one plain file of the same size: what the page costs beside it.
"""

import asyncio
import contextlib
import gzip
import itertools
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.figures_and_targets import Figure, main, p95
from benchmarks.simulated_student import fetched
from convviz.export.site import INDEX, site_files, write_site
from tests.browser.server import wait_until
from tests.reverse_proxies import answers, found, free_port, nginx

PART = "the page alone, on a static server (beside one plain file of its size)"
ROUNDS = 5
CROWDS = (30, 300)  # who arrive at the same moment
TIMEOUT_S = 120
PLAIN = "plain.bin"
SERVER = "server {{ listen 127.0.0.1:{port}; root {root}; }}"

# Python's own refuses more than five who wait.
PYTHON = """import functools, http.server, sys
http.server.ThreadingHTTPServer.request_queue_size = 1024
http.server.SimpleHTTPRequestHandler.protocol_version = "HTTP/1.1"
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[2])
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), handler).serve_forever()"""


def measure(say):
    files = site_files()
    first = {path: len(files[path]) for path in first_visit(files)}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        write_site(root)
        (root / PLAIN).write_bytes(b"0" * sum(first.values()))
        yield Figure(PART, "a first visit, as files", sum(first.values()), "bytes", None, f"{len(first)} requests")
        packed = (n if path.endswith(".bin") else len(gzip.compress(files[path], 6)) for path, n in first.items())
        yield Figure(PART, "a first visit, from a host that packs text", sum(packed), "bytes")
        with static_server(root, Path(folder)) as (server, port, process):
            for count in CROWDS:
                say(f"{server}, {count} visitors at once")
                yield from _crowds(server, port, process, count, sum(first.values()))


def _crowds(server, port, process, count, size):
    """Let crowds come to the site and to one plain file of its size, in turn."""
    taken, each, cpu = {"": [], PLAIN: []}, [], 0
    for turn, path in itertools.product(range(ROUNDS + 1), taken):
        start, before = time.perf_counter(), _cpu_seconds(process)
        seconds = asyncio.run(_crowd(f"http://127.0.0.1:{port}/{path}", count, size))
        spent = time.perf_counter() - start
        if not turn:  # reads from a cold disk
            continue
        taken[path].append(spent)
        if not path:
            each += [1000 * s for s in seconds]
            cpu += _cpu_seconds(process) - before
    site, plain = (statistics.median(spent) for spent in taken.values())
    name = f"{count} visitors at once"
    yield Figure(PART, f"{name}: last byte, half", statistics.median(each), "ms", None, server)
    yield Figure(PART, f"{name}: last byte, 95 %", p95(each), "ms")
    yield Figure(PART, f"{name}: the server's CPU, a visit", 1000 * cpu / (count * ROUNDS), "ms")
    detail = f"all served after {1000 * site:.0f} and {1000 * plain:.0f} ms"
    yield Figure(PART, f"{name}: site / one plain file", site / plain, "×", 2, detail)


async def _crowd(address, count, size):
    """Let visitors arrive at once; return the seconds of each until its last byte."""

    async def visitor():
        start = time.perf_counter()
        assert await fetched(address) == size, f"{address} sent other bytes than its files have"
        return time.perf_counter() - start

    async with asyncio.timeout(TIMEOUT_S):
        return await asyncio.gather(*(visitor() for _ in range(count)))


def first_visit(files):
    """Return what a browser fetches until the board is coloured: the page, and what it names for that."""
    return [INDEX, *re.findall(r'(?:href|src)="(convviz/[^"]+)"', files[INDEX].decode())]


@contextlib.contextmanager
def static_server(root, folder):
    """Serve a folder on a free port, by nginx where it is, else by Python; yield its name, port and process."""
    port = free_port()
    if found("nginx"):
        with nginx(SERVER.format(port=port, root=root), port, folder) as process:
            yield "nginx", port, process
        return
    with subprocess.Popen([sys.executable, "-c", PYTHON, str(port), str(root)], stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: answers(port), 20, "http.server listens")
            yield "Python's http.server", port, process
        finally:
            process.terminate()


def _cpu_seconds(process):
    """Return what a server and its workers have computed so far."""
    root = psutil.Process(process.pid)
    return sum(sum(each.cpu_times()[:2]) for each in (root, *root.children(recursive=True)))


if __name__ == "__main__":
    main(measure)
