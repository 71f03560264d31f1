"""A dashboard of one's own: ipywidgets beside the app, linked to its traits, in every front end."""

import contextlib
import json

import pytest

from tests.browser.app_page import APPEARS_WITHIN_MS, assert_page_equals_autograd, fresh_page, open_app, repaint, slide
from tests.browser.lab import lab_server, open_notebook
from tests.browser.server import ROOT, voila_server
from tests.browser.test_lab import run_cell

pytestmark = pytest.mark.browser

EXAMPLE = ROOT / "docs" / "examples" / "dashboard" / "dashboard.ipynb"


@contextlib.contextmanager
def dashboard(front_end, page, folder):
    """Show the example's app in a page, in the front end that is named."""
    if front_end == "voila":
        with voila_server(EXAMPLE) as server:
            open_app(page, server.url)
            yield
        return
    cells = json.loads(EXAMPLE.read_text(encoding="utf-8"))["cells"]
    source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    with lab_server(folder, source, front_end) as url:
        open_notebook(page, url)
        run_cell(page)
        yield


@pytest.mark.parametrize("front_end", ["voila", "lab", "notebook"])
def test_sliders_of_ipywidgets_move_the_board_and_follow_it(front_end, browser, tmp_path):
    with fresh_page(browser) as page, dashboard(front_end, page, tmp_path):
        own = page.locator(".widget-slider", has_text="my stride").locator(".noUi-handle")
        own.wait_for(timeout=APPEARS_WITHIN_MS)
        label = page.locator(".widget-label", has_text="largest |grad_input|")
        before = label.text_content()
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
        assert (
            page.locator(".cv-set-padding_mode select").evaluate("(menu) => menu.selectedOptions[0].text") == "reflect"
        )
        assert_page_equals_autograd(page)
        assert page.outside == []
