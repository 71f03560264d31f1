"""The served page before torch answers: its slider moved at once, beside an exported page's, moved the same way."""

import statistics
import tempfile
from pathlib import Path

from benchmarks.chromium import chromium, visit
from benchmarks.report import Figure, main
from benchmarks.ways import APP, COLOURED
from convviz.export.page import export_html

PART = "the served page as it opens (beside the exported page, from the disk)"
ROUNDS = 4
STEPS = 8  # at once after the first heatmap, while the socket opens and torch's first numbers come
BETWEEN_MS = 60
SLIDER = '[data-slider="1,1"] input[type=range]'
# From the key to the task after the frame in which the number beside the slider and the heatmaps are those of the step;
# the cells are watched, because plotly's picture may not be there yet. A frame without them counts as waiting.
TIMER = """() => {
  const channel = new MessageChannel();
  const cell = () => document.querySelector('[data-panel="output"] [data-cell="1,1"]')?.dataset.value;
  let [start, before] = [null, null];
  window.taken = [];
  window.tell = () => {};
  channel.port1.onmessage = () => {
    if (cell() === before) return void requestAnimationFrame(() => channel.port2.postMessage(null));
    window.taken.push(performance.now() - start);
    window.tell();
  };
  window.addEventListener("keydown", (event) => {
    [start, before] = [event.timeStamp, cell()];
    requestAnimationFrame(() => channel.port2.postMessage(null));
  }, true);
}"""


def measure(say):
    taken = {"served": [], "exported": []}
    with tempfile.TemporaryDirectory() as folder, APP.server() as server, chromium() as browser:
        exported = export_html({}, Path(folder) / "page.html")
        for turn in range(ROUNDS):
            for name, address in (("exported", exported.as_uri()), ("served", APP.address(server))):
                with visit(browser) as page:
                    steps = _move_at_once(page, address)
                if turn:  # the first visits read from a cold disk
                    taken[name] += steps
                say(f"{name}, round {turn + 1}: {', '.join(f'{ms:.0f}' for ms in steps)} ms")
    return list(_figures(**taken))


def _move_at_once(page, address):
    """Open a page and press keys on a slider as soon as there are colours; return the milliseconds of each step."""
    page.goto(address, wait_until="commit")
    page.evaluate("(selector) => convvizProbe.first(selector, 8)", COLOURED)
    page.evaluate(TIMER)
    page.locator(SLIDER).focus()
    for _ in range(STEPS):
        page.evaluate("() => { window.done = new Promise((done) => { window.tell = done; }); }")
        page.keyboard.press("ArrowRight")
        page.evaluate("() => window.done")
        page.wait_for_timeout(BETWEEN_MS)
    return page.evaluate("() => window.taken")


def _figures(served, exported):
    detail = ", ".join(
        f"{name} {statistics.median(ms):.0f} ms (longest {max(ms):.0f})"
        for name, ms in (("served", served), ("exported", exported))
    )
    ratio = statistics.median(served) / statistics.median(exported)
    yield Figure(PART, "slider moved at once → painted, median / exported", ratio, "×", 1.2, detail)


if __name__ == "__main__":
    main(measure)
