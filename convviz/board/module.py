"""The scripts and the style sheets of the live app, as its widgets carry them."""

from __future__ import annotations

import functools
from importlib.resources import files
from importlib.resources.abc import Traversable

from rcssmin import cssmin

from convviz.board.bundle import bundle

HERE = files("convviz.board")


@functools.cache
def carrier_script() -> str:
    """Return the module with the whole app, which one widget carries for all apps of a kernel."""
    return bundle(HERE.joinpath("js"), "page/carrier.js")


@functools.cache
def asking_script() -> str:
    """Return the module of each app: it asks the page for what the carrier brought."""
    return bundle(HERE.joinpath("js"), "page/asks.js")


@functools.cache
def joining_script() -> str:
    """Return the module of an app in a page that has a board of its own: it brings that board the kernel."""
    return bundle(HERE.joinpath("js"), "page/joins.js")


def pane_styles() -> str:
    """Return the rules of the board and of every pane, whose numbers and frames look the same."""
    single = sorted((sheet for sheet in HERE.iterdir() if sheet.name.startswith("pane_")), key=lambda sheet: sheet.name)
    return joined([HERE.joinpath("board.css"), HERE.joinpath("pane.css"), *single])


@functools.cache
def app_styles() -> str:
    """Return the rules of the app: one sheet, because anywidget keeps one a class on the page."""
    around = ("stage", "lesson", "learn", "page", "app", "lecture")
    return pane_styles() + joined([HERE.joinpath(f"{name}.css") for name in around])


def joined(sheets: list[Traversable]) -> str:
    """Return style sheets as one, without what only those read who write them: comments, and space that parts nothing.

    Args:
        sheets: in the order in which their rules win.
    """
    packed: str = cssmin("\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets))
    return packed
