"""The served page: moved at once as it opens, pointed at, its tabs opened, and what 1,000 steps leave behind."""

import itertools
import statistics
import tempfile
from pathlib import Path

import psutil

from benchmarks.figures_and_targets import Figure, main
from benchmarks.time_in_browser import ANY_FRAME, COLOURED, READY, STATE, arrive, chromium, press, step, visit
from convviz.export.page import export_html
from convviz.facts import facts
from convviz.facts.features import FEATURES, OF_A_NOTEBOOK
from tests.browser.app_page import ENTRY_OF, open_tab, press_tab, repaint, slide
from tests.browser.server import voila_server

PART = "the served page"
ROUNDS = 3
EARLY_STEPS = 8  # while the socket opens and torch's first numbers come
SLIDER = ".cv-set-weight input[type=range]"
CELL = '() => document.querySelector(\'[data-panel="output"] [data-cell="1,1"]\')?.dataset.value'
SIZE = 12
PANELS = ("padded_input", "weight", "output", "padded_grad_output", "grad_input", "grad_weight")
SETTINGS = facts("settings")
WARM_UP, STEPS = 200, 1000
# Moves the slider to and fro in the page, each step after torch's numbers of the one before were painted.
SLIDE = """async (count) => {
  const range = document.querySelector('.cv-set-weight input[type=range]');
  const { dataset } = document.querySelector('.cv-board');
  for (let i = 0; i < count; i++) {
    const before = dataset.painted;
    range.value = String(((i % 41) - 20) / 10 + 0.1);
    range.dispatchEvent(new Event('input', { bubbles: true }));
    while (dataset.painted === before || dataset.from !== 'torch') await new Promise(requestAnimationFrame);
  }
  return document.getElementsByTagName('*').length;
}"""


def measure(say):
    with voila_server() as server, chromium() as browser:
        yield _moved_at_once(browser, server.url + STATE, say)
        say(f"the pointer over {', '.join(PANELS)}")
        yield _pointed_at(browser, server.url + STATE)
        for name, feature in FEATURES.items():
            if name not in OF_A_NOTEBOOK:
                say(f"opening {feature['label']}")
                yield _opened(browser, server.url + STATE, name, feature["label"])
        say(f"{STEPS} slider steps")
        yield from _long_visit(browser, server)


def _moved_at_once(browser, address, say):
    """Press keys on a slider as soon as there are colours; compare with an exported page, from the disk."""
    taken = {"served": [], "exported": []}
    with tempfile.TemporaryDirectory() as folder:
        addresses = {"exported": export_html({}, Path(folder) / "page.html").as_uri(), "served": address}
        for turn, (name, where) in itertools.product(range(ROUNDS + 1), addresses.items()):
            with visit(browser) as page:
                arrive(page, where, (COLOURED, 8))
                page.locator(SLIDER).focus()
                # The cell is watched, because plotly's picture may not be there yet.
                steps = [each["cell"] for each in press(page, {"cell": CELL}, count=EARLY_STEPS, settle_ms=60)]
            if turn:  # the first visits read from a cold disk
                taken[name] += steps
            say(f"{name}, round {turn}: {', '.join(f'{ms:.0f}' for ms in steps)} ms")
    median = {name: statistics.median(steps) for name, steps in taken.items()}
    detail = ", ".join(f"{name} {median[name]:.0f} ms (longest {max(steps):.0f})" for name, steps in taken.items())
    ratio = median["served"] / median["exported"]
    return Figure("slider moved at once → painted, median / exported", ratio, "×", 1.2, detail)


def _pointed_at(browser, address):
    taken = {True: {}, False: {}}
    with visit(browser) as page:
        page.goto(address)
        page.wait_for_selector(READY)
        slide(page, "input_size", SIZE)
        for turn, panel, mute in itertools.product(range(ROUNDS + 1), PANELS, (True, False)):
            page.evaluate("(mute) => { convvizProbe.mute = mute; }", mute)
            found = _wander(page, panel)
            if turn:  # the first round warms the code up
                taken[mute].setdefault(panel, []).extend(found)
    still, moved = (statistics.median([ms for each in taken[mute].values() for ms in each]) for mute in (True, False))
    more = {panel: statistics.median(taken[False][panel]) - statistics.median(taken[True][panel]) for panel in PANELS}
    slowest = max(more, key=more.get)
    detail = f"{moved:.1f} and {still:.1f} ms, of {slowest} {more[slowest]:.1f} more"
    return Figure("pointer → painted, more than nothing done, median", moved - still, "ms", 16, detail)


def _wander(page, panel):
    """Move the pointer over a panel's diagonal; return the milliseconds of each move."""
    cells = page.locator(f'[data-panel="{panel}"]').first.locator("svg.cv-grid")
    cells.scroll_into_view_if_needed()
    box = cells.bounding_box()

    def move(share):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + share * box["height"])

    return [step(page, ANY_FRAME, lambda share=(place + 0.5) / 24: move(share), 20)["painted"] for place in range(24)]


def _opened(browser, address, name, title):
    """Open a tab of the app as it starts, 8 × 8; count the page's JavaScript."""
    with visit(browser) as page:
        page.goto(address)
        page.wait_for_selector(READY)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")

        def spent():
            metrics = session.send("Performance.getMetrics")["metrics"]
            return next(1000 * each["value"] for each in metrics if each["name"] == "ScriptDuration")

        first = next(tab for tab in ENTRY_OF if ENTRY_OF[tab] == ENTRY_OF[name] and tab not in OF_A_NOTEBOOK)
        if first != name:  # the entry opens at its first part: the other one is measured alone
            open_tab(page, first)
        before = spent()
        with repaint(page):
            press_tab(page, name)
            page.locator(f'.cv-pane-{name}[data-shown]:not([data-shown=""])').wait_for()
        return Figure(f"opening {title}: JavaScript", spent() - before, "ms", 300)


def _long_visit(browser, server):
    with visit(browser) as page:
        page.goto(server.url + STATE)
        page.wait_for_selector(READY)
        nodes, heap, memory = page.evaluate(SLIDE, WARM_UP), _heap(page), _private(server)
        nodes_after, heap_after = page.evaluate(SLIDE, STEPS), _heap(page)
        grown = (_private(server) - memory) / 1e6
    yield Figure(f"private memory of server and workers, growth over {STEPS} steps", grown, "MB", 2)
    yield Figure(f"elements in the page, growth over {STEPS} steps", nodes_after - nodes, "", 0)
    detail = f"{heap:.1f} → {heap_after:.1f} MB"
    yield Figure(f"the page's JavaScript heap, growth over {STEPS} steps", heap_after - heap, "MB", 2, detail)


def _private(server):
    root = psutil.Process(server.process.pid)
    return sum(each.memory_full_info().uss for each in (root, *root.children(recursive=True)))


def _heap(page):
    """Return the megabytes of JavaScript that are in use, after a collection."""
    page.wait_for_timeout(1000)  # plotly draws once more when the slider rests
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used / 1e6


if __name__ == "__main__":
    main(measure)
