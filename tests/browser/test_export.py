"""The one-file page in a browser: alive without a kernel, without a server, without a single request."""

import json
import math

import pytest
from playwright.sync_api import expect

from convviz.export.page import export_html
from tests.browser.app_page import (
    FOLLOWS_WITHIN_MS,
    cell,
    fresh_page,
    repaint,
    show_all_controls,
    wait_painted,
    weight_slider,
)
from tests.browser.pdf import words_of
from tests.browser.test_panel_zoom_dialog import open_figure

APPEARS_WITHIN_MS = 60_000
# Whether plotly's own layout is as high as the row.
PLOTLY_KNOWS = """() => [...document.querySelectorAll(".cv-equation")].every((equation) => {
  const { layout } = equation.querySelector(".cv-plot");
  return Math.abs(layout.height - equation.querySelector(".cv-stage").getBoundingClientRect().height) < 1;
})"""
# Where plotly's image of a panel stands beside the panel's cells, and how many pixels it has.
COLOURS = """() => Promise.all([...document.querySelectorAll(".cv-equation")].flatMap((equation) => {
  const { data } = equation.querySelector(".cv-plot");
  return [...equation.querySelectorAll(".cv-panel")].map(async (panel) => {
    const called = panel.querySelector(".cv-name").textContent.split("[")[0];
    const { xaxis, yaxis, z } = data.find(({ name }) => name === called);
    const own = panel.querySelector(".cv-area > .cv-pixels");
    const grid = panel.querySelector(".cv-grid");
    const cells = ["aria-colcount", "aria-rowcount"].map((name) => Number(grid.getAttribute(name)));
    if (own) {
      const [one, other] = [own, own.closest(".cv-area")].map((at) => at.getBoundingClientRect());
      const off = Math.max(...["left", "top", "right", "bottom"].map((side) => Math.abs(one[side] - other[side])));
      return { called, off, cells, pixels: [own.width, own.height], own: true };
    }
    const image = equation.querySelector(`.overplot .${xaxis}${yaxis} .hm image`);
    const id = image.closest("[clip-path]").getAttribute("clip-path").match(/#[\\w-]+/);
    const clip = equation.querySelector(`${id} rect`);
    const [one, other] = [image, panel.querySelector(".cv-area")].map((at) => at.getBoundingClientRect());
    const moved = ["left", "top", "right", "bottom"].map((side) => one[side] - other[side]);
    const cut = ["width", "height"].map((side) => clip[side].baseVal.value - other[side]);
    const off = Math.max(...[...moved, ...cut].map(Math.abs));
    const picture = Object.assign(new Image(), { src: image.href.baseVal });
    await picture.decode();
    return { called, off, cells, pixels: [picture.naturalWidth, picture.naturalHeight], own: false };
  });
}))"""


# The same as soon as a slider has moved: plotly may be quicker than another message of the test.
AT_ONCE = f"""async (name) => {{
  const [board, input] = [".cv-board", `.cv-set-${{name}} input`].map((each) => document.querySelector(each));
  const before = board.dataset.painted;
  input.value = Number(input.value) + 1;
  input.dispatchEvent(new Event("input", {{ bubbles: true }}));
  while (board.dataset.painted === before) await new Promise(requestAnimationFrame);
  return ({COLOURS})();
}}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def exported(folder):
    return export_html({}, folder / "page.html")


def open_page(page, path):
    """Open a page from the disk and wait until it is drawn."""
    page.requests = []
    page.on("request", lambda request: page.requests.append(request.url))
    page.goto(path.as_uri())
    wait_painted(page, 0, APPEARS_WITHIN_MS)
    show_all_controls(page)


# Keeps the heights that the app gives its picture: each lays out every cell.
HEIGHTS = """const set = CSSStyleDeclaration.prototype.setProperty, heights = (window.heights = []);
CSSStyleDeclaration.prototype.setProperty = function (name, value, ...more) {
  if (name === "--cv-room") heights.push(value);
  return set.call(this, name, value, ...more);
};"""


@pytest.mark.plotly
def test_it_lives_without_one_request_and_paper_has_what_stands_there_now(page, exported):
    page.route("**/*", lambda route: route.continue_() if route.request.url == exported.as_uri() else route.abort())
    page.add_init_script(HEIGHTS)
    open_page(page, exported)
    assert len(page.evaluate("heights")) == 1, "it is measured where it stays, without the still picture above it"
    assert [url for url in page.requests if not url.startswith("blob:")] == [exported.as_uri()]
    assert page.outside == []
    assert page.locator("#convviz-still").is_hidden()
    # Without zeros, which are printed apart.
    read = """(panels) => [...panels[0].querySelectorAll(".cv-cell")]
      .map((cell) => cell.ariaLabel).filter((number) => number !== "0").join("")"""
    output = page.locator('[data-panel="output"]')
    first = output.evaluate_all(read)
    with repaint(page):
        weight_slider(page, 0, 0).press("ArrowRight")
    assert output.evaluate_all(read) != first
    assert cell(page, "weight", 0, 0).get_attribute("data-value") == "-0.9"
    with repaint(page):
        page.get_by_role("button", name="Undo").click()
    assert output.evaluate_all(read) == first
    with repaint(page):
        page.locator(".cv-set-preset select").select_option("emboss")
    # Read in the PDF: the numbers of this state, in cells and in words, and no longer those of the first.
    printed = "".join(words_of(page.pdf())).replace(" ", "")
    assert output.evaluate_all(read) in printed
    assert page.locator(".cv-loss").text_content().replace(" ", "") in printed
    assert first not in printed
    assert "linkheightandwidth" not in printed, "controls cannot be used on paper"


def test_a_cell_with_the_focus_may_go_with_its_panel(opened):
    """The focus moves on while panels come and go: nothing is linked by the geometry of those that are gone."""
    page = opened("v=1&size=3&weight=counting&loss=sum")
    with repaint(page):
        page.evaluate("location.hash = 'v=1&size=4&padding=2&mode=circular'")
    cell(page, "grad_input", 3, 3).click()
    said = page.evaluate_handle("""() => {
      const live = document.querySelector(".cv-foot > .cv-live");
      const said = [];
      const CHANGES = { childList: true, characterData: true, subtree: true };
      new MutationObserver(() => said.push(live.textContent)).observe(live, CHANGES);
      return said;
    }""")
    with repaint(page):
        page.go_back()
    assert page.page_errors == []
    value = float(cell(page, "grad_input", 2, 2).get_attribute("data-value"))
    spoken = [text for text in said.json_value() if text]
    assert spoken == [f"grad_input, row 2, column 2: {value:g}".replace("-", "−")], "no number of the picture before"


def test_without_scripts_the_picture_stands_there(browser, exported):
    with fresh_page(browser, java_script_enabled=False) as page:
        page.goto(exported.as_uri())
        assert page.locator("#convviz-still svg").count() == 3
        assert all(svg.is_visible() for svg in page.locator("#convviz-still svg").all())
        assert page.locator("noscript").inner_text().startswith("This is a picture")
        assert page.locator("#convviz-live").inner_text() == ""


def test_a_page_that_fails_keeps_its_picture(page, folder, exported):
    broken = folder / "broken.html"
    broken.write_text(exported.read_text().replace('"kind":"sobel_x"', '"kind":"sobel_z"'))
    page.goto(broken.as_uri())
    page.locator("#convviz-live", has_text="The page could not start").wait_for()
    assert page.locator("#convviz-still svg").first.is_visible()


def test_no_number_runs_over_its_cell(opened):
    """The longest that float64 has: sign, mantissa and an exponent of three digits with a sign of its own."""
    numbers = "-1.25e-150,-2.75e150,-1234.5,-0.00012,-1e9,-99.99,0.5,-1.5e-7,1e100"
    page = opened(f"v=1&weight=values:1x1x3x3:{numbers}", (1600, 1200))
    look = """() => [...document.querySelectorAll("[data-focus] .cv-area")].flatMap((area) => {
      const cell = area.querySelector(".cv-cell").getBoundingClientRect().width;
      return [...area.querySelectorAll(".cv-printed text")]
        .filter((text) => !text.matches(".cv-zero")) // one element for all zeros, which are the narrowest
        .map((text) => [text.textContent, text.getBoundingClientRect().width / cell]).filter(([, width]) => width);
    })"""
    widths = []
    for band in "23":  # in focus its numbers are printed
        page.keyboard.press(band)
        page.locator(f".cv-equation:nth-child({band})[data-focus]").wait_for()
        page.wait_for_function("() => !document.querySelector('[data-focus] .cv-wordless')")
        widths += page.evaluate(look)
    assert {len(text) for text, _ in widths} >= {5, 6, 7, 8}
    assert [(text, width) for text, width in widths if width > 1] == [], "as a part of its cell"


@pytest.mark.plotly
def test_the_colours_go_with_the_panels(page, exported):
    """While a slider moves the panels have colours of their own; at rest plotly's images take their place."""
    open_page(page, exported)
    for name in ("padding", "input_size"):
        at_once = page.evaluate(AT_ONCE, name)
        page.wait_for_function(
            "() => !document.querySelector('.cv-board .cv-area > .cv-pixels')", timeout=FOLLOWS_WITHIN_MS
        )
        assert page.evaluate(PLOTLY_KNOWS)
        for own, panels in ((True, at_once), (False, page.evaluate(COLOURS))):
            assert len(panels) == 11
            for panel in panels:
                assert panel["off"] <= 1.5, panel
                assert panel["pixels"] == panel["cells"], panel
                assert panel["own"] == own, panel


@pytest.mark.plotly
def test_a_page_without_plotly_lacks_only_figures_and_says_so(page, folder):
    small = export_html({}, folder / "small.html", plotly=False)
    open_page(page, small)
    with repaint(page):
        weight_slider(page, 0, 0).press("ArrowRight")
    assert cell(page, "weight", 0, 0).get_attribute("data-value") == "-0.9"
    assert page.locator(".cv-panel:has(.cv-area > .cv-pixels)").count() == 11, "all colours are there"
    said = open_figure(page, "grad_input").get_by_role("status")
    expect(said).to_contain_text("This page was saved without plotly")


def test_it_lives_in_an_iframe_and_sends_its_height(page, folder, exported):
    listen = """window.reported = []; addEventListener("message", (event) => {
      const frame = document.querySelector("iframe");
      if (event.source !== frame.contentWindow) return;
      reported.push(event.data);
      if (event.data.type === "convviz:resize") frame.height = event.data.height;
    });"""
    host = folder / "host.html"
    ways = (("", "src", exported.as_uri()), (' sandbox="allow-scripts"', "srcdoc", exported.read_text()))
    for sandbox, attribute, value in ways:
        inner = f'<iframe title="c" width="900"{sandbox}></iframe>'
        host.write_text(f"<!doctype html><title>Course</title><script>{listen}</script>\n{inner}")
        page.goto(host.as_uri())
        fill = "([name, value]) => document.querySelector('iframe').setAttribute(name, value)"
        page.evaluate(fill, [attribute, value])
        inside = page.frame_locator("iframe")
        inside.locator(".cv-board[data-painted='1']").wait_for(timeout=APPEARS_WITHIN_MS)
        weight_slider(inside, 0, 0).press("ArrowRight")
        inside.locator(".cv-board[data-painted='2']").wait_for()
        page.wait_for_function("document.querySelector('iframe').height > 600")
        reported = page.evaluate("reported")
        assert {message["type"] for message in reported if isinstance(message, dict)} == {"convviz:resize"}
        assert {json.loads(message)["subject"] for message in reported if isinstance(message, str)} == {
            "lti.frameResize"
        }
        bottom = inside.locator("main").evaluate("(main) => main.getBoundingClientRect().bottom")
        assert math.isclose(page.locator("iframe").evaluate("(frame) => Number(frame.height)"), bottom, abs_tol=5)


def test_a_page_has_the_controls_the_theme_and_the_height_that_were_chosen(page, folder):
    chosen = {"controls": ("stride", "padding_mode"), "height": 400}
    open_page(page, export_html({"theme": "dark"}, folder / "two.html", **chosen))
    names = page.locator(".cv-control:visible").evaluate_all(
        "all => all.map((at) => at.className.match(/cv-set-(\\w+)/)[1])"
    )
    assert names == ["stride", "padding_mode"]
    assert page.locator(".cv-page").get_attribute("data-theme") == "dark"
    assert page.evaluate("document.body.getBoundingClientRect().height") == 400
    open_page(page, export_html({}, folder / "none.html", controls=()))
    assert page.locator(".cv-controls :is(input, select, button):visible").count() == 0
    assert page.locator(".cv-board").bounding_box()["width"] > 0.9 * page.viewport_size["width"]
