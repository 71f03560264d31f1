"""What the page asks of the kernel. A message is a stranger's: it is read as strictly as a link."""

from __future__ import annotations

import functools
import gzip
import time
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any, Protocol

from convviz.app.session import Session, asked, whole
from convviz.app.tabs.tabs import Tabs
from convviz.app.upload import picture_source
from convviz.board.module import tab_script
from convviz.facts import facts
from convviz.facts.spoken import each_language, languages, understood
from convviz.facts.words import sentences
from convviz.lessons import told
from convviz.settings.as_python import as_python
from convviz.settings.state import Settings

PAGE = "convolution.html"  # what the saved page is called
# Seconds in which one answer serves every page: a kernel's messages go to all that are connected. A page that came too
# late for it asks again.
BETWEEN_BUNDLES = 1.0
MOST_LETTERS = 64  # of a page's own name, which goes to all of them

say = sentences("app")
say_language = sentences("language")


@functools.cache
def packed_plotly() -> bytes:
    """Return the vendored plotly bundle, gzipped once a process."""
    # The fastest level: the page waits for it, and a third of the bytes are saved all the same.
    return gzip.compress(files("convviz.board").joinpath("vendor", "plotly-cartesian.min.js").read_bytes(), 1)


@each_language
def packed_script(tab: str) -> bytes:
    """Return what draws a tab, gzipped once a process."""
    return gzip.compress(tab_script(tab).encode())


class Answering(Protocol):
    """What a message needs of the app that it came to."""

    session: Session

    def send(self, content: dict[str, Any], buffers: Any = None) -> None:
        """Send a message to every page."""

    def answer(self, page: str, k: int, settings: Settings) -> None:
        """Go to what a page asked for, and send it the numbers."""

    def speak(self, tag: str) -> None:
        """Say everything in another language from now on."""

    def saved_page(self) -> list[bytes]:
        """Return what is shown as a page; nothing where nobody makes one."""


class Messages:
    """Answers one app's pages."""

    def __init__(self, app: Answering, tabs: Tabs) -> None:
        """Prepare to answer.

        Args:
            app: whose pages ask.
            tabs: of the app; their panes' messages go there.
        """
        self._app: Answering | None = app
        self._tabs = tabs
        self._sent: dict[str, float] = {}  # script → when it went to all pages
        self._answers: dict[str, Callable[[Answering, Mapping[str, Any], list[Any]], None]] = {
            "compute": self._compute,
            "plotly": self._plotly,
            "python": self._python,
            "page": self._page,
            "picture": self._picture,
            "script": self._script,
            "lesson": self._lesson,
            "language": self._language,
            "tab": self._tab,
        }

    def receive(self, message: Any, buffers: list[Any]) -> None:
        """Do what a message asks for; what it cannot have is said in a sentence, and nothing changes.

        Args:
            message: as it came.
            buffers: the bytes beside it.
        """
        app = self._app
        if app is None:
            return

        def act() -> None:
            answer = self._answers.get(str(asked(message)))
            if answer is None:
                raise ValueError(say("message.type", known=", ".join(self._answers), got=f"{asked(message)!r:.40}"))
            answer(app, message, buffers)

        if refused := app.session.attempt(act):
            app.session.tell(refused, failed=True)

    def close(self) -> None:
        """Answer nobody any more."""
        self._app = None

    def _compute(self, app: Answering, message: Mapping[str, Any], _: list[Any]) -> None:
        """Go to a page's settings; a refusal is that page's alone, which knows where it came from."""
        page, k = message.get("page"), whole(message, "k")
        if not isinstance(page, str) or len(page) > MOST_LETTERS:
            raise ValueError(say("message.page", most=MOST_LETTERS, got=f"{page!r:.40}"))
        state: Any = message.get("settings")
        if refused := app.session.attempt(lambda: app.answer(page, k, Settings.from_dict(state))):
            app.send({"type": "refused", "page": page, "k": k, "sentence": refused})

    def _plotly(self, app: Answering, _: Mapping[str, Any], __: list[Any]) -> None:
        if self._is_due("plotly"):
            app.send({"type": "plotly"}, buffers=[packed_plotly()])

    def _python(self, app: Answering, _: Mapping[str, Any], __: list[Any]) -> None:
        app.send({"type": "python", "text": as_python(app.session.settings)})

    def _page(self, app: Answering, _: Mapping[str, Any], __: list[Any]) -> None:
        """Send what is shown as a page: bytes beside the message, a megabyte that nobody else wants."""
        made: list[bytes] = []
        refused = app.session.attempt(lambda: made.extend(app.saved_page()))
        app.session.tell(refused, failed=bool(refused))
        app.send({"type": "page", "name": PAGE}, buffers=made)

    def _picture(self, app: Answering, message: Mapping[str, Any], buffers: list[Any]) -> None:
        app.session.apply(app.session.settings.replace(input=picture_source(buffers)))

    def _script(self, app: Answering, message: Mapping[str, Any], _: list[Any]) -> None:
        """Send what draws a tab: few visitors open them all, so the app's own script goes without."""
        name, known = str(message.get("tab")), facts("names")["tabs"]
        if name not in known:
            raise ValueError(say("message.script", known=", ".join(known), got=f"{name!r:.40}"))
        if self._is_due(f"tab {name}"):
            app.send({"type": "script", "tab": name}, buffers=[packed_script(name)])

    def _lesson(self, app: Answering, message: Mapping[str, Any], _: list[Any]) -> None:
        """Send a lesson that is started: a visitor plays few of them."""
        name = str(message.get("lesson"))
        app.send({"type": "lesson", "lesson": name, "told": told(name)})

    def _language(self, app: Answering, message: Mapping[str, Any], _: list[Any]) -> None:
        """Speak the language of the page that this app brings a kernel."""
        wanted = message.get("language")
        tag = understood(wanted)
        if tag is None:
            raise ValueError(say_language("message", known=", ".join(languages()), got=f"{wanted!r:.40}"))
        app.speak(tag)

    def _is_due(self, script: str) -> bool:
        """Return whether a script goes out again: what nobody reads piles up in the server."""
        now = time.monotonic()
        if now - self._sent.get(script, -BETWEEN_BUNDLES) < BETWEEN_BUNDLES:
            return False
        self._sent[script] = now
        return True

    def _tab(self, app: Answering, message: Mapping[str, Any], _: list[Any]) -> None:
        self._tabs.receive(str(message.get("tab")), message.get("message"))
