"""Torch comes to a page that lives: what a person is in the middle of goes on, and nothing on the screen changes."""

import pytest

from tests.browser.app_page import APPEARS_WITHIN_MS, assert_page_equals_autograd, cell, slide, wait_painted
from tests.browser.test_live import hold_torch, open_live

pytestmark = pytest.mark.browser


@pytest.fixture
def waiting(page, server):
    """A page that waits for torch; ``page.join()`` lets it come, and returns when torch's numbers stand there."""
    let = hold_torch(page)
    open_live(page, server.url)

    def join():
        let()
        page.locator(".cv-board[data-from=torch]").wait_for(timeout=APPEARS_WITHIN_MS)

    page.join = join
    yield page
    assert page.outside == []


def test_a_slider_that_is_being_dragged_stays_in_the_hand(waiting):
    page = waiting
    slider = page.locator(".cv-set-input_size input[type=range]").first
    box = slider.bounding_box()
    across = [box["x"] + box["width"] * share for share in (0.11, 0.2, 0.3)]
    middle = box["y"] + box["height"] / 2
    page.mouse.move(across[0], middle)
    page.mouse.down()
    page.mouse.move(across[1], middle)
    before = int(slider.input_value())
    assert before != 8, "it is in the hand"
    page.join()
    assert int(slider.input_value()) == before
    painted = int(page.locator(".cv-board").get_attribute("data-painted"))
    page.mouse.move(across[2], middle)
    wait_painted(page, painted)
    assert int(slider.input_value()) > before, "and still is"
    page.mouse.up()
    assert_page_equals_autograd(page)


def test_a_number_that_is_being_typed_a_pinned_cell_and_undo_survive(waiting):
    page = waiting
    slide(page, "stride", 1)
    cell(page, "output", 2, 3).click()
    cell(page, "weight", 1, 1).focus()
    page.keyboard.press("Enter")
    total = page.locator(".cv-sum").first.text_content()
    assert total.startswith("output[2,3] = ")
    editor = page.locator(".cv-editor, .cv-area input").first
    editor.fill("7.5")
    page.join()
    assert editor.input_value() == "7.5"
    assert page.evaluate("document.activeElement.tagName") == "INPUT"
    assert page.locator(".cv-sum").first.text_content() == total
    painted = int(page.locator(".cv-board").get_attribute("data-painted"))
    editor.press("Enter")
    wait_painted(page, painted)
    assert cell(page, "weight", 1, 1).get_attribute("data-value") == "7.5"
    assert_page_equals_autograd(page)
    for name in ("weight", "stride"):
        painted = int(page.locator(".cv-board").get_attribute("data-painted"))
        page.get_by_role("button", name="Undo").click()
        wait_painted(page, painted)
        assert page.locator(".cv-set-stride input").first.input_value() == ("1" if name == "weight" else "2")
    assert_page_equals_autograd(page)


def test_steps_that_play_go_on(waiting):
    page = waiting
    forward = page.locator("[data-equation=forward]")
    forward.get_by_role("button", name="Step through").click()
    forward.get_by_role("button", name="Step forward").click()
    at = forward.locator(".cv-transport").text_content()
    page.join()
    assert forward.locator(".cv-transport").text_content() == at
    forward.get_by_role("button", name="Step forward").click()
    assert forward.locator(".cv-transport").text_content() != at
