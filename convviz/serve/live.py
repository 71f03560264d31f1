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
from convviz.facts.spoken import ENGLISH, language, languages, speaking
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
    """The page and its files, in one language.

    Attributes:
        page: What the app's address answers with.
        files: By name, each with its tag in it: they may be kept for ever.
    """

    page: Answer
    files: dict[str, Answer]


def live_page(front_end: Mapping[str, Any]) -> LivePage:
    """Return the page in the language that is spoken here.

    Args:
        front_end: What Voilà's front end is told about the server, all but which kernel is the visitor's.
    """
    parts = live_parts("served", facts("names")["tabs"], ["serve/served.css"])
    parts["frame"] = ("html", _frame(front_end).encode())
    made = {part: (end, answer(KINDS[end], content, pack=end != "bin")) for part, (end, content) in parts.items()}
    names = {part: f"{part}-{file.tag}.{ending}" for part, (ending, file) in made.items()}
    page = answer(KINDS["html"], _page(names).encode())
    return LivePage(page, {names[part]: file for part, (_, file) in made.items()})


class LivePages:
    """The page in every language; the English one is made at the start, each other when somebody first asks for it."""

    def __init__(self, front_end: Mapping[str, Any]) -> None:
        """Make the first.

        Args:
            front_end: As for ``live_page``.
        """
        self._front_end = front_end
        self._made: dict[str, LivePage] = {}
        self.page(ENGLISH)

    def page(self, tag: str) -> Answer:
        """Return the page in a language.

        Args:
            tag: One of those that there are.
        """
        return self._in(tag).page

    def file(self, name: str) -> Answer | None:
        """Return a file; None where there is none. A page that is older than the server may ask for any.

        Args:
            name: As a page gives it.
        """
        tags = sorted(languages(), key=lambda tag: tag not in self._made)
        return next((found for tag in tags if (found := self._in(tag).files.get(name))), None)

    def _in(self, tag: str) -> LivePage:
        if tag not in self._made:
            with speaking(tag):
                self._made[tag] = live_page(self._front_end)
        return self._made[tag]


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
