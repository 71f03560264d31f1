"""Stepping and stamps in the app. tests/js/window_positions.test.mjs holds sums, and where windows stand."""

import math
import re

import pytest
import torch
import torch.nn.functional as F

from convviz.views.theme import COLORSCALES, color_at
from tests.browser.app_page import (
    FOLLOWS_WITHIN_MS,
    cell,
    messages_sent,
    read_panel,
    repaint,
    slide,
    slider,
)


def bar(app, equation):
    return app.locator(f"[data-equation={equation}] .cv-transport")


def start_stepping(app, equation):
    app.locator(f"[data-equation={equation}] .cv-step[aria-expanded]").click()
    bar(app, equation).wait_for()


def at_step(app, equation):
    """Return (position, count) as the bar writes them."""
    found = re.fullmatch(r"(?:cell|stamp) (\d+) of (\d+)", bar(app, equation).locator(".cv-where").text_content())
    return int(found[1]), int(found[2])


def veiled(app, equation, panel):
    """Return how many cells of a panel lie under the veil, by the area of its path."""
    return app.evaluate(
        """([equation, panel]) => {
            const path = document.querySelector(`[data-equation=${equation}] [data-panel=${panel}] .cv-cover`);
            const runs = (path.getAttribute("d") ?? "").matchAll(/h(-?[0-9.]+)v/g);
            return [...runs].reduce((sum, [, length]) => sum + Number(length) / 40, 0);
        }""",
        [equation, panel],
    )


def frame(app, equation, panel):
    """Return the framed window of a panel as [row, column, rows, columns], or None."""
    return app.evaluate(
        """([equation, panel]) => {
            const rect = document.querySelector(`[data-equation=${equation}] [data-panel=${panel}] .cv-window`);
            return rect.getAttribute("visibility") === "visible" ? rect.dataset.span.split(",").map(Number) : null;
        }""",
        [equation, panel],
    )


def wait_rows(app, panel, rows):
    """Wait until a panel has so many rows."""
    app.locator(f"[data-panel={panel}] svg[aria-rowcount='{rows}']").first.wait_for(timeout=FOLLOWS_WITHIN_MS)


def choose_view(app, view):
    with repaint(app):
        app.locator(f"[data-equation=input] [data-view={view}]").click()


def test_stepping_fills_the_result_in_and_moves_the_window(app):
    sent = messages_sent(app)
    for equation, result, image in (
        ("forward", "output", "padded_input"),
        ("input", "grad_input", "padded_grad_output"),
        ("weight", "grad_weight", "padded_input"),
    ):
        before = read_panel(app, result, equation)
        start_stepping(app, equation)
        count, places = before.numel(), []
        for step in range(1, 4):
            assert at_step(app, equation) == (step, count)
            assert veiled(app, equation, result) == count - step
            places.append(tuple(frame(app, equation, image)))
            value = float(app.locator(".cv-sum output").get_attribute("data-value"))
            assert value == pytest.approx(float(before.flatten()[step - 1])), "the sum line writes this step"
            app.keyboard.press("ArrowRight")
        assert len(set(places)) == len(places)
        app.keyboard.press("End")
        assert at_step(app, equation) == (count, count)
        assert veiled(app, equation, result) == 0
        app.keyboard.press("Escape")
        assert bar(app, equation).is_hidden()
        assert frame(app, equation, image) is None
        assert app.locator(".cv-readout").text_content() == "", "nothing is said of a step any more"
        assert app.evaluate("document.activeElement.className") == "cv-step", "the keyboard goes back to the button"
        assert torch.equal(read_panel(app, result, equation), before)
    assert sent() == 0, "all of it is worked out in the page"


def test_one_equation_is_stepped_through_at_a_time_and_each_view_has_its_own_steps(app):
    start_stepping(app, "forward")
    cell(app, "output", 3, 3).hover()
    assert app.locator(".cv-readout").text_content().endswith("row 3, column 3: not computed yet at this step")
    start_stepping(app, "input")
    assert bar(app, "forward").is_hidden()
    assert (veiled(app, "forward", "output"), veiled(app, "input", "grad_input")) == (0, 63)
    choose_view(app, "stamps")
    assert bar(app, "input").is_hidden()
    assert veiled(app, "input", "grad_input") == 0
    start_stepping(app, "input")
    assert at_step(app, "input") == (1, 16)


def masked_gradients(app, counts):
    """Return torch's grad_input for the first so many cells of grad_output, from the numbers on the page."""
    x = torch.zeros(1, 1, 8, 8, dtype=torch.float64, requires_grad=True)
    output = F.conv2d(x, read_panel(app, "weight")[None, None], None, 2, 1)
    g = read_panel(app, "grad_output")
    masks = [(torch.arange(16) < count).double().reshape(4, 4) for count in counts]
    return [torch.autograd.grad(output, x, (g * mask)[None, None], retain_graph=True)[0][0, 0] for mask in masks]


def test_stamps_add_up_on_the_page_to_what_torch_says_at_each_step(app):
    final = read_panel(app, "grad_input")
    choose_view(app, "stamps")
    assert torch.equal(read_panel(app, "grad_input"), final), "the same numbers, explained another way"
    expected = masked_gradients(app, range(1, 17))
    sent = messages_sent(app)
    start_stepping(app, "input")
    for count, gradient in enumerate(expected, 1):
        assert at_step(app, "input") == (count, 16)
        if count % 3 == 1:
            assert torch.allclose(read_panel(app, "grad_input"), gradient, atol=1e-6), count
        app.keyboard.press("ArrowRight")
    assert torch.equal(read_panel(app, "grad_input"), final), "the last step shows torch's own numbers"
    assert ", so it adds " in app.locator(".cv-sum").text_content()
    assert sent() == 0


def test_numbers_that_the_page_lacks_are_said_and_a_large_panel_is_veiled_with_few_shapes(app):
    with repaint(app):
        app.evaluate("location.hash = 'v=1&size=20&stride=1&out_channels=2&view=stamps'")
    wait_rows(app, "output", 20)
    start_stepping(app, "input")
    assert "the page does not have" in app.locator(".cv-sum").text_content()
    assert veiled(app, "input", "grad_input") == 400
    app.keyboard.press("End")
    assert veiled(app, "input", "grad_input") == 0
    choose_view(app, "window")
    start_stepping(app, "input")
    for _ in range(25):
        app.keyboard.press("ArrowRight")
    assert at_step(app, "input") == (26, 400)
    assert veiled(app, "input", "grad_input") == 400 - 26
    assert frame(app, "input", "padded_grad_output") == [1, 5, 3, 3]
    assert app.locator("[data-equation=input] [data-panel=grad_input] .cv-veil *").count() < 8, "no shape a cell"


def test_pairs_run_forwards_in_the_window_and_backwards_in_the_stamps(app):
    """The moment: number the cells of grad_output, and look where the same numbers stand on the kernel."""
    read = """(panel) => [...document.querySelectorAll(`[data-equation=input] [data-panel=${panel}] .cv-badges g`)]
        .map((badge) => [Number(badge.textContent), Number(badge.querySelector("text").getAttribute("x")),
             Number(badge.querySelector("text").getAttribute("y"))]).map(([n, x, y]) => [n, y * 1000 + x])"""

    def order(panel):
        """The numbers of a panel in reading order."""
        return [number for number, _ in sorted(app.evaluate(read, panel), key=lambda badge: badge[1])]

    cell(app, "grad_input", 3, 3).click()
    app.locator(".cv-product").first.wait_for()
    assert order("padded_grad_output") == [1, 2, 3, 4]
    assert order("rotated_weight") == [1, 2, 3, 4]
    choose_view(app, "stamps")
    assert order("grad_output") == [1, 2, 3, 4]
    assert order("weight") == [4, 3, 2, 1]
    reported = app.locator("[data-equation=input] .cv-aside").text_content()
    assert "[2,2], [2,0], [0,2], [0,0]: backwards" in reported
    assert len(app.locator(".cv-product").all()) == 4, "the pin is where it was, its sum in weight and grad_output"
    factors = app.locator(".cv-product .cv-factor").evaluate_all("all => all.map((one) => one.dataset.panel)")
    assert set(factors) == {"grad_output", "weight"}


def test_a_stamp_lies_on_the_gradient_as_the_kernel_lies_in_its_panel(app):
    """The colours of the weights, cell by cell and not rotated; the part on the padding is dashed in the kernel."""
    read = """(panel) => Object.fromEntries(
        [...document.querySelectorAll(`[data-equation=input] [data-panel=${panel}] .cv-lit`)].flatMap((path) =>
          [...path.getAttribute("d").matchAll(/M([0-9.]+) ([0-9.]+)/g)].map(([, x, y]) =>
            [`${Math.floor(y / 40)},${Math.floor(x / 40)}`, path.style.stroke])))"""
    choose_view(app, "stamps")
    for step in (False, True):
        if step:
            start_stepping(app, "input")
            for _ in range(5):
                app.keyboard.press("ArrowRight")
            app.mouse.move(2, 2)
        else:
            app.locator("[data-equation=input] [data-panel=grad_output] [data-cell='1,1']").hover()
        stamp = app.evaluate(read, "grad_input")
        assert stamp.keys() == {f"{row},{column}" for row in (1, 2, 3) for column in (1, 2, 3)}
        assert len(set(stamp.values())) == 5, "the five different weights of Sobel x"
    kernel = app.evaluate(read, "weight")
    for place, color in stamp.items():
        row, column = (int(part) - 1 for part in place.split(","))
        assert kernel[f"{row},{column}"] == color
    app.keyboard.press("Home")
    kernel = app.locator("[data-equation=input] [data-panel=weight] .cv-lights")
    assert set(kernel.get_attribute("data-lit").split()) == {"1,1", "1,2", "2,1", "2,2"}
    assert len(kernel.get_attribute("data-zero").split()) == 5
    assert "5 of the stamp's 9 cells fall on the padding" in app.locator(".cv-sum").text_content()


def test_in_both_readings_the_stamp_lands_while_the_window_stops_over_the_same_cell(opened):
    """Step by step the two products of one sum are one: tests/js/both_readings.test.mjs holds all states."""
    page = opened("v=2")
    kernel = [float(number) for number in read_panel(page, "weight").flatten()]
    start_stepping(page, "input")
    lit = "[data-equation=input] [data-panel={}] .cv-lights"
    for index in range(9):
        row, column = divmod(index, 3)
        assert re.fullmatch(rf"product {index + 1} of 9", bar(page, "input").locator(".cv-where").text_content())
        landed = torch.zeros(5, 5)
        landed[1:4, 1:4] = torch.tensor([*kernel[: index + 1], *[0.0] * (8 - index)]).reshape(3, 3)
        assert torch.equal(read_panel(page, "grad_input").float(), landed), "so far"
        assert frame(page, "input", "grad_input") == [1, 1, 3, 3], "the stamp"
        assert frame(page, "input", "padded_grad_output") == [1 + row, 1 + column, 3, 3], "the window"
        pair = {"weight": (row, column), "rotated_weight": (2 - row, 2 - column), "padded_grad_output": (3, 3)}
        for panel, place in pair.items():
            found = page.locator(lit.format(panel)).get_attribute("data-lit")
            assert found == "{},{}".format(*place), panel
        said = page.locator(".cv-sum").text_content()
        assert f"grad_output[1,1] · weight[{row},{column}] = 1 · {kernel[index]:g} = {kernel[index]:g} lands" in said
        assert "8 of 9 stamps add 0, because grad_output is 0 there." in said
        page.keyboard.press("ArrowRight")
    with repaint(page):  # what is sent back is zero elsewhere now
        page.locator("[data-equation=input] [data-panel=grad_output] [data-cell='0,2']").click()
    assert frame(page, "input", "grad_input") == [0, 2, 3, 3], "the stamp goes with the 1"
    assert "grad_output[0,2] · weight[2,2]" in page.locator(".cv-sum").text_content()
    page.locator("[data-equation=input] .cv-step[aria-expanded]").click()
    assert bar(page, "input").is_hidden()
    assert frame(page, "input", "padded_grad_output") is None


def test_play_rests_while_the_tab_is_hidden(app):
    start_stepping(app, "forward")
    app.keyboard.press("Space")
    bar(app, "forward").get_by_role("button", name="Pause").wait_for()
    app.evaluate("""() => {
        Object.defineProperty(document, "hidden", { value: true, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }""")
    bar(app, "forward").get_by_role("button", name="Play").wait_for()
    app.evaluate("delete document.hidden")  # the tests after this one see the page again


def test_pause_keeps_the_place_and_a_slider_keeps_the_stepping(app):
    start_stepping(app, "forward")
    for _ in range(4):
        app.keyboard.press("ArrowRight")
    with repaint(app):
        slide(app, "digit", 7)
    assert at_step(app, "forward") == (5, 16)
    assert veiled(app, "forward", "output") == 11
    reported = float(app.locator(".cv-sum output").get_attribute("data-value"))
    assert reported == pytest.approx(float(read_panel(app, "output")[1, 0])), "the sum has the new numbers"
    with repaint(app):
        slide(app, "stride", 3)  # other steps
    assert bar(app, "forward").is_hidden()
    assert veiled(app, "forward", "output") == 0
    assert frame(app, "forward", "padded_input") is None


# What moves: how many, the longest of one transition, what of an element they change, and what lies over the panels.
MOTION = """() => {
  const all = document.getAnimations();
  const changed = all.filter((one) => one.effect.getKeyframes).flatMap((one) => one.effect.getKeyframes())
    .flatMap((frame) => Object.keys(frame)).filter((key) => !/offset|easing|composite/i.test(key));
  return {
    count: all.length, longest: Math.max(0, ...all.map((one) => one.effect.getTiming().duration)),
    changed: [...new Set(changed)].sort(),
    films: document.querySelectorAll(".cv-film").length, flights: document.querySelectorAll(".cv-flights span").length,
  };
}"""
# What begins to move stands at its beginning until it is let go, so that a slow machine sees it as well.
HELD = """() => {
  const { animate } = Element.prototype;
  Element.prototype.animate = function (...given) {
    const animation = animate.apply(this, given);
    animation.pause();
    return animation;
  };
  window.letGo = () => {
    Element.prototype.animate = animate;
    document.getAnimations().forEach((animation) => animation.play());
  };
}"""
# What flies: its number, and its colour's parts.
FLYING = """() => [...document.querySelectorAll(".cv-flights span")].map((one) => [
  Number(one.textContent.replace("\\u2212", "-")),
  getComputedStyle(one).backgroundColor.match(/\\d+/g).map(Number),
])"""
STILL = "() => document.getAnimations().length + document.querySelectorAll('.cv-film, .cv-flights').length === 0"


def assert_dyed(flying):
    """A flying number has a colour of the result's own side of its scale: none looks like another sign."""
    scale = COLORSCALES["light"]["input"]
    for number, shown in flying:
        side = [color_at(scale, 0.5 + size / 512 * (1 if number > 0 else -1)) for size in range(257)]
        nearest = min(math.dist(shown, color) for color in side)
        assert nearest < 3, (number, shown)


def test_what_is_stepped_through_is_seen_to_be_made_and_the_next_step_ends_it(app):
    """The kernel turns, zeros open, the border grows; then products fly to their sum, over what is already there."""
    app.emulate_media(reduced_motion="no-preference")
    app.evaluate(HELD)
    before = {panel: read_panel(app, panel, "input") for panel in ("padded_grad_output", "rotated_weight")}
    start_stepping(app, "input")
    seen = app.evaluate(MOTION)
    assert seen["films"] == 2, "padded_grad_output and rotated_weight"
    assert seen["flights"] == 0
    assert seen["changed"] == ["opacity", "transform"]
    assert 0 < seen["longest"] <= 400
    turning = "[data-equation=input] [data-panel=rotated_weight] .cv-turning"
    assert app.locator(f"{turning} text").count() == 9
    for panel, values in before.items():
        assert torch.equal(read_panel(app, panel, "input"), values), "the numbers are there all the time"
    for _ in range(27):
        app.keyboard.press("ArrowRight")
        seen = app.evaluate(MOTION)
        assert app.locator(turning).count() == 0, "the next step ends what moves"
        assert seen["films"] <= 1, "the cell that fills in"
    row, column = divmod(27, 8)
    terms = app.locator(".cv-product").count()
    assert seen["flights"] == terms == 4, f"the products of [{row},{column}]"
    assert_dyed(app.evaluate(FLYING))
    assert seen["longest"] <= 400
    app.evaluate("letGo()")
    app.wait_for_function(STILL)
    app.evaluate(HELD)
    app.keyboard.press("End")
    assert app.evaluate(MOTION)["count"] == 0, "nothing flies over many steps"
    choose_view(app, "stamps")
    start_stepping(app, "input")
    assert app.evaluate(MOTION)["flights"] == 4, "the stamp's cells that are not on the padding"
    app.keyboard.press("Escape")
    assert app.evaluate(STILL), "nothing of it runs on"
    choose_view(app, "window")
    assert app.evaluate(MOTION)["films"] == 2, "and explained as a window, the kernel is seen to turn"
    app.evaluate("letGo()")
    app.wait_for_function(STILL)


def test_reduced_motion_moves_nothing_at_all(app):
    start_stepping(app, "input")
    assert app.evaluate(STILL)
    for _ in range(3):
        app.keyboard.press("ArrowRight")
        assert app.evaluate(STILL)
    bar(app, "input").locator("select").select_option("4")
    bar(app, "input").get_by_role("button", name="Play").click()
    app.wait_for_function("() => document.querySelector('.cv-readout').textContent.includes('cell 6 of 64')")
    assert app.evaluate(STILL)
    assert veiled(app, "input", "grad_input") <= 64 - 6


def number_in(words):
    return float(re.search(r": (\S+)", words)[1].replace("\u2212", "-"))


def test_no_word_outlives_what_it_was_said_of(app):
    def reported():
        return app.locator(".cv-readout").text_content()

    cell(app, "padded_input", 9, 4).hover()
    assert "never read" in reported()
    with repaint(app):
        slider(app, "stride").press("ArrowLeft")
    assert "never read" not in reported(), "stride 1 reads every row"
    with repaint(app):
        slider(app, "padding").press("ArrowLeft")
    assert reported() == "", "there is no such cell any more"
    cell(app, "output", 1, 1).hover()
    assert reported() != ""
    app.mouse.move(2, 2)
    assert reported() == "", "nothing is pointed at any more"
    cell(app, "output", 2, 2).click()
    with repaint(app):
        slide(app, "digit", 7)
    there = float(cell(app, "output", 2, 2).get_attribute("data-value"))
    assert number_in(reported()) == pytest.approx(there, rel=1e-5)
    assert float(app.locator(".cv-sum output").get_attribute("data-value")) == there
    with repaint(app):
        app.get_by_role("button", name="Reset").click()
    assert (reported(), app.locator(".cv-sum output").count()) == ("", 0), "Reset lets go of the cell"
    start_stepping(app, "forward")
    app.keyboard.press("ArrowRight")
    with repaint(app):
        slide(app, "digit", 1)
    there = float(cell(app, "output", 0, 1).get_attribute("data-value"))
    spoken = bar(app, "forward").locator("input").get_attribute("aria-valuetext")
    for words in (reported(), spoken):
        assert number_in(words.split("output", 1)[1]) == pytest.approx(there, rel=1e-5)
    bar(app, "forward").get_by_role("button", name="Close").click()
    assert reported() == ""


def test_what_was_copied_is_no_longer_said_of_another_picture(app):
    app.get_by_role("button", name="Share").click()
    app.get_by_role("button", name="Copy link").click()
    outcome = app.locator(".cv-share-outcome")
    app.wait_for_function("document.querySelector('.cv-share-outcome').textContent !== ''")
    with repaint(app):
        slide(app, "digit", 2)
    assert outcome.text_content() == ""
    app.get_by_role("button", name="Share").click()


def test_a_step_is_spoken_when_made_by_hand_only(app):
    live = app.locator(".cv-board p.cv-live")
    start_stepping(app, "forward")
    bar(app, "forward").get_by_role("button", name="Step forward").click()
    assert "cell 2 of 16" in live.text_content()
    bar(app, "forward").locator("select").select_option("4")
    bar(app, "forward").get_by_role("button", name="Play").click()
    app.wait_for_function("() => document.querySelector('.cv-readout').textContent.includes('cell 4 of 16')")
    assert "cell 2 of 16" in live.text_content()


# -- the remainder -----------------------------------------------------------------------------------------------
