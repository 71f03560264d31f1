"""The tab Double backward in the app: its planes are autograd's, and another number of the gradient is a click away."""

import pytest
import torch
import torch.nn.functional as F

from tests.browser.app_page import choose, open_tab, pane_follows, read_panel

PANE = ".cv-pane-double"
READ = "(map) => [...map.querySelectorAll('[data-cell]')].map((cell) => Number(cell.dataset.value))"


@pytest.fixture
def app(app):
    app.set_viewport_size({"width": 1400, "height": 1800})
    open_tab(app, "double")
    return app


def plane(app, of, slope=None):
    """Return the numbers of a plane, float64 ``[rows, columns]``."""
    within = f"{PANE} [data-to={slope}]" if slope else PANE
    map = app.locator(f'{within} .cv-panel[data-of="{of}"]').first
    rows = int(map.locator("[data-cell]").last.get_attribute("data-cell").split(",")[0]) + 1
    return torch.tensor(map.evaluate(READ), dtype=torch.float64).reshape(rows, -1)


def press(app, words):
    button = app.locator(PANE).get_by_role("button", name=words, exact=True)
    if button.get_attribute("aria-pressed") == "false":  # else nothing new is asked for
        pane_follows(app, "double", button.click)
    assert button.get_attribute("aria-pressed") == "true"


def truth(app, of, number, at=None):
    """Return the two slopes by name, from the board's numbers by autograd, twice; v=1 has stride 2 and padding 1."""
    names = ("padded_input", "weight", "grad_output")
    image, weight, grad = (read_panel(app, name)[None, None].requires_grad_() for name in names)
    output = F.conv2d(image, weight, stride=2)
    leaf = image if of == "grad_input" else weight
    (gradient,) = torch.autograd.grad(output, leaf, grad, create_graph=True)
    gradient = gradient[..., 1:-1, 1:-1] if of == "grad_input" else gradient
    s = gradient[0, 0, *at] if number == "one" else (gradient**2).sum() / 2
    other = weight if of == "grad_input" else image
    to_grad, to_other = torch.autograd.grad(s, (grad, other))
    to_other = to_other if of == "grad_input" else to_other[..., 1:-1, 1:-1]
    return {"grad_output": to_grad[0, 0], "weight" if of == "grad_input" else "input": to_other[0, 0]}


def holds(app, of, number, at=None):
    for to, slope in truth(app, of, number, at).items():
        assert torch.allclose(plane(app, f"∂s/∂{to}", to), slope, rtol=1e-4, atol=1e-4), (of, number, to)
    reported = app.locator(PANE).inner_text()
    assert "✓ torch.autograd" in reported
    assert "ConvolutionBackwardBackward0 computes" in reported


def test_each_gradient_and_each_number_made_of_it(app):
    holds(app, "grad_input", "one", (3, 3))
    first = app.locator(f'{PANE} .cv-panel[data-of="grad_input"]').first
    pane_follows(app, "double", first.locator("[data-cell='4,5']").click)
    holds(app, "grad_input", "one", (4, 5))
    assert first.locator(".cv-lights").get_attribute("data-lit") == "4,5"
    one = torch.zeros(8, 8, dtype=torch.float64)
    one[4, 5] = 1
    assert torch.equal(plane(app, "v"), one)
    app.keyboard.press("ArrowLeft")
    pane_follows(app, "double", lambda: app.keyboard.press("Enter"))
    holds(app, "grad_input", "one", (4, 4))
    assert "s = grad_input[0, 0, 4, 4]" in app.locator(f"{PANE} pre").inner_text()
    press(app, "½ Σ of its squares")
    holds(app, "grad_input", "squares")
    assert torch.equal(plane(app, "v"), plane(app, "grad_input"))
    press(app, "grad_weight")
    holds(app, "grad_weight", "squares")
    press(app, "one number of it")
    holds(app, "grad_weight", "one", (1, 1))


def test_it_follows_the_board_lights_its_panels_and_reads_a_slope(app):
    press(app, "grad_input")  # the app keeps what was chosen before
    press(app, "one number of it")
    pane_follows(app, "double", lambda: choose(app, "preset", "box"))
    holds(app, "grad_input", "one", (3, 3))
    assert torch.allclose(plane(app, "weight"), read_panel(app, "weight"), rtol=1e-7)
    app.locator(f'{PANE} .cv-panel[data-of="weight"] [data-cell="0,1"]').hover()
    app.locator("[data-panel=weight] .cv-lit").first.wait_for(state="attached")
    slope = app.locator(f'{PANE} .cv-panel[data-of="∂s/∂weight"] [data-cell="0,0"]')
    slope.hover()
    words = app.locator(f"{PANE} .cv-double-read").inner_text()
    assert words.startswith("∂s/∂weight[0, 0, 0, 0] = ")
    assert "if that number rises a little, s rises" in words
