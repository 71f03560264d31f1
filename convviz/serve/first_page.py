"""The page that the app's address answers with: a live board that computes in the page, as bytes made once a process.

Nothing here loads torch: the page computes by itself until torch answers.
"""

import gzip
import os
from collections.abc import Mapping
from dataclasses import dataclass

from convviz.app.permissions import OWN_VARIABLE
from convviz.export.live_page import live_html, live_parts, tag_of
from convviz.facts.features import TABS
from convviz.facts.i18n.current_language import ENGLISH, languages, use_locale

NUMBERS = "live/numbers"  # the websocket over which the page asks torch, below its own address
KINDS = {  # by the ending of a file's name, for the browser
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "bin": "application/octet-stream",
    "json": "application/json",
    "html": "text/html; charset=utf-8",
}


@dataclass(frozen=True)
class Answer:
    """What is answered under one address, gzipped if large; another content has another tag."""

    kind: str
    content: bytes
    packed: bytes | None
    tag: str


def answer(name: str, content: bytes) -> Answer:
    ending = name.rpartition(".")[2]
    packed = None if ending == "bin" else gzip.compress(content, 9, mtime=0)
    return Answer(KINDS[ending], content, packed, tag_of(content))


@dataclass(frozen=True)
class LivePage:
    """The page, and by their names its files, which may be kept for ever."""

    page: Answer
    files: dict[str, Answer]


def live_page() -> LivePage:
    parts = live_parts("live_page", TABS, ["serve/lost_connection.css"])
    page = answer("page.html", _page({part: name for part, (name, _) in parts.items()}).encode())
    return LivePage(page, {name: answer(name, content) for name, content in parts.values()})


class LivePages:
    """The page in every language, made when somebody first asks for it."""

    def __init__(self) -> None:
        self._made: dict[str, LivePage] = {}
        self.page(ENGLISH)

    def page(self, tag: str) -> Answer:
        return self._in(tag).page

    def file(self, name: str) -> Answer | None:
        """A page that is older than the server may ask for one that is gone."""
        tags = sorted(languages(), key=lambda tag: tag not in self._made)
        return next((found for tag in tags if (found := self._in(tag).files.get(name))), None)

    def _in(self, tag: str) -> LivePage:
        if tag not in self._made:
            with use_locale(tag):
                self._made[tag] = live_page()
        return self._made[tag]


def _page(names: Mapping[str, str]) -> str:
    away = """<div id="convviz-lost" hidden>
<p id="convviz-lost-text" role="status"></p>
</div>
"""
    more = {"numbers": NUMBERS, "own": OWN_VARIABLE in os.environ}
    return live_html(names, more, pages=dict.fromkeys(languages(), ""), body='<body data-convviz-torch="">', after=away)
