"""The one-file page in a browser: alive without a kernel, without a server, without a single request."""

import json
import math
import re

import pytest
import torch

from convviz.export.page import export_html
from convviz.facts.numbers import format_long
from convviz.settings.compute import compute
from convviz.settings.link import to_link
from convviz.settings.state import Settings
from tests.browser.app_page import (
    FOLLOWS_WITHIN_MS,
    cell,
    fresh_page,
    repaint,
    show_all_controls,
    wait_painted,
)
from tests.browser.pdf import words_of
from tests.settings.test_link import in_a_page
from tests.states import random_states

pytestmark = pytest.mark.browser

APPEARS_WITHIN_MS = 60_000
LABEL = re.compile(r"\w+\[(\d+), (\d+)\]")
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
    const own = panel.querySelector(".cv-tiles, .cv-area > .cv-pixels");
    const grid = panel.querySelector(".cv-grid");
    const cells = ["aria-colcount", "aria-rowcount"].map((name) => Number(grid.getAttribute(name)));
    if (own) {
      const [one, other] = [own, own.closest(".cv-area")].map((at) => at.getBoundingClientRect());
      const off = Math.max(...["left", "top", "right", "bottom"].map((side) => Math.abs(one[side] - other[side])));
      return { called, off, cells, pixels: own.width ? [own.width, own.height] : cells, own: true };
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
# As the page keeps its settings when it is about to be loaded again.
STATE = """() => {
  window.dispatchEvent(new Event("convviz:save"));
  const kept = sessionStorage.getItem("convviz:state");
  sessionStorage.removeItem("convviz:state");
  return JSON.parse(kept);
}"""
# Moves chosen controls at random, one after another, and reads all panels after each. The answer is one text: over
# a million single numbers Playwright takes longer than the page takes for all of its moves.
WALK = """async ([moves, seed]) => {
  let word = seed;
  const draw = (count) => (word = (Math.imul(word, 1664525) + 1013904223) >>> 0, Math.floor((word / 2 ** 32) * count));
  const board = document.querySelector(".cv-board");
  const settled = (before) => new Promise((done) => {
    const look = () => (Number(board.dataset.painted) > before ? done() : requestAnimationFrame(look));
    look();
  });
  const state = STATE;
  const kinds = ":is(select, input[type=range], input[type=checkbox])";
  const controls = () => [...document.querySelectorAll(`:is(.cv-controls, .cv-choices) ${kinds}`)]
    .filter((input) => input.offsetParent && !input.disabled)
    .filter((input) => !input.closest(".cv-set-example")); // a move is one setting
  const read = () => {
    const panels = {};
    for (const equation of board.querySelectorAll(".cv-equation")) {
      const data = equation.querySelector(".cv-plot").data;
      for (const panel of equation.querySelectorAll(".cv-panel")) {
        const label = panel.querySelector(".cv-name").textContent;
        const plane = data.find(({ name }) => name === label.split("[")[0]).z.map((row) => [...row]);
        const cells = [...panel.querySelectorAll("[data-cell][data-value]")];
        const shown = cells.every((at) => {
          const [row, column] = at.dataset.cell.split(",").map(Number);
          return Number(at.dataset.value) === plane[row][column];
        });
        panels[panel.dataset.panel] = { plane, shown, label, numbered: cells.length };
      }
    }
    const set = {};
    for (const control of document.querySelectorAll(".cv-control")) {
      const name = control.className.match(/cv-set-(\\w+)/)[1];
      const input = control.querySelector("select, input");
      if (!input) continue; // a button
      const value = { checkbox: input.checked, range: Number(input.value) }[input.type] ?? input.value;
      (set[name] ??= []).push(value);
    }
    const textOf = (selector) => board.querySelector(selector).textContent;
    return { panels, set, state: state(), loss: textOf(".cv-loss"), truth: textOf(".cv-truth") };
  };
  const found = [];
  let tries = 0;
  while (found.length < moves) {
    if (tries++ > 20 * moves) throw new Error(`of ${tries} moves ${found.length} changed the state`);
    const all = controls();
    const input = all[draw(all.length)];
    const [before, was] = [Number(board.dataset.painted), JSON.stringify(state())];
    const old = input.type === "checkbox" ? input.checked : input.value;
    if (input.type === "checkbox") input.checked = !input.checked;
    else if (input.type === "range") {
      const [low, high, step] = [Number(input.min), Number(input.max), Number(input.step)];
      input.value = String(low + step * draw(Math.round((high - low) / step) + 1));
    } else input.selectedIndex = draw(input.options.length);
    if ((input.type === "checkbox" ? input.checked : input.value) === old) continue;
    input.dispatchEvent(new Event(input.type === "range" ? "input" : "change", { bubbles: true }));
    if (JSON.stringify(state()) === was) continue; // refused, or what was meant holds already
    await settled(before);
    found.push(read());
  }
  return JSON.stringify(found);
}""".replace("STATE", STATE)


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


def test_it_lives_without_one_request(page, exported):
    page.route("**/*", lambda route: route.continue_() if route.request.url == exported.as_uri() else route.abort())
    open_page(page, exported)
    assert [url for url in page.requests if not url.startswith("blob:")] == [exported.as_uri()]
    assert page.outside == []
    assert page.locator("#convviz-still").is_hidden()
    output = cell(page, "output", 1, 1)
    before = output.get_attribute("data-value")
    with repaint(page):
        page.locator(".cv-slider input[type=range]").first.press("ArrowRight")
    assert output.get_attribute("data-value") != before
    assert cell(page, "weight", 0, 0).get_attribute("data-value") == "-0.9"
    with repaint(page):
        page.get_by_role("button", name="Undo").click()
    assert output.get_attribute("data-value") == before


def test_a_cell_with_the_focus_may_go_with_its_panel(page, exported):
    """The focus moves on while panels come and go: nothing is linked by the geometry of those that are gone."""
    page.goto(f"{exported.as_uri()}#v=1&size=3&weight=counting&loss=sum")
    wait_painted(page, 0)
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


def test_printed_is_what_stands_there_now(page, exported):
    """Read in the PDF: the numbers of this state, in cells and in words, and no longer those of the first."""
    open_page(page, exported)
    read = "(panels) => [...panels[0].querySelectorAll('.cv-cell')].map((cell) => cell.ariaLabel).join('')"
    output = page.locator('[data-panel="output"]')
    first, loss = output.evaluate_all(read), page.locator(".cv-loss")
    with repaint(page):
        page.locator(".cv-set-preset select").select_option("emboss")
    with repaint(page):
        page.locator(".cv-set-stride input").first.press("ArrowLeft")
    printed = "".join(words_of(page.pdf())).replace(" ", "")
    assert output.evaluate_all(read) in printed
    assert loss.text_content().replace(" ", "") in printed
    assert first not in printed
    assert "linkheightandwidth" not in printed, "controls cannot be used on paper"


def assert_loss(shot, loss, about):
    """The loss is written with six digits, whichever way the last one was rounded."""
    written = shot["loss"].rsplit("= ")[-1].replace("−", "-")
    near = {format_long(loss * (1 + nudge)).replace("−", "-") for nudge in (-1e-10, 0, 1e-10)}
    assert written in near or abs(loss) + abs(float(written)) < 1e-9, about


KINDS = ("transposed", "plain")


def link_of(state):
    """Return the link of a state, or None if it holds too many numbers for one."""
    try:
        return to_link(Settings.from_dict(state))
    except ValueError:
        return None


def states_opened(page, folder, kind, count):
    """Yield random states of a kind, each once the page has opened with it.

    The first, and each that is too long for a link, is exported; the others come as links into the address of the page
    that is open: to open a page takes as long as ten moves.
    """
    number = 100 * KINDS.index(kind)
    drawn = (random_states(number + seed, 99) for seed in range(count))
    states = [next(s for s in each if s["transposed"] == (kind != "plain")) for each in drawn]
    controls = ("kernel", "geometry", "channels", "input", "loss", "scale")
    for seed, state in sorted(enumerate(states), key=lambda each: link_of(each[1]) is not None):
        if (link := link_of(state)) is None or not page.url.startswith("file:"):
            open_page(page, export_html(state, folder / f"{kind}{seed}.html", controls=controls))
        else:
            with repaint(page):
                page.evaluate("(link) => { location.hash = link; }", link)
            assert page.locator(".cv-notice").text_content() == ""
        yield seed, in_a_page(Settings.from_dict(state))


@pytest.mark.parametrize("kind", KINDS)
def test_from_states_of_every_kind_every_cell_is_torchs(page, folder, kind):
    """Twenty-eight moves of every control from each of six random states; channels, groups, each side, each axis."""
    for seed, state in states_opened(page, folder, kind, 6):
        assert page.evaluate(STATE) == state
        for shot in json.loads(page.evaluate(WALK, [28, seed + 1])):
            assert_shot(shot)


def assert_shot(shot):
    """Hold every panel, and the loss, against torch's for the state that the page has, and the controls show."""
    about, spec = json.dumps(shot["state"]), shot["state"]["spec"]
    for name in () if shot["state"]["transposed"] else ("input_size", "kernel_size", "stride", "dilation"):
        shown = shot["set"][name]
        assert spec[name] in (shown, shown[:1] * 2), (name, about)  # one slider may move both axes
    assert shot["set"]["loss_kind"][0] == shot["state"]["loss"], about
    assert "in this page" in shot["truth"]
    expected = compute(Settings.from_dict(shot["state"]).replace(dtype="float64"))
    assert_loss(shot, expected.loss.item(), about)
    for name, panel in shot["panels"].items():
        at = LABEL.fullmatch(panel["label"])
        tensor = getattr(expected, name)
        if tensor.dim() == 4:
            tensor = tensor[int(at[1]), int(at[2])] if at else tensor[0, 0]
        plane = torch.tensor(panel["plane"], dtype=torch.float64)
        assert plane.shape == torch.atleast_2d(tensor).shape, (name, about)
        assert torch.allclose(plane, tensor, rtol=1e-6, atol=1e-9), (name, about)
        assert panel["shown"], (name, about)


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


def test_no_number_runs_over_its_cell(page, exported):
    """The longest that float64 has: sign, mantissa and an exponent of three digits with a sign of its own."""
    numbers = "-1.25e-150,-2.75e150,-1234.5,-0.00012,-1e9,-99.99,0.5,-1.5e-7,1e100"
    page.goto(f"{exported.as_uri()}#v=1&weight=values:1x1x3x3:{numbers}")
    wait_painted(page, 0, APPEARS_WITHIN_MS)
    look = """() => [...document.querySelectorAll("[data-focus] .cv-area")].flatMap((area) => {
      const cell = area.querySelector(".cv-cell").getBoundingClientRect().width;
      return [...area.querySelectorAll(".cv-printed text")]
        .map((text) => [text.textContent, text.getBoundingClientRect().width / cell]).filter(([, width]) => width);
    })"""
    page.set_viewport_size({"width": 1600, "height": 1200})
    widths = []
    for band in "123":  # in focus its numbers are printed
        page.keyboard.press(band)
        page.locator(f".cv-equation:nth-child({band})[data-focus]").wait_for()
        page.wait_for_function("() => !document.querySelector('[data-focus] .cv-wordless')")
        widths += page.evaluate(look)
    assert {len(text) for text, _ in widths} >= {5, 6, 7, 8, 9}
    assert [(text, width) for text, width in widths if width > 1] == [], "as a part of its cell"


def test_a_frame_that_grows_ends_at_one_height(browser, exported, folder):
    # What is high in parts of the window would make the page higher, then the frame, then itself.
    (folder / "narrow.html").write_text(
        f"""<iframe id="book" src="{exported.as_uri()}" style="width: 390px; height: 300px"></iframe><script>
        addEventListener("message", ({{ data }}) => {{
          if (data.type === "convviz:resize") book.style.height = `${{data.height}}px`;
        }});</script>"""
    )
    with fresh_page(browser) as page:
        page.set_viewport_size({"width": 500, "height": 844})
        page.goto((folder / "narrow.html").as_uri())
        page.wait_for_function("parseInt(book.style.height) > 600")
        inside = page.frame_locator("#book")
        inside.locator(".cv-board[data-painted]:not([data-painted=''])").wait_for()
        bottom = inside.locator("main").evaluate("(main) => Math.ceil(main.getBoundingClientRect().bottom)")
        assert bottom <= 980, "the controls lie below the band"
        assert inside.locator("[data-equation=input] [data-panel]:not(:has(svg text))").count() == 0, (
            "numbers in every panel"
        )
        page.wait_for_function("(bottom) => Math.abs(parseInt(book.style.height) - bottom) < 5", arg=bottom)


def test_the_colours_go_with_the_panels(page, exported):
    """While a slider moves the panels have colours of their own; at rest plotly's images take their place."""
    open_page(page, exported)
    for name, steps in (("padding", 2), ("kernel_size", 1), ("input_size", 1)):
        for _ in range(steps):
            with repaint(page):
                page.locator(f".cv-set-{name} input").first.press("ArrowRight")
        at_once = page.evaluate(COLOURS)
        page.wait_for_function(
            "() => !document.querySelector('.cv-tiles, .cv-area > .cv-pixels')", timeout=FOLLOWS_WITHIN_MS
        )
        assert page.evaluate(PLOTLY_KNOWS)
        for own, panels in ((True, at_once), (False, page.evaluate(COLOURS))):
            assert len(panels) == 11
            for panel in panels:
                assert panel["off"] <= 1.5, panel
                assert panel["pixels"] == panel["cells"], panel
                assert panel["own"] == own, panel


def test_it_lives_in_an_iframe_and_tells_its_height(page, folder, exported):
    listen = """window.told = []; addEventListener("message", (event) => {
      const frame = document.querySelector("iframe");
      if (event.source !== frame.contentWindow) return;
      told.push(event.data);
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
        inside.locator(".cv-slider input[type=range]").first.press("ArrowRight")
        inside.locator(".cv-board[data-painted='2']").wait_for()
        page.wait_for_function("document.querySelector('iframe').height > 600")
        told = page.evaluate("told")
        assert {message["type"] for message in told if isinstance(message, dict)} == {"convviz:resize"}
        assert {json.loads(message)["subject"] for message in told if isinstance(message, str)} == {"lti.frameResize"}
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
