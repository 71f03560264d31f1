"""The transposed convolution on the page: every panel against autograd, the linked cells, and the sums."""

import re

import pytest
import torch

from tests.browser.app_page import (
    cell,
    read_panel,
    repaint,
    slide,
    slider_value,
    snapshot,
    switch,
    wait_value,
)
from tests.browser.test_linked_cells import lit


@pytest.fixture
def app(app):
    switch(app, "transposed convolution", True)
    # Where one band at a time has room, it is the one that was last chosen, also by another test.
    app.evaluate("document.querySelector('[data-bands=one] [data-equation=input][data-strip] .cv-title')?.click()")
    assert app.locator(".cv-board").get_attribute("data-from") == "torch"
    assert app.locator(".cv-truth").text_content().startswith("torch, cpu, float32: equals autograd")
    return app


def test_one_click_chooses_another_output_of_the_same_input(app):
    reported = app.locator("[data-equation=input] .cv-remainder")
    assert "output_padding=1 chooses 8 × 8. It keeps 1 row and 1 column" in reported.text_content()
    assert app.locator("[data-equation=forward] .cv-remainder").is_hidden()
    app.locator("[data-equation=input] .cv-symbols-open").click()
    assert reported.get_by_role("group").get_attribute("aria-label") == "Values of output_padding"
    sizes = reported.locator("button")
    assert sizes.all_text_contents() == ["output_padding 0output 7 × 7", "output_padding 1output 8 × 8"]
    before = read_panel(app, "grad_input")
    with repaint(app):
        sizes.first.click()
    assert torch.equal(read_panel(app, "grad_input"), before[:7, :7]), "only the last row and column depend on it"
    assert (slider_value(app, "output_padding"), slider_value(app, "input_size")) == (0, 4)
    assert app.evaluate("document.activeElement.dataset.size") == "7,7", "the keyboard stays where it was"


def test_switching_back_keeps_the_size_that_the_sliders_had_no_room_for(app):
    """The layer's input of 2 is less than the convolution's slider allows with a kernel of 5: nobody moved it."""
    with repaint(app):
        app.get_by_role("checkbox", name="transposed convolution").press("Space")
    for name, value in (("stride", 1), ("padding", 0), ("kernel_size", 5), ("input_size", 6)):
        slide(app, name, value)
    for _ in range(2):
        with repaint(app):
            app.get_by_role("checkbox", name="transposed convolution").press("Space")
    assert [slider_value(app, "input_size", axis) for axis in (0, 1)] == [6, 6]
    assert read_panel(app, "padded_input").shape == (6, 6)


def test_pointing_at_the_input_lights_its_stamp_in_the_output(app):
    cell(app, "padded_grad_output", 3, 5).hover()  # padding 1 before, stride 2: the input's cell [1, 2]
    found = lit(app)
    assert found["grad_input"] == {f"{r},{c}" for r in (1, 2, 3) for c in (3, 4, 5)}
    assert found["dilated_grad_output"] == {"2,4"}
    assert found["grad_weight"] == {f"{r},{c}" for r in range(3) for c in range(3)}
    assert "output" not in found, "the page calls it grad_input: it does not follow from the input"
    label = app.locator(".cv-readout").text_content()
    assert re.match(r"padded_input, row 3, column 5", label), label


def test_typing_into_the_input_and_into_grad_output(app):
    for panel, at in (("padded_grad_output", (1, 1)), ("input", (7, 7))):
        cell(app, panel, *at).focus()
        app.keyboard.type("5")
        with repaint(app):
            app.keyboard.press("Enter")
        wait_value(app, panel, *at, 5)
    assert snapshot(app)["menus"]["loss"] == "set by hand"
