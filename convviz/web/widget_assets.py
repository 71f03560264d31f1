"""The scripts and the style sheets of the live app, as its widgets carry them."""

import functools
import json
import re
from importlib.resources import files
from importlib.resources.abc import Traversable

from convviz.facts import facts
from convviz.facts.i18n.current_language import each_language
from convviz.web.bundle import bundle
from convviz.web.minify import packed_sheet

HERE = files("convviz.web")
COLOUR = re.compile(r"colour\((?P<theme>light|dark) (?P<name>[\w-]+)\)")
# The sheets around the board's own, in the order in which their rules win.
AROUND = (
    "board/layout/screen_layout",
    "board/panel/panel_zoom_dialog",
    "board/band/break_it",
    "board/steps/intro_animation",
    "lesson/lesson",
    "controls/gradient_descent",
    "controls/controls",
    "tabs/tabbar_and_drawer",
    "page/app",
    "page/control_styles",
    "page/lecture",
)


@each_language
def carrier_script() -> str:
    """Return the module with the whole app, which one widget carries for all apps."""
    return bundle(HERE, "page/script_carrier_widget.js")


@functools.cache
def asking_script() -> str:
    """Return the module of each app, which asks the page for what the carrier brought."""
    return bundle(HERE, "page/request_shared_script.js")


def tab_file(name: str, ending: str = "js") -> str:
    """Return where the script of a feature's tab stands, or its sheet, seen from here."""
    return f"../features/{name}/tab.{ending}"


@each_language
def tab_script(name: str) -> str:
    script = bundle(HERE, tab_file(name))
    return f"{script}\nexport const sheet = {json.dumps(tab_sheet(name), ensure_ascii=False)};\n"


@functools.cache
def tab_sheet(name: str) -> str:
    """Return the rules of one tab's pane; empty where it has none of its own."""
    sheet = HERE.joinpath(tab_file(name, "css"))
    return joined([sheet]) if sheet.is_file() else ""


@functools.cache
def app_styles() -> str:
    """Return the rules of all but what single tabs add."""
    return joined([HERE.joinpath(f"{path}.css") for path in ("board/board", "tabs/pane", *AROUND)])


def page_sheets(tabs: tuple[str, ...]) -> list[Traversable]:
    """Return the sheets of a page without the live app, and of its tabs."""
    paths = ["board/board", *AROUND]
    paths.remove("page/app")
    at = paths.index("tabs/tabbar_and_drawer")
    sheets = [f"{path}.css" for path in paths]
    sheets[at + 1 : at + 1] = ["tabs/pane.css", *(tab_file(tab, "css") for tab in tabs)]
    if not tabs:
        del sheets[at : at + 2]
    return [HERE.joinpath(sheet) for sheet in sheets]


def joined(sheets: list[Traversable]) -> str:
    """The last wins."""
    return packed_sheet(coloured("\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)))


def coloured(sheet: str) -> str:
    """Return a sheet with ``facts/data/colours.json`` in it: a theme, or one ``colour(light ink)``."""
    colours = facts("colours")
    for theme, of in colours.items():
        every = "".join(f"--cv-{name}:{value};" for name, value in of.items() if isinstance(value, str))
        sheet = re.sub(rf"--colours: ?{theme};?", every, sheet)
    return COLOUR.sub(lambda found: str(colours[found["theme"]][found["name"]]), sheet)
