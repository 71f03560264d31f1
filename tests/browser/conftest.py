"""The app in a browser, opened once for all tests that leave it alive: opening it takes as long as several of them."""

import pytest

from convviz.export.page import export_html
from tests.browser.app_page import fresh_page, show_link, used, visiting
from tests.browser.server import voila_server


@pytest.fixture(scope="session")
def server():
    """The app as `convviz serve` serves it; its workers keep nothing of a page."""
    with voila_server() as server:
        yield server


@pytest.fixture(scope="session")
def exported(tmp_path_factory):
    """The path of an exported page with the first picture."""
    return export_html(None, tmp_path_factory.mktemp("exported") / "page.html")


@pytest.fixture(scope="session")
def reader(browser):
    """A page that stays open for those who show one link after another in the exported page."""
    with fresh_page(browser) as page:
        page.failures = 0
        yield page


@pytest.fixture(scope="session")
def finger(browser):
    """The same with a touch screen."""
    with fresh_page(browser, has_touch=True) as page:
        page.failures = 0
        yield page


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
    if request.session.testsfailed > page.failures:  # as that test left it
        page.goto("about:blank")
        page.failures = request.session.testsfailed
    yield lambda link="v=2", size=(1366, 768), path=exported: show_link(page, path, link, size)
    errors, page.page_errors[:] = [error.stack or error.message for error in page.page_errors], []
    outside, page.outside[:] = [*page.outside], []
    assert [*errors, *outside] == []


@pytest.fixture(scope="session")
def visitor(browser, server):
    """A page that stays open, without heatmaps."""
    with visiting(browser, server) as page:
        yield page


@pytest.fixture
def app(visitor, server):
    """The open page, at the settings it started with; asks for nothing outside and breaks nothing while it is used."""
    yield from used(visitor, server)
