"""The other engine: the page and the served app in Firefox are whole, right, and ask nobody."""

import json
import os

import pytest
import torch
import torch.nn.functional as F

from convviz.export.article.page import export_article
from convviz.export.article.sections import facts_of_sections
from tests.browser.app_page.waits import APPEARS_WITHIN_MS, SETTLED
from tests.browser.test_screen_layout import OUTSIDE_THE_WINDOW, OVERLAPS
from tests.conftest import OUTSIDE
from tests.environments.firefox import find_firefox, firefox
from tests.export.test_article import Truth

SKIPPED = "NO FIREFOX, its tests are SKIPPED: install it (Debian: `apt-get install firefox-esr`) or set CONVVIZ_FIREFOX"
if find_firefox() is None and os.environ.get("CI") != "true":
    pytest.skip(SKIPPED, allow_module_level=True)  # all at once: one line in the summary
pytestmark = pytest.mark.browser

PADDING = "Number(document.querySelector('.cv-set-padding input').value)"
STRIDE = "Number(document.querySelector('.cv-set-stride input').value)"
# The numbers of the cells of the first panel of a name.
READ = """(name) => {
  const panel = document.querySelector(`[data-panel="${name}"]`);
  const columns = Number(panel.querySelector("[role=grid]").ariaColCount);
  const values = [...panel.querySelectorAll("[data-cell]")].map((cell) => Number(cell.dataset.value));
  return Array.from({ length: values.length / columns }, (_, row) => values.slice(row * columns, (row + 1) * columns));
}"""


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    path = find_firefox()
    assert path, SKIPPED
    with firefox(path, tmp_path_factory.mktemp("firefox")) as tab:
        yield tab


@pytest.fixture
def tab(running):
    """The one tab; while it was used it asked for nothing outside, and nothing broke."""
    running.requests.clear()
    running.complaints.clear()
    yield running
    assert [url for url in running.requests if OUTSIDE.match(url)] == []
    assert running.complaints == []


@pytest.fixture(scope="module")
def exported(exported):
    return exported.as_uri()


def open_page(tab, url, size=(1280, 720)):
    tab.open(url, size)
    tab.wait(f"({SETTLED})(0)")


def repainted(tab, keys):
    """Press keys and wait until the board shows what they changed."""
    painted = tab.evaluate("Number(document.querySelector('.cv-board').dataset.painted)")
    tab.press(*keys)
    tab.wait(f"({SETTLED})({painted})")


def focus(tab, selector):
    tab.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")


def assert_numbers_are_autograds(tab, tolerance):
    """Hold what the panels show against autograd through the definition."""
    names = ("padded_input", "weight", "output", "grad_output", "grad_input", "grad_weight")
    shown = {name: torch.tensor(tab.evaluate(f"({READ})('{name}')"), dtype=torch.float64) for name in names}
    padding, stride = tab.evaluate(PADDING), tab.evaluate(STRIDE)
    rows, columns = shown["padded_input"].shape
    input = shown["padded_input"][padding : rows - padding, padding : columns - padding].clone().requires_grad_()
    weight = shown["weight"].clone().requires_grad_()
    output = F.conv2d(input[None, None], weight[None, None], None, stride, padding)[0, 0]
    gradients = torch.autograd.grad(output, [input, weight], shown["grad_output"])
    for name, expected in zip(("output", "grad_input", "grad_weight"), (output, *gradients), strict=True):
        assert shown[name].shape == expected.shape, name
        torch.testing.assert_close(shown[name], expected.detach(), rtol=tolerance, atol=tolerance, msg=name)


def test_every_size_has_its_whole_page_in_light_and_dark(tab, exported):
    papers = set()
    for state, size in (("#v=1", (1280, 720)), ("#v=1&colours=dark", (1280, 720)), ("", (390, 844))):
        open_page(tab, exported + state, size)
        about = f"{state} at {size}"
        assert tab.evaluate(f"({OVERLAPS})()") == [], about
        panels = "[...document.querySelectorAll('.cv-panel')].filter((panel) => panel.checkVisibility()).length"
        if size[0] > 1000:
            assert tab.evaluate(f"({OUTSIDE_THE_WINDOW})()") == [], about
            assert tab.evaluate(panels) >= 10, about
        else:  # one band, and what moves it, are on the screen together
            assert tab.evaluate(panels) >= 3
            bottom = "document.querySelector('.cv-set-stride input').getBoundingClientRect().bottom <= innerHeight"
            assert tab.evaluate(bottom)
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), about
        papers.add(tab.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
        facts = "[...document.querySelectorAll('.cv-facts > p')].map((p) => p.clientHeight >= p.scrollHeight)"
        assert all(tab.evaluate(facts)), f"a line of words is cut through {about}"
    assert len(papers) == 2, "the dark one is dark"


def test_the_picture_of_the_article_follows_the_sections(tab, tmp_path):
    sections = {section["id"]: section for section in facts_of_sections()}
    tab.open(export_article(tmp_path / "article.html").as_uri(), (1280, 720))
    tab.wait("Boolean(document.querySelector('convviz-board').shadowRoot?.querySelector('[data-cell]'))")
    inside = "const document = globalThis.document.querySelector('convviz-board').shadowRoot;"
    read = f"(() => {{ {inside} return ({READ}) }})()"
    for id in ("stride", "weight", "one", "channels"):
        result = f"grad_{sections[id]['band']}"
        expected = getattr(Truth(sections[id]["state"]), result)[0, 0].tolist()
        tab.evaluate(f"document.getElementById('{id}').scrollIntoView({{ behavior: 'instant' }})")
        tab.wait(f"Boolean(document.querySelector('#{id}[data-now]'))")
        wanted = json.dumps(expected, separators=(",", ":")).replace(".0", "")
        tab.wait(
            f"(() => {{ {inside} return Boolean(document.querySelector('[data-panel={result}] [role=grid]')); }})()"
        )
        tab.wait(f"JSON.stringify({read}('{result}')) === '{wanted}'")


def test_sliders_move_the_numbers_and_a_cell_is_pinned_by_a_click_and_by_keys(tab, exported):
    open_page(tab, exported)
    focus(tab, ".cv-set-weight input[type=range]")
    repainted(tab, ["ArrowRight"])
    weight = 'Number(document.querySelector(\'[data-panel="weight"] [data-cell="0,1"]\').dataset.value)'
    before = tab.evaluate(weight)
    focus(tab, '[data-panel="weight"] [data-cell="0,1"]')
    tab.press("ArrowUp")
    tab.wait(f"{weight} === {before} + 1")
    for name in ("stride", "padding"):
        focus(tab, f".cv-set-{name} input[type=range]")
        repainted(tab, ["ArrowRight"])
    assert (tab.evaluate(STRIDE), tab.evaluate(PADDING)) == (2, 1)
    assert_numbers_are_autograds(tab, 1e-12)
    open_page(tab, exported)
    terms = "document.querySelector('.cv-sum').textContent.startsWith('grad_input[2,2] = ')"
    tab.click('[data-panel="grad_input"] [data-cell="2,2"]')
    tab.wait(terms)
    by_click = tab.evaluate("document.querySelector('.cv-sum').textContent")
    assert by_click.endswith("= 8"), "the weight in the last row meets the 1 above the middle"
    tab.press("Escape")
    tab.wait(f"!{terms}")
    focus(tab, '[data-panel="grad_input"] [data-cell="0,0"]')
    tab.press("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", " ")
    tab.wait(terms)
    assert tab.evaluate("document.querySelector('.cv-sum').textContent") == by_click


def test_the_served_app_gets_torchs_numbers(tab, server):
    within = APPEARS_WITHIN_MS / 1000
    tab.open(server.url)
    tab.wait("document.querySelector('.cv-board')?.dataset.painted > 0", within)
    tab.wait("document.querySelector('body[data-convviz-torch=ok] .cv-board[data-from=torch]') !== null", within)
    tab.wait(f"({SETTLED})(0)")
    focus(tab, ".cv-set-stride input[type=range]")
    repainted(tab, ["ArrowRight"])
    assert tab.evaluate(STRIDE) == 2
    assert tab.evaluate("document.querySelector('.cv-truth').textContent").startswith(
        "torch, cpu, float32: equals autograd"
    )
    assert tab.evaluate("document.querySelector('.cv-truth').dataset.ok") == "true"
    assert any(url.startswith(server.url) for url in tab.requests), "what it asks for is seen"
    assert_numbers_are_autograds(tab, 0)  # whole numbers: float32 has them exactly
