"""The board in other people's pages: as a module, in a frame that follows its height."""

import json
import re
from pathlib import Path

import pytest

import convviz
from convviz.geometry.spec import ConvSpec
from convviz.ops.stages import stages
from convviz.settings.link import from_link, to_link
from convviz.settings.state import Settings
from convviz.settings.tensors import bias_tensor, grad_tensor, input_tensor, target_tensor, weight_tensor
from tests.browser.app_page import fresh_page
from tests.browser.serve_folder import serve_folder
from tests.export.test_embed import blocks

APPEARS_WITHIN_MS = 60_000
STATE = {"spec": ConvSpec((6, 5), kernel_size=2, stride=2, padding=1).to_dict(), "weight": {"kind": "box"}, "digit": 7}
# A page that calls the module as @myst-theme/anywidget 1.4.1 does: every widget in a shadow root of its own, with a
# model of its JSON, most of which throws.
HOST = """<!doctype html>
<html lang="en"><title>Course</title><h1>Course</h1><div id="place"></div>
<script type="module">
import widget from "./convviz.mjs";
const given = %s;
const stops = [];
window.show = (values, shadow) => {
  const el = document.createElement("div");
  const host = document.createElement("div");
  document.querySelector("#place").append(host);
  (shadow ? host.attachShadow({ mode: "open" }) : host).append(el);
  const refuse = () => { throw new Error("not implemented yet"); };
  const model = { get: (name) => values[name], set() {}, on() {}, off: refuse, save_changes: refuse, send: refuse };
  widget.initialize?.({ model });
  stops.push(widget.render({ model, el }));
};
window.stop = () => stops.forEach((stop) => stop());
for (const [values, shadow] of given) show(values, shadow);
window.ready = true;
</script>"""


# Who listens to the document from now on.
HEARD = """() => {
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
  window.heard = new Set();
  document.addEventListener = (type, heeds, ...rest) => {
    heard.add(heeds);
    rest[0]?.signal?.addEventListener("abort", () => heard.delete(heeds));
    add.call(document, type, heeds, ...rest);
  };
  document.removeEventListener = (type, heeds, ...rest) => (
    heard.delete(heeds), remove.call(document, type, heeds, ...rest)
  );
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder, and the address under which it is served: a module cannot be imported from a file."""
    folder = tmp_path_factory.mktemp("site")
    convviz.export_module(folder / "convviz.mjs")
    convviz.export_html({}, folder / "convolution.html")
    with serve_folder(folder) as address:
        yield folder, address.removesuffix("/")


def open_widgets(page, site, *given):
    """Open a page with one widget for each (values of its model, whether in a shadow root)."""
    folder, address = site
    (folder / "host.html").write_text(HOST % json.dumps(given), encoding="utf-8")
    page.goto(f"{address}/host.html")
    page.wait_for_function("window.ready")


def board(page, number=0, step=1):
    """Return a board once it has painted that step."""
    found = page.locator(f".cv-board[data-painted='{step}']").nth(number)
    found.wait_for(timeout=APPEARS_WITHIN_MS)
    return found


def numbers(place, panel):
    """Return the numbers of the first panel of that name, as a flat list."""
    cells = place.locator(f"[data-panel={panel}]").first.locator("[data-cell]")
    return [float(value) for value in cells.evaluate_all("(cells) => cells.map((cell) => cell.dataset.value)")]


def expected(state, panel):
    """Return what torch computes for a state."""
    settings = Settings.from_dict(state)
    result = stages(
        settings.spec,
        input_tensor(settings),
        weight_tensor(settings),
        bias_tensor(settings),
        grad_tensor(settings),
        settings.loss,
        target_tensor(settings),
        dtype="float64",
    )
    return pytest.approx(getattr(result, panel)[0, 0].flatten().tolist(), abs=1e-9)


PANELS = ("padded_input", "weight", "output", "grad_output", "padded_grad_output", "grad_input", "grad_weight")

PANELS_OF_STAMPS = tuple(name for name in PANELS if name != "padded_grad_output")  # made of grad_output itself


# The module.


@pytest.mark.plotly
def test_the_module_shows_the_state_of_its_model_and_moves_without_python(page, site):
    """In shadow roots and without: a state, a link, a part of a state, which is filled in as Python does, and nothing.

    The address of the page around is read by nobody, also when it is a link.
    """
    link = "v=1&size=7&stride=1&padding=0&weight=emboss&loss=sum"
    part = {"spec": {"input_size": 5, "kernel_size": [2, 3], "padding": 1}, "loss": "mean"}
    slip = "v=1&stride=zero&weight=box"
    open_widgets(
        page,
        site,
        ({"state": STATE}, False),
        ({"state": link}, True),
        ({"state": part, "controls": ["loss"]}, True),
        ({"state": slip}, True),
        ({}, True),
    )
    page.evaluate("location.hash = 'v=1&size=5&weight=emboss'")
    whole = {**part, "spec": ConvSpec(5, kernel_size=(2, 3), padding=1).to_dict()}
    states = (
        STATE,
        from_link(link)[0].to_dict(),
        whole,
        {"weight": {"kind": "box"}},
        Settings.first_picture().to_dict(),
    )
    for number, state in enumerate(states):
        as_stamps = state.get("input_view") == "stamps"  # made of grad_output itself
        for panel in PANELS_OF_STAMPS if as_stamps else PANELS:
            assert numbers(board(page, number), panel) == expected(state, panel), (number, panel)
    assert page.locator(".cv-page").nth(2).locator("legend").all_text_contents() == ["Loss and grad_output"]
    assert page.locator(".cv-notice").nth(3).text_content().startswith("stride is a whole number from 1")
    colors = "(plot) => getComputedStyle(plot.querySelector('.main-svg')).position"
    for number in (0, 4):
        plot = page.locator(".cv-page").nth(number).locator(".cv-plot").first
        assert plot.evaluate(colors) == "absolute", "plotly draws where the numbers stand"
    page.evaluate("navigator.clipboard.writeText = (text) => { window.taken = text; return Promise.resolve(); }")
    page.get_by_role("button", name="Copy link").first.click()
    page.locator(".cv-notice", has_text="Copied without an address").first.wait_for()
    assert page.evaluate("taken") == to_link(Settings.from_dict(STATE).replace(dtype="float64"))
    page.get_by_role("slider", name="stride", exact=True).first.press("ArrowRight")
    moved = {**STATE, "spec": ConvSpec((6, 5), kernel_size=2, stride=3, padding=1).to_dict()}
    place = board(page, step=2)
    for panel in PANELS:
        assert numbers(place, panel) == expected(moved, panel), panel
    assert numbers(board(page, 0, step=1), "weight") == expected(states[1], "weight"), "the others stay as they are"
    assert page.outside == []
    # The document knows only who holds the shadow root; the board must ask the root who has the focus.
    place = page.locator(".cv-page").nth(4)
    place.locator('[data-panel=grad_input] [data-cell="0,0"]').focus()
    page.keyboard.press("ArrowRight")
    assert place.locator(".cv-foot .cv-live").text_content().startswith("grad_input, row 0, column 1: ")


REFUSED = (
    ({"state": {"colour": 1}}, "state has the keys version, spec, .*: got colour as well"),
    ({"state": {"version": 2}}, "this module reads state of version 1: got 2; export the module again"),
    ({"state": [1]}, r"state is an object as App.state\(\) returns it: got \[1\]"),
    ({"state": {"spec": {"stride": 2}}}, r"spec needs input_size, such as 8 or \[8, 6\]: it is missing"),
    ({"state": {"spec": {"input_size": 4, "strides": 2}}}, "spec has the keys .*: got strides as well"),
    ({"state": {"spec": {"input_size": 2}}}, "no convolution has this geometry: got .*make the kernel smaller"),
    ({"state": {"spec": {"input_size": 99}}}, "the board shows geometries with input_size up to 64"),
    ({"controls": ["strides"]}, 'a control is one of .*kernel, example, preset, .*: got "strides"'),
)


def test_what_cannot_be_shown_is_said_and_nothing_is_left_of_what_was(page, site):
    """A module with a state of its own shows it where a place names none."""
    folder, address = site
    convviz.export_module(folder / "own.mjs", STATE)
    host = HOST % json.dumps([(values, True) for values, _ in REFUSED])
    (folder / "own.html").write_text(host.replace("convviz.mjs", "own.mjs"), encoding="utf-8")
    page.goto(f"{address}/own.html")
    page.wait_for_function("window.ready")
    for number, (values, sentence) in enumerate(REFUSED):
        said = page.locator(".cv-page").nth(number).text_content()
        assert re.fullmatch(f"The board could not start: {sentence}.*", said), (values, said)
    look = """() => {
      const { margin, backgroundColor } = getComputedStyle(document.body);
      return [margin, backgroundColor, heard?.size];
    }"""
    page.evaluate(HEARD)
    before = page.evaluate(look)
    page.evaluate("show({}, false)")
    assert numbers(board(page), "grad_input") == expected(STATE, "grad_input")
    assert page.evaluate(look)[:2] == before[:2], "the page is as it was"
    assert page.evaluate("heard.size") > 0
    page.evaluate("stop()")
    assert page.evaluate(look) == before, "nothing listens any more"
    assert page.locator(":is(.cv-page, .cv-board, #place style)").count() == 0


# The element.

POLICY = "default-src 'none'; script-src 'self'; img-src data:"  # no style of ours needs one either
TOO_LARGE = "v=2&size=64&kernel=11&in_channels=4&out_channels=4"
ELEMENTS = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Course</title>
<meta http-equiv="Content-Security-Policy" content="%s">
%s
<main>%s</main></html>"""
WATCHED = """
window.refused = []; window.reported = [];
document.addEventListener("securitypolicyviolation", (event) => refused.push(event.violatedDirective));
document.addEventListener("convviz-change", (event) => reported.push([event.target.id, event.detail.link]));
"""


@pytest.fixture
def strict(browser):
    """A page whose policy holds for it: the others' is switched off, for what the tests themselves evaluate."""
    with fresh_page(browser, plotly=True, bypass_csp=False) as page:
        yield page


def open_elements(page, site, boards, modules=("convviz.mjs",)):
    """Open a page with elements under a strict policy; return the addresses that it asks for."""
    folder, address = site
    scripts = "".join(f'<script type="module" src="{name}"></script>' for name in modules)
    (folder / "elements.html").write_text(ELEMENTS % (POLICY, scripts, boards), encoding="utf-8")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script(WATCHED)
    page.goto(f"{address}/elements.html")
    return asked


def reported(page):
    """Return what the boards have sent since the last time, as (id of the board, its state)."""
    links = page.evaluate("reported.splice(0)")
    return [(name, from_link(link)[0].replace(dtype="float32")) for name, link in links]


def test_two_elements_live_under_a_strict_policy(strict, site):
    page = strict
    asked = open_elements(
        page,
        site,
        '<convviz-board id="one" state="v=2&stride=2" controls="geometry"></convviz-board>'
        '<convviz-board id="two" state="v=2&size=6&weight=box"></convviz-board>',
    )
    one, two = from_link("v=2&stride=2")[0], from_link("v=2&size=6&weight=box")[0]
    for number, state in enumerate((one, two)):
        assert numbers(board(page, number), "grad_input") == expected(state.to_dict(), "grad_input"), number
    page.wait_for_function(
        "[...document.querySelectorAll('convviz-board')].every((each) => each.shadowRoot.querySelector('.hm image'))"
    )
    looks = "(image) => getComputedStyle(image).imageRendering"
    assert page.locator(".hm image").first.evaluate(looks) == "pixelated", "cells, not a blurred picture"
    assert reported(page) == [], "nobody has changed anything"
    assert set(page.locator("#one legend").all_text_contents()) == {"Geometry"}, "beside the board and behind “More”"
    page.locator("#one").get_by_role("slider", name="stride", exact=True).press("ArrowLeft")
    moved = from_link("v=2")[0]
    assert numbers(board(page, 0, step=2), "grad_input") == expected(moved.to_dict(), "grad_input")
    assert reported(page) == [("one", moved)]
    page.locator("#two .cv-set-preset select").first.select_option("emboss")
    page.locator("#two .cv-board[data-painted='2']").wait_for()
    assert reported(page) == [("two", two.replace(weight=from_link("v=2&weight=emboss")[0].weight))]
    assert page.evaluate("refused") == []
    left = "document.querySelector('style, meta[id]') ?? globalThis.Plotly ?? null"
    assert page.evaluate(left) is None, "the page is as it was"
    assert [Path(url).name for url in asked if not url.startswith("data:")] == ["elements.html", "convviz.mjs"]
    assert page.outside == []
    bottom = "(place) => place.getBoundingClientRect().bottom"
    content = "(place) => place.shadowRoot.lastElementChild.getBoundingClientRect().bottom"
    for name in ("one", "two"):
        place = page.locator(f"#{name}")
        assert place.bounding_box()["height"] > 400, name
        assert place.evaluate(bottom) == pytest.approx(place.evaluate(content), abs=1), name


def test_an_element_follows_its_attributes_and_speaks_the_languages_whose_modules_are_there(page, site):
    folder, _ = site
    convviz.export_module(folder / "convviz.zh-Hans.mjs", lang="zh-Hans")
    boards = '<convviz-board id="one" state="v=2&stride=2"></convviz-board>'
    boards += '<div lang="zh-Hans"><convviz-board></convviz-board></div>'
    open_elements(page, site, boards, ("convviz.mjs", "convviz.zh-Hans.mjs"))
    for number, reset in enumerate(("Reset", "重置")):
        board(page, number)
        assert page.locator("convviz-board").nth(number).get_by_role("button", name=reset, exact=True).count() == 1
    page.evaluate("document.querySelector('[lang=zh-Hans]').remove()")
    put = "([name, value]) => document.querySelector('#one').setAttribute(name, value)"
    page.evaluate(put, ["state", "v=2&size=7&weight=box"])
    opened = from_link("v=2&size=7&weight=box")[0]
    assert numbers(board(page, step=2), "grad_input") == expected(opened.to_dict(), "grad_input")
    notice = page.locator("#one .cv-notice").first
    page.evaluate(put, ["state", "nonsense"])
    assert notice.text_content() == "state is a link such as v=2&stride=2: got nonsense"
    page.evaluate(put, ["state", TOO_LARGE])
    assert "million" in notice.text_content()
    assert numbers(board(page, step=2), "grad_input") == expected(opened.to_dict(), "grad_input"), "it is not lost"
    page.evaluate(put, ["controls", "loss, stride"])
    assert numbers(board(page), "grad_input") == expected(opened.to_dict(), "grad_input"), "nor when drawn anew"
    shown = page.locator("#one .cv-block .cv-control:visible").evaluate_all("all => all.map((each) => each.className)")
    assert shown == ["cv-control cv-set-stride"]
    assert reported(page) == [], "who sets an attribute knows it"
    page.evaluate(put, ["lesson", "stride"])
    page.locator("#one [aria-label^='Lesson: Stride']").wait_for()
    taught = numbers(board(page, step=2), "grad_input")
    assert taught != expected(opened.to_dict(), "grad_input"), "the lesson has a picture of its own"
    page.evaluate("document.querySelector('#one').removeAttribute('lesson')")
    page.locator("#one [aria-label^='Lesson: Stride']").wait_for(state="hidden")
    page.get_by_role("slider", name="stride", exact=True).press("ArrowRight")
    page.wait_for_function("reported.length")
    ((_, moved),) = reported(page)
    # Taken out it ends; put elsewhere, it goes on where it was.
    page.evaluate("window.taken = document.querySelector('#one'); taken.remove()")
    assert page.evaluate("taken.shadowRoot.childElementCount") == 0
    page.evaluate("document.querySelector('main').append(taken)")
    assert numbers(board(page, step=2), "grad_input") == expected(moved.to_dict(), "grad_input")


UNSHOWN = (
    ('state="nonsense"', "state is a link such as v=2&stride=2: got nonsense."),
    (f'state="{TOO_LARGE}"', ".* million .*"),
    ('controls="strides"', 'a control is one of .*: got "strides".'),
    ('lesson="nothing"', 'a lesson of this module is one of .*, stride, .*: got "nothing".'),
    ('lang="zh-Hans"', "This page has no board in the language zh-Hans, only in en. Load that language's module .*"),
)


def test_a_broken_element_says_so_in_its_place(page, site):
    open_elements(page, site, "".join(f"<convviz-board {wrong}></convviz-board>" for wrong, _ in UNSHOWN))
    for number, (wrong, sentence) in enumerate(UNSHOWN):
        said = page.locator("convviz-board").nth(number).get_by_role("alert").text_content()
        assert re.fullmatch(f"The board could not start: {sentence}", said), (wrong, said)
    page.evaluate("document.querySelector('convviz-board').setAttribute('state', 'v=2')")
    assert numbers(board(page), "grad_input") == expected(from_link("v=2")[0].to_dict(), "grad_input"), "mended"


# The snippets of docs/embed.md.


def snippet(site, words):
    """Write the block of docs/embed.md that has some words as a page; return its address."""
    folder, address = site
    (block,) = [code for code in blocks("html") if words in code]
    # A name of its own: a page that is written anew within a second is "not modified" to a browser.
    name = f"{re.sub(r'[^a-z]+', '-', words.lower())}.html"
    (folder / name).write_text(block, encoding="utf-8")
    return f"{address}/{name}"


def test_the_frame_of_plain_html_grows_with_the_page(page, site):
    page.goto(snippet(site, "Make every frame as high"))
    inside = page.frame_locator("iframe")
    inside.locator(".cv-board[data-painted]:not([data-painted=''])").wait_for(timeout=APPEARS_WITHIN_MS)
    high = "document.querySelector('iframe').getBoundingClientRect().height"
    page.wait_for_function(f"{high} < 750")  # of 760 that the block gives it: its page has said how high it is
    whole = (
        f"Math.abs({high} - document.querySelector('iframe').contentDocument"
        ".querySelector('main').getBoundingClientRect().bottom) < 5"
    )
    page.wait_for_function(whole)
    before = page.evaluate(high)
    inside.locator(".cv-set-input_size input[type=range]").first.fill("14")
    inside.locator("[data-panel=grad_input] .cv-shape", has_text="14, 14").wait_for(state="attached")
    assert page.evaluate(high) == before, "the bands share the room: no slider moves what stands below the frame"
    page.set_viewport_size({"width": 320, "height": 700})  # its title breaks
    page.wait_for_function(f"{high} > {before} + 10")
    page.wait_for_function(whole)


def test_the_snippets_with_the_module_and_with_the_event_work(page, site):
    page.goto(snippet(site, "import convviz"))
    state = from_link("v=2&size=8&stride=3&padding=1")[0].to_dict()
    assert numbers(board(page), "grad_input") == expected(state, "grad_input")
    page.goto(snippet(site, "convviz-change"))
    board(page)
    page.get_by_role("slider", name="stride", exact=True).press("ArrowLeft")
    assert from_link(page.locator("output").text_content())[0].replace(dtype="float32") == from_link("v=2")[0]


def test_the_page_of_thirty_lines_has_a_picture_that_follows_the_text(page, site):
    (code,) = [code for code in blocks("html") if "IntersectionObserver" in code]
    assert len(code.splitlines()) <= 30
    page.goto(snippet(site, "IntersectionObserver"))
    figure, links = page.locator("convviz-board"), re.findall(r'section data-state="([^"]+)"', code)
    for at in (0, 1, 0):
        page.locator("section").nth(at).evaluate("(section) => section.scrollIntoView({ block: 'center' })")
        shown = "(link) => document.querySelector('convviz-board').getAttribute('state') === link"
        page.wait_for_function(shown, arg=links[at])
        figure.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert numbers(figure, "grad_input") == expected(from_link(links[at])[0].to_dict(), "grad_input")
        assert figure.locator(".cv-sum").text_content().endswith(("= 45", "= 20")[at])


def test_the_first_snippet_shows_its_digits_at_740_pixels(page, site):
    folder, address = site
    (folder / "first.html").write_text(f"<!doctype html><html lang=en>{blocks('html')[0]}", encoding="utf-8")
    page.set_viewport_size({"width": 740, "height": 900})
    page.goto(f"{address}/first.html")
    place = board(page)
    state = from_link("v=2&stride=2")[0].to_dict()
    assert numbers(place, "grad_input") == expected(state, "grad_input")
    printed = place.locator("[data-panel=grad_input]").first.locator("svg text").all_text_contents()
    wanted = [f"{value:g}" for value in expected(state, "grad_input").expected]
    zeros = "".join(value for value in wanted if value == "0")  # one element
    assert sorted(printed) == sorted([zeros, *(value for value in wanted if value != "0")])
