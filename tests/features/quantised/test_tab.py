"""The tab Quantised, read off the page: every plane against torch, from the numbers that the board shows."""

import math

import pytest
import torch
import torch.nn.functional as F

from tests.browser.app_page import cell, open_tab, pane_follows, read_panel, repaint, settle_pane, slide, switch

PANE = ".cv-pane-quantised"
READ = """(pane) => Object.fromEntries([...pane.querySelectorAll("[data-plane]")].map((plane) => [plane.dataset.plane, {
  label: plane.querySelector(".cv-name").textContent,
  shape: ["aria-rowcount", "aria-colcount"].map((name) => Number(plane.querySelector(".cv-grid").getAttribute(name))),
  values: [...plane.querySelectorAll("[data-cell]")].map((cell) => Number(cell.dataset.value)),
  lit: plane.querySelector(".cv-lights").dataset.lit ?? "",
}]))"""


@pytest.fixture
def app(app):
    app.set_viewport_size({"width": 1400, "height": 2400})  # the whole pane at once
    open_tab(app, "quantised")
    if app.locator(f"{PANE} [data-set=kind]").input_value() != "binary":  # what the pane was asked for, it keeps
        choose_layer(app, "binary")
    if app.locator(f"{PANE} [data-variant=clip]").get_attribute("aria-pressed") != "true":
        pane_follows(app, "quantised", app.locator(f"{PANE} [data-variant=clip]").click)
    return app


def planes(app):
    """Return {name: numbers} of the planes that the pane shows; those without room for numbers are left out."""
    shown = app.locator(PANE).evaluate(READ)
    return {
        name: torch.tensor(plane["values"], dtype=torch.float64).reshape(plane["shape"])
        for name, plane in shown.items()
        if len(plane["values"]) == math.prod(plane["shape"])
    }


def choose_layer(app, kind):
    pane_follows(app, "quantised", lambda: app.locator(f"{PANE} [data-set=kind]").select_option(kind))


def by_torch(app, quantized, read=None):
    """Return the output and the gradient of the quantised weight, from the board's stride 2 and padding 1."""
    x = read_panel(app, "padded_input")[None, None] if read is None else read[None, None]
    v = quantized[None, None].clone().requires_grad_()
    output = F.conv2d(x, v, None, 2)
    (gradient,) = torch.autograd.grad(output, v, read_panel(app, "grad_output")[None, None])
    return output.detach()[0, 0], gradient[0, 0]


def assert_near(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_binary_weights_forward_and_all_variants(app):
    shown, w = planes(app), read_panel(app, "weight")
    alpha = w.abs().mean()
    quantized = alpha * torch.where(w >= 0, 1.0, -1.0).double()
    assert_near(shown["latent weight"], w)
    assert_near(shown["quantized_weight"], quantized)
    output, gradient = by_torch(app, quantized)
    assert_near(shown["output"], output)
    assert_near(shown["grad_quantized_weight"], gradient)
    clip = (w.abs() <= 1).double()
    through_alpha = w.sign() * (gradient * quantized / alpha).mean()
    for name, mask, more in (
        ("identity", torch.ones_like(w), 0),
        ("clip", clip, 0),
        ("tanh", 1 - w.tanh() ** 2, 0),
        ("scaled_sign", alpha * clip, through_alpha),
    ):
        assert_near(shown[f"{name} mask"], mask)
        assert_near(shown[f"{name} gradient"], mask * gradient + more)
    assert_near(shown["gradient"], clip * gradient)


def test_gradcheck_fails_with_its_numbers(app):
    """Sobel x has three zeros: there the sign flips within the step, and the difference over 2 eps is huge."""
    shown = planes(app)
    assert (shown["stairs"][:, 1].abs() > 1e5).all()
    assert_near(shown["backward"], shown["gradient"])
    words = app.locator(f"{PANE} .cv-verdict").inner_text()
    for reported in ("torch.autograd.gradcheck fails", "3 of the latent weights are on a step (w = 0)",
                 "surrogate_check passes", "Some latent weights are on a kink"):  # fmt: skip
        assert reported in words
    tanh = app.locator(f"{PANE} [data-variant=tanh]")
    tanh.focus()
    pane_follows(app, "quantised", lambda: app.keyboard.press("Enter"))
    assert app.evaluate("document.activeElement.dataset.variant") == "tanh", "the focus stays"
    shown = planes(app)
    assert_near(shown["surrogate"], shown["backward"])
    assert_near(shown["mask"], 1 - read_panel(app, "weight").tanh() ** 2)
    assert "kink" not in app.locator(f"{PANE} .cv-verdict").inner_text()


def test_every_layer_can_be_chosen(app):
    w = read_panel(app, "weight")
    powers = w.sign() * 2 ** w.abs().log2().round().clamp(-14, 0)
    choose_layer(app, "shift_q")
    assert_near(planes(app)["quantized_weight"], powers)
    assert "is that of a staircase" in app.locator(f"{PANE} .cv-verdict").inner_text()
    choose_layer(app, "shift_ps")
    assert_near(planes(app)["sign gradient"], by_torch(app, powers)[1])
    choose_layer(app, "xnor")
    scale = F.avg_pool2d(read_panel(app, "padded_input").abs()[None], 3, 2)[0]
    assert_near(planes(app)["scale"], scale)
    choose_layer(app, "bnn")
    assert "scale" not in planes(app)
    assert_near(planes(app)["quantized_weight"], torch.where(w >= 0, 1.0, -1.0).double())


def test_a_weight_cell_points_at_the_boards_and_back(app):
    place = app.locator(f'{PANE} [data-plane="latent weight"] [data-cell="2,1"]')
    place.hover()
    lit = app.locator('.cv-board [data-panel="weight"] .cv-lights').first
    assert "2,1" in lit.get_attribute("data-lit").split()
    shown = app.locator(PANE).evaluate(READ)
    kernels = {name for name, plane in shown.items() if plane["lit"] == "2,1"}
    assert kernels >= {"latent weight", "quantized_weight", "mask", "gradient", "stairs", "surrogate", "tanh gradient"}
    assert "output" not in kernels
    assert app.locator(f"{PANE} .cv-readout").text_content() == "weight[2,1] = 0"
    app.mouse.move(2, 2)
    assert not lit.get_attribute("data-lit")
    cell(app, "weight", 0, 2).hover()
    assert app.locator(PANE).evaluate(READ)["quantized_weight"]["lit"] == "0,2"
    app.mouse.move(2, 2)
    assert app.locator(PANE).evaluate(READ)["quantized_weight"]["lit"] == ""


def test_follows_the_settings_and_says_what_it_does_not_show(app):
    pane_follows(app, "quantised", lambda: slide(app, "digit", 5))
    assert_near(planes(app)["grad_quantized_weight"], by_torch(app, planes(app)["quantized_weight"])[1])
    with repaint(app):
        app.locator(".cv-app").get_by_role("checkbox", name="bias", exact=True).press("Space")
    settle_pane(app, "quantised")
    pane_follows(app, "quantised", lambda: switch(app, "transposed convolution", True))
    failure = app.locator(f"{PANE} .cv-pane-failure")
    assert "none is transposed; switch 'transposed convolution' off" in failure.text_content()
    pane_follows(app, "quantised", lambda: switch(app, "transposed convolution", False))
    assert failure.text_content() == ""
