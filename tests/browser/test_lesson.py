"""A lesson as a visitor plays it: by pointer, by keys alone, by an address; and the tray that fills on the way."""

import pytest

from convviz.export.page import export_html
from convviz.facts.words import sentences
from convviz.lessons import lesson
from tests.browser.app_page import cell, painted, repaint, wait_painted
from tests.browser.server import wait_until

say, guided = sentences("lesson_player"), sentences("guided/why_rotated")
NAME = "why_rotated"
STEPS = len(lesson(NAME)["steps"])
NEXT_FRAME = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))"


def open_page(page, path, hash="", width=1280, height=720):
    page.set_viewport_size({"width": width, "height": height})
    page.goto("about:blank")  # else another hash alone would not load the page again
    page.goto(f"{path.as_uri()}{hash and '#'}{hash}")
    wait_painted(page)


def go_on_at(page, hash):
    """Put another hash into the address of the open page."""
    with repaint(page):
        page.evaluate("(hash) => { location.hash = hash; }", hash)


def at_step(page, number):
    page.locator(".cv-lesson-count", has_text=say("count", at=number, of=STEPS)).wait_for()


def then(page):
    """What was said of the tasks that are done."""
    return [text for text in page.locator(".cv-lesson-done p:last-child").all_text_contents() if text]


def tray(page):
    rows = page.locator(".cv-tray tr")
    return [rows.nth(at).locator("td").all_text_contents() for at in range(rows.count())]


def is_left(page):
    return page.evaluate("document.querySelector('.cv-lesson').hidden")


def walk(page, places):
    for row, column in places:
        with repaint(page):
            page.locator('[data-equation="input"] [data-panel="grad_output"]').locator(
                f'[data-cell="{row},{column}"]'
            ).click()


@pytest.fixture
def show(opened):
    """Return a function that shows a link in the page that stays open."""
    return lambda link="v=1", size=(1280, 720): opened(link, size)


# -- by pointer


def test_the_tray_fills_with_the_kernel_backwards_and_forgets(show):
    page = show()
    cell(page, "grad_input", 2, 2).click()
    assert not page.locator(".cv-tray").is_visible(), "without a single 1 there is none"
    go_on_at(page, f"lesson={NAME}&step=7")  # at stride 2 it keeps gaps
    walk(page, [(0, 1), (1, 0), (1, 1)])
    assert tray(page) == [["9", "·", "7"], ["·", "·", "·"], ["3", "·", "1"]]
    page.locator(".cv-lesson-act").click()
    page.locator('figure[data-panel="rotated_weight"]').wait_for()
    assert len(then(page)) == 2
    go_on_at(page, f"lesson={NAME}&step=4")
    places = [(row, column) for row in range(3) for column in range(3)]
    walk(page, places[1:3])
    assert tray(page) == [["9", "8", "7"], [""] * 3, [""] * 3]
    walk(page, places[3:])
    assert tray(page) == [["9", "8", "7"], ["6", "5", "4"], ["3", "2", "1"]]
    assert len(then(page)) == 1
    with repaint(page):
        page.get_by_role("button", name="window", exact=True).click()
    assert tray(page)[0] == ["9", "8", "7"], "another way to look forgets nothing"
    with repaint(page):
        page.get_by_role("slider", name="stride").first.press("ArrowRight")
    seen = [each for row in tray(page) for each in row if each not in ("", "·")]
    assert len(seen) == 1, "another geometry does"


def test_a_number_is_hidden_until_it_is_predicted(show):
    page = show(f"lesson={NAME}&step=8")
    hidden = cell(page, "grad_input", 2, 3)
    assert (hidden.get_attribute("aria-label"), hidden.get_attribute("data-value")) == ("?", "")
    hidden.click()
    assert "hidden, because you are asked" in page.locator(".cv-sum").text_content()
    assert not page.locator(".cv-lesson-question").is_visible(), "first there is something to do"
    with repaint(page):
        page.get_by_role("slider", name="input size").first.press("ArrowRight")
    answer = page.get_by_label("Your answer")
    answer.fill("4")
    answer.press("Enter")
    feedback = page.locator(".cv-lesson-feedback")
    assert "4 is not right. 2 windows" in feedback.text_content()
    assert hidden.get_attribute("aria-label") == "?"
    answer.fill("10")
    page.get_by_role("button", name="Check").click()
    assert feedback.text_content().startswith("Right! 1·8 + 1·2 = 10")
    wait_until(lambda: hidden.get_attribute("aria-label") == "10", what="the picture shows it, in its next frame")
    assert "= 10" in page.locator(".cv-sum").text_content()


def test_everything_can_be_done_for_one_is_spoken_and_pushes_no_band_off_the_screen(show):
    page = show(f"lesson={NAME}")
    spoken = page.locator(".cv-lesson-place > .cv-live")
    assert spoken.get_attribute("aria-live") == "polite"
    for number, step in enumerate(lesson(NAME)["steps"], 1):
        at_step(page, number)
        assert spoken.text_content().startswith(f"Step {number} of {STEPS}: {guided(step['title'])}.")
        for done, _ in enumerate(step.get("do", [])):
            page.locator(".cv-lesson-act").click()
            page.locator(".cv-lesson-done").nth(done).wait_for(state="attached")
        assert len(then(page)) == len(step.get("do", []))
        if "question" in step:
            page.get_by_role("button", name="Show the answer").click()
            assert "=" in page.locator(".cv-lesson-feedback").text_content()
        bottoms = page.evaluate(
            "[...document.querySelectorAll('.cv-equation, .cv-sum, .cv-lesson-next')]"
            ".map((node) => node.getBoundingClientRect().bottom)"
        )
        assert max(bottoms) <= 720
        page.locator(".cv-lesson-next").click()
    assert is_left(page), "the last step ends it"
    assert page.locator(".cv-lesson-gone").is_visible()


# -- what is done, and when


def test_an_edit_is_done_where_it_alone_is_there(show):
    page = show(f"lesson={NAME}&step=3")
    wait_painted(page)
    lit = '[data-panel="grad_output"] .cv-lights > *'

    def type_into(column, key):
        cell(page, "grad_output", 1, column).click()
        with repaint(page):
            page.keyboard.press(key)
            page.keyboard.press("Enter")

    cell(page, "grad_output", 1, 2).click()
    assert cell(page, "grad_output", 1, 1).get_attribute("data-value") == "1", "a click moves no 1 here"
    hint = page.locator(".cv-lesson-task p:last-child")
    for column, key, words in ((0, "1", "row 1, column 0: not this cell"), (0, "0", ""), (2, "4", "got 4")):
        type_into(column, key)
        assert words in hint.text_content()
        assert then(page) == []
        assert page.locator(lit).count(), "what to click stays lit"
        assert not page.locator(".cv-lesson-question").is_visible()
    type_into(0, "1")
    type_into(2, "1")
    assert "row 1, column 0 changed, too. Type 0 there" in hint.text_content()
    assert then(page) == []
    type_into(0, "0")
    assert len(then(page)) == 1
    type_into(1, "0")
    assert then(page) == [], "taken back, it is to be done again"
    type_into(1, "1")
    page.get_by_label("Your answer").fill("9")
    page.get_by_label("Your answer").press("Enter")
    assert page.locator(".cv-lesson-feedback").text_content().startswith("Right! 1·5 + 1·4 = 9")


def test_a_slider_that_is_held_has_not_chosen_yet_and_stays_in_its_place(show):
    page = show(f"lesson={NAME}&step=8", (1366, 768))
    slider = page.get_by_role("slider", name="input size").first
    box = slider.bounding_box()
    middle, low, high = box["y"] + box["height"] / 2, *(int(slider.get_attribute(end)) for end in ("min", "max"))

    def at(size):
        return box["x"] + 8 + (box["width"] - 16) * (size - low) / (high - low)

    page.mouse.move(at(6), middle)
    page.mouse.down()
    for size in (7, 10):
        page.mouse.move(at(size), middle)
        page.wait_for_function(
            "(size) => document.querySelector('.cv-set-input_size input').value === size", arg=str(size)
        )
        assert then(page) == [], "held, it has chosen nothing"
    page.mouse.up()
    assert then(page) == [], "10 is not 7"
    page.mouse.move(at(10), middle)
    page.mouse.down()
    page.mouse.move(at(7), middle)
    page.mouse.up()
    (feedback,) = then(page)
    assert feedback.startswith("Now the last window ends at the edge")
    assert slider.bounding_box() == box, "what the card says moves no slider"
    slider.press("ArrowRight")
    assert then(page) == []
    assert page.locator(".cv-lesson-task p:last-child").text_content() == "The input size is now 8: move it to 7."


def test_what_is_to_be_found_is_not_shown_before_it_is(show):
    page = show(f"lesson={NAME}&step=3")
    cell(page, "grad_input", 2, 2).click()  # the question mark
    assert not page.locator(".cv-tray").is_visible()
    aside, next = page.locator('[data-equation="input"] .cv-aside'), page.locator(".cv-lesson-next")
    assert not aside.is_visible()
    next.click()
    at_step(page, 4)
    wait_painted(page)
    assert sum(text == "" for row in tray(page) for text in row) == 8, "nothing is left of the step before"
    assert not aside.is_visible()
    weight = "node => getComputedStyle(node).fontWeight"
    assert next.evaluate(weight) == "400", "going on is not the first thing to do"
    page.locator(".cv-lesson-act").click()  # once: it goes on by itself
    page.locator(".cv-lesson-done").wait_for()
    page.wait_for_function("![...document.querySelectorAll('.cv-tray td')].some((cell) => cell.textContent === '')")
    assert "backwards" in aside.text_content()
    assert aside.is_visible()
    assert next.evaluate(weight) == "600"
    next.click()
    at_step(page, 5)
    page.locator(".cv-lesson-back").click()
    at_step(page, 4)
    page.wait_for_function("document.querySelectorAll('.cv-tray td')[1].textContent === ''")


def test_a_lesson_closes_formulas_and_ends_with_what_was_found(show):
    page = show()
    band = page.locator('[data-equation="input"]')
    formula = band.get_by_role("button", name="Formula")
    formula.click()
    page.get_by_role("button", name=f"{STEPS} steps").click()
    assert formula.get_attribute("aria-expanded") == "false"
    for _ in range(4):
        page.locator(".cv-lesson-next").click()
    page.locator(".cv-lesson-act").click()
    band.locator('[data-why="rotated"]').click()
    assert band.locator(".cv-because").is_visible()
    assert not band.locator(".cv-why-show").is_visible(), "it would begin the step again"
    for _ in range(4):
        page.locator(".cv-lesson-next").click()
    gone = page.locator(".cv-lesson-gone")
    assert gone.locator("li").count() == 3
    for size in ((1280, 720), (1366, 768), (1920, 1080), (390, 844)):
        page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        page.evaluate(NEXT_FRAME)
        card, back = gone.bounding_box(), gone.get_by_role("button", name="Back to where I was").bounding_box()
        bands = page.locator(".cv-equations").bounding_box()
        assert card["y"] >= 0, f"the heading is above the window at {size}"
        assert back["y"] + back["height"] <= card["y"] + card["height"] <= size[1] + 2, f"cut at {size}"
        assert size[0] < 500 or bands["x"] + bands["width"] <= card["x"], f"over a band at {size}"
    page.set_viewport_size({"width": 1280, "height": 720})
    assert "left the lesson" not in gone.text_content()
    assert gone.locator("li").first.text_content() in page.locator(".cv-lesson-place > .cv-live").text_content()
    with repaint(page):
        gone.get_by_role("button", name="a larger stride").click()
    assert page.get_by_role("slider", name="stride").first.input_value() == "3"
    assert not gone.is_visible()


# -- by keys alone


def test_keys_alone_play_it_and_esc_leaves_it_last(show):
    page = show()
    page.get_by_role("button", name=f"{STEPS} steps").focus()
    page.keyboard.press("Enter")
    at_step(page, 1)
    assert page.evaluate("document.activeElement.tagName") == "H3"
    cell(page, "padded_input", 1, 3).click()
    with repaint(page):
        page.keyboard.press("2")
        page.keyboard.press("Enter")
    (answer,) = then(page)
    assert answer.startswith("output[1,1] went from 59 to 62: by 3. And grad_input at this pixel is 3.")
    assert answer in page.locator(".cv-lesson-place > .cv-live").text_content()
    keys = (("n", 2), ("Alt+ArrowRight", 3), ("p", 2), ("Alt+ArrowLeft", 1), ("Alt+ArrowLeft", 1), ("n", 2), ("n", 3))
    for key, number in keys:
        page.keyboard.press(key)
        at_step(page, number)
    page.locator(".cv-lesson-act").click()
    page.get_by_label("Your answer").press("n")
    at_step(page, 3)
    assert page.get_by_label("Your answer").input_value() == "n", "letters typed into a field turn no page"
    page.evaluate("document.activeElement.blur()")  # nothing has the focus
    page.keyboard.press("n")
    at_step(page, 4)  # where a pixel is held
    wait_painted(page)
    page.locator(".cv-lesson h3").first.focus()
    assert page.locator(".cv-tray").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator(".cv-tray").is_visible(), "the pixel is let go first"
    assert not is_left(page)
    page.keyboard.press("Escape")
    assert is_left(page)
    back = page.get_by_role("button", name="Back to where I was")
    assert back.evaluate("node => node === document.activeElement")
    with repaint(page):
        page.keyboard.press("Enter")
    assert cell(page, "weight", 0, 0).get_attribute("data-value") == "-1", "Sobel's, of the page's own picture"
    assert not page.locator(".cv-lesson-gone").is_visible()


def test_a_lesson_that_is_left_gives_the_picture_its_room_at_once(opened):
    """The way back has a place where it lies over nothing that speaks or is pressed."""
    touching = """() => {
      const boxes = (all) => [...document.querySelectorAll(all)].filter((one) => one.checkVisibility())
        .map((one) => [one.className, one.getBoundingClientRect()]);
      const [[, own]] = boxes(".cv-lesson-gone");
      return boxes(".cv-question > span, .cv-tools > button, .cv-hanging, .cv-control, .cv-tab, .cv-equations, .cv-sum")
        .filter(([, { left, top, right, bottom }]) =>
          left < own.right - 1 && right > own.left + 1 && top < own.bottom - 1 && bottom > own.top + 1);
    }"""
    wide = "document.querySelector('.cv-board').clientWidth"
    for size in ((1366, 768), (1280, 720), (1920, 1080), (820, 900), (390, 844)):
        page = opened("v=2", size)
        page.evaluate(NEXT_FRAME)
        room = page.evaluate(wide)
        go_on_at(page, f"lesson={NAME}&step=2")
        at_step(page, 2)
        page.locator(".cv-lesson-close").click()
        page.evaluate(NEXT_FRAME)
        assert page.evaluate(wide) == room, size
        assert page.evaluate(touching) == [], size
        back = page.get_by_role("button", name="Back to where I was")
        assert back.bounding_box()["y"] + 28 <= size[1], f"in sight at {size}"
        back.click()
        assert not page.locator(".cv-lesson-gone").is_visible()


# -- by an address


def test_an_address_opens_its_picture_and_its_lesson_or_says_what_is_not_right(show):
    page = show(f"size=9&lesson={NAME}&step=2&stride=1")
    at_step(page, 2)
    assert page.locator(".cv-notice").text_content() == ""
    page.locator(".cv-lesson-close").click()
    with repaint(page):
        page.get_by_role("button", name="Back to where I was").click()
    assert page.locator('[data-panel="grad_input"] [role=gridcell]').count() == 81, "the link's own picture"
    no_step = "is not a step of this lesson, which has steps 1 to 8: it starts at step"
    for link, words, step in (
        ("lesson=other", "There is no lesson “other”. The lessons are: why_rotated.", None),
        ("lesson=__proto__&step=2", "There is no lesson “__proto__”. The lessons are: why_rotated.", None),
        (f"lesson={NAME}&step=99", f"“99” {no_step} 8.", 8),
        (f"lesson={NAME}&step=x", f"“x” {no_step} 1.", 1),
    ):
        page.evaluate("(link) => { location.hash = link; }", link)
        page.locator(".cv-notice", has_text=words).wait_for()
        assert page.locator(".cv-notice").text_content() == words
        assert is_left(page) if step is None else at_step(page, step) is None


def test_an_exported_page_starts_its_lesson_unless_a_link_wants_another_picture(page, tmp_path):
    path = export_html({}, tmp_path / "page.html", lesson=NAME)
    open_page(page, path)
    at_step(page, 1)
    open_page(page, path, "size=9")
    assert is_left(page)


# -- why?


def test_why_says_because_and_leads_to_the_step_and_back(show):
    page = show()
    band = page.locator('[data-equation="input"]')
    for topic, number in (("rotated", 4), ("inserted", 7), ("border", 6), ("remainder", 8)):
        before = painted(page)
        band.locator(f'[data-why="{topic}"]').click()
        assert band.locator(".cv-because").text_content().startswith("Because ")
        assert painted(page) == before, "nothing is set"
        with repaint(page):
            band.get_by_role("button", name="Show me").click()
        at_step(page, number)
        page.locator(".cv-lesson-close").click()
        with repaint(page):
            page.get_by_role("button", name="Back to where I was").click()
        assert cell(page, "weight", 0, 0).get_attribute("data-value") == "-1"
    # What no lesson shows has its sentence.
    for link, topic in (
        ("padding=1&mode=reflect&size=6", "folded"),
        ("in_channels=2&out_channels=2&size=6", "swapped"),
    ):
        go_on_at(page, f"v=1&{link}")
        page.locator(f'[data-why="{topic}"]').first.click()
        shown = page.locator(".cv-because:visible")
        assert shown.text_content().startswith("Because ")
        assert not shown.get_by_role("button").is_visible()
        page.locator(f'[data-why="{topic}"]').first.click()
        assert page.locator(".cv-because:visible").count() == 0


# -- on a phone


def test_on_a_phone_every_number_is_printed_and_the_tray_lies_on_nothing(touched):
    page = touched(f"lesson={NAME}&step=2", (390, 844))
    for number in range(2, STEPS + 1):
        at_step(page, number)
        page.evaluate(NEXT_FRAME)
        wait_painted(page)
        while page.locator(".cv-lesson-act").is_visible():
            page.locator(".cv-lesson-act").click()
            wait_painted(page)
        page.wait_for_function("!document.querySelector('[data-equation=input] .cv-area.cv-wordless')")
        over = page.locator("[data-equation=input] .cv-area, .cv-tray:not([hidden])").evaluate_all(
            """(all) => {
              const boxes = all.map((each) => each.getBoundingClientRect());
              const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
              return boxes.flatMap((one, at) => boxes.slice(0, at).filter((other) => over(one, other))).length;
            }"""
        )
        assert over == 0, number
        page.locator(".cv-lesson-next").click()


def test_a_finger_chooses_the_cell_that_it_touched_and_every_digit_stays(touched):
    """What is said of a touched cell may move the picture before the click comes."""
    page = touched("v=2", (390, 844))
    for row, column in ((2, 2), (1, 1), (3, 3)):
        cell(page, "grad_input", row, column).tap()
        assert page.locator(".cv-sum").inner_text().startswith(f"grad_input[{row},{column}] =")
        assert page.locator("[data-equation=input] .cv-wordless").count() == 0
    assert not page.locator(".cv-tray").is_visible(), "the foot has the sum"


def test_a_finger_opens_a_cell_with_its_second_tap_however_slow(touched):
    page = touched(f"lesson={NAME}&step=1", (1280, 720))
    at = cell(page, "padded_input", 1, 3)
    at.tap()
    assert page.locator(".cv-editor").count() == 0
    page.wait_for_function("(since) => performance.now() > since + 700", arg=page.evaluate("performance.now()"))
    at.tap()
    page.locator(".cv-editor").fill("2")
    with repaint(page):
        page.keyboard.press("Enter")
    assert len(then(page)) == 1
