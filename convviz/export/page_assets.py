"""What a live page is made of: script, styles, colours, plotly. None of it needs torch."""

import base64
import functools
import json
import zlib
from importlib.resources import files
from typing import Any

from convviz import __version__
from convviz.facts import facts
from convviz.facts.features import ALONE, RECORDED, TABS
from convviz.facts.i18n.current_language import each_language
from convviz.views.theme import COLORSCALES
from convviz.web.bundle import bundle_several
from convviz.web.widget_assets import joined, page_sheets, tab_file

BOARD = files("convviz.web")
MODULES = {
    "page": "page/standalone_page.js",
    # What a module that is given links needs beside it; the page has these files anyway.
    **{"links": "rules/settings_link.js", "geometry": "rules/conv_geometry.js"},
}
CONTROLS: dict[str, list[str]] = facts("settings")["controls"]  # the groups of controls and what they hold
SHOWN = [name for name in TABS if name in {*ALONE, *RECORDED}]  # those that show something without torch
DEFAULT_CONTROLS = ("kernel", "geometry", "input", "loss")


def page_facts() -> dict[str, Any]:
    return {"version": __version__, "colorscales": COLORSCALES}


@functools.cache
def packed_plotly() -> bytes:
    """Return the vendored plotly, gzipped once in blocks half as long as usual: smaller."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16, zlib.DEF_MEM_LEVEL - 1)  # 16: with gzip's frame
    return packer.compress(BOARD.joinpath("vendor", "plotly-cartesian.min.js").read_bytes()) + packer.flush()


@functools.cache
def plotly_text() -> str:
    """Return the packed plotly as letters that may stand in a page."""
    return base64.b64encode(packed_plotly()).decode()


@functools.cache
def plotly_code() -> str:
    """Return plotly as a module that calls it once, fit for a strict Content-Security-Policy."""
    source = BOARD.joinpath("vendor", "plotly-cartesian.min.js").read_text(encoding="utf-8")
    source = source.replace('.attr("style",', '.property("style",')
    # A UMD file: given a module object it exports itself.
    return f"const plotlyCode = () => {{\nconst module = {{ exports: {{}} }};\n{source}\nreturn module.exports;\n}};"


@functools.cache
def page_styles(tabs: tuple[str, ...] = ()) -> str:
    return joined([*page_sheets(tabs), files("convviz.export").joinpath("page.css")])


def to_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True).replace("<", "\\u003c")


@each_language
def bundles(tabs: tuple[str, ...] = ()) -> str:
    """Return the page with all that it imports, and its ``tabs``, which share its files."""
    named = {f"tab_{name}": tab_file(name) for name in tabs}
    given = f"{{ {', '.join(f'{name}: tab_{name}' for name in tabs)} }}" if tabs else "undefined"
    return f"{bundle_several(BOARD, MODULES | named)}\nconst tabs = {given};"


@each_language
def element_bundles() -> str:
    return bundle_several(BOARD, {**MODULES, "boards": "page/board_element.js", "figures": "page/bare_figure.js"})


def own_tabs(tab: str, lesson: Any = None, *, bare: bool = False) -> tuple[str, ...]:
    """Return the tabs of a page without a kernel; a ``bare`` one has the open one and its lesson's alone."""
    wanted = {tab} & {*ALONE} | {step.get("tab") for step in (lesson or {"steps": []})["steps"]}
    return tuple(name for name in SHOWN if name in wanted or (name in ALONE and not bare))
