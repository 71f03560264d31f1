"""The row of tabs in the page: opened and closed by hand and by keys, in a drawer below the board, linked with it."""

import pytest

from convviz.facts import facts
from tests.browser.app_page import cell, open_tab, repaint, slide, slider_value
from tests.browser.test_links import lit

pytestmark = pytest.mark.browser

TABS = facts("names")["tabs"]


def pane(page, name):
    return page.locator(f'.cv-pane-{name}[data-shown]:not([data-shown=""])')


def test_keys_choose_open_and_close(app):
    first, second = list(TABS)[:2]
    assert app.locator(".cv-pane").count() == 0, "a tab is made when it is opened"
    app.locator(f"[data-tab={first}]").focus()
    app.keyboard.press("ArrowRight")
    assert app.evaluate("document.activeElement.dataset.tab") == second
    assert app.locator(".cv-pane").count() == 0, "the arrows only choose"
    app.keyboard.press("Enter")
    pane(app, second).wait_for()
    assert app.locator("[role=tab][aria-selected=true]").get_attribute("data-tab") == second
    app.keyboard.press("Tab")
    assert app.evaluate("document.activeElement.closest('.cv-pane') !== null"), "what was opened comes next"
    app.keyboard.press("Shift+Tab")
    app.keyboard.press("Enter")
    app.locator(".cv-pane").wait_for(state="detached")
    assert app.locator("[role=tab][aria-selected=true]").count() == 0


def test_two_named_groups_and_two_ways_to_close(app):
    lists = app.locator("[role=tablist]").all()
    groups = {one.get_attribute("aria-label"): one.locator("[role=tab]").all_inner_texts() for one in lists}
    assert groups == {
        "See it differently": ["Linear", "Matrix", "Graph", "Stack", "Race", "Mistakes"],
        "For engineers": ["Code", "PyTorch", "Check", "Double backward", "Your code", "Quantised"],
    }
    assert app.locator(".cv-tabgroup > span").all_inner_texts() == list(groups)
    focused = "document.activeElement.dataset.tab"
    open_tab(app, "code")
    app.locator(".cv-pane button").first.focus()
    app.keyboard.press("Escape")
    app.locator(".cv-pane").wait_for(state="detached")
    assert app.evaluate(focused) == "code"
    open_tab(app, "matrix")
    assert app.locator(".cv-terms").inner_text().startswith("Words used here")
    app.get_by_role("button", name="Close Matrix").click()
    app.locator(".cv-pane").wait_for(state="detached")
    assert app.evaluate(focused) == "matrix"
    assert app.locator(".cv-drawer-close").is_hidden()


@pytest.mark.parametrize("width", [1500, 800, 400])
def test_the_pane_stands_at_the_lower_edge_of_the_window(app, width):
    app.set_viewport_size({"width": width, "height": 900})
    for name in TABS:
        open_tab(app, name)
        board, drawer, opened = (app.locator(f".cv-{one}").bounding_box() for one in ("board", "drawer", "slot"))
        assert drawer["y"] + drawer["height"] == pytest.approx(900, abs=1), name
        assert opened["x"] <= board["x"], f"{name} has the whole width"
        assert opened["x"] + opened["width"] >= board["x"] + board["width"], name
        assert opened["height"] <= 541, f"{name} scrolls by itself: the board stays within reach"
        assert drawer["y"] - board["y"] >= 180, f"{name} leaves the board's upper part in sight"
        app.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        board, drawer = (app.locator(f".cv-{one}").bounding_box() for one in ("board", "drawer"))
        assert board["y"] + board["height"] <= drawer["y"] + 1, f"{name}: scrolled, the board's lower part as well"
        app.evaluate("scrollTo(0, 0)")
        wide = app.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{name} makes the page wider than its window"
        hidden = app.evaluate(
            "(() => { const s = document.querySelector('.cv-slot'); return s.scrollWidth - s.clientWidth; })()"
        )
        assert hidden <= 1, f"{name} is wider than its place"


def test_every_pane_follows_a_setting_and_names_its_controls(app):
    for name in TABS:
        open_tab(app, name)
    for name in TABS:
        open_tab(app, name)
        before = pane(app, name).get_attribute("data-shown")
        if name not in ("race", "yours", "mistakes", "stack"):  # settings of their own, or computed in the page
            slide(app, "stride", 3 if slider_value(app, "stride") == 2 else 2)
            app.wait_for_function(
                "([name, before]) => document.querySelector(`.cv-pane-${name}`).dataset.shown !== before",
                arg=[name, before],
            )
        assert app.locator(".cv-pane > .cv-pane-failure").text_content() == ""
        unnamed = app.locator(".cv-pane").evaluate(
            """(pane) => [...pane.querySelectorAll("button, select, input, [role=radio]")]
                .filter((e) => e.checkVisibility())
                .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length))
                .map((e) => e.outerHTML.slice(0, 80))"""
        )
        assert unnamed == [], name
        small = app.locator(".cv-pane").evaluate(
            """(pane) => [...pane.querySelectorAll("button, select, input, summary")]
                .filter((e) => e.checkVisibility())
                .filter((e) => e.getBoundingClientRect().height < 23.5 && e.type !== "checkbox")
                .map((e) => e.outerHTML.slice(0, 80))"""
        )
        assert small == [], name


def test_dark_panes_are_dark(app):
    with repaint(app):
        app.locator(".cv-set-theme select").select_option("dark")
    for name in TABS:
        open_tab(app, name)
        ground, ink = app.locator(".cv-pane").evaluate(
            "(pane) => [getComputedStyle(pane).backgroundColor, getComputedStyle(pane).color]"
        )
        bright = [sum(int(part) for part in color[4:-1].split(",")) for color in (ground, ink)]
        assert bright[0] < 150, name
        assert bright[1] > 600, name


def test_a_tab_and_the_board_light_each_other_up(app):
    open_tab(app, "matrix")
    cell(app, "output", 1, 2).hover()
    assert app.locator('.cv-pane .cv-lights[data-lit]:not([data-lit=""])').count() >= 1
    app.locator('.cv-pane svg.cv-grid [data-cell="0,0"]').first.hover()
    assert lit(app)
    app.mouse.move(2, 2)
    assert lit(app) == {}


def test_a_closed_tab_leaves_no_lights_behind(app):
    open_tab(app, "code")
    app.locator(".cv-line").nth(8).hover()
    app.locator(".cv-board .cv-pointed").first.wait_for()
    app.locator("[data-tab=code]").press("Enter")
    app.locator(".cv-pane").wait_for(state="detached")
    assert app.locator(".cv-board .cv-pointed").count() == 0
