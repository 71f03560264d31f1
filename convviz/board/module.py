"""The script and the style sheets of the live app, as one widget carries them."""

from __future__ import annotations

import functools
from importlib.resources import files
from importlib.resources.abc import Traversable

from convviz.board.bundle import bundle

HERE = files("convviz.board")


@functools.cache
def app_script() -> str:
    """Return the app's one module."""
    return bundle(HERE.joinpath("js"), "page/app.js")


@functools.cache
def joining_script() -> str:
    """Return the module of an app in a page that has a board of its own: it brings that board the kernel."""
    return bundle(HERE.joinpath("js"), "page/joins.js")


def pane_styles() -> str:
    """Return the rules of the board and of every pane, whose numbers and frames look the same."""
    single = sorted((sheet for sheet in HERE.iterdir() if sheet.name.startswith("pane_")), key=lambda sheet: sheet.name)
    return _joined([HERE.joinpath("board.css"), HERE.joinpath("pane.css"), *single])


@functools.cache
def app_styles() -> str:
    """Return the rules of the app: one sheet, because anywidget keeps one a class on the page."""
    around = ("stage", "lesson", "page", "app", "lecture")
    return pane_styles() + _joined([HERE.joinpath(f"{name}.css") for name in around])


def _joined(sheets: list[Traversable]) -> str:
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
