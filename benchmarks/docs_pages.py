"""The documentation, from a plain static server here, each visit with an empty cache."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figures_and_targets import Figure, main
from benchmarks.static_site_load import static_server
from benchmarks.time_in_browser import chromium, visit
from tests.browser.server import ROOT

PART = "the documentation, on a static server"
ROUNDS = 7
PAGES = ("index.html", "lessons/stride.html", "zh-Hant/index.html")
COLOURED = ".cv-board[data-painted] .cv-plot .hm image"


def measure(say):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "html"
        start = time.perf_counter()
        options = ["-E", "-a", "-q", "-W", "-d", f"{folder}/doctrees"]
        command = [sys.executable, "-m", "sphinx", *options, ROOT / "docs", root]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        yield Figure(PART, "build of all pages", seconds, "s", 300, f"{len(list(root.rglob('*.html')))} pages")
        with static_server(root, Path(folder)) as (server, port, _), chromium() as browser:
            for page in PAGES:
                say(f"{server}: {page}")
                taken = [_first_board(browser, f"http://127.0.0.1:{port}/{page}") for _ in range(ROUNDS + 1)][1:]
                yield Figure(PART, f"{page}: first live board, in colour", statistics.median(taken), "s", 1, server)


def _first_board(browser, address):
    """Return the seconds from the wish for a page to its first board, all cells coloured."""
    with visit(browser) as page:
        start = time.perf_counter()
        page.goto(address, wait_until="commit")
        page.frame_locator("figure.live iframe").first.locator(COLOURED).first.wait_for(state="attached")
        return time.perf_counter() - start


if __name__ == "__main__":
    main(measure)
