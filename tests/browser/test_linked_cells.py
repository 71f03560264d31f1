"""Linked cells in the app: lights, pins and sums. tests/js/linked_cells.test.mjs holds which cells light up."""

import pytest

from tests.browser.app_page import cell, choose, messages_sent, repaint, slide


def lit(app):
    """Return {panel: set of lit cells} as the page draws them."""
    read = """() => Object.fromEntries([...document.querySelectorAll("[data-panel] .cv-lights")].map((group) => [
        group.closest("[data-panel]").dataset.panel, (group.dataset.lit ?? "").split(" ").filter(Boolean)]))"""
    return {panel: set(cells) for panel, cells in app.evaluate(read).items() if cells}


def the_sum(app):
    """Return the products behind the pinned cell, as lists of full factors, and the total: value and text."""
    read = """() => {
      const line = document.querySelector(".cv-sum");
      const total = line.querySelector("output");
      const products = [...line.querySelectorAll(".cv-product")].map((product) =>
        [...product.querySelectorAll(".cv-factor")].map((factor) => Number(factor.dataset.value)));
      return { products, value: total && Number(total.dataset.value), text: total?.textContent, all: line.textContent };
    }"""
    return app.evaluate(read)


def added(products):
    total = 0.0
    for factors in products:
        product = 1.0
        for factor in factors:
            product *= factor
        total += product
    return total


CORNER = {"0,0", "0,1", "1,0", "1,1"}


def test_hovering_lights_up_without_a_message_to_the_kernel(app):
    assert lit(app) == {}
    sent = messages_sent(app)
    cell(app, "output", 0, 0).hover()
    found = lit(app)
    # Stride 2, padding 1: the first window has four cells on the image; in the weight these are the lower right four.
    assert found["padded_input"] == {"1,1", "1,2", "2,1", "2,2"}
    assert found["weight"] == {"1,1", "1,2", "2,1", "2,2"}
    assert found["rotated_weight"] == CORNER
    # What comes back for this cell, in all its places, and its target.
    assert found["grad_output"] == found["target"] == found["dilated_grad_output"] == {"0,0"}
    assert found["padded_grad_output"] == {"1,1"}
    app.mouse.move(2, 2)
    assert lit(app) == {}
    assert sent() == 0


def test_a_pin_survives_sliders_and_writes_its_sum(app):
    cell(app, "grad_weight", 1, 2).click()
    app.locator(".cv-product").first.wait_for()
    app.mouse.move(2, 2)
    before = lit(app)
    assert before["grad_output"] == {f"{r},{c}" for r in range(4) for c in range(4)}
    app.locator(".cv-more").click()
    app.mouse.move(2, 2)
    sums = the_sum(app)
    assert len(sums["products"]) == 16
    assert "grad_weight[1,2] = \u03a3 grad_output[o]\u00b7input[i] = " in sums["all"]
    shown = cell(app, "grad_weight", 1, 2)
    assert sums["text"] == shown.get_attribute("aria-label")
    assert added(sums["products"]) == pytest.approx(float(shown.get_attribute("data-value")), rel=1e-5)
    with repaint(app):
        slide(app, "digit", 7)
    after = the_sum(app)
    assert lit(app) == before, "the pin is where it was"
    assert len(after["products"]) == 16, "and the long sum stays open"
    assert after["value"] != sums["value"]
    assert after["text"] == cell(app, "grad_weight", 1, 2).get_attribute("aria-label")
    app.locator(".cv-more").focus()
    app.keyboard.press("Escape")
    app.get_by_text("its sum appears here").wait_for()
    assert app.evaluate("document.activeElement.matches('[data-panel=grad_weight] [data-cell=\"1,2\"]')")
    app.mouse.move(2, 2)


def test_a_term_lights_its_two_cells_and_no_frame_lies_over_a_number(app):
    cell(app, "grad_input", 3, 3).click()
    app.locator(".cv-product").first.wait_for()
    term = app.locator(".cv-product").nth(1)
    factors = term.locator(".cv-factor")
    wanted = {factors.nth(i).get_attribute("data-panel"): {factors.nth(i).get_attribute("data-cell")} for i in (0, 1)}
    assert wanted.keys() == {"padded_grad_output", "rotated_weight"}
    term.hover()
    assert lit(app) == wanted
    over = """(grid) => [...grid.querySelectorAll(".cv-lights path")].every((path) =>
        [...grid.querySelectorAll(".cv-printed text")].every((text) =>
            path.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING))"""
    grids = app.locator('[data-panel="rotated_weight"] svg.cv-grid')
    assert grids.evaluate_all(f"(grids) => grids.map({over})") == [True]
    app.mouse.move(2, 2)
    assert lit(app) != wanted


def test_a_folded_sum_opens_with_the_numbers_of_now(app):
    """A number that meets a weight of 0 changes a term that is folded away, and no sum.

    One that stays the same is not written again: a button that is replaced between press and release hears no click.
    """
    slide(app, "in_channels", 2)
    cell(app, "output", 1, 1).click()
    app.locator(".cv-more").wait_for()
    before = the_sum(app)
    app.evaluate("window.more = document.querySelector('.cv-more')")
    with repaint(app):
        choose(app, "loss", "sum")  # the output stays what it is
    assert app.evaluate("window.more === document.querySelector('.cv-more')")
    cell(app, "padded_input", 4, 3).focus()
    app.keyboard.press("F2")
    with repaint(app):
        app.locator(".cv-editor").fill("0.3")
        app.locator(".cv-editor").press("Enter")
    assert the_sum(app)["value"] == before["value"]
    app.evaluate("document.querySelector('.cv-more').click()")
    products = the_sum(app)["products"]
    assert len(products) == 18
    assert products[7] == [0, pytest.approx(0.3)]


def test_a_pin_goes_with_its_cell(app):
    cell(app, "output", 3, 3).click()
    app.locator(".cv-product").first.wait_for()
    with repaint(app):
        slide(app, "stride", 4)  # output is 2 x 2 now
    app.get_by_text("its sum appears here").wait_for()
    app.mouse.move(2, 2)
    assert lit(app) == {}
