"""The bare figure of the module: `<convviz-board band=...>`, panels and signs alone, in any box of a page."""

import itertools

import pytest
import torch
import torch.nn.functional as F

import convviz
from convviz.settings.link import from_link
from convviz.settings.tensors import grad_tensor, input_tensor, weight_tensor
from tests.browser.app_page import fresh_page
from tests.browser.serve_folder import serve_folder

PAGE = """<!doctype html><html lang="en"><title>Course</title>
<style>body { margin: 0; height: 3000px } convviz-board { height: 420px; width: var(--wide) }</style>
<script type="module" src="convviz.mjs"></script>
<script>const heard = []; addEventListener("convviz-change", ({ detail }) => heard.push(detail));</script></html>"""
# Other figures in the open page, each as new as one that came with it: to load the module takes ten times as long.
PUT = """async ([figures, width]) => {
  for (const figure of document.querySelectorAll("convviz-board")) figure.remove();
  document.activeElement?.blur();
  scrollTo(0, 0);
  heard.length = 0;
  document.body.style.setProperty("--wide", `${width}px`);
  document.body.insertAdjacentHTML("beforeend", figures);
}"""
FIGURE = '<convviz-board state="{state}" band="{band}" panels="{panels}" cell="{cell}"></convviz-board>'
STAMPS = "grad_output,weight,grad_input"
AS_SEEN = """(host) => {
  const [root, box] = [host.shadowRoot, host.getBoundingClientRect()];
  const inside = ({ left, right, top, bottom }) =>
    left >= box.left - 1 && right <= box.right + 1 && top >= box.top - 1 && bottom <= box.bottom + 1;
  const seen = (node) => node.checkVisibility() && node.getClientRects().length > 0;
  const area = (panel) => panel.querySelector(".cv-area").getBoundingClientRect();
  const panels = [...root.querySelectorAll(".cv-panel")];
  return {
    panels: panels.map((panel) => panel.dataset.panel),
    numbers: Object.fromEntries(panels.map((panel) => [panel.dataset.panel,
      [...panel.querySelectorAll("[data-cell]")].map((cell) => Number(cell.dataset.value))])),
    places: panels.map(area).map(({ x, y, width, height }) => [x, y, width, height].map(Math.round)),
    inside: panels.every((panel) => inside(area(panel))),
    digits: Math.min(...panels.flatMap((panel) => [...panel.querySelectorAll(".cv-printed text")].map((text) =>
      parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d))),
    signs: [...root.querySelectorAll(".cv-symbol")].map((sign) => sign.textContent),
    others: [...root.querySelectorAll("button, select, summary, input, h3")].filter(seen)
      .map((node) => node.className).filter((name) => name !== "cv-product"),
    sum: root.querySelector(".cv-sum").textContent,
    stops: [...root.querySelectorAll("*")].filter((node) => node.tabIndex >= 0 && seen(node)).length,
    notice: root.querySelector(".cv-notice").textContent,
  };
}"""


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The address of a page that has the module and no figure yet."""
    folder = tmp_path_factory.mktemp("figures")
    convviz.export_module(folder / "convviz.mjs")
    (folder / "host.html").write_text(PAGE, encoding="utf-8")
    with serve_folder(folder) as address:
        yield f"{address}host.html"


@pytest.fixture(scope="module")
def course(browser, host):
    """The page, open for all tests; it has a touch screen, too."""
    with fresh_page(browser, has_touch=True) as page:
        page.goto(host)
        page.wait_for_function("customElements.get('convviz-board') !== undefined")
        yield page


@pytest.fixture
def page(course):
    """The page as it started: a change is seen at once, and the pointer is nowhere."""
    course.emulate_media(reduced_motion="reduce")
    course.mouse.move(0, 0)
    yield course
    errors, course.page_errors[:] = [error.stack or error.message for error in course.page_errors], []
    assert [*errors, *course.outside] == []


def figure_of(band="input", panels=STAMPS, state="v=2", cell=""):
    return FIGURE.format(state=state.replace("&", "&amp;"), band=band, panels=panels, cell=cell)


def open_figure(page, width=900, **of):
    page.evaluate(PUT, [figure_of(**of), width])
    return page.locator("convviz-board")


def seen(figure):
    """Return what a figure shows, once it has painted its last change."""
    figure.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    figure.locator("[data-cell]").first.wait_for(state="attached")
    return figure.evaluate(AS_SEEN)


def by_autograd(link):
    """Return grad_input and grad_weight of a link's convolution, as autograd has them."""
    settings, _ = from_link(link)
    x, weight = (make(settings).double().requires_grad_() for make in (input_tensor, weight_tensor))
    spec = settings.spec
    (padding, _), (across, _) = spec.padding
    output = F.conv2d(x, weight, None, spec.stride, (padding, across), spec.dilation, spec.groups)
    gradients = torch.autograd.grad(output, (x, weight), grad_tensor(settings).double())
    return {
        name: gradient[0, 0].flatten().tolist()
        for name, gradient in zip(("grad_input", "grad_weight"), gradients, strict=True)
    }


@pytest.mark.parametrize("width", [340, 700, 1400])
@pytest.mark.parametrize(
    ("band", "panels", "state"),
    [
        ("input", STAMPS, "v=2&size=7&stride=2&grad=ones&view=stamps"),
        ("input", "", "v=2&grad=ones&view=window"),
        ("weight", "", "v=2"),
    ],
)
def test_panels_and_signs_alone_fill_the_box_with_numbers_that_can_be_read(page, width, band, panels, state):
    shown = seen(open_figure(page, width, band=band, panels=panels, state=state))
    assert shown["inside"]
    assert shown["digits"] >= 9.9
    assert shown["others"] == []
    result = f"grad_{band}"
    assert shown["panels"][-1] == result
    assert shown["numbers"][result] == by_autograd(state)[result]
    assert shown["signs"][-1] == "="
    assert shown["stops"] == 1


ACTIVE = """(host) => {
  const at = host.shadowRoot.activeElement;
  const panel = at?.closest(".cv-panel")?.dataset.panel ?? "sum";
  return [panel, at?.dataset.cell ?? at?.textContent, at?.getAttribute("aria-label") ?? ""];
}"""


def test_the_figure_is_one_stop_in_which_arrows_reach_everything(page):
    """Across, the next panel in the order of reading; down, what lies below; labels as on a board."""
    state = "v=2&grad=ones&view=stamps&in_channels=2"
    figure = open_figure(page, state=state, cell="grad_input 2 2")
    assert seen(figure)["stops"] == 1
    page.keyboard.press("Tab")
    for key, panel, cell in (
        ("", "grad_output", "0,0"),
        ("ArrowRight", "grad_output", "0,1"),
        ("ArrowRight", "grad_output", "0,2"),
        ("ArrowRight", "weight", "0,0"),
        ("ArrowUp", "weight", "0,0"),
        ("ArrowLeft", "grad_output", "0,2"),
        ("ArrowDown", "grad_output", "1,2"),
        ("ArrowRight", "weight", "1,0"),
        *[("ArrowRight", "weight", cell) for cell in ("1,1", "1,2", "2,0", "2,1", "2,2")],
        ("ArrowRight", "grad_input", "2,0"),
        ("ArrowLeft", "weight", "2,2"),
        ("ArrowRight", "grad_input", "2,0"),
        ("PageDown", "grad_input", "4,0"),
    ):
        if key:
            page.keyboard.press(key)
        at, name, label = figure.evaluate(ACTIVE)
        assert [at, name] == [panel, cell], key
        assert label, "a reader's name for it"
        assert seen(figure)["stops"] == 1
    page.keyboard.press("ArrowDown")
    assert figure.evaluate(ACTIVE)[2] == "Show grad_input[0, 0]", "the planes of the panel"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert seen(figure)["stops"] == 1
    assert figure.evaluate(ACTIVE)[2] == "Show grad_input[0, 1]"
    page.keyboard.press("ArrowDown")
    products = figure.locator(".cv-product")
    for key, at in (("", 0), ("ArrowRight", 1), ("End", 8), ("ArrowRight", 0)):
        if key:
            page.keyboard.press(key)
        assert products.nth(at).evaluate("(product) => product.getRootNode().activeElement === product")
    assert seen(figure)["stops"] == 1
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "BODY"


@pytest.mark.parametrize("point", ["focus", "tap"])
def test_a_change_of_state_lets_go_of_what_was_pointed_at(page, point):
    lit = "(host) => [...host.shadowRoot.querySelectorAll('.cv-lights')].some((each) => each.dataset.lit)"
    figure = open_figure(page, state="v=2&grad=ones&view=stamps")
    seen(figure)
    cell = figure.locator("[data-panel=grad_input] [data-cell='2,1']")
    cell.focus() if point == "focus" else cell.tap(force=True)
    assert figure.evaluate(lit)
    assert figure.locator(".cv-readout").text_content()
    figure.evaluate("(host) => host.setAttribute('state', 'v=2&grad=ones&size=6&stride=2')")
    seen(figure)
    assert not figure.evaluate(lit)
    assert figure.locator(".cv-readout").text_content() == ""


def test_what_moves_from_state_to_state_is_no_shift_of_the_layout(browser, host):
    """Chrome counts whatever box stands elsewhere in the next frame; 0.02 is promised, and none is to be seen."""
    with fresh_page(browser, painted=True, reduced_motion="no-preference") as page:
        page.add_init_script(
            "window.shift = 0; new PerformanceObserver((list) => { for (const { value } of list.getEntries())"
            " shift += value; }).observe({ type: 'layout-shift', buffered: true })"
        )
        page.goto(host)
        figure = open_figure(page, state="v=2&grad=ones&view=stamps", panels="")
        places = [seen(figure)["places"]]
        for state in ("v=2&view=window", "v=2&size=6&stride=2&view=stamps", "v=2&size=6&stride=2&view=both"):
            figure.evaluate("(host, state) => host.setAttribute('state', state)", state)
            seen(figure)
            figure.evaluate("(host) => Promise.all(host.shadowRoot.getAnimations().map((each) => each.finished))")
            places.append(seen(figure)["places"])
        assert all(one != other for one, other in itertools.pairwise(places)), "panels did move"
        assert page.evaluate("shift") <= 0.002


def test_chosen_panels_keep_the_signs_between_them(page):
    figure = open_figure(page, panels="weight,grad_input")
    assert seen(figure)["panels"] == ["weight", "grad_input"]
    assert seen(figure)["signs"] == ["="]
    figure.evaluate("(host) => host.setAttribute('panels', 'grad_output,grad_input')")
    assert seen(figure)["signs"] == []


def test_a_state_that_comes_later_looks_like_one_that_was_there_first(page):
    """Whatever way led there, through other bands and sizes, and in the middle of another change."""
    states = [
        ("v=2", "input", ""),
        ("v=2&size=7&stride=2&grad=ones&view=window", "input", "grad_input 3 3"),
        ("v=2&in_channels=2&out_channels=2&grad=ones&view=stamps", "input", "grad_input 2 2"),
        ("v=2&grad=ones", "weight", "grad_weight 0 0"),
    ]
    fresh = [seen(open_figure(page, panels="", state=state, band=band, cell=cell)) for state, band, cell in states]
    page.emulate_media(reduced_motion="no-preference")
    figure = page.locator("convviz-board")
    for at in (0, 2, 1, 3, 0):
        state, band, cell = states[at]
        change = "(host, all) => Object.entries(all).forEach(([name, value]) => host.setAttribute(name, value))"
        figure.evaluate(change, {"state": state, "band": band, "cell": cell})
        seen(figure)
        figure.evaluate("(host) => Promise.all(host.shadowRoot.getAnimations().map((each) => each.finished))")
        assert seen(figure) == fresh[at]
    assert page.evaluate("heard") == []


def test_a_drag_and_a_click_are_reported_as_those_of_a_board(page):
    figure = open_figure(page)
    seen(figure)
    cell = figure.locator("[data-panel=grad_output] [data-cell='1,1']").bounding_box()
    at = (cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2)
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + cell["width"], at[1], steps=3)
    page.mouse.up()
    moved = page.evaluate("heard.at(-1)")
    assert seen(figure)["numbers"]["grad_input"] == by_autograd(moved["link"])["grad_input"]
    assert moved["cell"] == {"panel": "grad_output", "row": 1, "column": 2}
    figure.locator("[data-panel=grad_input] [data-cell='2,3']").click(force=True)
    assert page.evaluate("heard.at(-1)") == {
        "link": moved["link"],
        "cell": {"panel": "grad_input", "row": 2, "column": 3},
    }
    assert seen(figure)["sum"].startswith("grad_input[2,3] = ")


def test_two_figures_of_a_page_move_each_by_itself(page):
    page.evaluate(PUT, [figure_of(panels="") + figure_of(state="v=2&grad=ones", band="weight", panels=""), 700])
    one, other = (page.locator("convviz-board").nth(at) for at in (0, 1))
    before = seen(one), seen(other)
    assert before[0]["numbers"]["grad_input"] == by_autograd("v=2")["grad_input"]
    assert before[1]["numbers"]["grad_weight"] == by_autograd("v=2&grad=ones")["grad_weight"]
    one.locator("[data-panel=grad_output] [data-cell='1,1']").focus()
    page.keyboard.press("Shift+ArrowRight")
    assert seen(one)["numbers"]["grad_input"] != before[0]["numbers"]["grad_input"]
    assert seen(other) == before[1]


def test_the_wheel_scrolls_the_page(page):
    figure = open_figure(page)
    seen(figure)
    for place in (".cv-row", ".cv-sum", "[data-panel=weight] .cv-area"):
        page.evaluate("scrollTo(0, 0)")
        figure.locator(place).first.hover(force=True)
        page.mouse.wheel(0, 200)
        page.wait_for_function("scrollY > 100")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("band", "up", "band is one of forward, input, weight, bias: got up"),
        ("panels", "output", "a panel of the band input is one of"),
        ("cell", "grad_input 2", "cell is a panel with a row and a column, such as grad_input 2 3: got grad_input 2"),
    ],
)
def test_what_it_cannot_show_it_says(page, name, value, message):
    figure = open_figure(page)
    before = seen(figure)
    figure.evaluate("(host, [name, value]) => host.setAttribute(name, value)", [name, value])
    after = seen(figure)
    assert after.pop("notice").startswith(message)
    before.pop("notice")
    assert after == before
    figure = open_figure(page, **{name: value})
    assert message in figure.locator(".cv-notice").text_content()


def test_a_cell_whose_own_sum_is_in_no_panel_of_the_figure_is_said_without_it(page):
    figure = open_figure(page)
    figure.locator("[data-panel=weight] .cv-area").click()
    message = seen(figure)
    assert message["notice"] == ""
    assert message["sum"].startswith("weight, row 1, column 1"), message["sum"]
