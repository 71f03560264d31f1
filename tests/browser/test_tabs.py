"""The row of tabs in the page: opened and closed by hand and by keys, in a drawer below the board, linked with it."""

import itertools

from convviz.facts.features import ALONE, FEATURES, STATEFUL, TABS
from tests.browser.app_page import (
    APPEARS_WITHIN_MS,
    OFFERED,
    open_tab,
    press_tab,
    settle_pane,
    show_band,
    slide,
    slider_value,
)

BOXES = """(all) => all.map((selector) => document.querySelector(selector).getBoundingClientRect())
  .map(({ x, y, width, height }) => ({ x, y, width, height }))"""
FOCUSED = "document.activeElement.dataset.tab ?? document.activeElement.dataset.entry"


def pane(page, name):
    return page.locator(f'.cv-pane-{name}[data-shown]:not([data-shown=""])')


def test_keys_choose_open_and_close(app):
    open_tab(app, "code")  # whatever an earlier test has seen last
    press_tab(app, "code")
    app.locator(".cv-pane").wait_for(state="detached")
    assert app.locator(".cv-pane").count() == 0, "a tab is made when it is opened"
    app.locator("[data-entry=matrix]").focus()
    app.keyboard.press("ArrowRight")
    assert app.evaluate(FOCUSED) == "code"
    assert app.locator(".cv-pane").count() == 0, "the arrows only choose"
    app.keyboard.press("Enter")
    pane(app, "code").wait_for()
    assert app.locator(".cv-tabbar [aria-selected=true]").get_attribute("data-entry") == "code"
    for _ in range(3):  # past the menu of languages and the lecture, which end the line of entries
        app.keyboard.press("Tab")
    assert app.evaluate(FOCUSED) == "code", "what was opened comes next: its parts"
    app.keyboard.press("End")
    assert app.evaluate(FOCUSED) == "pytorch"
    assert pane(app, "code").count() == 1, "the arrows only choose here as well"
    app.keyboard.press("Space")
    pane(app, "pytorch").wait_for()
    assert app.evaluate(FOCUSED) == "pytorch", "the focus stays on the part that was opened"
    for _ in range(2):  # past the button that closes it
        app.keyboard.press("Tab")
    assert app.evaluate("document.activeElement.closest('.cv-pane') !== null")
    app.keyboard.press("Escape")
    app.locator(".cv-pane").wait_for(state="detached")
    assert app.evaluate(FOCUSED) == "code"
    assert app.locator("[role=tab][aria-selected=true]").count() == 0
    app.keyboard.press("Enter")
    pane(app, "pytorch").wait_for()
    assert app.locator(".cv-parts [aria-selected=true]").inner_text() == "PyTorch", "the part that was seen last"
    app.keyboard.press("Enter")
    app.locator(".cv-pane").wait_for(state="detached")


def test_five_entries_their_parts_and_a_quiet_more(app):
    row = app.locator(".cv-tabbar [role=tablist]")
    assert row.get_attribute("aria-label") == "Other views"
    assert row.locator("[role=tab]").all_inner_texts() == ["Mistakes", "Network", "Matrix", "Code", "Check", "Extras"]
    shown = [each for each in FEATURES.values() if each["works"] != "notebook"]
    for entry in ("network", "matrix", "code", "check", "more"):
        named = [each["label"] for each in shown if each["entry"] == entry]
        app.locator(f"[data-entry={entry}]").click()
        strip = app.locator(".cv-parts [role=tablist]")
        assert strip.locator("[role=tab]").all_inner_texts() == named, entry
        label = app.locator(f"[data-entry={entry}]").inner_text()
        assert strip.get_attribute("aria-label") == f"Parts of {label}"
        app.get_by_role("button", name=f"Close {label}").click()
        app.locator(".cv-pane").wait_for(state="detached")
        assert app.evaluate(FOCUSED) == entry
        assert app.locator(".cv-drawer-body").is_hidden()
    app.locator("[data-entry=mistakes]").click()
    assert app.locator(".cv-parts [role=tablist]").count() == 0, "one part needs no switch"
    assert app.locator(".cv-parts").inner_text() == FEATURES["mistakes"]["label"]


def assert_room(app, name, width):
    """The drawer takes of the board's room and covers nothing.

    Controls, drawer and the band in use are on the screen together; on a phone the page scrolls past them.
    """
    # All at once: a drawer grows while its tab arrives.
    controls, band, opened = app.evaluate(BOXES, [".cv-controls", ".cv-equation[data-focus]", ".cv-drawer-body"])
    parts = [controls, opened, band] if width > 400 else [opened, band, controls]
    for above, below in itertools.pairwise(parts):
        assert above["y"] + above["height"] <= below["y"], f"{name} lies over its neighbour"
    assert width <= 400 or parts[-1]["y"] + parts[-1]["height"] <= 900, f"{name}: all of it is in the window"
    assert (opened["x"], round(opened["width"])) == (band["x"], round(band["width"])), f"{name} has the whole width"
    assert min(opened["height"], band["height"]) >= 200, name
    wide = app.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{name} makes the page wider than its window"
    hidden = app.evaluate(
        "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.cv-slot'))"
    )
    assert hidden <= 1, f"{name} is wider than its place"


def is_whole(name):
    """Return whether a tab stands in the place of board and controls."""
    return "whole" in FEATURES[name]


def test_on_a_phone_each_drawer_has_its_room(app):
    app.set_viewport_size({"width": 400, "height": 900})
    for name in OFFERED:
        if not is_whole(name):
            open_tab(app, name)
            assert_room(app, name, 400)


def test_a_tab_that_speaks_of_a_band_gives_the_screen_back(app):
    """Else who closes it stands before another band than the one they had, and nothing says why."""
    alone = "(band) => document.querySelector('.cv-equation[data-focus]').dataset.equation === band"
    app.set_viewport_size({"width": 800, "height": 700})
    app.locator("[data-bands=one]").wait_for()
    show_band(app, "input")  # where there was room for all of them, another test's may come back
    app.wait_for_function(alone, arg="input")
    open_tab(app, "matrix")
    app.wait_for_function(alone, arg="forward")
    app.locator(".cv-drawer-close").click()
    app.wait_for_function(alone, arg="input")


def open_by_an_old_link(page, name):
    """The link opens the tab, and its entry is chosen."""
    page.evaluate("(name) => { location.hash = `v=1&tab=${name}`; }", name)
    pane(page, name).wait_for(timeout=APPEARS_WITHIN_MS)
    settle_pane(page, name)
    assert page.locator(".cv-pane").count() == 1, name
    part = page.locator(f"[role=tab][data-tab={name}]")
    assert part.get_attribute("aria-selected") == "true", name
    entry = page.locator(".cv-tabbar [role=tab][aria-selected=true]")
    assert FEATURES[name]["entry"] == entry.get_attribute("data-entry"), name
    drawer, close = page.locator(".cv-drawer-head").bounding_box(), page.locator(".cv-drawer-close").bounding_box()
    assert drawer["y"] <= close["y"], name
    assert close["y"] + close["height"] <= drawer["y"] + drawer["height"], f"{name}: × lies over nothing"


def test_every_pane_opens_by_its_old_link_has_its_room_follows_a_setting_and_names_its_controls(app):
    app.set_viewport_size({"width": 1500, "height": 900})
    for name in TABS:
        open_by_an_old_link(app, name)
        if not is_whole(name):
            assert_room(app, name, 1500)
        before = pane(app, name).get_attribute("data-shown")
        if name not in (*STATEFUL, *ALONE):  # or computed in the page
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
