"""A number of the board, hidden and predicted: asked from a panel's menu, checked, revealed with its sum."""

import pytest

from tests.browser.app_page import cell, fresh_page

pytestmark = pytest.mark.browser

ASK = ".cv-lesson-question"


@pytest.fixture
def board(browser, tmp_path):
    from convviz.export.page import export_html

    path = export_html(None, tmp_path / "page.html")
    with fresh_page(browser) as page:
        page.set_viewport_size({"width": 1400, "height": 900})
        page.goto(path.as_uri())
        page.locator('[data-panel="grad_input"] [data-cell]').first.wait_for()
        yield page
        assert page.outside == []


def ask(page, panel):
    menu = page.locator(f'.cv-panel[data-panel="{panel}"] .cv-menu').first
    menu.locator("summary").click()
    menu.get_by_role("button", name="Hide a number and predict it").click()


def answer(page, typed):
    page.locator(f"{ASK} input").fill(typed)
    page.locator(f"{ASK} [type=submit]").click()


def test_the_cell_that_is_held_is_hidden_checked_and_explained(board):
    cell(board, "output", 0, 1).click()
    ask(board, "output")
    assert "What stands in output at row 0, column 1" in board.locator(ASK).inner_text()
    shown = board.locator('[data-panel="output"] [data-cell="0,1"]')
    assert "123" not in (shown.get_attribute("aria-label") or ""), "whoever listens is not told either"
    answer(board, "seven")
    assert "An answer is a number" in board.locator(ASK).inner_text()
    answer(board, "7")
    assert "7 is not it." in board.locator(ASK).inner_text()
    answer(board, "123")
    assert "Right! It is 123" in board.locator(ASK).inner_text()
    board.locator(".cv-sum .cv-term, .cv-sum .cv-factor").first.wait_for()


def test_without_a_held_cell_the_middle_is_asked_and_the_picture_stays(board):
    before = board.evaluate("location.hash")
    ask(board, "grad_weight")
    assert "grad_weight at row 1, column 1" in board.locator(ASK).inner_text()
    board.get_by_role("button", name="Show the answer").click()
    assert "It is 4" in board.locator(ASK).inner_text()
    board.locator(".cv-lesson-finish, .cv-lesson-close").first.click()
    board.locator(ASK).wait_for(state="hidden")
    assert board.evaluate("location.hash") == before


def test_what_is_given_cannot_be_predicted(board):
    ask(board, "weight")
    board.wait_for_function("document.querySelector('.cv-readout').textContent.includes('is given, not computed')")
    assert board.locator(ASK).is_hidden()
