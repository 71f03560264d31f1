"""The exported page from the disk, without a kernel: start, slider and pointer to paint, bytes; floors beside it.

One floor is the page itself while its slider and its pointer do nothing. The other is a page of as many cells in bare
SVG, whose slider changes every number without computing any, and where another one changes the padding in the same way.
"""

import dataclasses
import gzip
import json
import re
import statistics
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.chromium import chromium, visit
from benchmarks.pointing import PANELS, wander
from benchmarks.reference.scene import REACH, SOBEL_X, STEP
from benchmarks.report import Figure, main
from benchmarks.ways import COLOURED
from convviz.export.page import export_html
from convviz.settings.compute import compute
from convviz.settings.state import Settings
from convviz.views.panels import equations

PART = "the exported page (8 × 8, kernel 3 × 3; SVG: bare SVG of as many cells)"
BARE_SVG = Path(__file__).parent / "reference" / "bare_svg.js"
ROUNDS = 3
STEPS = 30
WARM_UP = 5
SETTLE_MS = 120  # between steps, so that what one leaves to do does not delay the next
PAINTED = '[data-painted]:not([data-painted=""])'
ALIVE = f".cv-board{PAINTED} .cv-plot .hm image"
CENTRE = '[data-slider="1,1"] input[type=range]'
# Where to press the arrow keys, and whether to go to and fro: a slider of the geometry has few places.
SLIDERS = {
    "kernel": (CENTRE, False),
    "padding": (".cv-set-padding input", True),
    "stride": (".cv-set-stride input", True),
    "input size": (".cv-set-input_size input", True),
}
# Times each key and each move from the event to the first task after its frame; muted, the page never learns of it.
TIMER = """() => {
  const channel = new MessageChannel();
  window.taken = [];
  window.mute = false;
  let start = null;
  const painted = () => document.querySelector("[data-painted]").dataset.painted;
  channel.port1.onmessage = () => {
    if (start === null) return;
    window.taken.push([performance.now() - start, painted()]);
    start = null;
    window.told?.();
  };
  const begin = (event) => {
    start = event.timeStamp;
    requestAnimationFrame(() => channel.port2.postMessage(null));
  };
  window.addEventListener("keydown", begin, true);
  window.addEventListener("pointermove", (event) => {
    if (window.mute) event.stopImmediatePropagation();
    begin(event);
  }, true);
  window.addEventListener("input", (event) => window.mute && event.stopImmediatePropagation(), true);
}"""
# The model behind the bare page: every number follows the slider, in proportion; the last slider turns to other planes.
BARE_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Bare SVG</title><body><script type="module">
%(code)s
const state = %(state)s;
const paddings = %(paddings)s.map((planes) => Object.entries(planes));
let tell = () => {};
let padding = 0;
function draw() {
  const share = 1 + state.weight[4] / 10;
  state.planes = Object.fromEntries(paddings[padding].map(([name, { columns, values }]) => {
    const { buffer, byteLength } = Float32Array.from(values, (value) => value * share);
    return [name, { columns, bytes: { buffer, byteOffset: 0, byteLength } }];
  }));
  tell();
}
draw();
const model = {
  get: (name) => state[name],
  set: (name, value) => { state[name] = value; },
  save_changes: draw,
  on: (_, call) => { tell = call; },
};
render({ model, el: document.body });
const range = document.createElement("input");
Object.assign(range, { type: "range", min: 0, max: paddings.length - 1, value: 0 });
range.addEventListener("input", () => {
  padding = Number(range.value);
  draw();
});
document.body.append(range);
</script></body></html>
"""


@dataclass
class Taken:
    """Milliseconds of one way of showing the state.

    Attributes:
        first: From the navigation to the first paint, one a visit.
        coloured: From the navigation to the frame with the first heatmap, which is live.
        alive: From the navigation to the frame with plotly's picture.
        steps: From the key to the painted frame, by slider.
        moves: From the pointer to the painted frame, by panel.
    """

    first: list = field(default_factory=list)
    coloured: list = field(default_factory=list)
    alive: list = field(default_factory=list)
    steps: dict = field(default_factory=dict)
    moves: dict = field(default_factory=dict)


def measure(say):
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page = export_html({}, Path(folder) / "page.html")
        bare = Path(folder) / "bare.html"
        bare.write_text(_bare_page(), encoding="utf-8")
        taken = {name: Taken() for name in ("page", "nothing", "SVG")}
        for path, alive in ((bare, PAINTED), (page, ALIVE)):  # the first visits of all read from a cold disk
            with visit(browser) as cold:
                _open(cold, path, Taken(), alive)
        for turn in range(ROUNDS):
            _visit_bare(browser, bare, taken["SVG"])
            _visit_page(browser, page, taken)
            kernel = statistics.median(taken["page"].steps["kernel"][-STEPS:])
            say(f"round {turn + 1}: alive after {taken['page'].alive[-1]:.0f} ms, a step of the kernel {kernel:.0f} ms")
        return list(_figures(page.read_bytes(), **taken))


def _bare_page():
    """Write the floor: the panels of the exported page, as many cells of the same numbers, at two paddings."""
    spec = Settings().spec
    sides = [((padding, padding), (padding, padding)) for padding in (1, 2)]
    paddings = [_planes(Settings(spec=dataclasses.replace(spec, padding=each))) for each in sides]
    state = {"weight": SOBEL_X, "reach": REACH, "step": STEP}
    code = BARE_SVG.read_text(encoding="utf-8").replace("export default { render };", "")
    return BARE_PAGE % {"code": code, "state": json.dumps(state), "paddings": json.dumps(paddings)}


def _planes(settings):
    stages = compute(settings, compare=False)
    return {
        f"{equation.name}:{panel.name}": {"columns": panel.values.shape[1], "values": panel.values.flatten().tolist()}
        for equation in equations(stages, settings.plane, settings.input_view)
        for panel in equation.panels
    }


# -- one visit -------------------------------------------------------------------------------------------------------


def _visit_bare(browser, path, taken):
    with visit(browser) as page:
        _open(page, path, taken, PAINTED)
        page.locator("input[type=range]").nth(4).focus()
        taken.steps.setdefault("kernel", []).extend(_press(page, False))
        page.locator("input[type=range]").last.focus()
        taken.steps.setdefault("padding", []).extend(_press(page, True))


def _visit_page(browser, path, taken):
    with visit(browser) as page:
        _open(page, path, taken["page"], ALIVE)
        for name, (selector, to_and_fro) in SLIDERS.items():
            page.locator(selector).first.focus()
            for way in ("page", "nothing") if name == "kernel" else ("page",):
                page.evaluate("(mute) => { window.mute = mute; }", way == "nothing")
                taken[way].steps.setdefault(name, []).extend(_press(page, to_and_fro, way == "nothing"))
            page.evaluate("() => { window.mute = false; }")
        for panel in PANELS:
            for way in ("nothing", "page"):
                page.evaluate("(mute) => { window.mute = mute; window.taken.length = 0; }", way == "nothing")
                wander(page, panel)
                found = [milliseconds for milliseconds, _ in page.evaluate("() => window.taken")]
                taken[way].moves.setdefault(panel, []).extend(found)


def _open(page, path, taken, alive):
    page.goto(path.as_uri(), wait_until="commit")
    both = "(all) => Promise.all(all.map((selector) => convvizProbe.first(selector, 1)))"
    coloured, whole = page.evaluate(both, [COLOURED if alive == ALIVE else alive, alive])
    taken.coloured.append(coloured)
    taken.alive.append(whole)
    page.wait_for_timeout(1000)
    first = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime")
    taken.first.append(first)
    page.evaluate(TIMER)


def _press(page, to_and_fro, mute=False):
    """Press the arrow keys on the slider that has the focus; return the milliseconds of each step."""
    page.evaluate("() => { window.taken.length = 0; }")
    for step in range(WARM_UP + STEPS):
        back = step % 2 if to_and_fro else step >= STEPS  # 30 steps of 0.1: to the slider's end
        page.evaluate("() => { window.done = new Promise((done) => { window.told = done; }); }")
        page.keyboard.press("ArrowLeft" if back else "ArrowRight")
        page.evaluate("() => window.done")
        page.wait_for_timeout(SETTLE_MS)
    found = page.evaluate("() => window.taken")
    pictures = len({painted for _, painted in found})
    assert pictures == (1 if mute else len(found)), f"{len(found)} steps showed {pictures} pictures"
    return [milliseconds for milliseconds, _ in found][WARM_UP:]


# -- the figures -----------------------------------------------------------------------------------------------------


def _p95(values):
    return statistics.quantiles(values, n=20)[-1]


def _told(values):
    return f"{statistics.median(values):.0f} ms (p95 {_p95(values):.0f})"


def _figures(content, page, nothing, SVG):
    firsts = ", ".join(f"{value:.0f}" for value in page.first)
    yield Figure(PART, "first paint from file://, median", statistics.median(page.first), "ms", 1000, firsts)
    yield _ratio("first paint / SVG", page.first, SVG.first)
    yield _ratio("until the first heatmap, live / SVG", page.coloured, SVG.coloured)
    yield _ratio("until plotly's picture / SVG", page.alive, SVG.alive)
    for name, steps in page.steps.items():
        rounds = [_p95(steps[start : start + STEPS]) for start in range(0, len(steps), STEPS)]
        detail = f"median {statistics.median(steps):.1f}, the rounds' p95 {', '.join(f'{p95:.0f}' for p95 in rounds)}"
        yield Figure(PART, f"slider of the {name} → painted, p95", _p95(steps), "ms", 50, detail)
    kernel = page.steps["kernel"]
    for name, floor in (("nothing done", nothing), ("SVG", SVG)):
        yield _ratio(f"slider of the kernel → painted / {name}", kernel, floor.steps["kernel"])
    yield _ratio("slider of the padding → painted / SVG", page.steps["padding"], SVG.steps["padding"])
    bare = statistics.median(SVG.steps["padding"]) / statistics.median(SVG.steps["kernel"])
    for name in ("padding", "stride", "input size"):
        ratio = statistics.median(page.steps[name]) / statistics.median(kernel)
        detail = f"of the padding in bare SVG {bare:.2f}×"
        yield Figure(PART, f"a step of the {name} / of the kernel, median", ratio, "×", 1.5, detail)
    moves, still = ([ms for values in way.moves.values() for ms in values] for way in (page, nothing))
    slowest = max(PANELS, key=lambda panel: statistics.median(page.moves[panel]))
    detail = f"median {statistics.median(moves):.1f}; slowest {slowest} {statistics.median(page.moves[slowest]):.1f}"
    yield Figure(PART, "pointer → painted, p95", _p95(moves), "ms", None, detail)
    yield _ratio("pointer → painted / nothing done", moves, still)
    yield Figure(PART, "bytes of the file", len(content), "bytes", 1_750_000)
    own = re.sub(rb'(<script type="text/plain" id="convviz-plotly">)[^<]*', rb"\1", content)
    yield Figure(PART, "everything but plotly, gzipped", len(gzip.compress(own, 9)), "bytes", 220_000)


def _ratio(name, ours, floor):
    ratio = statistics.median(ours) / statistics.median(floor)
    return Figure(PART, f"{name}, median", ratio, "×", None, f"{_told(ours)}, floor {_told(floor)}")


if __name__ == "__main__":
    main(measure)
