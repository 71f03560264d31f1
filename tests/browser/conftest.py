"""The app in a browser, opened once for all tests that leave it alive: opening it takes as long as several of them."""

import pytest
from playwright.sync_api import TimeoutError as TooSlow

from convviz.export.page import export_html
from tests.browser.app_page import fresh_page, open_app, show_link, start_again, visiting
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
    with fresh_page(browser, plotly=False) as page:
        page.failures = 0
        yield page


@pytest.fixture
def opened(reader, exported, request):
    """Return a function that shows a link in the exported page; what breaks there fails the test."""
    if request.session.testsfailed > reader.failures:  # as that test left it
        reader.goto("about:blank")
        reader.failures = request.session.testsfailed
    yield lambda link="v=2", size=(1366, 768): show_link(reader, exported, link, size)
    errors, reader.page_errors[:] = [error.stack or error.message for error in reader.page_errors], []
    outside, reader.outside[:] = [*reader.outside], []
    assert [*errors, *outside] == []


@pytest.fixture(scope="session")
def visitor(browser, server):
    """A page that stays open, without heatmaps."""
    with visiting(browser, server) as page:
        yield page


@pytest.fixture
def app(visitor, server):
    """The open page, at the settings it started with; asks for nothing outside and breaks nothing while it is used."""
    try:
        start_again(visitor)
    except (TooSlow, AssertionError):  # as a test that failed left it
        open_app(visitor, server.url)
    visitor.complaints.clear()
    visitor.page_errors.clear()
    visitor.outside.clear()
    yield visitor
    assert visitor.outside == []
    assert visitor.complaints == []
    errors, visitor.page_errors[:] = visitor.page_errors[:], []
    assert [error.stack or error.message for error in errors] == []
