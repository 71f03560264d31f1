"""What the page asks of the kernel. A message is a stranger's: it is read as strictly as a link."""

import functools
import gzip
import time
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any, ClassVar, Protocol

from convviz.app.page_requests import Answer, answered
from convviz.app.session import Session
from convviz.app.stateful_tab import Tab, tab_with_state
from convviz.app.validate_request import asked, one_of, page_name, shown, whole
from convviz.facts.features import STATEFUL, TABS
from convviz.facts.i18n.current_language import each_language, languages, match_locale
from convviz.facts.words import sentences
from convviz.lessons import lesson_bundle
from convviz.settings.state import Settings
from convviz.web.widget_assets import tab_script

# Seconds in which one answer serves every page: a kernel's messages go to all that are connected. A page that came too
# late for it asks again.
BETWEEN_BUNDLES = 1.0

ANSWERED = ("tab", "python", "page", "picture")  # as a server's worker answers them

say = sentences("app")
say_language = sentences("language")


@functools.cache
def packed_plotly() -> bytes:
    # The fastest level: the page waits for it, and a third of the bytes are saved all the same.
    return gzip.compress(files("convviz.web").joinpath("vendor", "plotly-cartesian.min.js").read_bytes(), 1)


@each_language
def packed_script(tab: str) -> bytes:
    return gzip.compress(tab_script(tab).encode())


class Answering(Protocol):
    """What a message needs of the app that it came to."""

    session: Session
    page_maker: ClassVar[Callable[..., bytes] | None]  # makes the page of a state and an intro

    def send(self, content: dict[str, Any], buffers: Any = None) -> None:
        """Send a message to every page."""

    def answer(self, page: str, k: int, settings: Settings) -> None:
        """Go to what a page asked for, and send it the numbers."""

    def introduction(self) -> str:
        """Return the sentences that stand above it instead of its own."""

    def speak(self, tag: str) -> None:
        """Say everything in another language from now on."""


class Messages:
    """Answers one app's pages; ``made`` has the tabs with a state that were opened, by name."""

    def __init__(self, app: Answering) -> None:
        self._app: Answering | None = app
        self.made: dict[str, Tab] = {}
        self._sent: dict[str, float] = {}  # script → when it went to all pages
        self._answers: dict[str, Callable[[Answering, Mapping[str, Any], list[Any]], None]] = {
            "compute": self._compute,
            **dict.fromkeys(ANSWERED, self._answer),
            "act": self._act,
            "plotly": self._plotly,
            "script": self._script,
            "lesson": self._lesson,
            "language": self._language,
        }

    def receive(self, message: Any, buffers: list[Any]) -> None:
        """What it cannot have is said, and nothing changes."""
        app = self._app
        if app is None:
            return

        def act() -> None:
            answer = self._answers.get(str(asked(message)))
            if answer is None:
                raise ValueError(say("message.type", known=", ".join(self._answers), got=f"{asked(message)!r:.40}"))
            answer(app, message, buffers)

        if refused := app.session.attempt(act):
            app.session.notify(refused, failed=True)

    def follow(self, tab: str) -> None:
        for name, made in self.made.items():
            if name != tab:
                made.leave()

    def close(self) -> None:
        for tab in self.made.values():
            tab.close()
        self.made.clear()
        self._app = None

    def _compute(self, app: Answering, message: Mapping[str, Any], _: list[Any]) -> None:
        """Go to a page's settings; a refusal is that page's alone."""
        page, k = page_name(message), whole(message, "k")
        state: Any = message.get("settings")
        if refused := app.session.attempt(lambda: app.answer(page, k, Settings.from_dict(state))):
            app.send({"type": "refused", "page": page, "k": k, "sentence": refused})

    def _answer(self, app: Answering, message: Mapping[str, Any], buffers: list[Any]) -> None:
        """Answer one page as a server's worker does; but what has a state says how it is."""
        page_name(message)  # an answer goes to all pages: each has to know whose it is
        maker = type(app).page_maker
        with_words = None if maker is None else functools.partial(maker, intro=app.introduction())
        made = answered(message, buffers, page_maker=with_words, stages=app.session.numbers_of)
        tab = self.made.get(made.message.get("tab", ""))
        if tab is not None:
            made = Answer(made.message | {"data": shown(tab.data)}, [])
        app.send(made.message, buffers=made.buffers)

    def _act(self, app: Answering, message: Mapping[str, Any], _: list[Any]) -> None:
        name = one_of(message, "tab", STATEFUL, "")
        if name not in self.made:
            self.made[name] = tab_with_state(name, app.send, lambda: app.session.settings.device)
        self.made[name].receive(message.get("message"))

    def _plotly(self, app: Answering, _: Mapping[str, Any], __: list[Any]) -> None:
        if self._is_due("plotly"):
            app.send({"type": "plotly"}, buffers=[packed_plotly()])

    def _script(self, app: Answering, message: Mapping[str, Any], _: list[Any]) -> None:
        """Send what draws a tab: few visitors open them all."""
        name = str(message.get("tab"))
        if name not in TABS:
            raise ValueError(say("message.script", known=", ".join(TABS), got=f"{name!r:.40}"))
        if self._is_due(f"tab {name}"):
            app.send({"type": "script", "tab": name}, buffers=[packed_script(name)])

    def _lesson(self, app: Answering, message: Mapping[str, Any], _: list[Any]) -> None:
        """Send a lesson that is started: a visitor plays few of them."""
        name = str(message.get("lesson"))
        app.send({"type": "lesson", "lesson": name, "bundle": lesson_bundle(name)})

    def _language(self, app: Answering, message: Mapping[str, Any], _: list[Any]) -> None:
        wanted = message.get("language")
        tag = match_locale(wanted)
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
