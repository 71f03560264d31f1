"""The lecture: one band fills the screen in letters for the last row, a clicker's keys step, and it leaves no trace."""

import pytest

from convviz.facts.words import sentences
from tests.browser.app_page import cell, fresh_page, painted, repaint, slider, wait_painted
from tests.browser.axe import assert_accessible

say = sentences("lecture")
# Of every number that is printed, the height of its letters in pixels of the screen.
LETTERS = """() => [...document.querySelectorAll("[data-focus] .cv-numbered .cv-printed text")].filter((text) =>
  text.checkVisibility() && getComputedStyle(text).visibility === "visible"
).flatMap((text) => [...text.x.baseVal].map(() => // zeros are one element
  [text.textContent, parseFloat(getComputedStyle(text).fontSize) * text.getCTM().a]))"""
# What is seen, by its name, and whether all of it is inside the window.
SEEN = """() => Object.fromEntries([...document.querySelectorAll(
  ".cv-equation, .cv-control, .cv-lecture-bar button, .cv-sum, .cv-tools, .cv-headline, .cv-facts"
)].filter((node) => node.checkVisibility()).map((node) => {
  const { left, top, right, bottom } = node.getBoundingClientRect();
  const inside = left >= 0 && top >= 0 && right <= innerWidth + 0.5 && bottom <= innerHeight + 0.5;
  return [node.dataset.equation ?? node.title ?? node.className, inside];
}))"""
CONTROLS = """() => [...document.querySelectorAll(".cv-control")].filter((node) => node.checkVisibility())
  .map((node) => node.className.match(/cv-set-(\\w+)/)[1])"""
LIT = """() => [...document.querySelectorAll("[data-focus] .cv-panel")].map((panel) => {
  const dim = panel.querySelector(".cv-dim");
  const outlines = (dim.getAttribute("d") ?? "").split("M").length - 1; // the whole, and what stays clear
  return [panel.dataset.panel, getComputedStyle(dim).display !== "none" && outlines > 0, outlines - 1];
})"""


@pytest.fixture(scope="module")
def visitor(browser):
    with fresh_page(browser) as page:
        yield page


def open_page(page, exported, hash="", size=(1280, 720)):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto("about:blank")
    page.goto(f"{exported.as_uri()}{hash}")
    wait_painted(page)


def is_lecture(page):
    return page.evaluate("document.querySelector('.cv-app').hasAttribute('data-present')")


def wait_band(page, name):
    """Wait until one band alone is there, and its cells have the size for it, and its heatmap where there is one."""
    page.wait_for_function(
        """(name) => {
          const shown = [...document.querySelectorAll(".cv-equation")].filter((band) => band.checkVisibility());
          const stage = shown[0]?.querySelector(".cv-stage");
          const plot = shown[0]?.querySelector(".cv-plot .main-svg") ?? stage;
          const panel = shown[0]?.querySelector(".cv-panel");
          const cell = panel?.querySelector(".cv-area").clientWidth / panel?.querySelector("[role=grid]").ariaColCount;
          return shown.length === 1 && shown[0].dataset.equation === name && cell > 10 && // no strip's any more
            Math.abs(plot.clientWidth - stage.clientWidth) <= 1;
        }""",
        arg=name,
    )


def step(page):
    return page.locator("[data-focus] .cv-where").text_content()


@pytest.mark.plotly
def test_numbers_are_read_from_the_last_row_and_all_is_on_the_screen(page, exported):
    open_page(page, exported, "#present=1")
    page.locator("[data-focus] .main-svg").first.wait_for()
    for key, name in (("1", "forward"), ("3", "weight"), ("2", "input")):
        page.keyboard.press(key)
        wait_band(page, name)
        letters = page.evaluate(LETTERS)
        assert len(letters) >= 43, name
        assert min(height for _, height in letters) >= 24, (name, letters)
        seen = page.evaluate(SEEN)
        assert all(seen.values()), (name, seen)
        assert not {"cv-tools", "cv-headline", "cv-facts"} & set(seen)
    assert page.evaluate(CONTROLS) == ["preset", "stride", "padding", "input_size"]
    page.keyboard.press("PageDown")
    page.wait_for_function("document.getAnimations().length === 0")
    assert_accessible(page, "lecture")
    open_page(page, exported, "#v=1&present=1")
    wait_band(page, "input")
    assert all(page.evaluate(SEEN).values()), "the 8 x 8 picture, too"
    assert min(height for _, height in page.evaluate(LETTERS)) >= 16, "one size a panel, its longest number's"


def test_f_and_the_button_begin_it_and_esc_and_f_end_it(visitor, exported):
    open_page(visitor, exported)
    before = visitor.evaluate("document.querySelector('[data-panel=grad_input] .cv-area').clientWidth")
    for begin, end in (("f", "Escape"), ("F", "f"), ("button", "button")):
        if begin == "button":
            visitor.get_by_role("button", name=say("enter")).click()
        else:
            visitor.keyboard.press(begin)
        wait_band(visitor, "input")
        assert is_lecture(visitor)
        if end == "button":
            visitor.get_by_role("button", name=say("leave")).click()
        else:
            visitor.evaluate("document.activeElement.blur()")  # as when what was pressed is gone
            visitor.keyboard.press(end)
        visitor.wait_for_function(
            "(wide) => document.querySelector('[data-panel=grad_input] .cv-area').clientWidth === wide", arg=before
        )
        assert not is_lecture(visitor)
        visitor.wait_for_function("document.fullscreenElement === null")
    assert visitor.locator(".cv-equation").filter(visible=True).count() == 3
    visitor.locator(".cv-set-preset select").focus()
    visitor.keyboard.press("f")
    cell(visitor, "weight", 0, 0).dblclick()
    visitor.keyboard.press("f")  # a letter in a field begins nothing
    assert not is_lecture(visitor)


def test_a_screen_that_is_given_or_left_late_is_that_of_the_lecture_before(visitor, exported):
    """Browsers fill and leave the screen some frames after they are asked: keys may be quicker."""
    open_page(visitor, exported)
    visitor.evaluate(
        """() => {
          let full = null;
          Object.defineProperty(document, "fullscreenElement", { configurable: true, get: () => full });
          const screen = document.documentElement;
          screen.requestFullscreen = () => new Promise((resolve) => {
            window.give = () => { full = screen; document.dispatchEvent(new Event("fullscreenchange")); resolve(); };
          });
          window.left = () => { full = null; document.dispatchEvent(new Event("fullscreenchange")); };
          document.exitFullscreen = () => { window.exits = (window.exits ?? 0) + 1; left(); return Promise.resolve(); };
        }"""
    )
    visitor.keyboard.press("f")
    visitor.evaluate("left()")  # the lecture before has left the screen only now
    assert is_lecture(visitor)
    visitor.keyboard.press("f")
    assert not is_lecture(visitor)
    visitor.evaluate("give()")  # this one gets it when it has ended
    assert visitor.evaluate("window.exits") == 1, "it is given back"
    visitor.keyboard.press("f")
    visitor.evaluate("give()")
    visitor.evaluate("left()")  # the browser's own Esc
    assert not is_lecture(visitor)


def test_link_lesson_and_lecture_may_stand_in_either_part_of_the_address(visitor, exported):
    for address, size, lesson in (
        ("?v=2&size=6#present=1", 6, False),
        ("?present=1#v=2&size=6", 6, False),
        ("?present=1#lesson=why_rotated&step=1", 5, True),
        ("#present=1&v=2&size=6", 6, False),
    ):
        open_page(visitor, exported, address)
        assert is_lecture(visitor), address
        assert visitor.locator(".cv-set-input_size input").first.input_value() == str(size), address
        assert visitor.locator(".cv-lesson:visible").count() == int(lesson), address


def test_a_clicker_steps_through_the_band_and_the_keys_stay_in_it(visitor, exported):
    open_page(visitor, exported, "#present=1")
    wait_band(visitor, "input")
    visitor.keyboard.press("PageDown")
    assert step(visitor) == "product 1 of 9"
    cell(visitor, "grad_input", 0, 0).click()  # a grid has a use of its own for these keys
    visitor.keyboard.press("PageDown")
    assert step(visitor) == "product 2 of 9"
    visitor.locator(".cv-set-preset select").focus()  # and so has a menu, which stays focused after it was used
    visitor.keyboard.press("PageDown")
    assert step(visitor) == "product 3 of 9"
    assert visitor.locator(".cv-set-preset select").input_value() == "counting"
    visitor.locator(".cv-lecture-bar button").first.focus()
    for key, at in (("ArrowRight", 4), ("ArrowLeft", 3)):
        visitor.keyboard.press(key)
        assert step(visitor) == f"product {at} of 9"
    for _ in range(3):
        visitor.keyboard.press("PageUp")
    assert visitor.locator(".cv-transport").filter(visible=True).count() == 0, "before the first step there is none"
    visitor.keyboard.press("1")
    wait_band(visitor, "forward")
    visitor.get_by_role("button", name=say("forward")).click()
    assert step(visitor) == "cell 1 of 9"
    with repaint(visitor):
        slider(visitor, "padding").press("ArrowRight")
    assert is_lecture(visitor)
    assert visitor.evaluate("scrollY") == 0


def test_a_clicker_turns_the_pages_of_a_lesson(visitor, exported):
    open_page(visitor, exported, "#lesson=why_rotated&step=1&present=1")
    wait_band(visitor, "forward")
    count = visitor.locator(".cv-lesson-count")
    for key, at, band in (
        ("PageDown", 2, "input"),
        ("PageDown", 3, "input"),
        ("PageUp", 2, "input"),
        ("PageUp", 1, "forward"),
    ):
        visitor.keyboard.press(key)
        assert count.text_content() == f"{at} of 8"
        wait_band(visitor, band)
    wait_painted(visitor, painted(visitor) - 1)
    card, stage = visitor.locator(".cv-lesson").first.bounding_box(), visitor.locator("[data-focus]").bounding_box()
    assert stage["x"] + stage["width"] <= card["x"], "it stands beside the band"
    assert card["y"] + card["height"] <= 720


def test_what_the_pointer_is_on_stays_clear_and_the_rest_fades(visitor, exported):
    open_page(visitor, exported, "#present=1")
    wait_band(visitor, "input")
    assert not any(fades for _, fades, _ in visitor.evaluate(LIT)), "nothing is looked at"
    cell(visitor, "grad_input", 1, 1).hover()
    lit = {panel: (fades, holes) for panel, fades, holes in visitor.evaluate(LIT)}
    sum_of = {"grad_output": (True, 4), "weight": (True, 4), "grad_input": (True, 1)}
    assert lit == sum_of | {"padded_grad_output": (True, 9), "rotated_weight": (True, 9)}, "in both readings"
    assert visitor.evaluate("getComputedStyle(document.querySelector('[data-focus] .cv-lit')).strokeWidth") == "6px"
    visitor.mouse.move(640, 715)
    assert not any(fades for _, fades, _ in visitor.evaluate(LIT))
    visitor.keyboard.press("f")
    visitor.wait_for_function("document.querySelectorAll('[data-bands=all] .cv-equation').length === 3")
    cell(visitor, "grad_input", 1, 1).hover()
    assert not any(fades for _, fades, _ in visitor.evaluate(LIT)), "on the stage nothing fades"


def test_the_tray_is_read_from_the_last_row_on_a_projector(visitor, exported):
    look = """() => [...document.querySelectorAll(".cv-tray td")].map((cell) => {
      const { width, height, bottom } = cell.getBoundingClientRect();
      const scale = height / cell.offsetHeight;
      const zoom = Number(getComputedStyle(cell.closest("table")).zoom);
      return [parseFloat(getComputedStyle(cell).fontSize) * zoom, bottom <= cell.closest(".cv-stage").clientHeight +
        cell.closest(".cv-stage").getBoundingClientRect().top + 1 && width > 0 && scale > 0];
    })"""
    for kernel in (3, 5):
        open_page(visitor, exported, f"#v=2&kernel={kernel}&size=7&present=1", (1920, 1080))
        wait_band(visitor, "input")
        cell(visitor, "grad_input", 2, 2).click()
        visitor.locator(".cv-tray").wait_for()
        seen = visitor.evaluate(look)
        assert seen
        assert all(letters >= 24 and inside for letters, inside in seen), seen
    visitor.keyboard.press("Escape")
    visitor.keyboard.press("f")


def test_small_windows_have_it_too(visitor, exported):
    for size in ((640, 360), (390, 844)):
        open_page(visitor, exported, "#v=2&view=stamps&present=1", size)
        wait_band(visitor, "input")
        visitor.keyboard.press("PageDown")
        seen = visitor.evaluate(SEEN)
        assert all(seen.values()), (size, seen)
        letters = visitor.evaluate(LETTERS)
        assert letters, size
        assert min(height for _, height in letters) >= 15, size
