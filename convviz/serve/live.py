"""The page that the app's address answers with: a live board that computes in the page, as bytes made once a process.

Nothing here loads torch: the page is there before any kernel is.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from convviz.export.live import FOLDER, live_html, live_parts, tag_of
from convviz.export.parts import to_json
from convviz.facts import facts
from convviz.facts.spoken import language, languages, speaking
from convviz.facts.words import sentences

KERNEL = FOLDER + "kernel"  # where the page asks for one
KINDS = {  # by the ending of a file's name, for the browser
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "bin": "application/octet-stream",
    "json": "application/json",
    "html": "text/html; charset=utf-8",
}
say = sentences("served")


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
    return Answer(kind, content, packed, tag_of(content))


@dataclass(frozen=True)
class LivePage:
    """The page and its files.

    Attributes:
        pages: What the app's address answers with, by language.
        files: By name, each with its tag in it: they may be kept for ever.
    """

    pages: dict[str, Answer]
    files: dict[str, Answer]


def live_page(front_end: Mapping[str, Any]) -> LivePage:
    """Return the page; the server makes it once.

    Args:
        front_end: What Voilà's front end is told about the server, all but which kernel is the visitor's.
    """
    pages: dict[str, Answer] = {}
    files: dict[str, Answer] = {}
    for tag in languages():
        with speaking(tag):
            parts = live_parts("served", facts("names")["tabs"], ["serve/served.css"])
            parts["frame"] = ("html", _frame(front_end).encode())
            names = {part: f"{part}-{tag_of(content)}.{ending}" for part, (ending, content) in parts.items()}
            pages[tag] = answer(KINDS["html"], _page(names).encode())
        new = {name: parts[part] for part, name in names.items() if name not in files}  # most of them are of all
        files |= {name: answer(KINDS[end], content, pack=end != "bin") for name, (end, content) in new.items()}
    return LivePage(pages, files)


def _page(names: Mapping[str, str]) -> str:
    lost = f"""<div id="convviz-lost" hidden>
<p id="convviz-lost-text" role="alert"></p>
<button type="button" id="convviz-again">{escape(say("again"))}</button>
</div>
"""
    more = {"frame": FOLDER + names["frame"], "kernel": KERNEL}
    return live_html(
        names, more, pages=dict.fromkeys(languages(), ""), body='<body data-convviz-kernel="">', after=lost
    )


def _frame(front_end: Mapping[str, Any]) -> str:
    """Return the document in which Voilà's front end runs; the page adds the front end, and the kernel's outputs."""
    return f"""<!doctype html>
<html lang="{language()}">
<head><meta charset="utf-8"><title>{escape(say("frame"))}</title></head>
<body data-voila="voila">
<script type="application/json" id="jupyter-config-data">{to_json(front_end)}</script>
</body>
</html>
"""
