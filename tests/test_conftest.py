"""The browser fixtures keep their word: nothing goes outside, no error is lost."""

import re

import pytest

from tests import chromium
from tests.conftest import OUTSIDE


@pytest.mark.parametrize(
    ("url", "outside"),
    [
        ("https://example.org/x.js", True),
        ("wss://example.org/socket", True),
        ("http://localhost.example.org/", True),
        ("http://127.0.0.1.example.org/", True),
        ("http://localhost:8866/voila", False),
        ("http://127.0.0.1/", False),
        ("ws://127.0.0.1:8866/api", False),
        ("data:text/html,https://example.org", False),
        ("blob:http://localhost/1", False),
        ("file:///tmp/page.html", False),
    ],
)
def test_what_counts_as_outside(url, outside):
    assert bool(OUTSIDE.match(url)) == outside


def test_page_opens_and_needs_no_network(page):
    page.goto("data:text/html,<title>here</title><p id=p>a tap</p>")
    assert page.title() == "here"
    assert page.locator("#p").inner_text() == "a tap"
    assert page.viewport_size == {"width": 1400, "height": 900}
    assert page.outside == []


def test_page_fails_and_lists_requests_to_elsewhere(page):
    with page.expect_event("requestfailed"):
        page.goto("data:text/html,<img src='http://example.org/pixel.png'>")
    assert page.outside == ["http://example.org/pixel.png"]


def test_page_lists_websockets_to_elsewhere(page):
    page.goto("data:text/html,<p>")
    page.evaluate("new Promise(done => { new WebSocket('ws://example.org/s').onerror = done })")
    assert page.outside == ["ws://example.org/s"]


def test_a_provoked_page_error_can_be_checked_and_cleared(page):
    page.goto("data:text/html,<p>")
    with page.expect_event("pageerror"):
        page.evaluate("setTimeout(() => { throw new Error('on purpose') })")
    assert [error.message for error in page.page_errors] == ["on purpose"]
    page.page_errors.clear()


def test_chromium_by_variable_must_start(monkeypatch, tmp_path):
    monkeypatch.setenv("CONVVIZ_CHROMIUM", str(tmp_path / "nowhere"))
    with pytest.raises(RuntimeError, match=r"CONVVIZ_CHROMIUM .*nowhere --version` failed"):
        chromium.find_chromium()


def test_no_chromium_is_an_error_that_says_how_to_install_one(monkeypatch):
    monkeypatch.delenv("CONVVIZ_CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "starts", lambda path: False)
    monkeypatch.setattr(chromium, "run", lambda command, timeout: None)
    with pytest.raises(RuntimeError, match=re.escape("apt-get install chromium")):
        chromium.find_chromium()
