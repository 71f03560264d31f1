"""A dashboard of one's own: ipywidgets beside the app, linked to its traits."""

from tests.browser.app_page import APPEARS_WITHIN_MS, assert_page_equals_autograd, open_app, repaint, slide
from tests.browser.server import ROOT, voila_server

EXAMPLE = ROOT / "docs" / "examples" / "dashboard" / "dashboard.ipynb"


def test_sliders_of_ipywidgets_move_the_board_and_follow_it(page):
    with voila_server(EXAMPLE, arguments=["--template=convviz"]) as server:
        open_app(page, server.url)
        assert_sliders_and_board_follow_each_other(page)
        assert page.outside == []


def assert_sliders_and_board_follow_each_other(page):
    """Move a slider and a menu of the dashboard and one of the app, in a page that shows the example."""
    own = page.locator(".widget-slider", has_text="my stride").locator(".noUi-handle")
    own.wait_for(timeout=APPEARS_WITHIN_MS)
    own.scroll_into_view_if_needed()
    label = page.locator(".widget-label", has_text="largest |grad_input|")
    before = label.text_content()
    histogram = page.locator(".js-plotly-plot:not(.cv-app *)")
    drawn = histogram.evaluate("(plot) => plot._fullData[0].x.length", timeout=APPEARS_WITHIN_MS)
    assert drawn == 64, "the values of grad_input"
    # By pointer: a bare key on a slider that is not the app's is Notebook's own.
    handle, track = (
        own.bounding_box(),
        own.locator("xpath=ancestor::*[contains(@class, 'noUi-target')]").bounding_box(),
    )
    page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    page.mouse.down()
    with repaint(page):
        page.mouse.move(track["x"], handle["y"] + handle["height"] / 2)
    page.mouse.up()
    assert assert_page_equals_autograd(page).geometry["stride"] == [1, 1]
    page.wait_for_function("([now, before]) => now.textContent !== before", arg=[label.element_handle(), before])
    slide(page, "stride", 3)
    page.wait_for_function("(handle) => Number(handle.ariaValueNow) === 3", arg=own.element_handle())
    menu = page.locator(".widget-dropdown", has_text="padding mode").first.locator("select")
    with repaint(page):
        menu.select_option(label="reflect")
    assert page.locator(".cv-set-padding_mode select").evaluate("(menu) => menu.selectedOptions[0].text") == "reflect"
    assert_page_equals_autograd(page)
