"""The exported page from the disk, without a kernel: first paint, sliders to paint, bytes."""

import gzip
import re
import statistics
import tempfile
from pathlib import Path

from benchmarks.figures_and_targets import Figure, main, p95
from benchmarks.time_in_browser import PAINTED, PICTURE, WARM_UP, arrive, chromium, press, visit
from convviz.export.page import export_html

PART = "the exported page (8 × 8, kernel 3 × 3)"
ROUNDS = 3
ALIVE = f".cv-board{PAINTED} .cv-plot .hm image"
# Where to press the arrow keys, and whether to and fro: a slider of the geometry has few places.
SLIDERS = {
    "kernel": (".cv-set-weight input[type=range]", False),
    "padding": (".cv-set-padding input", True),
    "stride": (".cv-set-stride input", True),
    "input size": (".cv-set-input_size input", True),
}


def measure(say):
    first, steps = [], {name: [] for name in SLIDERS}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        path = export_html({}, Path(folder) / "page.html")
        content = path.read_bytes()
        for turn in range(ROUNDS + 1):
            with visit(browser) as page:
                arrive(page, path.as_uri(), (ALIVE, 1))
                page.wait_for_timeout(1000)
                if not turn:  # reads from a cold disk
                    continue
                first.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
                for name, (selector, to_and_fro) in SLIDERS.items():
                    page.locator(selector).first.focus()
                    steps[name] += [taken["painted"] for taken in press(page, PICTURE, to_and_fro)[WARM_UP:]]
            say(f"round {turn}: first paint {first[-1]:.0f} ms")
    detail = ", ".join(f"{ms:.0f}" for ms in first)
    yield Figure("first paint from file://, median", statistics.median(first), "ms", 1000, detail)
    median = {name: statistics.median(taken) for name, taken in steps.items()}
    for name, taken in steps.items():
        detail = f"median {median[name]:.1f}"
        yield Figure(f"slider of the {name} → painted, p95", p95(taken), "ms", 50, detail)
    for name in ("padding", "stride", "input size"):
        ratio = median[name] / median["kernel"]
        yield Figure(f"a step of the {name} / of the kernel, median", ratio, "×", 1.5)
    yield Figure("bytes of the file", len(content), "bytes", 1_750_000)
    own = re.sub(rb'(<script type="text/plain" id="convviz-plotly">)[^<]*', rb"\1", content)
    yield Figure("everything but plotly, gzipped", len(gzip.compress(own, 9)), "bytes", 220_000)


if __name__ == "__main__":
    main(measure)
