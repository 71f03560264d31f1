"""WCAG 2.2 A and AA as far as a machine can tell, on the exported page and on the served app, and what axe cannot tell:
one tab stop a grid, words for what is looked at, less motion where it is wished, the reader's own colours."""

import contextlib
import io

import pytest
from PIL import Image

from convviz.export.page import CONTROLS, export_html
from convviz.geometry.spec import ConvSpec
from convviz.views.theme import COLORSCALES, color_at
from tests.browser.app_page import FOLLOWS_WITHIN_MS, OFFERED, cell, fresh_page, go_to, open_tab, repaint, wait_painted
from tests.browser.axe import assert_accessible, look

SMALL = {"spec": ConvSpec((6, 6), 1, 1, 3, 2, 1).to_dict()}  # as v=1 with fewer cells: axe looks at each
STATES = {
    "first": SMALL,
    "transposed": {**SMALL, "transposed": True, "input_view": "stamps"},
    "groups, channels, bias, without numbers": {
        "spec": ConvSpec((15, 14), 2, 2, 3, 2, 1, groups=2, batch=2, padding_mode="reflect").to_dict(),
        "bias": {"kind": "values", "values": [0.5, -1], "shape": [2]},
    },
}
# In light colours all rules are held. Dark and forced colours change colours alone, and forced colours draw borders
# around buttons as well, which may make them larger: there the rules that look at colours and at sizes are held again.
COLOURS = ("color-contrast", "link-in-text-block")
LOOKS = {
    "dark": ({"color_scheme": "dark"}, COLOURS),
    "forced colours": ({"forced_colors": "active"}, (*COLOURS, "target-size", "scrollable-region-focusable")),
}
# Of the other tabs all are the board's: tests/views/test_colour_contrast.py holds them on every ground in both themes.
OWN_COLOURS = ("check", "code")
# Every part follows the theme, and no colour is on its way.
SETTLED = """([theme, forced]) =>
  [...document.querySelectorAll(".cv-app, .cv-board, .cv-pane")].every((one) => one.dataset.theme === theme) &&
  matchMedia("(forced-colors: active)").matches === forced &&
  !document.getAnimations().some((one) => one instanceof CSSTransition)"""
BUSY = (".cv-equation", ".cv-tables", ".cv-foot")  # what the board's own actions change
STOP = """() => {
  const at = document.activeElement;
  const equation = at.closest(".cv-equation")?.dataset.equation;
  return at.closest(".cv-grid") ? `grid ${equation}:${at.closest(".cv-panel").dataset.panel}` : at.tagName;
}"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {
        name: export_html(state, folder / f"{index}.html", controls=tuple(CONTROLS))
        for index, (name, state) in enumerate(STATES.items())
    }


@pytest.fixture(scope="module")
def opened(browser, pages):
    """The first page, opened once for all tests that look at it and leave it as it was."""
    with fresh_page(browser, plotly=True) as page:
        open_page(page, pages["first"])
        yield page


def open_page(page, path):
    page.goto(path.as_uri(), wait_until="commit")
    wait_painted(page, 0, 60_000)


@contextlib.contextmanager
def seen_as(page, color_scheme="light", forced_colors="none"):
    """Show the open page in other colours for a while."""
    try:
        page.emulate_media(color_scheme=color_scheme, forced_colors=forced_colors)
        page.wait_for_function(SETTLED, arg=[color_scheme, forced_colors == "active"], timeout=FOLLOWS_WITHIN_MS)
        yield
    finally:
        page.emulate_media(color_scheme="light", forced_colors="none")
        page.wait_for_function(SETTLED, arg=["light", False], timeout=FOLLOWS_WITHIN_MS)


def assert_accessible_in(looks, page, state, *within):
    """Hold all rules, and then those that the looks may change."""
    assert_accessible(page, state, *within)
    assert_looks(looks, page, state, *within)


def assert_looks(looks, page, state, *within):
    for name in looks:
        media, rules = LOOKS[name]
        with seen_as(page, **media):
            assert_accessible(page, f"{state}, {name}", *within, rules=rules)


@pytest.mark.plotly
def test_no_kind_of_page_is_out_of_reach(page, pages):
    page.set_viewport_size({"width": 1280, "height": 900})
    for state in list(STATES)[1:]:
        open_page(page, pages[state])
        assert_accessible(page, state)
    assert_words_above_the_heatmaps_can_be_read(page)  # the last one has all that there are; in dark colours, too


@pytest.mark.parametrize(("width", "looks"), [(1280, ["dark"]), (320, [])], ids=["wide", "narrow"])
def test_nothing_in_the_page_is_out_of_reach(page, pages, width, looks):
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, pages["first"])
    assert_accessible_in(LOOKS if looks else [], page, "first")
    bring(page, "forward")
    page.locator("[data-equation=forward] .cv-step").click()
    page.locator("[data-equation=forward] .cv-transport").wait_for(state="visible")
    bring(page, "weight")
    cell(page, "grad_weight", 1, 1).click()
    page.locator(".cv-sum output").wait_for()
    assert_accessible(page, "stepping, a pinned cell and its sum", *BUSY)
    bring(page, "forward")
    page.locator("[data-equation=forward] .cv-step").click()
    cell(page, "weight", 1, 1).click()
    page.keyboard.press("Escape")  # no cell is pinned, no step shown: a sum has the room of what leads to the tables
    page.locator(".cv-tables summary").last.click()
    page.locator(".cv-board .cv-tables table").last.wait_for()
    if looks:  # where it is narrow they lie over all of the board; their colours are the board's
        assert_accessible(page, "tables", *BUSY)
    page.locator(".cv-tables summary").last.click()
    bring(page, "input")
    with repaint(page):
        page.get_by_role("button", name="stamps", exact=True).click()
    bring(page, "forward")
    page.locator("[data-equation=forward] .cv-menu summary").first.click()
    cell(page, "grad_output", 1, 1).hover()  # no menu of the first panel covers it
    assert_accessible(page, "stamps, lights, an open menu", *BUSY)
    assert_looks(looks, page, "an open menu", ".cv-menu[open]", ".cv-foot")
    page.keyboard.press("Escape")  # the menu
    cell(page, "padded_input", 3, 3).dblclick()
    page.locator(".cv-editor").wait_for()
    assert_accessible(page, "a number being typed", ".cv-equation")
    assert_looks(looks, page, "a number being typed", ".cv-panel:has(.cv-editor)")
    assert page.locator(".cv-editor").count() == 1, "it was there in all colours"


def bring(page, band):
    """Show a band where one is shown at a time."""
    if not page.locator(f"[data-equation={band}] .cv-stage").is_visible():
        page.locator(f"[data-equation={band}] .cv-title").click()


def test_without_scripts_the_page_is_within_reach(browser, pages):
    """axe itself needs scripts, so the page has them but its own are taken out."""
    text = pages["first"].read_text(encoding="utf-8")
    start = text.index('<script type="module">')
    with fresh_page(browser) as page:
        page.set_content(text[:start] + "</html>")
        page.locator(".cv-still summary").click()
        assert look(page)["violations"] == []


def assert_words_above_the_heatmaps_can_be_read(page):
    """Plotly's empty picture lies behind the names, and axe does not judge what it cannot see through."""
    page.locator(".cv-plot").evaluate_all("plots => plots.forEach((plot) => plot.remove())")
    words = (".cv-name", ".cv-shape", ".cv-note", ".cv-formula", ".cv-sign-note", ".cv-remainder")
    for scheme in ("light", "dark"):
        with seen_as(page, color_scheme=scheme):
            found = look(page, rules=COLOURS)
        assert found["violations"] == [], scheme
        undecided = found["undecided"].get("color-contrast", [])
        assert [target for target in undecided if target.endswith(words)] == [], scheme


def test_a_grid_is_one_tab_stop_and_all_come_in_reading_order(opened):
    assert opened.locator("[tabindex]").evaluate_all("all => all.filter((one) => one.tabIndex > 0).length") == 0
    opened.locator(".cv-board").evaluate("(board) => { board.tabIndex = -1; board.focus(); }")
    stops = []
    while True:
        opened.keyboard.press("Tab")
        stops.append(opened.evaluate(STOP))
        if stops[-1] == "SUMMARY":
            break
    opened.locator(".cv-board").evaluate("(board) => board.removeAttribute('tabindex')")
    opened.evaluate("document.activeElement.blur()")
    panels = opened.locator(".cv-panel").evaluate_all(
        "all => all.map((one) => `grid ${one.closest('.cv-equation').dataset.equation}:${one.dataset.panel}`)"
    )
    assert [stop for stop in stops if stop.startswith("grid")] == panels
    assert stops.count("svg") == 0
    places = opened.locator(".cv-panel").evaluate_all("all => all.map((one) => one.getBoundingClientRect().top)")
    assert len(places) == len(panels) == 11


def test_forced_colours_leave_the_heatmap_its_own(opened):
    scheme = "dark"
    opened.locator('[data-panel="weight"]').first.scroll_into_view_if_needed()
    shown = "(cells) => Math.max(...cells.map((cell) => Math.abs(Number(cell.dataset.value))))"
    end = opened.locator("[data-equation=forward] [data-value]").evaluate_all(shown)  # v=1: one scale an equation
    with seen_as(opened, color_scheme=scheme, forced_colors="active"):
        for row, column, value in ((0, 0, -1.0), (1, 2, 2.0)):
            box = cell(opened, "weight", row, column).bounding_box()
            right = box["x"] + box["width"] - 8  # its slider is at the left
            shot = opened.screenshot(clip={"x": right, "y": box["y"] + 4, "width": 3, "height": 3})
            shown = Image.open(io.BytesIO(shot)).convert("RGB").getpixel((1, 1))
            wanted = color_at(COLORSCALES[scheme]["weight"], (value / end + 1) / 2)
            assert all(abs(a - b) <= 4 for a, b in zip(shown, wanted, strict=True)), (shown, wanted)
        pressed, other = (
            opened.locator(f".cv-views [data-view={view}]").evaluate(
                "(button) => getComputedStyle(button).outlineStyle"
            )
            for view in ("window", "stamps")
        )
        assert (pressed, other) == ("solid", "none")
        key = opened.locator(".cv-key i").evaluate_all(
            """all => all.filter((one) => one.checkVisibility()).map((one) => getComputedStyle(one))
                .map(({ backgroundColor, backgroundImage }) => backgroundColor + backgroundImage)"""
        )
        assert len(set(key)) == len(key) == 4, "each mark looks like none of the others"


def test_nothing_slides_for_those_who_do_not_want_it(opened):
    """The last one in this page: it leaves the steps as they are."""
    forward = opened.locator("[data-equation=forward]")
    forward.locator(".cv-step").click()
    for motion, moves in (("reduce", False), ("no-preference", True)):
        opened.emulate_media(reduced_motion=motion)
        if forward.locator("[data-playing=true]").count() == 0:
            forward.get_by_role("button", name="Play").click()
        forward.locator("[data-playing=true]").wait_for()
        lasting = opened.locator(".cv-page *").evaluate_all(
            "all => all.map((one) => getComputedStyle(one)).filter((style) => "
            "parseFloat(style.transitionDuration) > 0 || parseFloat(style.animationDuration) > 0).length"
        )
        assert (lasting > 0) is moves, motion


def test_nothing_in_the_app_is_out_of_reach(app):
    """All rules for the page and its tabs; the looks of panes whose colours are their own."""
    go_to(app, "v=1&size=5")
    share = app.get_by_role("button", name="Share")
    share.click()
    assert_accessible_in(LOOKS, app, "no tab, Share")
    share.click()
    for tab_name in OFFERED:
        open_tab(app, tab_name)
        assert_accessible(app, tab_name, ".cv-pane", ".cv-tabbar")
        if tab_name in OWN_COLOURS:
            with seen_as(app, color_scheme="dark"):
                assert_accessible(app, f"{tab_name}, dark", ".cv-pane", rules=COLOURS)
        tab, panel = app.locator(f"[role=tab][aria-selected=true][data-tab={tab_name}]"), app.locator(".cv-pane")
        assert panel.get_attribute("role") == "tabpanel"
        assert panel.get_attribute("id") == tab.get_attribute("aria-controls")
        assert panel.get_attribute("aria-labelledby") == tab.get_attribute("id")
        controlled = app.locator("[role=tab][aria-controls]").evaluate_all(
            "(tabs) => tabs.map((tab) => document.getElementById(tab.getAttribute('aria-controls'))?.role ?? '')"
        )
        assert set(controlled) == {"tabpanel"}, "the others' panels are not in the page"
