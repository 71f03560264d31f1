"""What a long visit leaves behind: a thousand slider steps, and twenty apps opened and closed."""

from __future__ import annotations

import gc
import weakref

from ipywidgets.widgets.widget import _instances
from playwright.sync_api import sync_playwright

import convviz
from benchmarks.app import ARGUMENTS, VARIANTS
from benchmarks.report import Figure
from tests.browser.server import voila_server
from tests.chromium import find_chromium

WARM_UP, STEPS = 200, 1000
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


def _long_visit() -> list[Figure]:
    with voila_server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(server.url)
        page.wait_for_selector(VARIANTS["convviz"].ready, state="attached", timeout=90_000)
        (kernel,) = server.kernels().values()
        nodes = page.evaluate(SLIDE, WARM_UP)
        before = kernel.memory_full_info().uss
        nodes_after = page.evaluate(SLIDE, STEPS)
        grown = kernel.memory_full_info().uss - before
        browser.close()
    return [
        Figure(f"kernel's private memory, growth over {STEPS} steps", grown / 1e6, "MB", 2),
        Figure(f"elements in the page, growth over {STEPS} steps", nodes_after - nodes, "", 0),
    ]


def _open_and_close() -> list[Figure]:
    before = len(_instances)
    apps = []
    for _ in range(20):
        app = convviz.App()
        apps.append(weakref.ref(app))
        app.close()
        del app
    gc.collect()
    alive = sum(ref() is not None for ref in apps)
    return [
        Figure("widgets alive after 20 apps were closed", len(_instances) - before, "", 0),
        Figure("apps alive after 20 were closed", alive, "", 0),
    ]


def measure() -> list[Figure]:
    """Return the figures of this part."""
    return [*_open_and_close(), *_long_visit()]
