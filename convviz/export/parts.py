"""What a live page is made of: script, styles, colours, plotly.

None of it needs torch, so that a server can give a page before any kernel has loaded it.
"""

from __future__ import annotations

import base64
import functools
import json
import zlib
from importlib.resources import files
from typing import Any

from convviz import __version__
from convviz.board.bundle import bundle_several
from convviz.board.module import joined, tab_script
from convviz.facts import facts
from convviz.facts.spoken import each_language
from convviz.views.theme import COLORSCALES

BOARD = files("convviz.board")
MODULES = {
    "page": "page/page.js",
    # What a module that is given links needs beside it; the page has these files anyway.
    **{"links": "rules/link.js", "geometry": "rules/spec.js"},
}
CONTROLS: dict[str, list[str]] = facts("settings")["controls"]  # the groups of controls and what they hold
ALONE: list[str] = facts("settings")["tabs_of_the_page"]  # they need no torch
SHOWN = (*ALONE, "race")  # those that show something without torch; the race is the recorded one
DEFAULT_CONTROLS = ("kernel", "geometry", "input", "loss")


def page_facts() -> dict[str, Any]:
    """Return what every page and module carries, whatever it shows: version and colours."""
    return {"version": __version__, "colorscales": COLORSCALES}


@functools.cache
def packed_plotly() -> bytes:
    """Return the vendored plotly, gzipped once a process: in blocks half as long as usual, which is smaller."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16, zlib.DEF_MEM_LEVEL - 1)  # 16: with gzip's frame
    return packer.compress(BOARD.joinpath("vendor", "plotly-cartesian.min.js").read_bytes()) + packer.flush()


@functools.cache
def plotly_text() -> str:
    """Return the vendored plotly, packed, as letters that may stand in a page."""
    return base64.b64encode(packed_plotly()).decode()


@functools.cache
def page_styles(has_tab: bool = False) -> str:
    """Return the rules of the board and of the page around it, and those of a drawer where it has a tab."""
    sheets = [
        BOARD.joinpath("board.css"),
        BOARD.joinpath("stage.css"),
        BOARD.joinpath("arrival.css"),
        BOARD.joinpath("lesson.css"),
        BOARD.joinpath("learn.css"),
        BOARD.joinpath("page.css"),
        *([BOARD.joinpath("tabs.css"), BOARD.joinpath("pane.css")] if has_tab else []),
        BOARD.joinpath("lecture.css"),
        files("convviz.export").joinpath("page.css"),
    ]
    return joined(sheets)


def to_json(data: Any) -> str:
    """Return JSON that no HTML parser takes for markup."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True).replace("<", "\\u003c")


@each_language
def bundles() -> str:
    """Return the page with all that it imports, as the live app has it, and the rules of links."""
    return bundle_several(BOARD.joinpath("js"), MODULES)


def own_tabs(tab: str, lesson: Any = None) -> dict[str, str]:
    """Return the scripts of the tabs of a page without a kernel, by name.

    Args:
        tab: the one that was open.
        lesson: that the page is made for; it has the tabs of its steps.
    """
    wanted = {tab} & {*ALONE} | {step.get("tab") for step in (lesson or {"steps": []})["steps"]}
    return {name: tab_script(name) for name in SHOWN if name in wanted}
