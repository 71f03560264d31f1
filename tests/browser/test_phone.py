"""What a finger does on a phone: what is spoken of stands above the bars at the lower edge, and no answer scrolls."""

import pytest

from convviz.export.page import export_html
from tests.browser.app_page import fresh_page, wait_painted
from tests.browser.app_page.waits import repaint

PHONE = {"viewport": {"width": 390, "height": 664}, "has_touch": True, "is_mobile": True}
BARS = """() => Math.min(innerHeight, ...[...document.querySelectorAll(".cv-controls, .cv-lesson-place")]
    .filter((bar) => getComputedStyle(bar).position === "sticky").map((bar) => bar.getBoundingClientRect().top))"""


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """A page with the lesson that it shows first."""
    return export_html(None, tmp_path_factory.mktemp("phone") / "page.html", lesson="why_rotated")


def bottom(page, selector):
    box = page.locator(selector).first.bounding_box()
    assert box["y"] >= -1, selector
    return box["y"] + box["height"]


def assert_above_the_bars(page, *selectors):
    for selector in selectors:
        assert bottom(page, selector) <= page.evaluate(BARS) + 1, selector


def touch(page, selector):
    """At once, where it is: Playwright's tap would scroll first."""
    box = page.locator(selector).first.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def frames(page):
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => "
        "requestAnimationFrame(done))))"
    )


def test_a_step_shows_its_band_and_its_slider_and_no_answer_scrolls(browser, taught):
    with fresh_page(browser, **PHONE) as page:
        page.goto(f"{taught.as_uri()}#lesson=why_rotated&step=8")
        wait_painted(page)
        page.locator("[data-lent] [data-wanted]").wait_for()
        frames(page)
        assert page.locator("[data-in-step]").bounding_box()["y"] >= -1
        assert_above_the_bars(page, ".cv-cell.cv-asked")
        assert page.locator("[data-wanted]").bounding_box()["y"] < 664
        with repaint(page):
            touch(page, ".cv-lesson-act")
        page.locator(".cv-lesson-answer input").wait_for()
        frames(page)
        before = page.evaluate("scrollY")
        for typed, state in (("8", "wrong"), ("10", "right")):
            touch(page, ".cv-lesson-answer input")
            page.keyboard.type(typed)
            assert page.evaluate("scrollY") == before, "typing"
            touch(page, ".cv-lesson-answer [type=submit]")
            page.locator(f"[data-state={state}]").wait_for()
            frames(page)
            assert page.evaluate("scrollY") == before, state
            if state == "wrong":
                assert_above_the_bars(page, ".cv-cell.cv-asked")


def test_a_chosen_cell_s_sum_and_the_bar_that_steps_are_in_sight(browser, exported):
    with fresh_page(browser, **PHONE) as page:
        page.goto(f"{exported.as_uri()}#v=2")
        wait_painted(page)
        page.evaluate("scrollTo(0, 0)")
        touch(page, "[data-focus] [data-panel=grad_input] .cv-grid")
        page.locator(".cv-sum[data-terms]").wait_for()
        assert_above_the_bars(page, ".cv-sum")
        assert page.evaluate("scrollY") == 0
        touch(page, "[data-focus] .cv-step")
        page.locator("[data-focus] .cv-transport").wait_for()
        frames(page)
        assert_above_the_bars(page, "[data-focus] .cv-transport", ".cv-sum")
