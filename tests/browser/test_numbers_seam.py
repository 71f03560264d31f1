"""The exported page with a maker of numbers that the test plays: they are late, wrong, refused, or never come."""

import pytest
import torch

from convviz.export.page import export_html
from convviz.settings import tensors
from convviz.settings.state import Settings
from tests.browser.app_page import FOLLOWS_WITHIN_MS, cell, painted
from tests.browser.scripts import expose
from tests.truth import truth

pytestmark = pytest.mark.browser

OWN = "plotly, tabs }, own: true"  # where the page starts
MAKER = """
window.asked = [];
window.makeNumbers = (settings, k) =>
  new Promise((resolve, reject) => window.asked.push({ settings, k, resolve, reject }));
"""
ANSWER = """([at, spoiled]) => {
  const { settings, k, resolve } = window.asked.at(at);
  const numbers = fromPage(settings, k);
  if (spoiled) numbers.stages.grad_weight.data[4] = NaN;
  resolve(numbers);
}"""
CELLS = """() => Object.fromEntries([...document.querySelectorAll(".cv-panel")].map((panel) => [
  panel.dataset.panel,
  [...panel.querySelectorAll("[data-cell]")].map((cell) => Number(cell.dataset.value)),
]))"""
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
    page.clock.install()
    page.add_init_script(MAKER)
    page.goto(path.as_uri())
    expose(page, "numbers/from_page.js")
    assert page.locator(".cv-panel").count() == 0, "no numbers, no picture"
    answer(page)
    wait_shown(page, 1)
    return page


def answer(page, at=-1, spoiled=False):
    page.evaluate(ANSWER, [at, spoiled])


def requests(page):
    """Return (stride, k) of every request."""
    return page.evaluate("asked.map(({ settings, k }) => [settings.spec.stride[0], k])")


def wait_shown(page, k):
    """Wait until step k is painted, and hold every panel against what autograd says of its settings."""
    wanted = "(k) => document.querySelector('.cv-board')?.dataset.painted === String(k)"
    page.wait_for_function(wanted, arg=k, timeout=FOLLOWS_WITHIN_MS)
    assert_shows(page, page.evaluate("(k) => asked.find((each) => each.k === k).settings", k))


def assert_shows(page, state):
    settings = Settings.from_dict(state)
    given = {
        name: getattr(tensors, f"{name}_tensor")(settings) for name in ("input", "weight", "bias", "target", "grad")
    }
    given = {name: None if tensor is None else tensor.double() for name, tensor in given.items()}
    expected = truth(settings.spec, settings.loss, given)
    cells = page.evaluate(CELLS)
    assert {"padded_input", "output", "grad_input", "grad_weight"} <= cells.keys()
    for name in cells.keys() & expected.keys():
        numbers = torch.tensor(cells[name], dtype=torch.float64)
        plane = expected[name].detach()[0, 0]
        assert numbers.shape == (plane.numel(),), name
        assert torch.allclose(numbers.reshape(plane.shape), plane, rtol=1e-6, atol=1e-9), name


def slider(page, name="stride"):
    return page.locator(f".cv-set-{name} input").first


def notice(page):
    line = page.locator(".cv-notice")
    return line.text_content(), line.get_attribute("data-failed")


def undo_can_be_pressed(page):
    return page.get_by_role("button", name="Undo").get_attribute("aria-disabled") == "false"


def test_the_newest_wins_while_a_slider_is_moved(slow):
    slow.evaluate(WATCH)
    slider(slow).focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowLeft"):
        slow.keyboard.press(key)
    assert slider(slow).input_value() == "1", "it waits for no numbers"
    assert requests(slow) == [[2, 1], [3, 2]], "one is under way, the newest waits"
    assert painted(slow) == 1
    answer(slow)
    slow.wait_for_function("asked.length === 3")
    slow.evaluate(SETTLED)
    assert painted(slow) == 1, "the numbers of stride 3 are gone"
    assert requests(slow)[2] == [1, 6]
    answer(slow)
    wait_shown(slow, 6)
    answer(slow, 1)
    slow.evaluate(SETTLED)
    assert slow.evaluate("frames_seen") == ["1: 16", "6: 64"], "never half of an update"
    assert slider(slow).evaluate("(input) => document.activeElement === input")
    assert notice(slow) == ("", "false")


def test_a_refusal_brings_the_controls_back_and_says_why(slow):
    slider(slow).press("ArrowLeft")
    assert undo_can_be_pressed(slow)
    slow.evaluate("asked[1].reject(new Error('There is no memory left for that.'))")
    slow.locator(".cv-notice", has_text="no memory left").wait_for()
    assert notice(slow) == ("There is no memory left for that.", "true")
    assert slider(slow).input_value() == "2"
    assert slider(slow).evaluate("(input) => document.activeElement === input")
    assert not undo_can_be_pressed(slow)
    wait_shown(slow, 1)
    slider(slow).press("ArrowLeft")
    answer(slow)
    wait_shown(slow, 3)
    assert notice(slow) == ("", "false")


def test_numbers_that_are_none_are_refused(slow):
    slow.locator(".cv-slider input[type=range]").first.press("ArrowRight")
    answer(slow, spoiled=True)
    slow.locator(".cv-notice", has_text="got nan in grad_weight").wait_for()
    assert slow.locator(".cv-slider input[type=range]").first.input_value() == "-1"
    wait_shown(slow, 1)


def test_numbers_that_never_come_are_said_and_the_board_lives(slow):
    slider(slow).press("ArrowLeft")
    slow.clock.fast_forward(10_000)
    slow.locator(".cv-notice", has_text="have not come yet").wait_for()
    assert notice(slow)[1] == "true"
    assert_shows(slow, slow.evaluate("asked[0].settings"))
    cell(slow, "grad_weight", 1, 1).click()
    slow.locator(".cv-sum output").wait_for()
    slider(slow).press("ArrowRight")
    assert requests(slow) == [[2, 1], [1, 2]], "back at what the board shows: there is nothing to ask for"
    slider(slow).press("ArrowRight")
    assert requests(slow)[2:] == [[3, 4]], "the request that was lost is in nobody's way"
    answer(slow)
    wait_shown(slow, 4)
    answer(slow, 1)
    slow.evaluate(SETTLED)
    assert painted(slow) == 4, "too late"


def test_undo_and_redo_across_a_pending_step(slow):
    slider(slow).press("ArrowLeft")
    slow.keyboard.press("Control+z")
    assert slider(slow).input_value() == "2"
    assert not undo_can_be_pressed(slow)
    answer(slow)
    slow.evaluate(SETTLED)
    assert painted(slow) == 1, "the answer is of settings that are gone"
    slow.keyboard.press("Control+Shift+z")
    assert slider(slow).input_value() == "1"
    answer(slow)
    wait_shown(slow, 4)
    assert undo_can_be_pressed(slow)
    slow.keyboard.press("Control+z")
    answer(slow)
    wait_shown(slow, 5)
    assert slider(slow).input_value() == "2"
