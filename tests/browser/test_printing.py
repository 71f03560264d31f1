"""Printing: the present numbers in their colours on white paper, however narrow it is; afterwards all is as before."""

import re

import pytest

from convviz.export.page import export_html
from convviz.facts import facts
from convviz.geometry.spec import ConvSpec
from convviz.lessons import lesson
from convviz.views.scales import QUANTITIES
from convviz.views.theme import COLORSCALES, color_at
from tests.browser.app_page import fresh_page, open_tab, press_tab, repaint, wait_painted, weight_slider

# Each panel's own colours, read where its numbers lie over it; heard after the board, which listens before it is there.
WATCH = """() => addEventListener("beforeprint", () => {
  window.seen = [...document.querySelectorAll(".cv-equation")].flatMap((section) => {
    const traces = section.querySelector(".cv-plot").data;
    return [...section.querySelectorAll(".cv-panel")].map((panel, index) => {
      const own = panel.querySelector(".cv-area > .cv-pixels");
      const pixels = own.getContext("2d").getImageData(0, 0, own.width, own.height).data;
      return {
        panel: panel.dataset.panel,
        size: [own.height, own.width],
        z: Array.from(traces[index].z, (row) => Array.from(row)),
        limit: traces[index].zmax,
        colors: Array.from({ length: pixels.length / 4 }, (_, at) => [...pixels.slice(4 * at, 4 * at + 4)]),
        area: panel.querySelector(".cv-area").getBoundingClientRect().toJSON(),
        own: own.getBoundingClientRect().toJSON(),
      };
    });
  });
  window.theme = document.querySelector(".cv-page").dataset.theme;
})"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    spec = ConvSpec((14, 6), 2, 2, 3, 2, 1, groups=2)  # with panels that are too large for numbers
    return export_html({"spec": spec.to_dict()}, tmp_path_factory.mktemp("paper") / "page.html")


FOR_THE_HAND = (
    ".cv-controls",
    ".cv-sent-back",
    ".cv-choices",
    ".cv-slides",
    ".cv-sum",
    ".cv-under",
    ".cv-live",
    ".cv-step",
    ".cv-menu",
    ".cv-plot",
    ".cv-aside",
)
TO_READ = (".cv-equation", ".cv-title", ".cv-formula", ".cv-stage", ".cv-panel", ".cv-name", ".cv-loss", ".cv-truth")
OVERLAPS = """(selectors) => {
  const boxes = selectors.flatMap((selector) => [...document.querySelectorAll(selector)])
      .filter((one) => one.checkVisibility()).map((one) => [one.className, one.getBoundingClientRect()]);
  return boxes.flatMap(([name, one], at) => boxes.slice(at + 1)
      .filter(([, other]) => one.bottom > other.top + 1 && other.bottom > one.top + 1)
      .map(([other]) => [name, other]));
}"""


def test_the_paper_has_the_present_numbers_in_light_colours_and_nothing_for_the_hand(browser, printed):
    with fresh_page(browser, color_scheme="dark") as page:
        page.goto(printed.as_uri())
        wait_painted(page, 0, 60_000)
        with repaint(page):
            weight_slider(page, 0, 0).press("End")
        page.evaluate(WATCH)
        assert page.pdf(format="A4", print_background=True).startswith(b"%PDF")
        assert page.evaluate("window.theme") == "light"
        seen = page.evaluate("window.seen")
        assert [one["panel"] for one in seen][:2] == ["padded_input", "weight"]
        assert seen[1]["z"][0][0] == 3
        for one in seen:
            values = [value for row in one["z"] for value in row]
            assert one["size"] == [len(one["z"]), len(one["z"][0])], one["panel"]
            for value, shown in zip(values, one["colors"], strict=True):
                wanted = color_at(COLORSCALES["light"][QUANTITIES[one["panel"]]], (value / one["limit"] + 1) / 2)
                assert all(abs(a - b) <= 1 for a, b in zip(shown, (*wanted, 255), strict=True)), (one["panel"], value)
            sides = ("left", "top", "right", "bottom")
            assert all(abs(one["own"][side] - one["area"][side]) < 0.1 for side in sides), (
                "they move together, however the paper breaks the row"
            )
        page.wait_for_function("() => !document.querySelector('.cv-board .cv-area > .cv-pixels')")
        assert page.locator(".cv-page").get_attribute("data-theme") == "dark"
        page.emulate_media(media="print", color_scheme="dark")
        page.locator(".cv-page[data-theme=light]").wait_for()
        for hidden in (*FOR_THE_HAND, ".cv-tables"):
            assert not any(one.is_visible() for one in page.locator(hidden).all()), hidden


def test_all_there_is_to_read_is_on_the_paper(browser, printed):
    """On the screen bands are as high as the window lets them be, and one covers the others where it is narrow."""
    with fresh_page(browser) as page:
        page.goto(printed.as_uri())
        for width in (1400, 400):
            page.emulate_media(media="screen")
            page.set_viewport_size({"width": width, "height": 700})
            page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))")
            wait_painted(page, 0, 60_000)
            page.emulate_media(media="print")
            page.locator(".cv-board .cv-area > .cv-pixels").first.wait_for()
            for wanted in TO_READ:
                assert all(one.is_visible() for one in page.locator(wanted).all()), (wanted, width)
            assert page.locator(".cv-equation").count() == 3
            notes = page.locator(".cv-note").evaluate_all(
                "(all) => all.map((one) => [one.textContent, one.offsetHeight])"
            )
            assert all(height for text, height in notes if text), notes
            for boxed in (".cv-equation", ".cv-stage", ".cv-notes", ".cv-facts"):
                cut = page.locator(boxed).evaluate_all(
                    "(all) => all.filter((one) => one.scrollHeight > one.clientHeight + 1).length"
                )
                assert cut == 0, (boxed, width)
            assert page.evaluate(OVERLAPS, [".cv-equation", ".cv-facts"]) == [], width


def test_a_lesson_is_printed_with_what_its_card_says_and_a_lecture_with_all_bands(browser, tmp_path):
    address = export_html(None, tmp_path / "page.html").as_uri()
    step = facts("words/guided/why_rotated")[lesson("why_rotated")["steps"][2]["words"]]
    with fresh_page(browser, viewport={"width": 1366, "height": 768}) as page:
        page.goto(f"{address}#lesson=why_rotated&step=3")
        page.locator(".cv-lesson-words", has_text=step[:20]).wait_for()
        page.emulate_media(media="print")
        for read in (".cv-lesson h3", ".cv-lesson-words", ".cv-lesson-task", ".cv-lesson-where", *TO_READ[:5]):
            assert page.locator(read).filter(visible=True).count(), read
        for hidden in (".cv-lesson button", ".cv-lesson input", ".cv-lesson kbd", ".cv-why"):
            assert not page.locator(hidden).filter(visible=True).count(), hidden
        cut = page.locator(".cv-lesson-text").evaluate("(text) => text.scrollHeight - text.clientHeight")
        assert cut <= 0, "all that it says"
        assert page.evaluate(OVERLAPS, [".cv-lesson", ".cv-equation"]) == []
    with fresh_page(browser) as page:
        page.goto(address)
        page.locator(".cv-board[data-from]").wait_for()
        page.keyboard.press("f")
        page.wait_for_function("() => document.fullscreenElement === document.documentElement")
        assert len(re.findall(rb"/Type /Page\b", page.pdf(format="A4"))) == 3, "a sheet for each equation"


def test_an_open_tab_is_on_the_paper_as_a_whole(app):
    open_tab(app, "code")
    app.emulate_media(media="print")
    for shown in (".cv-board", ".cv-drawer-body"):
        assert app.locator(shown).is_visible(), shown
    for boxed in (".cv-drawer-body", ".cv-slot"):
        cut = app.locator(boxed).evaluate("(box) => box.scrollHeight - box.clientHeight")
        assert cut <= 1, boxed
    assert app.evaluate(OVERLAPS, [".cv-board", ".cv-drawer-body"]) == [], "it does not lie over the board"
    app.emulate_media(media="screen")
    press_tab(app, "code")
    app.emulate_media(media="print")
    sheets = re.findall(rb"/Type /Page\b", app.pdf(format="A4"))
    assert len(sheets) == 3, "a sheet for each equation: kept together, the app would begin below its title"
