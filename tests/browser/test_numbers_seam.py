"""The exported page with a maker of numbers that the test plays: what is painted, and the controls when one is refused.

What the model does with late, wrong and lost numbers is in tests/js/numbers.test.mjs.
"""

import pytest

from convviz.export.page import export_html
from tests.browser.app_page import FOLLOWS_WITHIN_MS, painted
from tests.browser.scripts import expose

pytestmark = pytest.mark.browser

OWN = "plotly, tabs }, own: true"  # where the page starts
MAKER = """
window.asked = [];
window.makeNumbers = (settings, k) =>
  new Promise((resolve, reject) => window.asked.push({ settings, k, resolve, reject }));
"""
ANSWER = "(at) => { const { settings, k, resolve } = asked.at(at); resolve(fromPage(settings, k)); }"
# Which pictures are painted: after every frame, the step and how many cells output has.
WATCH = """() => {
  window.frames_seen = [];
  const look = () => {
    const step = document.querySelector(".cv-board").dataset.painted;
    const cells = document.querySelectorAll("[data-panel=output] [data-cell]").length;
    const seen = `${step}: ${cells}`;
    if (window.frames_seen.at(-1) !== seen) window.frames_seen.push(seen);
    requestAnimationFrame(look);
  };
  look();
}"""
SETTLED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture
def slow(page, tmp_path):
    """Return a page whose first numbers are there, and whose next ones come when the test says so."""
    path = export_html({}, tmp_path / "page.html")
    text = path.read_text(encoding="utf-8")
    assert text.count(OWN) == 1
    path.write_text(text.replace(OWN, f"{OWN}, makeNumbers: window.makeNumbers"), encoding="utf-8")
    page.add_init_script(MAKER)
    page.goto(path.as_uri())
    expose(page, "numbers/from_page.js")
    assert page.locator(".cv-panel").count() == 0, "no numbers, no picture"
    answer(page)
    wait_shown(page, 1)
    return page


def answer(page, at=-1):
    page.evaluate(ANSWER, at)


def wait_shown(page, k):
    wanted = "(k) => document.querySelector('.cv-board')?.dataset.painted === String(k)"
    page.wait_for_function(wanted, arg=k, timeout=FOLLOWS_WITHIN_MS)


def test_the_newest_wins_and_a_refusal_brings_the_controls_back_and_says_why(slow):
    slow.evaluate(WATCH)
    slider, notice = slow.locator(".cv-set-stride input").first, slow.locator(".cv-notice")
    undo = slow.get_by_role("button", name="Undo")
    slider.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowLeft"):
        slow.keyboard.press(key)
    assert slider.input_value() == "1", "it waits for no numbers"
    assert painted(slow) == 1
    answer(slow)
    slow.wait_for_function("asked.length === 3")
    slow.evaluate(SETTLED)
    assert painted(slow) == 1, "the numbers of stride 3 are gone"
    answer(slow)
    wait_shown(slow, 6)
    answer(slow, 1)
    slow.evaluate(SETTLED)
    assert slow.evaluate("frames_seen") == ["1: 16", "6: 64"], "never half of an update"
    slider.press("ArrowRight")
    slow.wait_for_function("asked.length === 4")
    slow.evaluate("asked[3].reject(new Error('There is no memory left for that.'))")
    slow.locator(".cv-notice[data-failed=true]", has_text="There is no memory left for that.").wait_for()
    assert slider.input_value() == "1"
    assert slider.evaluate("(input) => document.activeElement === input")
    assert painted(slow) == 6
    slider.press("ArrowRight")
    answer(slow)
    wait_shown(slow, 8)
    assert (notice.text_content(), notice.get_attribute("data-failed")) == ("", "false")
    assert undo.get_attribute("aria-disabled") == "false"
