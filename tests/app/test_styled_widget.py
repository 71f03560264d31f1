"""The sheet of convviz's widgets: a document has it once, whichever of them come, and in whatever order."""

from pathlib import Path

import pytest

import convviz
from convviz.app.script_carrier_widget import Script
from convviz.app.styled_widget import SHEET, PaneWidget
from convviz.facts.features import TABS
from convviz.web.widget_assets import app_styles, tab_sheet


@pytest.mark.parametrize("name", TABS[:1])
def test_every_widget_has_the_same_sheet_under_the_same_name(closing, name):
    """The front end puts a sheet of a name that is there in the other's place, and one of another name last."""
    pane = closing(PaneWidget(name, "tab.js", {}, theme="auto"))
    assert pane._sheet == tab_sheet(name)
    for widget in (closing(Script()), pane):
        assert (widget._anywidget_id, widget._css) == (SHEET, app_styles())


def test_a_box_around_an_app_takes_no_wheel_unless_it_was_made_to(page):
    """The board that a network opens stands in a box of ipywidgets, which scrolled by a pixel."""
    page.add_style_tag(content=app_styles() + ".widget-box { overflow: auto; }")
    page.evaluate("""document.body.innerHTML = `<div class="widget-box" data-cv-holds="all"></div>
        <div class="widget-box" data-cv-holds="all" style="overflow: scroll"></div><div class="widget-box"></div>`""")
    found = page.locator(".widget-box").evaluate_all("(all) => all.map((each) => getComputedStyle(each).overflowY)")
    assert found == ["visible", "scroll", "auto"]


def test_no_widget_has_a_sheet_of_its_own():
    root = Path(convviz.__file__).parent
    named = [path for path in root.rglob("*.py") if "_css = " in path.read_text(encoding="utf-8")]
    assert [path.relative_to(root).as_posix() for path in named] == ["app/styled_widget.py"]
