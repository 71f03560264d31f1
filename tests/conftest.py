"""Fixtures for tests in a real browser. Nothing heavy is imported here: tests of the maths start at once."""

import gc
import os
import re
import sys

import pytest

from tests.chromium import find_chromium

# Before torch is loaded: on tensors of 8 x 8 a second thread only waits for the first.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# As `convviz serve` does: see convviz/serve/__init__.py.
sys.modules.setdefault("rfc3987_syntax", None)

CHROMIUM_ARGS = [
    "--no-sandbox",  # Chromium refuses to start as root, as in containers, with its sandbox on
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A wall that websockets and workers cannot get around either: no other host resolves.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
# data:, blob: and file: have no host and leave nothing behind on the network.
OUTSIDE = re.compile(r"^(https?|wss?|ftp)://(?!(127\.0\.0\.1|localhost)(:\d+)?(/|$))")


def pytest_collection_modifyitems(items, config):
    """Mark what needs a browser, and run it last: the rest answers sooner.

    Where files are run at the same time it comes first: the others are shorter, so all workers end at about one time.
    """
    for item in items:
        if {"browser", "page"} & set(item.fixturenames):
            item.add_marker("browser")
    items.sort(key=lambda item: "browser" in item.keywords, reverse=hasattr(config, "workerinput"))


def pytest_collection_finish():
    """Spare the garbage collector the hundred thousands of objects that are there before the first test and stay.

    Otherwise each of its rounds looks at them all, as does what the graph looks for among all objects.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def closing():
    """Return a function that keeps an app, and hands it on: it is closed at the end of the test."""
    kept = []
    yield lambda app: kept.append(app) or app
    for app in kept:
        app.close()


@pytest.fixture(scope="session")
def browser():
    """One headless Chromium for all tests. Without one they fail: a skipped browser test proves nothing."""
    path = find_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def js(request):
    """The page's own functions, to be called many at a time: see tests/browser/call_javascript.py."""
    from tests.browser.call_javascript import called

    with called(request) as functions:
        yield functions


# Where two seconds pass before a widget's script is imported. A carrier of scripts needs no message; an app that gets
# none is not seen to be torch's.
TOO_BUSY = "[anywidget] Failed to initialize model."


def note_trouble(page):
    """List what a page asks of others than this machine, and the errors that no script of it catches.

    By ear: routes would switch the browser's cache off, and no other host resolves.
    """
    page.outside, page.page_errors = [], []
    for asker, kind in ((page.context, "request"), (page, "websocket")):
        asker.on(kind, lambda asked: OUTSIDE.match(asked.url) and page.outside.append(asked.url))
    page.on("pageerror", lambda error: error.message == TOO_BUSY or page.page_errors.append(error))


@pytest.fixture
def page(browser, request):
    """A fresh page that reaches only this machine.

    `page.outside` lists the addresses elsewhere that it asked for, in vain. `page.page_errors` lists the
    errors no script caught: any left at the end fails the test, so one that provokes them clears the list.
    """
    from tests.browser.app_page import fresh_page

    # Playwright waits for a sentence of JavaScript by eval, which the page's own policy forbids: that is held by the
    # tests marked with `policy`.
    marks = request.keywords
    with fresh_page(browser, plotly="plotly" in marks, bypass_csp="policy" not in marks) as page:
        yield page


# The app and the exported page, opened once for all tests that leave them alive, in whatever folder: opening them takes
# as long as several tests.


@pytest.fixture(scope="session")
def server():
    """The app as `convviz serve` serves it; its workers keep nothing of a page."""
    from tests.browser.server import voila_server

    with voila_server() as server:
        yield server


@pytest.fixture(scope="session")
def exported(tmp_path_factory):
    """The path of an exported page with the first picture."""
    from convviz.export.page import export_html

    return export_html(None, tmp_path_factory.mktemp("exported") / "page.html")


def stays_open(browser, **options):
    """Yield a page for those who show one link after another in the exported page."""
    from tests.browser.app_page import fresh_page

    with fresh_page(browser, **options) as page:
        page.failures = 0
        yield page


@pytest.fixture(scope="session")
def reader(browser):
    """A page that stays open for those who show one link after another in the exported page."""
    yield from stays_open(browser)


@pytest.fixture(scope="session")
def finger(browser):
    """The same with a touch screen."""
    yield from stays_open(browser, has_touch=True)


@pytest.fixture
def opened(reader, exported, request):
    """Return a function that shows a link in the exported page; what breaks there fails the test."""
    yield from showing(reader, exported, request)


@pytest.fixture
def touched(finger, exported, request):
    """The same on a touch screen."""
    yield from showing(finger, exported, request)


def showing(page, exported, request):
    """Yield the function, for a page that stays open; it shows the link in another file, too."""
    from tests.browser.app_page import show_link

    if request.session.testsfailed > page.failures:  # as that test left it
        page.goto("about:blank")
        page.failures = request.session.testsfailed
    yield lambda link="v=2", size=(1366, 768), path=exported: show_link(page, path, link, size)
    errors, page.page_errors[:] = [error.stack or error.message for error in page.page_errors], []
    outside, page.outside[:] = [*page.outside], []
    assert [*errors, *outside] == []


@pytest.fixture(scope="session")
def visitor(browser, server):
    """A page of the served app that stays open, without heatmaps."""
    from tests.browser.app_page import visiting

    with visiting(browser, server) as page:
        yield page


@pytest.fixture
def app(visitor, server):
    """The open page, at the settings it started with; asks for nothing outside and breaks nothing while it is used."""
    from tests.browser.app_page import used

    yield from used(visitor, server)
