"""The numbers as tables: every panel's, following the board, the same with scripts and without."""

import contextlib

import pytest

from convviz.export.page import export_html
from convviz.facts.format_numbers import format_number
from convviz.geometry.spec import ConvSpec
from tests.browser.app_page import fresh_page, repaint, show_all_controls, wait_painted, weight_slider
from tests.browser.server import wait_until

STATES = {
    "padded": {},  # 8 x 8, stride 2, with padding and a remainder
    "gaps": {
        "spec": ConvSpec((9, 8), 2, 2, (2, 1), 3, ((1, 0), (0, 0)), groups=2).to_dict(),
        "bias": {"kind": "values", "values": [0.5, -1], "shape": [2]},
    },
    "large": {"spec": ConvSpec((14, 13), kernel_size=3, stride=2, padding=1).to_dict()},
}
TABLES = """(all) => all.map((table) => ({
  caption: table.caption.textContent,
  columns: [...table.tHead.rows[0].querySelectorAll("th[scope=col]")].map((th) => th.textContent),
  rows: [...table.tBodies[0].rows].map((row) => row.querySelector("th[scope=row]").textContent),
  cells: [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")].map((td) => td.textContent)),
}))"""
# What the board shows, each panel once: its cells' numbers, or plotly's, because a large panel has no others.
PANELS = """(sections) => Object.fromEntries(sections.flatMap((section) => {
  const traces = section.querySelector(".cv-plot").data;
  const cells = (grid) => Array.from({ length: grid.ariaRowCount }, (_, row) =>
    Array.from({ length: grid.ariaColCount }, (_, column) =>
      Number(grid.querySelector(`[data-cell="${row},${column}"]`).dataset.value)));
  return [...section.querySelectorAll(".cv-panel")].map((panel, index) => [
    `${panel.querySelector(".cv-name").textContent}, shape ${panel.querySelector(".cv-shape").textContent}`,
    panel.querySelector(".cv-numbered") ? cells(panel.querySelector(".cv-grid"))
      : Array.from(traces[index].z, (row) => Array.from(row)),
  ]);
}))"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


def open_page(page, state, folder):
    path = export_html(STATES[state], folder / f"{state}.html")
    page.goto(path.as_uri())
    wait_painted(page, 0, 60_000)
    show_all_controls(page)


def tables(page):
    return page.locator(".cv-board .cv-tables table").evaluate_all(TABLES)


def open_tables(page):
    page.locator(".cv-board .cv-tables summary").click()
    page.locator(".cv-board .cv-tables table").last.wait_for()


def assert_as_on_the_board(page):
    """Plotly draws once the board is at rest: until then its numbers may be those before."""
    found = {}

    def same():
        shown = {
            caption: [[format_number(value) for value in row] for row in plane]
            for caption, plane in page.locator(".cv-equation").evaluate_all(PANELS).items()
        }
        found.update(table={table["caption"]: table["cells"] for table in tables(page)}, board=shown)
        return found["table"] == shown

    with contextlib.suppress(AssertionError):
        wait_until(same, within_s=8)
    assert found["table"] == found["board"]


def test_they_are_made_when_opened_and_follow_the_board(page, folder):
    page.set_viewport_size({"width": 1600, "height": 1100})  # all bands have room, and draw
    open_page(page, "padded", folder)
    assert page.locator(".cv-board .cv-tables table").count() == 0
    open_tables(page)
    assert_as_on_the_board(page)
    before = tables(page)
    with repaint(page):
        page.locator(".cv-set-stride input").first.press("ArrowLeft")
    assert_as_on_the_board(page)
    assert tables(page) != before
    with repaint(page):
        page.locator(".cv-set-transposed input").press("Space")
    assert_as_on_the_board(page)
    assert tables(page)[0]["caption"].startswith("padded_input, shape [1, 1, ")
    page.locator(".cv-board .cv-tables summary").click()
    kept = tables(page)
    with repaint(page):
        weight_slider(page, 0, 0).press("End")
    assert tables(page) == kept, "closed, they cost nothing"
    page.locator(".cv-board .cv-tables summary").click()
    assert_as_on_the_board(page)


def test_they_are_the_same_without_scripts_and_headers_say_what_is_no_data(page, browser, folder):
    for state in STATES:
        open_page(page, state, folder)
        open_tables(page)
        assert_as_on_the_board(page)
        # The still picture is there too, hidden.
        assert page.locator(".cv-still table").evaluate_all(TABLES) == tables(page), state
    with fresh_page(browser, java_script_enabled=False) as still:
        still.goto((folder / "padded.html").as_uri())
        still.locator(".cv-still summary").click()
        assert still.locator(".cv-still table").first.is_visible()
    page.set_viewport_size({"width": 320, "height": 800})
    open_page(page, "padded", folder)
    open_tables(page)
    by_name = {table["caption"].split(",")[0]: table for table in tables(page)}
    assert by_name["padded_input"]["rows"] == ["0 padding", *map(str, range(1, 9)), "9 padding, never read"]
    assert by_name["padded_grad_output"]["columns"][2] == "2 zero inserted by the stride"
    assert by_name["padded_grad_output"]["columns"][9] == "9 padding for the remainder"
    assert by_name["grad_weight"]["rows"] == ["0", "1", "2"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 320, "wide tables scroll by themselves"
    body = page.locator(".cv-tables-body").last
    assert body.evaluate("(body) => body.scrollWidth > body.clientWidth")
    body.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.cv-board .cv-tables-body').scrollLeft > 0")
