"""Break it: a mistake is seen, said, mended. tests/js/break_it_sentences.test.mjs holds the outcome in any geometry."""

import pytest
import torch
from playwright.sync_api import expect

from convviz.settings.compute import compute as stages_of
from convviz.settings.link import from_link


@pytest.fixture
def opened(opened):
    """Return a function that shows a link → the page and its bands to the input and to the weight."""

    def open_link(link):
        page = opened(link)
        return page, page.locator("[data-equation=input]"), page.locator("[data-equation=weight]")

    return open_link


def splits(band, panel):
    """Return (right, wrong) as the split cells of a panel print them."""
    return band.locator(f"[data-panel={panel}] .cv-split").evaluate_all(
        "(all) => all.map((one) => [...one.querySelectorAll('text')].map((text) => text.textContent))"
    )


def press(band, words):
    if (opener := band.get_by_role("button", name="Break it")).is_visible():
        opener.click()
    band.get_by_role("button", name=words).click()


def expect_right(band, page):
    expect(band.locator(".cv-symbol", has_text="≠")).to_have_count(0)
    expect(page.locator(".cv-split")).to_have_count(0)
    expect(page.locator("[data-guilty]")).to_have_count(0)
    expect(page.locator("[data-split]")).to_have_count(0)


def test_a_broken_step_is_seen_said_and_mended(opened):
    link = "v=2&view=window&grad=ones"
    page, band, _ = opened(link)
    press(band, "not rotated")
    expect(band.locator(".cv-unequal")).to_have_text("≠")
    expect(band.locator("[data-guilty]")).to_have_attribute("data-panel", "rotated_weight")
    settings, _ = from_link(link)
    stages = stages_of(settings.replace(dtype="float64"), compare=False)
    wrong = torch.nn.functional.conv2d(stages.padded_grad_output, stages.weight)[0, 0]
    pairs = zip(stages.grad_input[0, 0].flatten().tolist(), wrong.flatten().tolist(), strict=True)
    wanted = [[f"{ours:g}", f"{theirs:g}"] for ours, theirs in pairs if ours != theirs]
    assert splits(band, "grad_input") == wanted
    assert len(splits(band, "rotated_weight")) == 8, "the middle stays"
    says = band.locator(".cv-break-says")
    expect(says).to_contain_text(f"{len(wanted)} of 25 numbers are wrong, because the kernel slides as it is")
    cell = band.locator("[data-panel=grad_input] [data-cell='0,0']")
    expect(cell).to_have_attribute("aria-label", "right 1, with the mistake 9")
    cell.click()
    expect(page.locator(".cv-sum")).to_contain_text("= 1 · with the mistake 9")
    expect(page.locator(".cv-truth")).to_have_text(
        "", use_inner_text=True
    )  # "equals autograd" would be said of what is wrong
    band.get_by_role("button", name="Fix it").click()
    expect(cell).to_have_attribute("aria-label", "1")
    expect(page.locator(".cv-sum")).not_to_contain_text("mistake")
    expect_right(band, page)
    page.get_by_role("button", name="Undo").click()
    expect(says).to_contain_text("because the kernel slides as it is")


def test_what_cannot_show_says_why_and_offers_what_shows_it(opened):
    page, band, weight = opened("v=2&view=stamps")
    places = "(all) => all.map((one) => one.getBoundingClientRect().toJSON())"
    buttons = band.locator(".cv-break-step, .cv-views button")
    press(band, "✓ right")
    before = buttons.evaluate_all(places)
    press(band, "no zeros")
    expect(band.locator(".cv-break-says")).to_contain_text("this mistake belongs to the sliding window")
    expect(page.locator(".cv-question")).to_contain_text("this reading does without it")
    band.get_by_role("button", name="show the window").click()
    expect(page.locator(".cv-question")).to_contain_text("no number shows it")
    assert buttons.evaluate_all(places) == before, "none has moved"
    expect(band.locator(".cv-break-says")).to_contain_text(
        "At stride 1 no zeros stand between the cells: there are none to forget."
    )
    expect_right(band, page)
    band.get_by_role("button", name="stride 2").click()
    expect(band.locator(".cv-unequal")).to_have_text("≠")
    expect(band.locator("[data-guilty]")).to_have_attribute("data-panel", "padded_grad_output")
    press(weight, "too many windows")
    expect(band.locator(".cv-break-says")).to_be_hidden()
    expect(band.locator(".cv-unequal")).to_have_count(0)
    expect(weight.locator(".cv-break-says")).to_contain_text("No row or column is left over")


def test_another_shape_is_drawn_in_its_own(opened):
    _, band, _ = opened("v=2&view=window&size=6&stride=2&grad=ones&broken=I10")
    assert {wrong for _, wrong in splits(band, "grad_input")} == {"–"}, "the last row and column are missing"
    expect(band.locator(".cv-break-says")).to_contain_text("The result is 5×5, not 6×6.")
    expect(band.locator("[data-panel=grad_input] [data-cell='5,5']")).to_have_attribute(
        "aria-label", "right 0, missing with the mistake"
    )
    inert = band.locator("[data-panel] .cv-area[inert]")
    press(band, "What is wrong?")
    expect(inert.locator("xpath=ancestor::*[@data-panel]")).to_have_attribute("data-panel", "padded_grad_output")
    press(band, "Fix it")
    expect(inert).to_have_count(0)
    _, _, weight = opened("v=2&size=6&stride=2&grad=ones&broken=W07")
    assert len(splits(weight, "grad_weight")) == 16
    inside = """(panel) => { const [all, own] = [panel.querySelector(".cv-splits"), panel.querySelector("svg.cv-grid")]
      .map((each) => each.getBoundingClientRect());
      return all.right <= own.right + 1 && all.bottom <= own.bottom + 1; }"""
    assert weight.locator("[data-panel=grad_weight]").evaluate(inside)


def test_a_link_is_a_riddle_until_somebody_asks(opened, reader):
    reader.goto("about:blank")  # in the open page somebody has asked
    page, band, weight = opened("v=2&view=window&grad=ones&broken=I01")
    expect(band.locator(".cv-unequal")).to_have_text("≠")
    expect(band.locator(".cv-break-says")).to_contain_text("24 of 25 numbers are wrong.")
    expect(band.get_by_role("button", name="not rotated")).to_be_hidden()
    expect(band.locator(".cv-break-says")).not_to_contain_text("because")
    expect(page.locator("[data-guilty]")).to_have_count(0)
    assert splits(band, "rotated_weight") == []
    assert len(splits(band, "grad_input")) == 24
    band.get_by_role("button", name="What is wrong?").click()
    expect(band.locator("[data-guilty]")).to_have_attribute("data-panel", "rotated_weight")
    expect(band.get_by_role("button", name="not rotated")).to_have_attribute("aria-pressed", "true")
    expect(band.get_by_role("button", name="Fix it")).to_be_focused()
    expect(weight.get_by_role("button", name="Break it")).to_be_visible()


def test_keys_walk_the_steps_and_a_transposed_layer_has_none(opened):
    page, band, _ = opened("v=2&view=window")
    band.get_by_role("button", name="Break it").focus()
    page.keyboard.press("Enter")
    expect(band.get_by_role("button", name="✓ right")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(band.locator(".cv-unequal")).to_have_text("≠")
    expect(band.get_by_role("button", name="not rotated")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press(" ")
    expect_right(band, page)
    press(band, "not rotated")
    page.keyboard.press("Escape")
    expect_right(band, page)
    expect(band.get_by_role("button", name="Break it")).to_be_focused()
    press(band, "not rotated")
    page.get_by_role("button", name="Reset").click()
    expect_right(band, page)
    expect(band.get_by_role("button", name="Break it")).to_be_visible()
    opened("v=2&view=window&transposed=1&broken=I01")
    expect(page.locator(".cv-break:visible")).to_have_count(0)
    expect_right(band, page)
    expect(page.get_by_text("broken=I01 is left out")).to_be_visible()
