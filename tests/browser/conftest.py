"""The app in a browser, opened once for all tests that leave it alive: opening it takes as long as several of them."""

import pytest
from playwright.sync_api import TimeoutError as TooSlow

from tests.browser.app_page import fresh_page, open_app, snapshot, start_again
from tests.browser.server import voila_server


@pytest.fixture(scope="session")
def server():
    """The app as `convviz serve` serves it; its workers keep nothing of a page."""
    with voila_server() as server:
        yield server


@pytest.fixture(scope="session")
def visitor(browser, server):
    """A page that stays open; its first state is kept beside it."""
    with fresh_page(browser, accept_downloads=True) as page:
        open_app(page, server.url)
        page.start = snapshot(page)
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
