"""A number of the board, hidden and predicted: asked from a panel's menu, checked, revealed with its sum."""

import pytest

from tests.browser.app_page import cell, choose, fresh_page

ASK = ".cv-lesson-question"


@pytest.fixture
def board(opened):
    return opened("v=2", (1400, 900))


def ask(page, panel):
    here = page.locator(f'.cv-panel[data-panel="{panel}"]').first
    here.hover()  # only then its menu is there
    menu = here.locator(".cv-menu")
    menu.locator("summary").click()
    menu.get_by_role("button", name="Hide a number and predict it").click()


def answer(page, typed):
    page.locator(f"{ASK} input").fill(typed)
    page.locator(f"{ASK} [type=submit]").click()


def test_the_cell_that_is_held_is_hidden_checked_and_explained(board):
    cell(board, "output", 0, 1).click()
    ask(board, "output")
    assert "What is output[0,1]" in board.locator(ASK).inner_text()
    assert board.locator(f"{ASK} input").evaluate("field => field === document.activeElement"), "one types at once"
    shown = board.locator('[data-panel="output"] [data-cell="0,1"]')
    assert "123" not in (shown.get_attribute("aria-label") or ""), "nor is it read aloud"
    for typed, feedback in (
        ("", "Type a number first"),
        ("abc", "An answer is a number such as 7 or −1.5: got “abc”."),
        ("1e999", "got “1e999”"),
        ("−7", "−7 is not right."),
    ):
        answer(board, typed)
        board.locator(ASK, has_text=feedback).wait_for()
        assert board.locator(".cv-lesson-reasons").is_hidden(), f"{typed}: nothing is known of it"
    answer(board, "−123")
    board.locator(".cv-lesson-reasons", has_text="−123 is what you get if the sign is wrong.").wait_for()
    assert board.locator(".cv-lesson-reasons button").count() == 0, "this page has no tab Mistakes"
    answer(board, "123")
    assert "Right! It is 123" in board.locator(ASK).inner_text()
    board.locator(".cv-sum .cv-term, .cv-sum .cv-factor").first.wait_for()


def test_without_a_held_cell_the_middle_is_asked_and_the_picture_stays(board):
    before = board.evaluate("location.hash")
    ask(board, "grad_weight")
    assert "What is grad_weight[1,1]" in board.locator(ASK).inner_text()
    board.get_by_role("button", name="Show the answer").click()
    assert "It is 4" in board.locator(ASK).inner_text()
    board.locator(".cv-lesson-finish, .cv-lesson-close").first.click()
    board.locator(ASK).wait_for(state="hidden")
    assert board.evaluate("location.hash") == before


def test_what_is_given_cannot_be_predicted(board):
    ask(board, "weight")
    board.wait_for_function("document.querySelector('.cv-readout').textContent.includes('is given, not computed')")
    assert board.locator(ASK).is_hidden()


@pytest.fixture
def with_mistakes(browser, tmp_path):
    """A page that has the tab Mistakes; a corner of grad_input has other products where the kernel is not rotated."""
    from convviz.export.page import export_html
    from convviz.settings.link import from_link

    state = from_link("v=2&size=5&padding=1&weight=counting&grad=ones&tab=mistakes")[0].to_dict()
    path = export_html(state, tmp_path / "page.html")
    with fresh_page(browser) as page:
        page.set_viewport_size({"width": 1400, "height": 900})
        page.goto(path.as_uri())
        page.locator('[data-panel="grad_input"] [data-cell]').first.wait_for()
        yield page
        assert page.outside == []


def test_a_wrong_number_gets_the_mistakes_that_give_it_and_shown_the_first(with_mistakes):
    page = with_mistakes
    cell(page, "grad_input", 0, 0).focus()
    page.keyboard.press("Space")
    ask(page, "grad_input")
    answer(page, "28")  # 9 + 8 + 6 + 5, where the right one is 1 + 2 + 4 + 5
    reasons = page.locator(".cv-lesson-reasons li")
    assert reasons.all_inner_texts() == [
        "28 is what you get if the kernel is not rotated. Show it",
        "Or if the kernel is transposed instead of rotated. Show it",
    ]
    assert "28 is not right." in page.locator(ASK).inner_text()
    assert "the kernel is not rotated" in page.locator(".cv-lesson-place > .cv-live").inner_text(), "it is spoken"
    reasons.nth(1).get_by_role("button", name="Show it: the kernel is transposed instead of rotated").press("Enter")
    page.locator(".cv-pane-mistakes [data-mistake=I05][aria-pressed=true]").wait_for()
    assert reasons.count() == 2, "the question goes on"
    answer(page, "11")
    page.locator(".cv-lesson-reasons", has_text="11 is what you get if one term is missing: 1 · 1.").wait_for()
    answer(page, "12")
    page.locator(ASK, has_text="Right! It is 12").wait_for()
    assert reasons.count() == 0
    choose(page, "preset", "box")
    page.locator(ASK, has_not_text="It is 12").wait_for()
