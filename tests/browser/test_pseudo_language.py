"""A page in a pseudo-language: what stands outside its brackets is in no file of words; 1.4 times the length fits."""

import json
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from convviz.facts import facts
from convviz.facts.features import ALONE
from tests.browser.app_page import fresh_page, show_all_controls
from tests.pseudo_language import CLOSE, OPEN, PANES

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
# Names that stay what they are in every language: torch's, and what Python and the page call tensors.
TORCH = re.findall(
    r"\w+",
    "stride padding dilation output_padding groups bias dtype device float32 float64 bfloat16 cpu nan inf "
    "zeros ones reflect replicate circular im2col col2im eps Python "
    "cuda mps xpu torch backends mkldnn nnpack oneDNN NNPACK DEFAULT AVX2 AVX512",
)
# What the tabs call the tensors between those of the board, and the layers' own names of their variants.
TABS = re.findall(
    r"\w+",
    "columns grad_columns overlap quantized_weight grad_quantized_weight sign mask clip tanh identity scaled_sign",
)
# What is not a sentence of words/ yet: part of the page → selector. Who moves such a part takes its line out.
STILL_TO_COME = {
    "the graph's drawing, whose lines are shortened": ".cv-pane-graph :is(.cv-viewport svg, .cv-walk, .cv-graph-note)",
    "ways to write it (explanation)": ".cv-pane-code h4",
    "what a network's operations are called": ".cv-network :is(.cv-network-bars, .cv-network-column, td, th)",
    "torch's words, which are typed": ".cv-pane-pooling .cv-buttons [data-value]",
    "what is sent back, a digit": ".cv-network-send .cv-seg",
}
# Every text that can be seen, and every accessible name and tooltip, in the order of the page. Code and formulas are
# written with blanks in the place of their letters: only their brackets count.
READ = """(stillToCome) => {
  const found = [];
  const aside = (node) => node.closest(`.cv-languages, ${stillToCome}`) !== null; // a language names itself
  const codes = "code, .cv-name, .cv-formula, .cv-code, .cv-sum, .cv-factor, textarea";
  const isCode = (node) => node.closest(codes) !== null;
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    const shown = (parent.closest("select") ?? parent).checkVisibility();
    if (!shown || parent.closest("script, style") || aside(parent)) continue;
    found.push({ kind: "text", text: node.data, code: isCode(parent), at: parent.outerHTML.slice(0, 90) });
  }
  for (const node of document.querySelectorAll("main *")) {
    if (!node.checkVisibility() || aside(node)) continue;
    for (const name of ["aria-label", "title", "aria-valuetext", "placeholder"]) {
      const text = node.getAttribute(name);
      if (text) found.push({ kind: name, text, code: false, at: node.outerHTML.slice(0, 90) });
    }
  }
  return found;
}"""
# What does not fit: a text cut off by its own box or one around it, beyond the page, or over another text.
MISFITS = """(stillToCome) => {
  const found = [];
  const seen = (node) => node.checkVisibility() && !node.closest(`.cv-live, .cv-plot, ${stillToCome}`);
  // What stays in sight while the page scrolls below it lies over something, as it should; so does an open menu.
  const isAbove = (node) => ["sticky", "absolute"].includes(getComputedStyle(node).position);
  const floats = (node) => node && (isAbove(node) || floats(node.parentElement));
  // A line that is cut has its whole text as a title: it is read under the pointer.
  const reported = (node) => getComputedStyle(node).textOverflow === "ellipsis" && node.title === node.textContent;
  const called = (node) => `${node.localName}.${node.getAttribute("class") ?? ""}: ${node.textContent.slice(0, 60)}`;
  const known = new Map(); // how a box cuts what is in it, asked once for the many texts in it
  const cuts = (at) => {
    const { overflowX, overflowY, display } = getComputedStyle(at);
    return { overflowX, overflowY, display, edge: at.getBoundingClientRect() };
  };
  // What of a box is in sight: a line that has no room may wrap out of it, or be scrolled to, but not be cut in two.
  const shownOf = (node, box) => {
    let { left, top, right, bottom } = box;
    let isCut = false;
    for (let at = node; at && at !== document.body; at = at.parentElement) {
      if (!known.has(at)) known.set(at, cuts(at));
      const { overflowX, overflowY, display, edge } = known.get(at);
      if (display === "inline") continue;
      if (overflowY !== "visible") [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
      if (overflowX !== "visible") [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
      isCut ||= overflowY === "hidden" && overflowX === "hidden" && bottom - top < box.height - 3;
    }
    const isSeen = right - left > 1 && bottom - top > 3;
    return { left, top, right, bottom, isSeen, isCut: isSeen && isCut };
  };
  const boxes = "button, label, legend, summary, th, td, h1, h2, h3, h4, p, li, span";
  for (const node of document.querySelectorAll(`main :is(${boxes})`)) {
    if (!seen(node) || !node.clientWidth || !shownOf(node, node.getBoundingClientRect()).isSeen) continue;
    if (node.scrollWidth > node.clientWidth + 1 && !reported(node)) found.push(`cut off: ${called(node)}`);
  }
  const texts = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !seen(parent) || floats(parent) || reported(parent)) continue;
    // They scroll, or are pictures.
    if (parent.closest("svg, select, .cv-scroll, .cv-code, .cv-viewport, .cv-notes, .cv-controls, .cv-sum")) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    for (const each of range.getClientRects()) {
      const box = shownOf(parent, each);
      if (box.isCut) found.push(`cut in two: ${called(parent)}`);
      if (box.isSeen) texts.push({ parent, box });
    }
  }
  for (const { parent, box } of texts) if (box.right > innerWidth + 1) found.push(`beyond the page: ${called(parent)}`);
  texts.sort((one, other) => one.box.top - other.box.top);
  texts.forEach((one, index) => {
    for (let at = index + 1; at < texts.length && texts[at].box.top < one.box.bottom - 3; at += 1) {
      const other = texts[at];
      if (one.parent.contains(other.parent) || other.parent.contains(one.parent)) continue;
      const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      if (across > 1 && down > 3) found.push(`over another: ${called(one.parent)} / ${called(other.parent)}`);
    }
  });
  return [...new Set(found)];
}"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The folder of the pages, made by a process that reads every fact in the pseudo-language."""
    folder = tmp_path_factory.mktemp("pseudo")
    subprocess.run([sys.executable, "-m", "tests.pseudo_language", str(folder)], cwd=ROOT, check=True, timeout=300)
    return folder


def names():
    """The names that stand for themselves: panels, torch's words, and what settings.json calls its fields."""
    panels = facts("settings")["panel_axes"]
    return {*TORCH, *TABS, *panels, *facts("names")["transposed"]["panels"].values(), "grad_bias"}


def outside(texts):
    """Return what stands outside the brackets, with where: they may close in a later piece of the same sentence."""
    known, depth, found = names(), 0, []
    for each in texts:
        if each["kind"] != "text":
            level, rest = cut(0, each["text"])
            if level:
                found.append(f"brackets that do not close in {each['kind']}: {each['text']!r}")
        else:
            depth, rest = cut(depth, each["text"])
        plain = "".join(
            letter for letter in rest if unicodedata.category(letter) != "Lm"
        )  # as ᵢ of a sum, ᵀ of a matrix
        words = re.findall(r"[^\W\d_]{2}\w*", "" if each["code"] else plain)
        found += [f"{each['kind']} {word!r} of {each['text']!r} at {each['at']}" for word in words if word not in known]
    assert depth == 0, "every bracket that opens closes"
    return found


def cut(depth, text):
    """Return how deep in brackets a text ends, and what of it stands outside of all."""
    rest = []
    for letter in text:
        depth += (letter == OPEN) - (letter == CLOSE)
        rest.append(" " if depth or letter == CLOSE else letter)
    return depth, "".join(rest)


def read(page):
    return outside(page.evaluate(READ, ", ".join(STILL_TO_COME.values())))


def misfits(page):
    return page.evaluate(MISFITS, ", ".join(STILL_TO_COME.values()))


def open_page(page, pages, name):
    page.goto(pages.joinpath(f"{name}.html").as_uri())
    page.wait_for_selector(".cv-board[data-painted]:not([data-painted=''])", state="attached")  # a tab may hide it


def look_everywhere(page):
    """Yield after each thing that a visitor does, once the page says something else."""
    yield "opened"
    page.locator("#convviz-live .cv-tables > summary").click()
    page.wait_for_selector("#convviz-live .cv-tables table")
    yield "tables"
    page.locator("#convviz-live .cv-tables > summary").click()  # they lie over the board
    page.locator(".cv-step[aria-expanded]").first.click()
    yield "a step"
    page.locator(".cv-transport:not([hidden]) .cv-icon").last.click()
    cell = page.locator("[data-panel=grad_input] [data-cell]").first
    cell.click()
    yield "a pinned cell"
    page.locator("[data-panel=weight] summary").first.click()
    yield "a menu"
    page.keyboard.press("Escape")
    page.locator("[data-panel=weight] [data-cell]").first.dblclick()
    page.keyboard.type("x")
    page.keyboard.press("Enter")
    yield "no number"
    page.keyboard.press("Escape")
    page.locator(".cv-views button").last.click()
    page.locator("[data-equation=input] .cv-step[aria-expanded]").click()
    yield "stamps"
    page.locator(".cv-transport:not([hidden]) .cv-icon").last.click()
    page.locator(".cv-tools button").last.click()
    yield "a link copied"


def test_a_page_says_nothing_that_is_no_fact_and_has_room_for_longer_words(browser, pages):
    with fresh_page(browser) as page:
        for name in ("page", "transposed"):
            open_page(page, pages, name)
            for after in look_everywhere(page) if name == "page" else [name]:
                assert read(page) == [], after
                assert misfits(page) == [], after
        for name in ALONE:
            open_page(page, pages, name)
            page.locator(f".cv-pane-{name} :is([data-cell], .cv-pasted-field, .cv-network-map)").first.wait_for()
            assert read(page) == [], name
        page.set_viewport_size({"width": 360, "height": 780})
        open_page(page, pages, "page")
        assert misfits(page) == [], "on a narrow phone"


def test_the_tabs_say_nothing_that_is_no_fact(browser, pages):
    with fresh_page(browser) as page:
        page.goto(pages.joinpath("panes.html").as_uri())
        for name in PANES:
            page.wait_for_selector(f"#pane-{name}[data-drawn] .cv-pane")
        assert read(page) == []
        assert misfits(page) == []


def test_the_app_says_nothing_that_is_no_fact_and_has_room_for_longer_words(browser, pages):
    with fresh_page(browser) as page:
        page.goto(pages.joinpath("app.html").as_uri())
        page.wait_for_selector("#app[data-drawn] .cv-board[data-from=torch]")
        show_all_controls(page)
        assert page.locator(".cv-tab, .cv-control, .cv-upload, .cv-tools button").count() > 30
        page.locator("[aria-controls^=cv-share]").click()
        for after in ("opened", "transposed"):
            assert read(page) == [], after
            assert misfits(page) == [], after
            page.locator(".cv-set-transposed input").press("Space")
            page.wait_for_selector(".cv-board[data-from=page]")


def test_the_app_s_kernel_says_nothing_that_is_no_fact(pages):
    texts = json.loads(pages.joinpath("app.json").read_text(encoding="utf-8"))
    assert len(texts) == 6
    assert "" not in texts, "each of the messages is refused in a sentence"
    assert outside([{"kind": "kernel", "text": text, "code": False, "at": "the app"} for text in texts]) == []


def test_a_word_outside_the_brackets_is_reported():
    text = {"kind": "text", "code": False, "at": ""}
    assert outside([text | {"text": f"{OPEN}a "}, text | {"text": "word"}, text | {"text": CLOSE}]) == []
    assert outside([text | {"text": f"{OPEN}a{CLOSE} word"}]) == [f"text 'word' of '{OPEN}a{CLOSE} word' at "]
    assert outside([text | {"text": "grad_input[0, 0] = 1"}, text | {"text": "word", "code": True}]) == []
    assert outside([text | {"kind": "title", "text": f"{OPEN}a"}]) == [
        f"brackets that do not close in title: '{OPEN}a'"
    ]
