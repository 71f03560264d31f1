"""The tab Mistakes in the app: its numbers, what hides a mistake, the way to a setting that shows it, and back."""

import dataclasses

import pytest
import torch

from convviz.cases.battery import make_case
from convviz.export.page import export_html
from convviz.mistakes.catalogue import catalogue, compute
from convviz.settings.compute import compute as compute_settings
from convviz.settings.link import from_link
from tests.browser.app_page import choose, fresh_page, open_tab, snapshot

PANE = ".cv-pane-mistakes"
READ = "(map) => [...map.querySelectorAll('[data-cell]')].map((cell) => Number(cell.dataset.value))"


@pytest.fixture
def app(app):
    app.set_viewport_size({"width": 1400, "height": 1800})
    open_tab(app, "mistakes")
    app.locator(f"{PANE} [data-of=right] [data-cell]").first.wait_for()
    return app


def shown(page, which):
    """Return the numbers of a map, float64 ``[rows, columns]``."""
    found = page.locator(f"{PANE} .cv-panel[data-of={which}]")
    rows = int(found.locator("[data-cell]").last.get_attribute("data-cell").split(",")[0]) + 1
    return torch.tensor(found.evaluate(READ), dtype=torch.float64).reshape(rows, -1)


def test_wrong_and_right_are_the_numbers_of_python(app):
    settings = from_link("v=1")[0]
    result = compute_settings(settings, compare=False)
    given = {name: getattr(result, name).double() for name in ("input", "weight", "grad_output")}
    case = dataclasses.replace(make_case("board", settings.spec, 0), **given)
    for id, of in {"I01": "grad_input", "I10": "grad_input", "I15": "grad_input", "W01": "grad_weight"}.items():
        app.locator(f"{PANE} [data-gradient={of}]").click()
        if app.locator(f"{PANE} [data-mistake={id}][aria-pressed=true]").count() == 0:
            app.locator(f"{PANE} [data-mistake={id}]").click()
        wrong = compute(of, catalogue()[id].ways[0], case)
        assert torch.allclose(shown(app, "wrong"), wrong[0, 0], rtol=1e-5, atol=1e-5), id
        assert torch.allclose(shown(app, "right"), getattr(result, of)[0, 0].double(), rtol=1e-5, atol=1e-5), id


def test_a_page_without_a_kernel_has_the_tab_that_was_open(browser, tmp_path):
    path = export_html({**from_link("v=2&tab=mistakes")[0].to_dict()}, tmp_path / "page.html")
    with fresh_page(browser) as page:
        page.goto(path.as_uri())
        page.locator(f"{PANE} .cv-panel[data-of=wrong] [data-cell]").first.wait_for()
        assert page.locator("[role=tab]").all_inner_texts() == ["Mistakes", "Check"]
        assert shown(page, "wrong").tolist()[1] == [0, 9, 8, 7, 0]
        assert shown(page, "right").tolist()[1] == [0, 1, 2, 3, 0]
        choose(page, "preset", "box")
        page.locator(f"{PANE} .cv-verdict[data-kind=same]", has_text="it is symmetric").wait_for()
        page.get_by_role("button", name="Close Mistakes").click()
        page.locator(PANE).wait_for(state="detached")
        assert page.outside == []


def test_a_setting_that_shows_it_is_one_button_away_and_undo_leads_back(app):
    before = snapshot(app)
    app.locator(f"{PANE} [data-mistake=I24]").click()
    hidden = "Nobody would notice here: wrong equals right, because the batch is one sample. It shows with 2 samples."
    app.locator(f"{PANE} .cv-verdict", has_text=hidden).wait_for()
    app.locator(f"{PANE} .cv-mistake-go").click()
    app.locator(f"{PANE} .cv-verdict[data-kind=wrong]").wait_for()
    assert not app.locator(f"{PANE} .cv-mistake-go").is_visible(), "it is there"
    app.locator(".cv-tools button").first.click()
    app.locator(f"{PANE} .cv-verdict[data-kind=same]").wait_for()
    after = snapshot(app)
    assert {name: after[name] for name in ("menus", "sliders")} == {name: before[name] for name in ("menus", "sliders")}
