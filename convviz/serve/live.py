"""The page that the app's address answers with: a live board that computes in the page, as bytes made once a process.

Nothing here loads torch: the page is there before any kernel is.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

from convviz import __version__
from convviz.board.bundle import bundle_several
from convviz.board.module import app_styles, joined, tab_script
from convviz.export.parts import BOARD, packed_plotly, page_facts, to_json
from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.lessons import names, told

FOLDER = "convviz/"  # of the page's files, below the page's own address
KERNEL = FOLDER + "kernel"  # where the page asks for one
ROOT = files("convviz")
TABS = tuple(facts("names")["tabs"])
LESSON = "lesson-"  # begins the name of the file of a lesson
TAB = "tab-"  # begins the name of the file that draws a tab
say = sentences("served")
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 3 3'%3E%3Cpath fill='%232166ac' "
    "d='M0 0h3v3H0z'/%3E%3Cpath fill='%23f4a582' d='M1 0h1v3H1zM0 1h3v1H0z'/%3E%3C/svg%3E"
)


@dataclass(frozen=True)
class Answer:
    """What the server answers under one address.

    Attributes:
        kind: For the browser, such as ``"text/css"``.
        content: The bytes.
        packed: The same, gzipped; None where they are small already.
        tag: Names the content: another one has another tag.
    """

    kind: str
    content: bytes
    packed: bytes | None
    tag: str


def answer(kind: str, content: bytes, *, pack: bool = True) -> Answer:
    """Return an answer, packed as small as gzip can.

    Args:
        kind: For the browser.
        content: The bytes.
        pack: Whether gzip would make them smaller.
    """
    packed = gzip.compress(content, 9, mtime=0) if pack else None
    return Answer(kind, content, packed, hashlib.sha256(content).hexdigest()[:16])


@dataclass(frozen=True)
class LivePage:
    """The page and its files.

    Attributes:
        page: What the app's address answers with.
        files: By name, each with its tag in it: they may be kept for ever.
    """

    page: Answer
    files: dict[str, Answer]


def live_page(front_end: Mapping[str, Any]) -> LivePage:
    """Return the page; the server makes it once.

    Args:
        front_end: What Voilà's front end is told about the server, all but which kernel is the visitor's.
    """
    made = {
        "styles": ("css", answer("text/css; charset=utf-8", _styles().encode())),
        "script": ("js", answer("text/javascript; charset=utf-8", _script().encode())),
        # Packed, and no packing of the way: the page unpacks it by itself, wherever it comes from.
        "plotly": ("gz", answer("application/octet-stream", packed_plotly(), pack=False)),
        # Asked for when its tab is opened, and only where there is no kernel.
        "race": ("json", answer("application/json", ROOT.joinpath("lab", "recorded.json").read_bytes())),
        # Each asked for when its tab is first opened.
        **{f"{TAB}{tab}": ("js", answer("text/javascript; charset=utf-8", tab_script(tab).encode())) for tab in TABS},
        # Each asked for when it is started.
        **{f"{LESSON}{name}": ("json", answer("application/json", to_json(told(name)).encode())) for name in names()},
        "frame": ("html", answer("text/html; charset=utf-8", _frame(front_end).encode())),
    }
    called = {part: f"{part}-{file.tag}.{ending}" for part, (ending, file) in made.items()}
    page = answer("text/html; charset=utf-8", _page(called).encode())
    return LivePage(page, {called[part]: file for part, (_, file) in made.items()})


def _styles() -> str:
    """Return the rules of every served page, of the board, and of this page."""
    around = ROOT.joinpath("share", "voila", "templates", "convviz", "static", "page.css")
    page, own = ROOT.joinpath("export", "page.css"), ROOT.joinpath("serve", "served.css")
    return "\n".join([joined([around, page]), app_styles(), joined([own])])


def _script() -> str:
    return f"{bundle_several(BOARD.joinpath('js'), {'served': 'page/served.js'})}\nserved.start();\n"


def _page(called: Mapping[str, str]) -> str:
    data = {
        **page_facts(),
        "plotly": FOLDER + called["plotly"],
        "frame": FOLDER + called["frame"],
        "race": FOLDER + called["race"],
        "tabs": {tab: FOLDER + called[f"{TAB}{tab}"] for tab in TABS},
        "lessons": {name: FOLDER + called[f"{LESSON}{name}"] for name in names()},
        "kernel": KERNEL,
    }
    return f"""<!doctype html>
<html lang="en" data-convviz-version="{__version__}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(say("title"))}</title>
<link rel="icon" href="{ICON}">
<link rel="stylesheet" href="{FOLDER}{called["styles"]}">
<script type="module" src="{FOLDER}{called["script"]}"></script>
<link rel="preload" href="{FOLDER}{called["plotly"]}" as="fetch" crossorigin>
</head>
<body data-convviz-kernel="">
<a class="convviz-skip" href="#convviz-main">{escape(say("skip"))}</a>
<main id="convviz-main" data-live tabindex="-1">
<noscript><p>{escape(say("noscript"))}</p></noscript>
<div id="convviz-live"><h1>{escape(say("heading"))}</h1></div>
</main>
<div id="convviz-lost" hidden>
<p id="convviz-lost-text" role="alert"></p>
<button type="button" id="convviz-again">{escape(say("again"))}</button>
</div>
<script type="application/json" id="convviz-data">{to_json(data)}</script>
</body>
</html>
"""


def _frame(front_end: Mapping[str, Any]) -> str:
    """Return the document in which Voilà's front end runs; the page adds the front end, and the kernel's outputs."""
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{escape(say("frame"))}</title></head>
<body data-voila="voila">
<script type="application/json" id="jupyter-config-data">{to_json(front_end)}</script>
</body>
</html>
"""
