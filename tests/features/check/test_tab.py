"""The tab Check, read off the page: its numbers against autograd and differences taken from what the board shows."""

import pytest
import torch
import torch.nn.functional as F

from tests.browser.app_page import cell, choose, open_tab, pane_follows, read_panel, slide, switch

PANE = ".cv-pane-check"
READ_MAPS = """(pane) => [...pane.querySelectorAll(".cv-check-row")].map((row) => ({
  panel: row.dataset.gradient,
  heading: row.querySelector("h4").textContent,
  maps: Object.fromEntries([...row.querySelectorAll(".cv-panel")].map((map) => [
    map.querySelector(".cv-name").textContent,
    [...map.querySelectorAll("[data-cell]")].map((cell) => Number(cell.dataset.value)),
  ])),
}))"""


@pytest.fixture
def app(app):
    open_tab(app, "check")
    both = app.locator(f"{PANE} .cv-check-both")
    if app.locator(f"{PANE} .cv-verdicts thead th").count() == 2:  # gradient and float64: what is said of float32 waits
        passes = app.locator(f"{PANE} .cv-verdicts td").evaluate_all("(all) => all.map((td) => td.dataset.passes)")
        assert set(passes) == {"true"}
        assert "float32," not in app.locator(PANE).inner_text()
    both.click()
    return app


def maps(app):
    """Return {panel: {dtype: flat numbers}} as the pane shows them."""
    return {row["panel"]: row["maps"] for row in app.locator(PANE).evaluate(READ_MAPS)}


def set_eps(app, index):
    """Move the slider to one of the steps with the keyboard."""
    app.locator(f"{PANE} input[type=range]").focus()
    app.keyboard.press("Home")
    for _ in range(index):
        app.keyboard.press("ArrowRight")


def errors_by_hand(app, eps, dtype):
    """|analytic - numeric| of the weight's gradient, from the board's numbers: stride 2, padding 1, target 0."""
    x, w = (read_panel(app, name).to(dtype)[None, None] for name in ("padded_input", "weight"))

    def loss(w):
        return F.conv2d(x, w, None, 2).square().sum() / 2

    leaf = w.clone().requires_grad_()
    (analytic,) = torch.autograd.grad(loss(leaf), leaf)
    numeric = torch.empty_like(w)
    for place in range(w.numel()):
        sides = []
        for sign in (1, -1):
            moved = w.clone()
            moved.view(-1)[place] += sign * eps
            sides.append(loss(moved))
        numeric.view(-1)[place] = (sides[0] - sides[1]) / (2 * eps)
    return (analytic - numeric).abs().flatten().double()


def test_shows_the_errors_of_both_dtypes(app):
    shown = maps(app)
    assert shown.keys() == {"grad_input", "grad_weight"}
    assert len(shown["grad_input"]["float32"]) == 64
    # One grain: the distance between neighbouring float32 numbers near the loss, 19.7, over 2 eps.
    grain = {"float32": 2**-19 / 2e-6, "float64": 2**-48 / 2e-6}
    for dtype in (torch.float32, torch.float64):
        name = str(dtype).removeprefix("torch.")
        expected = errors_by_hand(app, 1e-6, dtype)
        found = torch.tensor(shown["grad_weight"][name], dtype=torch.float64)
        assert (found - expected).abs().max() <= 4 * grain[name], name
        assert found.max() > grain[name] / 2
    assert max(shown["grad_weight"]["float64"]) < 1e-6 < 0.1 < max(shown["grad_weight"]["float32"])
    verdicts = app.locator(f"{PANE} .cv-verdicts td")
    assert [verdicts.nth(i).get_attribute("data-passes") for i in range(4)] == ["true", "false"] * 2
    largest = max(shown["grad_weight"]["float32"])
    assert verdicts.nth(3).text_content() == f"\u2717 fails, off by up to {largest:.3g}"
    words = app.locator(PANE).inner_text()
    assert "The loss adds up terms of size 19.7." in words
    assert "are 1.9e\u22126 apart, so a slope over 2\u00b7eps comes in steps of about 0.95." in words


def test_a_larger_step_shrinks_the_error_by_keyboard_alone(app):
    before = maps(app)
    curve = app.locator(f"{PANE} .cv-curve")
    assert curve.get_attribute("aria-label").startswith("Largest error against eps. At eps 1e\u22126: float64 ")
    set_eps(app, 7)
    assert app.locator(f"{PANE} output").text_content() == "eps = 0.1"
    after = maps(app)
    for panel, dtypes in after.items():
        for dtype, values in dtypes.items():
            assert max(values) < 1e-3 * max(before[panel][dtype]), (panel, dtype)
    assert curve.get_attribute("aria-label").startswith("Largest error against eps. At eps 0.1: float64 ")
    app.set_viewport_size({"width": 1400, "height": 1800})
    box = curve.bounding_box()
    curve.click(position={"x": box["width"] * 40 / 420, "y": box["height"] / 2})
    assert app.locator(f"{PANE} output").text_content() == "eps = 1e\u22128"
    assert app.locator(f"{PANE} input[type=range]").input_value() == "0"


def test_the_board_and_the_pane_point_at_each_other(app):
    app.locator(f"{PANE} [data-gradient=grad_weight] .cv-panel").nth(0).locator('[data-cell="1,2"]').hover()
    lit = app.locator('.cv-board [data-panel="grad_weight"] .cv-lights')
    assert "1,2" in lit.get_attribute("data-lit").split()
    assert app.locator('.cv-board [data-panel="grad_output"] .cv-lights').first.get_attribute("data-lit")
    words = app.locator(f"{PANE} .cv-readout").text_content()
    assert words.startswith("grad_weight[1,2] in float64: analytic ")
    analytic = float(words.split("analytic ")[1].split(",")[0].replace("\u2212", "-"))
    assert analytic == pytest.approx(float(read_panel(app, "grad_weight")[1, 2]), rel=1e-6)
    app.mouse.move(2, 2)
    assert not lit.get_attribute("data-lit")
    cell(app, "grad_input", 3, 4).hover()
    lights = app.locator(f"{PANE} [data-gradient=grad_input] .cv-lights")
    assert [lights.nth(at).get_attribute("data-lit") for at in range(2)] == ["3,4"] * 2
    app.mouse.move(2, 2)
    assert not lights.first.get_attribute("data-lit")


def test_follows_the_settings(app):
    choose(app, "loss", "sum")
    pane_follows(app, "check", lambda: switch(app, "bias", True))
    assert maps(app).keys() == {"grad_input", "grad_weight", "grad_bias"}
    assert "The loss is linear in every single cell" in app.locator(PANE).inner_text()
    pane_follows(app, "check", lambda: choose(app, "loss", "cross-entropy"))
    assert "The loss is curved in every single cell" in app.locator(PANE).inner_text()
    pane_follows(app, "check", lambda: slide(app, "kernel_size", 2))
    assert app.locator(f"{PANE} [data-gradient=grad_weight] [data-cell]").count() == 2 * 4
