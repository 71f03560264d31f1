"""The exported page from the disk, without a kernel: first paint, sliders to paint, bytes."""

import gzip
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.figures_and_targets import BEFORE, Figure, main, p95
from benchmarks.time_in_browser import PAINTED, PICTURE, WARM_UP, arrive, chromium, press, visit
from convviz.export.page import export_html

PART = "the exported page (8 × 8, kernel 3 × 3)"
ROUNDS = 3
ALIVE = f".cv-board{PAINTED} .cv-plot .hm image"
# Where to press the arrow keys, and whether to and fro: a slider of the geometry has few places.
SLIDERS = {
    "kernel": (":is(.cv-set-weight, [data-slider='1,1']) input[type=range]", False),  # older: one for each weight
    "padding": (".cv-set-padding input", True),
    "stride": (".cv-set-stride input", True),
    "input size": (".cv-set-input_size input", True),
}


NOW, OLDER = "now", "before"


def measure(say):
    first, steps = [], {}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        pages = {NOW: export_html({}, Path(folder) / "page.html"), **_older(Path(folder) / "older.html")}
        for turn in range(ROUNDS + 1):
            for name, path in pages.items():
                paint, taken = _visit(browser, path, turn > 0)  # the first reads from a cold disk
                if turn and name == NOW:
                    first.append(paint)
                for slider, times in taken.items():
                    steps.setdefault((name, slider), []).extend(times)
            say(f"round {turn}: first paint {paint:.0f} ms")
        content = pages[NOW].read_bytes()
    detail = ", ".join(f"{ms:.0f}" for ms in first)
    yield Figure("first paint from file://, median", statistics.median(first), "ms", 1000, detail)
    yield from _figures(steps, list(pages))
    yield Figure("bytes of the file", len(content), "bytes", 1_750_000)
    own = re.sub(rb'(<script type="text/plain" id="convviz-plotly">)[^<]*', rb"\1", content)
    yield Figure("everything but plotly, gzipped", len(gzip.compress(own, 9)), "bytes", 220_000)


def _older(path):
    """Return {OLDER: the page of the tree that ``--before`` names}, where it names one."""
    if not (tree := os.environ.get(BEFORE)):
        return {}
    program = f"from convviz.export.page import export_html; export_html({{}}, {str(path)!r})"
    subprocess.run([sys.executable, "-c", program], cwd=tree, env={**os.environ, "PYTHONPATH": tree}, check=True)
    return {OLDER: path}


def _visit(browser, path, is_used):
    """Return when the page was painted first, and {slider: the milliseconds of its steps}."""
    taken = {}
    with visit(browser) as page:
        arrive(page, path.as_uri(), (ALIVE, 1))
        page.wait_for_timeout(1000)
        for name, (selector, to_and_fro) in SLIDERS.items() if is_used else ():
            page.locator(selector).first.focus()
            taken[name] = [each["painted"] for each in press(page, PICTURE, to_and_fro)[WARM_UP:]]
        return page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"), taken


def _figures(steps, pages):
    median = {key: statistics.median(taken) for key, taken in steps.items()}
    for slider in SLIDERS:
        detail = f"median {median[NOW, slider]:.1f}"
        yield Figure(f"slider of the {slider} → painted, p95", p95(steps[NOW, slider]), "ms", 50, detail)
    for slider in ("padding", "stride", "input size"):
        ratio = median[NOW, slider] / median[NOW, "kernel"]
        yield Figure(f"a step of the {slider} / of the kernel, median", ratio, "×", 1.5)
    for slider in SLIDERS if OLDER in pages else ():
        ratio, detail = median[NOW, slider] / median[OLDER, slider], f"before: {median[OLDER, slider]:.1f} ms"
        yield Figure(f"a step of the {slider} / before, median", ratio, "×", 1.1, detail)


if __name__ == "__main__":
    main(measure)
