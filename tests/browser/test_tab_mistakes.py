"""The tab Mistakes in the app: its numbers, what hides a mistake, the way to a setting that shows it, and back."""

import pytest
import torch

from convviz.check.battery import make_case
from convviz.check.mistakes import catalogue, compute
from convviz.spec import ConvSpec
from tests.browser.app_page import open_tab, read_panel, snapshot

pytestmark = pytest.mark.browser

PANE = ".cv-pane-mistakes"
READ = "(map) => [...map.querySelectorAll('[data-cell]')].map((cell) => Number(cell.dataset.value))"


@pytest.fixture
def app(app):
    app.set_viewport_size({"width": 1400, "height": 1800})
    open_tab(app, "mistakes")
    app.locator(f"{PANE} [data-of=right] [data-cell]").first.wait_for()
    return app


def test_wrong_and_right_are_the_numbers_of_python(app):
    given = {name: read_panel(app, name)[None, None] for name in ("padded_input", "weight", "grad_output")}
    x, w, g = (given[name].double() for name in ("padded_input", "weight", "grad_output"))
    stride = 2 if x.shape[-1] > 2 * g.shape[-1] - 1 else 1
    spec = ConvSpec(tuple(x.shape[-2:]), kernel_size=tuple(w.shape[-2:]), stride=stride)
    case = make_case("board", spec, 0)
    object.__setattr__(case, "grad_output", g)
    object.__setattr__(case, "weight", w)
    wrong = compute("grad_input", catalogue()["I26"].ways[0], case)
    app.locator(f"{PANE} [data-mistake=I26]").click()
    shown = torch.tensor(app.locator(f"{PANE} .cv-panel[data-of=wrong]").evaluate(READ), dtype=torch.float64)
    right = read_panel(app, "grad_input").double()
    assert torch.allclose(shown.reshape(right.shape), -right, rtol=1e-5, atol=1e-5)
    assert wrong is not None
    assert "numbers are wrong here" in app.locator(f"{PANE} .cv-verdict").inner_text()


def test_a_setting_that_shows_it_is_one_button_away_and_undo_leads_back(app):
    before = snapshot(app)
    app.locator(f"{PANE} [data-mistake=I24]").click()
    verdict = app.locator(f"{PANE} .cv-verdict")
    assert verdict.inner_text() == "Nobody would notice here: wrong equals right, because the batch is one sample."
    app.locator(f"{PANE} .cv-mistake-go").click()
    app.locator(f"{PANE} .cv-verdict[data-kind=wrong]").wait_for()
    app.locator(".cv-tools button").first.click()
    app.locator(f"{PANE} .cv-verdict[data-kind=same]").wait_for()
    after = snapshot(app)
    assert {name: after[name] for name in ("menus", "sliders")} == {name: before[name] for name in ("menus", "sliders")}
