"""`python -m benchmarks.site`: visitors of the page without a kernel, from a plain static server on this machine.

Each visitor is one connection that asks for what a first visit fetches of `convviz site`, one file after the other; a
browser asks for several at a time. Generator and server share the machine's cores, and nothing leaves it. In turn with
them, as many visitors fetch one plain file of the same size from the same server: what the page costs beside it.
"""

import asyncio
import contextlib
import gzip
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.report import Figure, main
from convviz.export.site import INDEX, site_files, write_site
from tests.browser.server import wait_until
from tests.programs import answers, found, free_port, nginx

PART = "the page alone, on a static server (beside one plain file of its size)"
ROUNDS = 5
CROWDS = (30, 300)  # who arrive at the same moment
TIMEOUT_S = 120
PLAIN = "plain.bin"
CHUNK = 1 << 18
SERVER = "server {{ listen 127.0.0.1:{port}; root {root}; }}"

# Python's own, with room for a crowd before its door: it lets five wait, and refuses the others.
PYTHON = """import functools, http.server, sys
http.server.ThreadingHTTPServer.request_queue_size = 1024
http.server.SimpleHTTPRequestHandler.protocol_version = "HTTP/1.1"
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[2])
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), handler).serve_forever()"""


def measure(say):
    files = site_files()
    sizes = {path: len(files[path]) for path in first_visit(files)}
    wishes = {"site": sizes, "plain": {PLAIN: sum(sizes.values())}}
    taken = {(kind, count): [] for count in CROWDS for kind in wishes}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        write_site(root)
        (root / PLAIN).write_bytes(os.urandom(wishes["plain"][PLAIN]))
        with static_server(root, Path(folder)) as (server, port, process):
            for turn in range(ROUNDS + 1):
                for kind, count in taken:
                    before = _cpu_seconds(process)
                    crowd = (*asyncio.run(_crowd(port, wishes[kind], count)), _cpu_seconds(process) - before)
                    if turn:  # the first round reads from a cold disk
                        taken[kind, count].append(crowd)
                    say(f"{server}, round {turn}, {count} visitors of {kind}: all served after {crowd[0]:.2f} s")
    packed = sum(len(_packed(path, files[path])) for path in sizes)
    return [*_size_figures(sizes, packed), *_figures(server, taken, len(sizes))]


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


async def _crowd(port, sizes, count):
    """Let visitors arrive at once; return the seconds until all were served, and each one's."""
    start = time.perf_counter()
    async with asyncio.timeout(TIMEOUT_S):
        each = await asyncio.gather(*(_visit(port, sizes) for _ in range(count)))
    return time.perf_counter() - start, each


async def _visit(port, sizes):
    """Fetch files over one connection; return the seconds from the wish to connect to the last byte."""
    start = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=CHUNK)
    try:
        for path, size in sizes.items():
            writer.write(f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            assert head.startswith("http/1.1 200"), f"{path}: {head}"
            assert f"content-length: {size}\r\n" in head, f"{path}: {head}"
            left = size
            while left:
                got = len(await reader.read(min(left, CHUNK)))
                assert got, f"{path}: the connection was closed {left} bytes early"
                left -= got
        return time.perf_counter() - start
    finally:
        writer.close()


def _packed(path, content):
    """Return a file as a host sends it that packs text on the way."""
    return content if path.endswith(".bin") else gzip.compress(content, 6, mtime=0)


def _size_figures(sizes, packed):
    yield Figure(PART, "a first visit, as the files are", sum(sizes.values()), "bytes", None, f"{len(sizes)} requests")
    yield Figure(PART, "a first visit, from a host that packs text", packed, "bytes")


def _figures(server, taken, requests):
    for count in CROWDS:
        rounds = taken["site", count]
        spent = statistics.median(all_served for all_served, *_ in rounds)
        plain = statistics.median(all_served for all_served, *_ in taken["plain", count])
        each = statistics.quantiles([1000 * s for _, seconds, _ in rounds for s in seconds], n=20)
        name = f"{count} visitors at once"
        rate = f"{server}: {count / spent:,.0f} visits/s, {requests * count / spent:,.0f} requests/s"
        yield Figure(PART, f"{name}: last byte, p50", each[9], "ms", None, rate)
        yield Figure(PART, f"{name}: last byte, p95", each[18], "ms")
        cost = 1000 * sum(cpu for *_, cpu in rounds) / (count * len(rounds))
        yield Figure(PART, f"{name}: the server's CPU, a visit", cost, "ms")
        detail = f"all served after {1000 * spent:.0f} and {1000 * plain:.0f} ms"
        yield Figure(PART, f"{name}: site / one plain file", spent / plain, "×", 2, detail)


if __name__ == "__main__":
    main(measure)
