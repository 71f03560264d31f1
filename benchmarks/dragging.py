"""Dragging the 1 over grad_output: from the pointer to the painted frame, beside bare SVG that draws the same numbers.

The bare page has the panels of the exported page, as many cells of the same numbers, and computes none of them: it
draws the panels that the next place of the 1 changes. Both are dragged over the same cells, in one browser, in turn.
"""

import json
import statistics
import tempfile
from pathlib import Path

from benchmarks.chromium import chromium, visit
from benchmarks.page import ALIVE, BARE_PAGE, BARE_SVG, PAINTED, SETTLE_MS, TIMER
from benchmarks.reference.scene import REACH, SOBEL_X, STEP
from benchmarks.report import Figure, main
from convviz.export.page import export_html
from convviz.settings.compute import compute
from convviz.settings.link import from_link
from convviz.views.panels import equations

PART = "dragging the 1 (the exported page; SVG: bare SVG of as many cells)"
SIZES = (5, 16)
ROUNDS = 3
STEPS, WARM_UP = 30, 5
MOST = 1.5  # times bare SVG
GRID = '[data-panel="grad_output"] svg.cv-grid'
BARE_GRID = '[data-panel="forward:grad_output"]'
FOLLOW = """
let place = "";
document.querySelector(%(grid)s).addEventListener("pointermove", ({ buttons, clientX, clientY, currentTarget }) => {
  const { left, top, width, height } = currentTarget.getBoundingClientRect();
  const at = [(clientY - top) / height, (clientX - left) / width].map((share) => Math.floor(share * %(places)d));
  if (!buttons || String(at) === place || !(at in places)) return;
  state.planes = Object.fromEntries(Object.entries(places[at]).map(([name, { columns, values }]) => {
    const { buffer, byteLength } = Float32Array.from(values);
    return [name, { columns, bytes: { buffer, byteOffset: 0, byteLength } }];
  }));
  place = String(at);
  tell();
});
"""


def measure(say):
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page = export_html({}, Path(folder) / "page.html")
        for size in SIZES:
            bare = Path(folder) / f"bare{size}.html"
            bare.write_text(_bare_page(size), encoding="utf-8")
            taken = {"page": [], "SVG": []}
            for _ in range(ROUNDS):
                taken["SVG"] += _drag(browser, bare.as_uri(), PAINTED, BARE_GRID, size)
                taken["page"] += _drag(browser, f"{page.as_uri()}#{_link(size)}", ALIVE, GRID, size)
            ours, floor = (statistics.median(taken[name]) for name in ("page", "SVG"))
            say(f"{size} × {size}: a cell {ours:.1f} ms, bare SVG {floor:.1f} ms")
            p95 = statistics.quantiles(taken["page"], n=20)[-1]
            detail = f"{ours:.1f} ms (p95 {p95:.1f}), SVG {floor:.1f} ms"
            yield Figure(PART, f"{size} × {size}: a cell → painted, median / SVG", ours / floor, "×", MOST, detail)


def _link(size, row=0, column=0):
    return f"v=2&size={size}&grad=one_hot:0,0,{row},{column}"


def _places(size):
    """Return the cells that are entered, in turn: row by row, to and fro."""
    across = size - 2  # the kernel has 3
    rows = [[(row, column) for column in range(across)] for row in range(across)]
    snake = [cell for row, cells in enumerate(rows) for cell in (cells if row % 2 == 0 else cells[::-1])]
    back = snake + snake[-2:0:-1]
    return [back[step % len(back)] for step in range(1, WARM_UP + STEPS + 1)]


def _bare_page(size):
    def planes(row, column):
        there, _ = from_link(_link(size, row, column))
        stages = compute(there, compare=False)
        return {
            f"{equation.name}:{panel.name}": {
                "columns": panel.values.shape[1],
                "values": panel.values.flatten().tolist(),
            }
            for equation in equations(stages, there.plane, there.input_view)
            for panel in equation.panels
        }

    first = planes(0, 0)
    changed = {name for name in first if planes(0, 1)[name] != first[name]}
    places = {
        f"{row},{column}": {name: plane for name, plane in planes(row, column).items() if name in changed}
        for row, column in {(0, 0), *_places(size)}
    }
    state = {"weight": SOBEL_X, "reach": REACH, "step": STEP}
    code = BARE_SVG.read_text(encoding="utf-8").replace("export default { render };", "")
    text = BARE_PAGE % {"code": code, "state": json.dumps(state), "paddings": json.dumps([first])}
    follow = FOLLOW % {"grid": json.dumps(BARE_GRID), "places": size - 2}
    return text.replace("document.body.append(range);", f"const places = {json.dumps(places)};\n{follow}")


def _drag(browser, url, alive, selector, size):
    """Drag from cell to cell; return the milliseconds of each."""
    with visit(browser) as page:
        page.goto(url, wait_until="commit")
        page.evaluate("(selector) => convvizProbe.first(selector, 1)", alive)
        page.wait_for_timeout(1000)
        page.evaluate(TIMER)
        grid = page.locator(selector).first
        grid.scroll_into_view_if_needed()
        box = grid.bounding_box()
        side = box["width"] / (size - 2)

        def at(row, column):
            return box["x"] + (column + 0.5) * side, box["y"] + (row + 0.5) * side

        page.mouse.move(*at(0, 0))
        page.mouse.down()
        page.evaluate("() => { window.taken.length = 0; }")
        for place in _places(size):
            page.evaluate("() => { window.done = new Promise((done) => { window.told = done; }); }")
            page.mouse.move(*at(*place))
            page.evaluate("() => window.done")
            page.wait_for_timeout(SETTLE_MS)
        page.mouse.up()
        found = page.evaluate("() => window.taken")
        pictures = len({painted for _, painted in found[: len(_places(size))]})
        assert pictures == len(_places(size)), f"{len(found)} moves showed {pictures} pictures"
        return [milliseconds for milliseconds, _ in found][WARM_UP : WARM_UP + STEPS]


if __name__ == "__main__":
    main(measure)
