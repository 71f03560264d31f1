"""The app in JupyterLab 4 and Notebook 7: the same numbers, Lab's own theme, and the keys stay in the app."""

import pytest
import torch

from convviz.app.styled_widget import SHEET
from convviz.export.page import export_html
from convviz.facts.features import FEATURES
from convviz.facts.words import sentences
from convviz.settings.link import briefly, from_link
from tests.browser.app_page import (
    APPEARS_WITHIN_MS,
    assert_page_equals_autograd,
    cell,
    entry_of,
    fresh_page,
    open_app,
    open_tab,
    press_tab,
    read_panel,
    repaint,
    show_all_controls,
    show_band,
    slide,
    wait_aligned,
    wait_notice,
    wait_painted,
    wait_value,
    weight_slider,
)
from tests.browser.test_lesson_path import at_step, by_pointer, play
from tests.browser.test_open_links import BAD, CLIPBOARD, copied, saved_page, wait_for_settings
from tests.environments.jupyterlab import FRONT_ENDS, lab_server, open_notebook
from tests.features.graph.test_tab import box, boxes, id_of, open_box, wait_details
from tests.features.yours.test_tab import (
    SOURCE,
    assert_a_pasted_function_is_checked_and_what_cannot_be_is_said,
    assert_a_wrong_function_of_the_notebook_is_named_in_three_steps,
)

say_pane = sentences("tab_pane")

EVERYWHERE = pytest.mark.parametrize("opened", FRONT_ENDS, indirect=True)
IN_LAB = pytest.mark.parametrize("opened", ["lab"], indirect=True)


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory):
    source = "import convviz\napp = convviz.App(state={})\napp"
    with lab_server(tmp_path_factory.mktemp("jupyter"), source) as url:
        yield url


@pytest.fixture(scope="module")
def opened(request, browser, jupyter):
    """A page of a front end with the app in a notebook. What looks like a link in the notebook's address is none."""
    with fresh_page(browser, plotly=True, **CLIPBOARD) as page:
        page.set_viewport_size({"width": 1900, "height": 1000})  # beside the file browser there is room for all bands
        open_notebook(page, f"{jupyter}{FRONT_ENDS[request.param]}/{request.param}.ipynb?v=1&size=3")
        run_cell(page)
        yield page


@pytest.fixture
def app(opened):
    """The page; nothing outside was asked for when the test is over."""
    yield opened
    assert opened.outside == []


@EVERYWHERE
def test_first_look_equals_autograd(app):
    seen = assert_page_equals_autograd(app)
    assert seen.geometry["stride"] == [2, 2]
    assert seen.geometry["input_size"] == [8, 8], "not the 3 of the notebook's address"
    assert [section["name"] for section in seen.shot["equations"]] == ["forward", "input", "weight"]


@EVERYWHERE
def test_keys_stay_in_the_app(app):
    """In Lab's command mode letters and arrows are commands: x cuts a cell, 1 makes it a heading."""
    show_band(app, "forward")
    cells = app.locator(".jp-Notebook .jp-Cell").count()
    cell(app, "padded_input", 3, 3).click()
    app.keyboard.press("ArrowDown")
    assert app.evaluate("document.activeElement.dataset.cell") == "4,3"
    app.keyboard.press("1")
    with repaint(app):
        app.keyboard.type(".5")
        app.keyboard.press("Enter")
    wait_value(app, "padded_input", 4, 3, 1.5)
    assert_page_equals_autograd(app)
    cell(app, "weight", 1, 1).press("Enter")
    field = app.locator(".cv-editor")
    app.keyboard.type("x2")
    assert field.input_value() == "x2"
    app.keyboard.press("Escape")
    for place in (cell(app, "padded_input", 4, 3), app.locator(".cv-set-stride input").first, entry_of(app, "matrix")):
        for key in ("x", "d", "d", "a", "m", "z"):
            place.focus()
            app.keyboard.press(key)
    assert app.locator(".jp-Notebook .jp-Cell").count() == cells
    assert app.locator(".jp-Notebook .jp-MarkdownCell").count() == 0
    assert app.locator(".cv-app").count() == 1


@EVERYWHERE
def test_undo_is_the_apps_and_the_fields(app):
    """The notebook's undo is of its cells: what is typed in a field would stay, and a cell go back instead."""
    source = app.locator(".jp-Notebook .jp-CodeCell .cm-content").first
    written = source.inner_text()
    show_band(app, "forward")
    slide(app, "stride", 1)
    cell(app, "padded_input", 3, 3).focus()
    with repaint(app):
        app.keyboard.press("Control+z")
    assert assert_page_equals_autograd(app).geometry["stride"] == [2, 2]
    cell(app, "weight", 1, 1).press("Enter")
    field = app.locator(".cv-editor")
    before = field.input_value()
    field.press("End")
    app.keyboard.type("7")
    assert field.input_value() == before + "7"
    app.keyboard.press("Control+z")
    assert field.input_value() == before
    app.keyboard.press("Escape")
    assert source.inner_text() == written


@EVERYWHERE
def test_a_notebook_keeps_its_keys_with_ctrl(app):
    """Only what the app uses is kept: saving must go on working from inside it."""
    cell(app, "padded_input", 3, 3).focus()
    app.keyboard.press("x")
    with app.expect_response(lambda answer: "/api/contents/" in answer.url and answer.request.method == "PUT"):
        app.keyboard.press("Control+s")


@EVERYWHERE
def test_sliders_and_menus_hear_their_arrow_keys(app):
    """Notebooks have commands on the arrow keys, and would take them from the browser's own sliders."""
    show_band(app, "forward")
    long, short = weight_slider(app, 1, 0), cell(app, "weight", 1, 0)
    for place, key, step in ((long, "ArrowRight", 0.1), (long, "ArrowDown", -0.1), (short, "ArrowUp", 1)):
        before = float(read_panel(app, "weight")[1, 0])
        place.focus()
        with repaint(app):
            app.keyboard.press(key)
        assert float(read_panel(app, "weight")[1, 0]) == pytest.approx(before + step, abs=1e-6), key
    menu = app.locator(".cv-set-padding_mode select")
    menu.focus()
    app.keyboard.press("ArrowDown")
    assert menu.evaluate("(menu) => document.activeElement === menu")


@IN_LAB
def test_output_fits_and_heatmaps_stand_under_their_numbers(app):
    """What hangs over the page may be wider than a narrow output, as wide as the notebook's panel."""
    show_all_controls(app)
    for width in (1400, 900):
        app.set_viewport_size({"width": width, "height": 900})
        app.wait_for_function("""() => {
            const output = document.querySelector(".cv-app").closest(".jp-OutputArea-output");
            const panel = output.closest(".jp-NotebookPanel");
            const isIn = (place, node) => {
                const [room, box] = [place, node].map((one) => one.getBoundingClientRect());
                return !box.width || (box.left >= room.left - 0.5 && box.right <= room.right + 0.5);
            };
            const nodes = [...document.querySelectorAll(".cv-panel, .cv-area, .cv-group, .cv-popover")];
            const hangs = (node) => {
                const popover = node.closest(".cv-popover");
                return popover && getComputedStyle(popover).position === "fixed";
            };
            return output.scrollWidth <= output.clientWidth
                && nodes.some((node) => node.matches(".cv-popover") && node.checkVisibility())
                && nodes.every((node) => isIn(hangs(node) ? panel : output, node));
        }""")
        wait_aligned(app)
    app.set_viewport_size({"width": 1400, "height": 900})


@IN_LAB
def test_theme_follows_lab(app):
    app.locator(".cv-app[data-theme=light] .cv-board[data-theme=light]").wait_for()
    choose_lab_theme(app, "JupyterLab Dark")
    app.locator(".cv-app[data-theme=dark] .cv-board[data-theme=dark]").wait_for()
    assert_page_equals_autograd(app)
    # Opened in the dark as well.
    run_cell(app)
    app.locator(".cv-app[data-theme=dark] .cv-board[data-theme=dark]").wait_for()
    choose_lab_theme(app, "JupyterLab Light")
    app.locator(".cv-app[data-theme=light] .cv-board[data-theme=light]").wait_for()
    assert app.locator(".cv-app").count() == 1


def test_voila_in_a_jupyter_server_uses_our_template(jupyter, browser):
    """As on Binder: nothing of our configuration is there, only the notebook and the template."""
    with fresh_page(browser) as page:
        open_app(page, f"{jupyter}voila/render/app.ipynb")
        page.locator("main#convviz-main .cv-app").wait_for()
        open_tab(page, "code")
        assert page.outside == []


@IN_LAB
def test_a_link_opens_in_a_notebook_and_is_copied_for_one(app, tmp_path):
    write_cell(app, f'convviz.App(link="http://localhost:8866/?{BAD}")')
    run_cell(app)
    settings, notices = from_link(BAD)
    wait_for_settings(app, settings)
    assert wait_notice(app, "utm_source") == briefly(notices)
    assert_page_equals_autograd(app)
    slide(app, "stride", 1)
    code = copied(app, "Copy link")
    assert code == 'convviz.App(link="v=1&size=5&stride=1&digit=7")'
    assert "paste it into a cell" in app.locator(".cv-share-outcome").text_content()
    saved = saved_page(app, tmp_path)
    state = from_link("v=1&size=5&stride=1&digit=7")[0].to_dict()
    assert saved.read_bytes() == export_html(state, tmp_path / "expected.html").read_bytes()


GRAPH = """import torch, convviz
x = torch.tensor(3.0, requires_grad=True)
y = torch.tensor([[5.0, 1.0], [2.0, -1.0]], requires_grad=True)
convviz.graph(x**2 * 3 * y, params={"x": x, "y": y})"""


@IN_LAB
def test_a_graph_is_shown_and_keeps_its_keys(app):
    write_cell(app, GRAPH)
    app.keyboard.press("Control+Enter")
    app.locator(".jp-OutputArea .cv-pane-graph [data-node]").first.wait_for(timeout=APPEARS_WITHIN_MS)
    assert sorted(lines[0] for lines in boxes(app).values()) == [
        "MulBackward0", "MulBackward0", "PowBackward0", "output", "x", "y",
    ]  # fmt: skip
    open_box(app, id_of(app, "y"))
    wait_details(app, "gradient 0", torch.full((2, 2), 27.0))
    open_box(app, id_of(app, "x"))
    app.locator('[data-tensor="gradient 0"]', has_text="126").wait_for()  # 6x times the sum of y
    cells = app.locator(".jp-Notebook .jp-Cell").count()
    box(app, id_of(app, "x")).focus()
    app.keyboard.press("ArrowDown")
    assert app.evaluate("document.activeElement.dataset.node") == id_of(app, "PowBackward0")
    app.keyboard.press("x")  # cuts the cell, if the notebook hears it
    assert app.locator(".jp-Notebook .jp-Cell").count() == cells
    assert app.locator(".cv-pane-graph").count() == 1


NETWORK = """import torch, convviz
from torch import nn
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
convviz.explain(model, torch.randn(2, 1, 6, 6, generator=torch.Generator().manual_seed(0)))"""


@IN_LAB
def test_a_network_is_shown_and_keeps_its_keys(app):
    write_cell(app, NETWORK)
    app.keyboard.press("Control+Enter")
    pane = app.locator(".jp-OutputArea .cv-network")
    pane.locator(".cv-network-bar").nth(4).wait_for(timeout=APPEARS_WITHIN_MS)
    assert pane.locator(".cv-network-bar").count() == 5, "input, convolution, ReLU, flatten, linear"
    cells = app.locator(".jp-Notebook .jp-Cell").count()
    pane.locator('.cv-network-column[tabindex="0"]').focus()
    for key in ("ArrowRight", "x"):  # x cuts the cell, if the notebook hears it
        app.keyboard.press(key)
    pane.locator(".cv-network-sentence", has_text="its gradient").wait_for()
    assert app.locator(".jp-Notebook .jp-Cell").count() == cells


@IN_LAB
def test_a_network_beside_an_app_leaves_it_its_look(app):
    """The sheet of one widget came after the other's: the board's rules won over those that lay the bands out."""
    write_cell(app, "import convviz\nconvviz.App()")
    run_cell(app)
    look = """() => [...document.querySelectorAll(".cv-app .cv-equation, .cv-app .cv-foot")].map((node) => {
        const { borderTopWidth, position, paddingTop, marginBottom } = getComputedStyle(node);
        return [node.className, borderTopWidth, position, paddingTop, marginBottom];
    })"""
    before = app.evaluate(look)
    write_cell(app, NETWORK.replace("convviz.explain", "display(convviz.App())\nconvviz.explain"))
    run_cell(app)
    app.locator(".jp-OutputArea .cv-network-bar").nth(4).wait_for(timeout=APPEARS_WITHIN_MS)
    assert len(before) == 4, "three bands and what stands below them"
    assert app.evaluate(look) == before
    sheets = "[...document.head.querySelectorAll('style')].filter((each) => each.textContent.includes('.cv-look'))"
    assert app.evaluate(f"{sheets}.map((each) => each.id)") == [SHEET]


@IN_LAB
def test_a_tab_brings_its_script_and_its_look(app):
    """That every tab's script comes from the kernel and can run is held in tests/app/test_app.py and tests/web."""
    write_cell(app, "app = convviz.App()\napp")
    run_cell(app)
    for name in ("code", "race", "graph"):
        press_tab(app, name)
        app.locator(f'.cv-pane-{name}[data-shown]:not([data-shown=""])').wait_for(timeout=APPEARS_WITHIN_MS)
        assert app.locator(f".cv-slot > .cv-pane-{name}").count() == 1
        sheets = app.locator(".cv-slot > style").all_text_contents()
        assert len(sheets) == 1, name
        assert f".cv-pane-{name}" in sheets[0]
    press_tab(app, name)
    app.locator(".cv-slot > *").wait_for(state="detached")


@IN_LAB
def test_the_tab_your_code_checks_a_function_of_the_notebook_and_a_pasted_one(app):
    write_cell(app, SOURCE)
    run_cell(app)
    app.wait_for_selector(".cv-pane-yours select")
    assert_a_wrong_function_of_the_notebook_is_named_in_three_steps(app)
    assert_a_pasted_function_is_checked_and_what_cannot_be_is_said(app)


@IN_LAB
def test_a_lesson_is_played_with_torch_and_the_kernel_sends_the_next(app):
    write_cell(app, 'convviz.lesson("quantised")')
    run_cell(app)
    play(app, "quantised", by_pointer, FEATURES)
    app.locator(".cv-lesson-after").click()
    at_step(app, "network", 1)
    assert app.locator(".cv-lesson h3").first.text_content() == sentences("guided/network")("network.passes.title")


@IN_LAB
def test_displayed_twice_each_view_has_tabs_of_its_own(app):
    write_cell(app, "app = convviz.App()\ndisplay(app)\napp")
    run_cell(app)
    app.locator(".cv-app").nth(1).wait_for(timeout=APPEARS_WITHIN_MS)
    press_tab(app, "code")
    app.wait_for_function("document.querySelectorAll('.cv-pane[role=tabpanel]').length === 2")
    app.wait_for_function("document.querySelectorAll('.cv-parts .cv-tab[aria-controls]').length === 2")
    for view in app.locator(".cv-app").all():
        tab, panel = view.locator(".cv-parts [role=tab][aria-selected=true]"), view.locator(".cv-pane")
        assert panel.get_attribute("id") == tab.get_attribute("aria-controls")
        assert panel.get_attribute("aria-labelledby") == tab.get_attribute("id")
    twice = """() => {
        const ids = [...document.querySelectorAll(".cv-app [id]")].map((node) => node.id);
        return ids.filter((id, index) => ids.indexOf(id) !== index);
    }"""
    assert app.evaluate(twice) == []


@IN_LAB
def test_two_apps_have_one_script_and_either_lives_without_the_other(app):
    write_cell(app, "first, app = convviz.App(), convviz.App(link='v=1')\ndisplay(first)\napp")
    run_cell(app)
    app.wait_for_function("document.querySelectorAll('.cv-board[data-from=torch]').length === 2")
    assert app.locator(f"style[id='{SHEET}']").count() == 1
    assert app.locator("style[id='convviz.app.app.App']").count() == 0
    kernel = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
    app.evaluate(f"void {kernel}.requestExecute({{ code: 'first.close()' }})")
    app.wait_for_function("document.querySelectorAll('.cv-board').length === 1")
    show_all_controls(app)
    slide(app, "stride", 1)
    assert_page_equals_autograd(app)


@IN_LAB
def test_a_kernel_that_has_ended_is_announced(app):
    """The last one: its page is dead."""
    assert app.locator(".cv-lost").first.text_content() == ""
    kernel = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
    app.evaluate(f"void {kernel}.requestExecute({{ code: 'import os; os._exit(1)' }})")
    app.locator(".cv-lost", has_text="has ended").first.wait_for(timeout=APPEARS_WITHIN_MS)
    for sentence in app.locator(".cv-lost").all():
        assert "Run its cell again" in sentence.text_content()
    slider = app.locator(".cv-app .cv-set-stride input").first
    slider.press("Home")
    app.locator(".cv-board[data-from=page]").first.wait_for()
    assert "torch does not answer" in app.locator(".cv-truth").first.text_content(), "the board goes on"
    entry_of(app, "pytorch").dispatch_event("click")  # before it stands what Jupyter says to it
    pane = app.locator(".cv-pane", has_text=say_pane("script.lost")).first
    pane.wait_for()
    pane.get_by_role("button", name=say_pane("again")).dispatch_event("click")
    pane.wait_for()


def write_cell(page, source):
    """Write other code into the notebook's cell."""
    page.locator(".jp-Notebook .jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)


def run_cell(page):
    """Run the notebook's cell and wait until its app is drawn."""
    drawn = page.locator(".cv-board").element_handles()
    page.locator(".jp-Notebook .jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Control+Enter")
    for board in drawn:
        board.wait_for_element_state("hidden", timeout=APPEARS_WITHIN_MS)
    wait_painted(page, 0, APPEARS_WITHIN_MS)
    show_all_controls(page)


def choose_lab_theme(page, name):
    """Choose a theme in Lab's own menu."""
    page.locator(".lm-MenuBar-item", has_text="Settings").click()
    for label in ("Theme", name):
        page.locator(".lm-Menu-item").filter(has=page.get_by_text(label, exact=True)).click()
