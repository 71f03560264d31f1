"""A headless Chromium and a page a visit."""

import contextlib
from pathlib import Path

from tests.chromium import HAS_ARRIVED, find_chromium
from tests.conftest import CHROMIUM_ARGS

PROBE = Path(__file__).with_name("probe.js")
APPEARS_WITHIN_MS = 120_000


@contextlib.contextmanager
def chromium():
    """Start the browser that the tests use; yield it."""
    path = find_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
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
