"""The tab Linear, read off the page: its numbers against autograd, its links against what moves in torch."""

import pytest
import torch
import torch.nn.functional as F

from tests.browser.app_page import (
    assert_page_equals_autograd,
    open_app,
    open_tab,
    pane_follows,
    press_tab,
    repaint,
)

PANE = ".cv-pane-linear"
READ = """(pane) => Object.fromEntries([...pane.querySelectorAll("[data-tensor]")].map((map) => [map.dataset.tensor, {
  shape: [Number(map.querySelector(".cv-grid").getAttribute("aria-rowcount")),
          Number(map.querySelector(".cv-grid").getAttribute("aria-colcount"))],
  values: [...map.querySelectorAll("[data-cell]")].map((cell) => Number(cell.dataset.value)),
  lit: (map.querySelector(".cv-lights").dataset.lit ?? "").split(" ").filter(Boolean),
}]))"""


WINDOW = {"width": 1400, "height": 1800}  # the whole lesson at once


@pytest.fixture
def app(app):
    app.set_viewport_size(WINDOW)
    open_tab(app, "linear")
    return app


@pytest.fixture
def own(page, server):
    """A page of its own: numbers that were changed in the lesson, it keeps."""
    page.set_viewport_size(WINDOW)
    open_app(page, server.url)
    open_tab(page, "linear")
    return page


def tensors(app):
    """Return {name: tensor} as the pane shows them; ~name is the transposed one."""
    shown = app.locator(PANE).evaluate(READ)
    return {name: torch.tensor(map["values"], dtype=torch.float64).reshape(map["shape"]) for name, map in shown.items()}


def lit(app):
    """Return {name: set of (row, column) in the tensor's own axes} that are lit."""
    shown = app.locator(PANE).evaluate(READ)
    found = {}
    for name, map in shown.items():
        cells = {tuple(int(part) for part in cell.split(",")) for cell in map["lit"]}
        cells = {cell[::-1] for cell in cells} if name.startswith("~") else cells
        if cells:
            assert found.setdefault(name.removeprefix("~"), cells) == cells, "both pictures of a tensor light the same"
    return found


def set_menu(app, name, value):
    pane_follows(app, "linear", lambda: app.locator(f"{PANE} [data-set={name}]").select_option(str(value)))


def assert_equals_autograd(app, loss):
    shown = tensors(app)
    x, w, b = (shown[name].clone().requires_grad_() for name in ("input", "weight", "bias"))
    output = F.linear(x, w, b[0])
    output.retain_grad()
    {"half_squared_error": lambda: output.square().sum() / 2, "sum": output.sum, "mean": output.mean}[loss]().backward()
    expected = {"output": output.detach(), "grad_output": output.grad, "grad_input": x.grad, "grad_weight": w.grad}
    expected |= {"grad_bias": b.grad, "~weight": w.detach().t(), "~grad_output": output.grad.t()}
    for name, tensor in expected.items():
        torch.testing.assert_close(shown[name], tensor, rtol=1e-5, atol=1e-5, msg=name)
    truth = app.locator(f"{PANE} .cv-truth")
    assert truth.get_attribute("data-ok") == "true"
    assert truth.text_content().startswith("equals autograd")


def cell_of(app, tensor, row, column):
    return app.locator(f'{PANE} [data-tensor="{tensor}"]').first.locator(f'[data-cell="{row},{column}"]')


def test_what_lights_up_is_what_belongs_together(app):
    samples = {(0, 1), (1, 1)}
    row = {(1, 0), (1, 1), (1, 2)}
    for tensor, belongs in {
        "output": {"input": row, "weight": row, "bias": {(0, 1)}},
        "weight": {"input": samples, "output": samples, "grad_output": samples, "grad_input": samples},
    }.items():
        cell_of(app, tensor, 1, 1).hover()
        assert lit(app) == belongs | {tensor: {(1, 1)}}, tensor
    app.mouse.move(2, 2)
    assert lit(app) == {}


def test_the_sum_is_written_out_and_adds_up(app):
    for tensor, place, formula, count in (
        ("output", "1, 1", "\u03a3\u1d62", 3),
        ("grad_input", "1, 1", "\u03a3\u2092", 2),
        ("grad_weight", "1, 1", "\u03a3\u2099", 2),
        ("grad_bias", "1", "\u03a3\u2099", 0),
    ):
        target = cell_of(app, tensor, 0 if tensor == "grad_bias" else 1, 1)
        target.hover()
        line = app.locator(f"{PANE} .cv-lesson-sum")
        words = line.text_content()
        assert words.startswith(f"{tensor}[{place}] = {formula} "), words
        assert words.count("\u00b7") == count, words
        factors = line.locator(".cv-factor").evaluate_all("(all) => all.map((factor) => Number(factor.dataset.value))")
        products, rest = factors[: 2 * count], factors[2 * count :]
        total = sum(a * b for a, b in zip(products[::2], products[1::2], strict=True)) + sum(rest)
        assert total == float(target.get_attribute("data-value"))
        assert line.locator("output").text_content() == target.get_attribute("aria-label")


def test_numbers_are_autograds_whatever_is_typed_and_for_every_size_and_loss(own):
    assert_equals_autograd(own, "half_squared_error")
    cell_of(own, "input", 0, 0).focus()
    own.keyboard.press("ArrowRight")
    assert lit(own)["input"] >= {(0, 1)}, "the focus lights up as the pointer does"
    own.keyboard.press("Enter")
    own.locator(f"{PANE} .cv-editor").fill("-2,5")
    pane_follows(own, "linear", lambda: own.keyboard.press("Enter"))
    assert tensors(own)["input"][0, 1] == -2.5
    assert_equals_autograd(own, "half_squared_error")
    # Through the transposed picture of the weight: row i, column o.
    cell_of(own, "~weight", 2, 1).dblclick()
    own.locator(f"{PANE} .cv-editor").fill("7")
    pane_follows(own, "linear", lambda: own.keyboard.press("Enter"))
    assert tensors(own)["weight"][1, 2] == 7
    assert_equals_autograd(own, "half_squared_error")
    press_tab(own, "linear")
    own.locator(PANE).wait_for(state="detached")
    open_tab(own, "linear")
    assert (tensors(own)["input"][0, 1], tensors(own)["weight"][1, 2]) == (-2.5, 7), "the page keeps what was typed"
    cell_of(own, "output", 0, 0).dblclick()
    assert own.locator(f"{PANE} .cv-editor").count() == 0, "what is computed cannot be typed"
    for name, value in (("in_features", 6), ("out_features", 4), ("batch", 3), ("loss", "mean")):
        set_menu(own, name, value)
    assert tensors(own)["weight"].shape == (4, 6)
    assert_equals_autograd(own, "mean")
    before = tensors(own)["input"]
    pane_follows(own, "linear", own.get_by_role("button", name="Other numbers").click)
    assert not torch.equal(tensors(own)["input"], before)
    set_menu(own, "loss", "sum")
    set_menu(own, "batch", 1)
    assert_equals_autograd(own, "sum")


def test_leads_over_to_a_convolution_with_one_kernel_cell(app):
    weight, bias = (tensors(app)[name] for name in ("weight", "bias"))
    with repaint(app):
        app.get_by_role("button", name="Show it on the board").click()
    seen = assert_page_equals_autograd(app)
    at = seen.geometry
    assert (at["kernel_size"], at["stride"], at["padding"]) == ([1, 1], [1, 1], [0, 0])
    assert torch.equal(seen.tensors["weight"][:, :, 0, 0], weight)
    assert torch.equal(seen.tensors["bias"].flatten(), bias[0])
    # Every cell of the board's output is the linear layer's, of the channels there.
    rows = F.linear(seen.tensors["padded_input"].movedim(1, -1), weight, bias[0]).movedim(-1, 1)
    torch.testing.assert_close(seen.tensors["output"], rows, rtol=1e-5, atol=1e-5)
    assert torch.equal(tensors(app)["weight"], weight), "the lesson stays"
