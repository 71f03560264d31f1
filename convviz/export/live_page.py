"""The live page, which computes in the page itself; a server gives it torch later, a static host none."""

import hashlib
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files
from typing import Any

from convviz import __version__
from convviz.export.page_assets import BOARD, packed_plotly, page_facts, to_json
from convviz.export.teacher_text import intro_html
from convviz.facts.features import RECORDED
from convviz.facts.i18n.choose_language import own_names
from convviz.facts.i18n.current_language import language
from convviz.facts.words import sentences
from convviz.lessons import lesson_bundle
from convviz.lessons import names as lesson_names
from convviz.web.bundle import bundle_several
from convviz.web.widget_assets import app_styles, joined, tab_script

FOLDER = "convviz/"  # of the page's files, below the page's own address
LESSON = "lesson-"  # begins the name of the file of a lesson
RECORD = "recorded-"  # begins the name of the file that a tab shows where there is no kernel
TAB = "tab-"  # begins the name of the file that draws a tab
ROOT = files("convviz")
say = sentences("live_page")
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 3 3'%3E%3Cpath fill='%232166ac' "
    "d='M0 0h3v3H0z'/%3E%3Cpath fill='%23f4a582' d='M1 0h1v3H1zM0 1h3v1H0z'/%3E%3C/svg%3E"
)


def tag_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def live_parts(entry: str, tabs: Iterable[str], sheets: Iterable[str] = ()) -> dict[str, tuple[str, bytes]]:
    """Return the page's files: part → ((name, which is a hash of the content, and content)); ``entry`` starts it."""
    script = f"{bundle_several(BOARD, {entry: f'page/{entry}.js'})}\n{entry}.start();\n"
    files = {
        "styles": ("css", _styles(sheets).encode()),
        "script": ("js", script.encode()),
        # Packed, and no packing of the way: the page unpacks it by itself. A .gz would be sent by some hosts as packed
        # for the way, and the browser would unpack it before the page can.
        "plotly": ("bin", packed_plotly()),
        # Each asked for when its tab is opened, and only where there is no kernel.
        **{
            f"{RECORD}{tab}": ("json", ROOT.joinpath("features", tab, "recorded.json").read_bytes()) for tab in RECORDED
        },
        # Each asked for when its tab is first opened.
        **{f"{TAB}{tab}": ("js", tab_script(tab).encode()) for tab in tabs},
        # Each asked for when it is started.
        **{f"{LESSON}{name}": ("json", to_json(lesson_bundle(name)).encode()) for name in lesson_names()},
    }
    return {part: (f"{part}-{tag_of(content)}.{ending}", content) for part, (ending, content) in files.items()}


def _styles(sheets: Iterable[str]) -> str:
    around = ROOT.joinpath("share", "voila", "templates", "convviz", "static", "page.css")
    page, live = ROOT.joinpath("export", "page.css"), ROOT.joinpath("export", "live_page.css")
    own = [live, *(ROOT.joinpath(sheet) for sheet in sheets)]
    return "\n".join([joined([around, page]), app_styles(), joined(own)])


def live_html(
    names: Mapping[str, str],
    more: Mapping[str, Any],
    *,
    pages: Mapping[str, str],
    body: str = "<body>",
    after: str = "",
) -> str:
    """Return the page's document in the language that is spoken here.

    ``names`` are the addresses of its parts, ``pages`` those of the page in each language; its script gets ``more``.
    """

    def addresses(kind: str) -> dict[str, str]:
        return {part.removeprefix(kind): FOLDER + name for part, name in names.items() if part.startswith(kind)}

    data = {
        **page_facts(),
        "plotly": FOLDER + names["plotly"],
        "recorded": addresses(RECORD),
        "tabs": addresses(TAB),
        "lessons": addresses(LESSON),
        "languages": {tag: {"name": name, "page": pages[tag]} for tag, name in own_names().items()},
        **more,
    }
    return f"""<!doctype html>
<html lang="{language()}" data-convviz-version="{__version__}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(say("title"))}</title>
<link rel="icon" href="{ICON}">
<link rel="stylesheet" href="{FOLDER}{names["styles"]}">
<script type="module" src="{FOLDER}{names["script"]}"></script>
<link rel="preload" href="{FOLDER}{names["plotly"]}" as="fetch" crossorigin>
</head>
{body}
<a class="convviz-skip" href="#convviz-main">{escape(say("skip"))}</a>
<main id="convviz-main" data-live tabindex="-1">
<noscript><p>{escape(say("noscript"))}</p></noscript>
<div id="convviz-live"><h1>{escape(say("heading"))}</h1><div class="cv-late">{intro_html(say("late"))}</div></div>
</main>
{after}<script type="application/json" id="convviz-data">{to_json(data)}</script>
</body>
</html>
"""
