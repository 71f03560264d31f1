"""What an app is made of, and what a long visit leaves behind: 1,000 slider steps, twenty apps opened and closed."""

import gc
import gzip
import json
import weakref

import psutil

from benchmarks.chromium import chromium, visit
from benchmarks.report import Figure, main
from benchmarks.ways import STATE
from tests.browser.server import voila_server

PART = "an app's size, and what stays behind"
APPS = 20
WARM_UP, STEPS = 200, 1000
READY = '.cv-board[data-from="torch"][data-painted]:not([data-painted=""])'
# Moves the slider to and fro in the page, each step after torch's numbers of the one before were painted.
SLIDE = """async (count) => {
  const range = document.querySelector('[data-slider="0,1"] input[type=range]');
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
    say(f"{APPS} apps opened and closed")
    figures = [*_made_of(), *_open_and_close()]
    say(f"{STEPS} slider steps")
    return [*figures, *_long_visit()]


def _made_of():
    """Yield how many widget models an app is, and what a notebook keeps of its own one: script and style sheet too."""
    from ipywidgets.embed import dependency_state
    from ipywidgets.widgets.widget import _instances

    import convviz

    before = len(_instances)
    app = convviz.App()
    yield Figure(PART, "widget models of one App()", len(_instances) - before, "", 15)
    state = json.dumps(dependency_state([app], drop_defaults=False))
    detail = f"{len(state) / 1000:,.0f} kB as it is"
    alone = len(gzip.compress(state.encode())) / 1000
    yield Figure(PART, "its widget state, gzipped", alone, "kB", 150, detail)
    other = convviz.App()
    state = json.dumps(dependency_state([app, other], drop_defaults=False))
    detail = f"{len(state) / 1000:,.0f} kB as it is"
    more = len(gzip.compress(state.encode())) / 1000 - alone
    yield Figure(PART, "what a second app adds to it", more, "kB", 10, detail)
    other.close()
    app.close()


def _open_and_close():
    from ipywidgets.widgets.widget import _instances

    import convviz

    before, apps = len(_instances), []
    for _ in range(APPS):
        app = convviz.App()
        apps.append(weakref.ref(app))
        app.close()
        del app
    gc.collect()
    yield Figure(PART, f"widgets alive after {APPS} apps were closed", len(_instances) - before, "", 0)
    yield Figure(PART, f"apps alive after {APPS} were closed", sum(ref() is not None for ref in apps), "", 0)


def _long_visit():
    with voila_server() as server, chromium() as browser, visit(browser) as page:
        page.goto(server.url + STATE)
        page.wait_for_selector(READY)
        nodes, heap = page.evaluate(SLIDE, WARM_UP), _heap(page)
        memory = _private(server)
        nodes_after, heap_after = page.evaluate(SLIDE, STEPS), _heap(page)
        grown = (_private(server) - memory) / 1e6
    yield Figure(PART, f"private memory of server and workers, growth over {STEPS} steps", grown, "MB", 2)
    yield Figure(PART, f"elements in the page, growth over {STEPS} steps", nodes_after - nodes, "", 0)
    detail = f"{heap:.1f} → {heap_after:.1f} MB"
    yield Figure(PART, f"the page's JavaScript heap, growth over {STEPS} steps", heap_after - heap, "MB", 2, detail)


def _private(server):
    """Return the bytes that the server and its workers have for themselves."""
    root = psutil.Process(server.process.pid)
    return sum(each.memory_full_info().uss for each in (root, *root.children(recursive=True)))


def _heap(page):
    """Return the megabytes of JavaScript that are in use, once what nobody needs is gone."""
    page.wait_for_timeout(1000)  # plotly draws once more when the slider rests
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used / 1e6


if __name__ == "__main__":
    main(measure)
