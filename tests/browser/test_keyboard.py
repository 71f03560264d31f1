"""Keyboard only: what the board explains, without a pointer, a click or a focus that no key brought there."""

import pytest

from tests.browser.app_page import go_to, painted, read_panel, slider_value, wait_painted
from tests.browser.test_linked_cells import added, lit, the_sum

MAX_STOPS = 120  # tab stops of the whole page
OF_A_BAND = ".cv-tools-of-band > button:not(.cv-break-open)"  # steps and formula: one stop
MAX_TO_A_CELL = 20  # presses of Tab from the top of the page to the first cell


@pytest.fixture
def app(app):
    """The app; what a pointer does to it is counted, and must not happen."""
    app.evaluate("""() => {
        window.pointed = [];
        const note = (event) => event.isTrusted && window.pointed.push(event.type);
        for (const type of ["pointerdown", "pointermove", "wheel"]) document.addEventListener(type, note, true);
    }""")
    yield app
    assert app.evaluate("window.pointed") == []


def tab_to(page, selector, back=False):
    """Press Tab until the focus is on what the selector names, and look whether one can see that it is there."""
    for _ in range(MAX_STOPS):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            assert page.evaluate("document.activeElement.matches(':focus-visible')"), f"the focus on {selector} shows"
            return
    raise AssertionError(f"no Tab leads to {selector}")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def press_and_wait(page, key):
    """Press a key that changes the settings, and wait for the board."""
    before = painted(page)
    page.keyboard.press(key)
    wait_painted(page, before)


def tab_to_first_cell(page, selector):
    """Press Tab until the focus is in a grid, which remembers where it was, and go to its first cell."""
    tab_to(page, selector)
    press(page, "Control+Home")


def in_panel(equation, panel):
    return f"[data-equation={equation}] [data-panel={panel}] [data-cell]"


def where(page, equation):
    return page.locator(f"[data-equation={equation}] .cv-where").text_content()


def test_a_cell_is_a_few_stops_from_the_top(app):
    app.evaluate("document.querySelectorAll('.cv-more-controls, .cv-advanced').forEach((one) => { one.open = false; })")
    # Tab starts at the top, wherever the focus was before
    app.evaluate("""() => {
        document.body.tabIndex = -1;
        document.body.focus();
        document.body.removeAttribute("tabindex");
    }""")
    for _ in range(MAX_TO_A_CELL):
        press(app, "Tab")
        if app.evaluate("document.activeElement.matches('.cv-panel [data-cell]')"):
            return
    raise AssertionError(
        f"no cell within {MAX_TO_A_CELL} stops, but {app.evaluate('document.activeElement.outerHTML')}"
    )


def test_linked_cells_and_the_sum(app):
    """Items 1 and 2: walk to a cell, see its links, pin it, read its sum term by term, release it."""
    tab_to(app, ".cv-set-kernel_size input[type=range]")
    press_and_wait(app, "ArrowRight")  # 16 terms: they are folded
    tab_to_first_cell(app, in_panel("forward", "output"))
    press(app, "ArrowDown", "ArrowRight")
    assert lit(app)["padded_input"] == {f"{row},{column}" for row in range(2, 6) for column in range(2, 6)}
    press(app, " ")
    app.locator(".cv-product").first.wait_for()
    tab_to(app, ".cv-more")
    press(app, "Enter")
    sums = the_sum(app)
    assert len(sums["products"]) == 16
    assert added(sums["products"]) == pytest.approx(sums["value"], rel=1e-5, abs=1e-6)
    assert sums["value"] == pytest.approx(float(read_panel(app, "output")[1, 1]))
    tab_to(app, ".cv-product", back=True)
    term = app.evaluate("""() => [...document.activeElement.querySelectorAll(".cv-factor")].map((factor) =>
        [factor.dataset.panel, factor.dataset.cell])""")
    assert lit(app) == {panel: {place} for panel, place in term}
    tab_to(app, in_panel("weight", "grad_weight"), back=True)
    press(app, "Escape")
    app.get_by_text("its sum appears here").wait_for()


def test_what_a_button_opened_closes_with_escape_and_gives_the_focus_back(app):
    is_open = "(button) => (button.ariaExpanded ?? String(button.parentElement.open)) === '%s'"
    for opener in (
        ".cv-symbols-open",
        "[data-in-use] .cv-why",
        ".cv-tools button[aria-controls]",
        ".cv-learn summary",
    ):
        button = app.locator(opener).first
        button.focus()
        press(app, "Enter")
        app.wait_for_function(is_open % "true", arg=button.element_handle())
        press(app, "Escape")
        app.wait_for_function(is_open % "false", arg=button.element_handle())
        app.wait_for_function("(button) => button === document.activeElement", arg=button.element_handle())


def test_stepping_and_the_readings(app):
    """Open the bar, step, seek, play, pause, change the speed, close; and explain it stamp by stamp."""
    band = "[data-equation=weight]"
    tab_to(app, f"{band} {OF_A_BAND}")
    press(app, "Home")
    press(app, "Enter", "ArrowRight", "ArrowRight")
    assert where(app, "weight") == "cell 3 of 9", "the range has the focus"
    press(app, "End")
    assert where(app, "weight") == "cell 9 of 9"
    press(app, "Home", "ArrowRight")
    tab_to(app, f"{band} .cv-transport [aria-label='Step forward']", back=True)
    press(app, "Enter", " ")
    assert app.locator(".cv-board p.cv-live").text_content().startswith("Step through, cell 4 of 9. ")
    press(app, "ArrowLeft")
    assert where(app, "weight") == "cell 3 of 9", "arrows step on the buttons as well"
    tab_to(app, f"{band} .cv-transport select")
    press(app, "End")  # the fastest
    tab_to(app, f"{band} .cv-transport input", back=True)
    press(app, "Home", " ")
    app.locator(f"{band} .cv-transport[data-playing=true]").wait_for()
    press(app, " ")
    app.locator(f"{band} .cv-transport[data-playing=false]").wait_for()
    press(app, " ")
    app.locator(f"{band} .cv-where", has_text="cell 9 of 9").wait_for()
    app.locator(f"{band} .cv-transport[data-playing=false]").wait_for()
    press(app, "Escape")
    assert app.locator(f"{band} .cv-transport").is_hidden()
    assert app.evaluate("document.activeElement.className") == "cv-step"
    tab_to(app, "[data-view=stamps]", back=True)
    press_and_wait(app, "Enter")
    assert app.evaluate("document.activeElement.dataset.view") == "stamps", "the focus stays on the switch"
    assert app.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"


def test_the_remainder(app):
    """Item 5: the neighbouring sizes are buttons; the focus stays where it is."""
    tab_to(app, f"[data-equation=forward] {OF_A_BAND}")
    press(app, "End")
    app.keyboard.press("Enter")
    tab_to(app, ".cv-sizes [data-size='7,7']")
    press_and_wait(app, "Enter")
    assert slider_value(app, "input_size") == 7
    assert app.evaluate("document.activeElement.dataset.size") == "7,7"
    assert "nothing is left over" in app.locator("[data-equation=forward] .cv-remainder").text_content()
    tab_to(app, ".cv-sizes [data-size='8,8']")
    press_and_wait(app, " ")
    assert slider_value(app, "input_size") == 8
    press_and_wait(app, "Control+z")
    assert slider_value(app, "input_size") == 7


def test_a_lesson_turns_its_page_where_only_what_the_app_lies_in_has_the_focus(app):
    """As after a click beside the grids, which focuses the page's main part."""
    go_to(app, "lesson=why_rotated&step=2")
    app.evaluate("document.querySelector('main').focus()")
    assert app.evaluate("document.activeElement.contains(document.querySelector('.cv-app'))")
    press(app, "n")
    app.wait_for_function("document.querySelector('.cv-lesson-count').textContent.startsWith('3 ')")
