"""A panel as a plotly figure of its own: zoom, values under the pointer, pictures, and it follows the numbers."""

import pytest
from playwright.sync_api import expect

from tests.browser.app_page import fresh_page, repaint, visiting

SHOWN = "() => document.querySelector('.cv-figure-chart').data[0].z"
RANGE = "() => document.querySelector('.cv-figure-chart').layout.xaxis.range"


@pytest.fixture(scope="module")
def visitor(browser, server):
    """A page with heatmaps."""
    with visiting(browser, server, plotly=True) as page:
        yield page


def open_figure(page, panel):
    """Open the figure from the menu of the first panel of a name; return the dialog."""
    here = page.locator(f"[data-panel={panel}]").first
    here.hover()  # only then its menu is there
    menu = here.locator(".cv-menu")
    menu.locator("summary").click()
    menu.get_by_role("button", name="Open as a plotly figure").click()
    return page.get_by_role("dialog")


def test_a_panel_opens_as_a_figure_that_zooms_and_shows_values(app):
    dialog = open_figure(app, "weight")
    expect(dialog).to_have_accessible_name("weight")
    chart = dialog.locator(".cv-figure-chart .nsewdrag")
    chart.wait_for()
    assert app.evaluate(SHOWN) == [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]
    box = chart.bounding_box()
    app.mouse.move(box["x"] + box["width"] / 6, box["y"] + box["height"] / 2)
    reported = dialog.locator(".hovertext")
    expect(reported).to_contain_text("weight row 1, column 0: ")
    expect(reported).to_contain_text("2")
    before = app.evaluate(RANGE)
    dialog.locator("[data-title='Zoom in']").click()
    app.wait_for_function(f"(before) => ({RANGE})()[0] > before[0]", arg=before)
    titles = dialog.locator(".modebar-btn").evaluate_all("nodes => nodes.map((node) => node.dataset.title)")
    assert titles == ["Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes"], "nothing uploads"
    for name in ("PNG", "SVG"):
        with app.expect_download() as download:
            dialog.get_by_role("button", name=name).click()
        assert download.value.suggested_filename == f"convviz-weight.{name.lower()}"
    app.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    focused = app.evaluate("document.activeElement.closest('[data-panel]')?.dataset.panel")
    assert focused == "weight", "the focus is where it came from"
    dialog = open_figure(app, "grad_output")
    dialog.locator(".nsewdrag").wait_for()
    with repaint(app):  # a link: the keyboard and the pointer are the dialog's
        app.evaluate("location.hash = 'v=1&loss=sum'")
    assert app.evaluate(SHOWN) == [[1] * 4] * 4, "an open figure follows new numbers"
    dialog.get_by_role("button", name="Close").click()
    dialog.wait_for(state="detached")


def test_a_figure_waits_for_plotly_and_says_so_when_it_does_not_come(browser, server):
    with fresh_page(browser, plotly=True) as page:
        held = []
        page.route("**/*plotly*", lambda route: held.append(route))
        page.goto(server.url, wait_until="commit")
        page.locator(".cv-board[data-from=torch]").wait_for()
        dialog = open_figure(page, "weight")
        expect(dialog.get_by_role("status")).to_contain_text("Plotly is still loading")
        expect(dialog.get_by_role("button", name="PNG")).to_be_disabled()
        for route in held:
            route.fulfill(body="no bundle")
        expect(dialog.get_by_role("status")).to_contain_text("there is no figure")
        page.keyboard.press("Escape")
        dialog.wait_for(state="detached")
