"""What a long visit leaves behind: a thousand slider steps, and twenty apps opened and closed."""

import gc
import weakref

from benchmarks.chromium import chromium, visit
from benchmarks.report import Figure, main
from tests.browser.server import voila_server

PART = "what stays behind"
APPS = 20
WARM_UP, STEPS = 200, 1000
READY = '.cv-board[data-painted]:not([data-painted=""])'
# Moves the slider to and fro in the page, each step after the one before was painted.
SLIDE = """async (count) => {
  const range = document.querySelector('[data-slider="0,1"] input[type=range]');
  const board = document.querySelector('.cv-board');
  for (let i = 0; i < count; i++) {
    const before = board.dataset.painted;
    range.value = String(((i % 41) - 20) / 10 + 0.1);
    range.dispatchEvent(new Event('input', { bubbles: true }));
    while (board.dataset.painted === before) await new Promise(requestAnimationFrame);
  }
  return document.getElementsByTagName('*').length;
}"""


def measure(say):
    say(f"{APPS} apps opened and closed")
    figures = list(_open_and_close())
    say(f"{STEPS} slider steps")
    return [*figures, *_long_visit()]


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
        page.goto(server.url)
        page.wait_for_selector(READY)
        (kernel,) = server.kernels().values()
        nodes = page.evaluate(SLIDE, WARM_UP)
        memory = kernel.memory_full_info().uss
        nodes_after = page.evaluate(SLIDE, STEPS)
        grown = (kernel.memory_full_info().uss - memory) / 1e6
    yield Figure(PART, f"kernel's private memory, growth over {STEPS} steps", grown, "MB", 2)
    yield Figure(PART, f"elements in the page, growth over {STEPS} steps", nodes_after - nodes, "", 0)


if __name__ == "__main__":
    main(measure)
