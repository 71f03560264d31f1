"""A headless Chromium, a page for each visit, and the milliseconds from an event to the frame that shows its effect."""

import contextlib
from pathlib import Path

from tests.chromium import HAS_ARRIVED, find_chromium
from tests.conftest import CHROMIUM_ARGS

PROBE = Path(__file__).with_name("paint_probe.js")
APPEARS_WITHIN_MS = 120_000
SETTLE_MS = 120  # between two steps: what one step leaves to do must not delay the next
STEPS, WARM_UP = 30, 5
PAINTED = '[data-painted]:not([data-painted=""])'
READY = f'.cv-board[data-from="torch"]{PAINTED}'  # torch's numbers are painted
COLOURED = ".cv-board .cv-pixels, .cv-board .cv-plot .hm image"
STATE = "#v=1"  # the app's picture of 8 × 8, which every reference shows, too
# Marks for `step`: JavaScript functions whose results change when a step is painted.
PICTURE = {"painted": "() => document.querySelector('[data-painted]').dataset.painted || undefined"}
ANY_FRAME = {"painted": "() => performance.now()"}


@contextlib.contextmanager
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def visit(browser):
    """Yield the page of a new visitor with an empty cache; its kernel ends with it."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, service_workers="block")
    context.add_init_script(path=PROBE)
    context.add_init_script(HAS_ARRIVED)
    page = context.new_page()
    page.set_default_timeout(APPEARS_WITHIN_MS)
    try:
        yield page
    finally:
        page.close(run_before_unload=True)
        context.close()


def arrive(page, address, *marks):
    """Open a page; return the milliseconds until the first frame with each (selector, count of elements)."""
    page.goto(address, wait_until="commit")
    both = "(all) => Promise.all(all.map(([selector, count]) => convvizProbe.first(selector, count)))"
    return page.evaluate(both, list(map(list, marks)))


def step(page, marks, act, settle_ms=SETTLE_MS):
    """Do something with keys or pointer; return {mark: milliseconds from the event until its change is painted}."""
    page.evaluate(f"() => convvizProbe.arm({{ {', '.join(f'{name}: {read}' for name, read in marks.items())} }})")
    act()
    taken = page.evaluate("() => convvizProbe.done")
    page.wait_for_timeout(settle_ms)
    return taken


def press(page, marks, to_and_fro=False, count=WARM_UP + STEPS, settle_ms=SETTLE_MS):
    """Press arrow keys on the slider that has the focus; return the milliseconds of each step, by mark."""
    taken = []
    for number in range(count):
        back = number % 2 if to_and_fro else number >= STEPS  # 30 steps of 0.1: to the end of a kernel's slider
        key = "ArrowLeft" if back else "ArrowRight"
        taken.append(step(page, marks, lambda key=key: page.keyboard.press(key), settle_ms))
    return taken
