"""Dragging the 1 over grad_output: from the pointer to the painted frame, beside bare SVG that draws the same numbers.

The bare page has as many cells, computes none of them, and draws the panels that the next place of the 1 changes. Both
are dragged over the same cells, in one browser, in turn.
"""

import json
import statistics
import tempfile
from pathlib import Path

from benchmarks.alternative_displays import SCRIPT
from benchmarks.exported_page import ALIVE
from benchmarks.figures_and_targets import Figure, main, p95
from benchmarks.time_in_browser import PAINTED, PICTURE, STEPS, WARM_UP, arrive, chromium, step, visit
from convviz.export.page import export_html
from convviz.settings.compute import compute
from convviz.settings.link import from_link
from convviz.views.panels import equations

PART = "dragging the 1 (the exported page; SVG: bare SVG of as many cells)"
SIZES = (5, 16)
ROUNDS = 3
GRID = '[data-panel="grad_output"] svg.cv-grid'
BARE_GRID = '[data-panel="forward:grad_output"]'
BARE_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Bare SVG</title><body><script type="module">
%(code)s
const places = %(places)s;
const state = { weight: [] };
let place = "0,0";
let changed = () => {};
function set(planes) {
  state.planes = Object.fromEntries(Object.entries(planes).map(([name, { columns, values }]) => {
    const { buffer, byteLength } = Float32Array.from(values);
    return [name, { columns, bytes: { buffer, byteOffset: 0, byteLength } }];
  }));
  changed();
}
set(%(first)s);
render({ model: { get: (name) => state[name], on: (_, call) => { changed = call; } }, el: document.body });
document.querySelector(%(grid)s).addEventListener("pointermove", ({ buttons, clientX, clientY, currentTarget }) => {
  const { left, top, width, height } = currentTarget.getBoundingClientRect();
  const at = [(clientY - top) / height, (clientX - left) / width].map((share) => Math.floor(share * %(across)d));
  if (!buttons || String(at) === place || !(at in places)) return;
  place = String(at);
  set(places[place]);
});
</script></body></html>
"""


def measure(say):
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page = export_html({}, Path(folder) / "page.html")
        for size in SIZES:
            say(f"{size} × {size}")
            bare = Path(folder) / f"bare{size}.html"
            bare.write_text(_bare_page(size), encoding="utf-8")
            taken = {"page": [], "SVG": []}
            for _ in range(ROUNDS):
                taken["SVG"] += _drag(browser, bare.as_uri(), PAINTED, BARE_GRID, size)
                taken["page"] += _drag(browser, f"{page.as_uri()}#{_link(size)}", ALIVE, GRID, size)
            ours, floor = (statistics.median(taken[name]) for name in ("page", "SVG"))
            detail = f"{ours:.1f} ms (p95 {p95(taken['page']):.1f}), SVG {floor:.1f} ms"
            yield Figure(f"{size} × {size}: a cell → painted, median / SVG", ours / floor, "×", 1.5, detail)


def _link(size, row=0, column=0):
    return f"v=2&size={size}&grad=one_hot:0,0,{row},{column}"


def _places(size):
    """Return the cells that are entered, in turn: row by row, to and fro."""
    across = size - 2  # the kernel has 3
    rows = [[(row, column) for column in range(across)] for row in range(across)]
    snake = [cell for row, cells in enumerate(rows) for cell in (cells if row % 2 == 0 else cells[::-1])]
    back = snake + snake[-2:0:-1]
    return [back[number % len(back)] for number in range(1, WARM_UP + STEPS + 1)]


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

    first, second = planes(0, 0), planes(0, 1)
    changed = [name for name in first if second[name] != first[name]]
    places = {}
    for row, column in {(0, 0), *_places(size)}:
        found = planes(row, column)
        places[f"{row},{column}"] = {name: found[name] for name in changed}
    return BARE_PAGE % {
        "code": SCRIPT.replace("export default { render };", ""),
        "places": json.dumps(places),
        "first": json.dumps(first),
        "grid": json.dumps(BARE_GRID),
        "across": size - 2,
    }


def _drag(browser, address, alive, selector, size):
    with visit(browser) as page:
        arrive(page, address, (alive, 1))
        page.wait_for_timeout(1000)
        grid = page.locator(selector).first
        grid.scroll_into_view_if_needed()
        box = grid.bounding_box()
        side = box["width"] / (size - 2)

        def move(row, column):
            page.mouse.move(box["x"] + (column + 0.5) * side, box["y"] + (row + 0.5) * side)

        move(0, 0)
        page.mouse.down()
        taken = [step(page, PICTURE, lambda place=place: move(*place))["painted"] for place in _places(size)]
        page.mouse.up()
        return taken[WARM_UP:]


if __name__ == "__main__":
    main(measure)
