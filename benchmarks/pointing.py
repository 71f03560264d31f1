"""From the pointer to the painted links, beside a page whose pointer does nothing; and what opening a tab costs."""

import statistics

from benchmarks.chromium import chromium, visit
from benchmarks.memory import READY
from benchmarks.report import Figure, main
from benchmarks.ways import STATE
from convviz.facts import facts
from tests.browser.app_page import ENTRY_OF, open_tab, press_tab, repaint, slide
from tests.browser.server import voila_server

PART = "pointing and opening"
SIZE = 12
PANELS = ("padded_input", "weight", "output", "padded_grad_output", "grad_input", "grad_weight")
ROUNDS = 4
SETTINGS = facts("settings")
# Titles by name, of those that a served page offers.
TABS = {name: title for name, title in facts("names")["tabs"].items() if name not in SETTINGS["tabs_of_a_notebook"]}
TAB_MS = 300
# Times each move from the event to the first task after its frame. Muted, the app never sees the move.
TIMER = """() => {
  const channel = new MessageChannel();
  window.taken = [];
  window.mute = false;
  let start = null;
  channel.port1.onmessage = () => start !== null && window.taken.push(performance.now() - start) && (start = null);
  window.addEventListener("pointermove", (event) => {
    if (window.mute) event.stopImmediatePropagation();
    start = event.timeStamp;
    requestAnimationFrame(() => channel.port2.postMessage(null));
  }, true);
}"""


def measure(say):
    with voila_server() as server, chromium() as browser:
        with visit(browser) as page:
            say(f"the pointer over {', '.join(PANELS)}")
            page.goto(server.url + STATE)
            page.wait_for_selector(READY)
            slide(page, "input_size", SIZE)
            yield from _pointer(page)
        for name in TABS:
            with visit(browser) as page:
                page.goto(server.url + STATE)
                page.wait_for_selector(READY)
                yield _tab(page, name)


def _pointer(page):
    page.evaluate(TIMER)
    taken = {True: {}, False: {}}
    for turn in range(ROUNDS):
        for panel in PANELS:
            for mute in (True, False):
                page.evaluate("(mute) => { window.mute = mute; window.taken.length = 0; }", mute)
                wander(page, panel)
                found = page.evaluate("() => window.taken")
                if turn:  # the first round warms the code up
                    taken[mute].setdefault(panel, []).extend(found)
    ways = {mute: [value for values in panels.values() for value in values] for mute, panels in taken.items()}
    median = {mute: statistics.median(values) for mute, values in ways.items()}
    p95 = {mute: statistics.quantiles(values, n=20)[-1] for mute, values in ways.items()}
    detail = f"{median[False]:.1f} ms (p95 {p95[False]:.1f}), nothing done {median[True]:.1f} ms (p95 {p95[True]:.1f})"
    yield Figure(
        PART, f"pointer → painted at {SIZE} × {SIZE} / nothing done", median[False] / median[True], "×", None, detail
    )
    slowest = max(PANELS, key=lambda panel: statistics.median(taken[False][panel]))
    more = statistics.median(taken[False][slowest]) - statistics.median(taken[True][slowest])
    yield Figure(
        PART, "more than nothing done, median", median[False] - median[True], "ms", 16, f"{slowest} {more:.1f}"
    )


def wander(page, panel):
    """Move the pointer over a panel's diagonal, a frame or two at each cell."""
    cells = page.locator(f'[data-panel="{panel}"]').first.locator("svg.cv-grid")
    cells.scroll_into_view_if_needed()
    box = cells.bounding_box()
    for step in range(24):
        share = (step + 0.5) / 24
        page.mouse.move(box["x"] + share * box["width"], box["y"] + share * box["height"])
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def _tab(page, name):
    """Open a tab of the app as it starts, 8 × 8; count the page's JavaScript."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def spent():
        found = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
        return {key: 1000 * found[key] for key in ("ScriptDuration", "TaskDuration")}

    first = SETTINGS["tab_entries"][ENTRY_OF[name]][0]
    if first != name:  # the entry opens at its first part: the other one is measured alone
        open_tab(page, first)
    before = spent()
    with repaint(page):
        press_tab(page, name)
        page.locator(f'.cv-pane-{name}[data-shown]:not([data-shown=""])').wait_for()
    after = spent()
    script, task = (after[key] - before[key] for key in ("ScriptDuration", "TaskDuration"))
    detail = f"with layout and painting {task:.0f} ms"
    return Figure(PART, f"opening {TABS[name]}: JavaScript", script, "ms", TAB_MS, detail)


if __name__ == "__main__":
    main(measure)
