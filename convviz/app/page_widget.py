"""A widget that is a view of a session: what its pages are sent, and what they ask and set."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

import anywidget
import ipywidgets as widgets
import traitlets

from convviz import __version__
from convviz.app.messages import Messages
from convviz.app.permissions import is_served
from convviz.app.session import Session
from convviz.app.step_numbers import numbers
from convviz.app.traits import SettingTraits
from convviz.app.traits_and_settings import ON_PAGE, value_of, with_named
from convviz.facts.i18n.current_language import languages, use_locale
from convviz.facts.words import sentences
from convviz.geometry.shown_plane import Plane
from convviz.lessons import lesson_bundle, short_name
from convviz.ops.devices_and_dtypes import available_devices
from convviz.settings.state import Settings
from convviz.views.theme import COLORSCALES
from convviz.web.widget_assets import asking_script

if TYPE_CHECKING:
    from convviz.app.script_carrier_widget import Script

say = sentences("app")

SOURCES = ("input", "target", "grad")


class PageWidget(SettingTraits, anywidget.AnyWidget):
    """What stands between a session and its pages, of which there may be several, or none."""

    # Makes the page of a state and an ``intro``. ``convviz/__init__.py`` puts it here: app and export stand side by
    # side and do not know each other. Without it nothing offers to save a page.
    page_maker: ClassVar[Callable[..., bytes] | None] = None

    _esm = asking_script()
    # What carries the whole script, for all apps at once: a saved page keeps it because each of them names it.
    _carrier = traitlets.Instance(widgets.Widget, allow_none=True).tag(sync=True, **widgets.widget_serialization)

    # What the page follows. Typed numbers may be many: apart, and sent again only when they change.
    _facts = traitlets.Dict().tag(sync=True)
    _start = traitlets.Dict().tag(sync=True)
    _state = traitlets.Dict().tag(sync=True)
    _sources = traitlets.Dict().tag(sync=True)
    _numbers = traitlets.Dict().tag(sync=True)
    _introduction = traitlets.Unicode().tag(sync=True)
    _lesson = traitlets.Dict().tag(sync=True)  # the one that the page starts
    _notice = traitlets.Tuple(default_value=("", False)).tag(sync=True)

    _reintroduce: Callable[[], str] | None = None  # says the introduction in another language

    def __init__(self, session: Session, language: str, *, chosen: bool, lesson: str | None) -> None:
        """Open it; ``chosen``: its language is not the browser's."""
        self.session, self._language, self._lesson_given = session, language, lesson
        with use_locale(language):
            self._begin(chosen)
        self._messages = Messages(self)
        session.observe(self._on_settings, names="settings")  # the result is there by then
        session.observe(self._on_notice, names="notice")
        self.on_msg(self._receive)

    def _begin(self, chosen: bool) -> None:
        self._step = 0
        self._asker = ("", 0)  # who asked for the numbers that are sent next: a page and its id of the settings
        carrier = _taken_script()
        facts = {
            "id": uuid.uuid4().hex,
            "script": carrier.key,
            "waiting": say("page.waiting"),
            "version": __version__,
            "language": self._language,
            # marimo makes no other script's widget outside a cell.
            "languages": [self._language] if _in_marimo() else languages(),
            "chosen": chosen,
            "colorscales": COLORSCALES,
            "devices": available_devices(),
            "makes_pages": type(self).page_maker is not None,
            "served": is_served(),
        }
        # All at once: in a notebook the page makes its model of what the widget is born with.
        shown = {"_carrier": carrier, **self._shown("", 0)}
        start, notice = self.session.settings.to_dict(), self.session.notice
        self.follow_session()
        super().__init__(_facts=facts, _start=start, _notice=notice, _lesson=self._opened_lesson(), **shown)

    def introduce(self, text: str | Callable[[], str]) -> None:
        """Show these sentences above the app instead of its own.

        Args:
            text: the sentences, or what says them in the language that is spoken: called again in another one.
        """
        self._reintroduce = text if callable(text) else None
        with use_locale(self._language):
            self._introduction = text() if callable(text) else text

    def start_at(self, plane: Plane) -> None:
        """Show this plane, and let Reset lead back to it."""
        self.session.apply(self.session.settings.replace(plane=plane))
        self._start = self.session.settings.to_dict()

    def introduction(self) -> str:
        """Return the sentences that ``introduce`` set, ``explain`` for example; none where the app shows its own.

        In the language that is spoken here: a page in another one says them in its own.
        """
        return self._introduction if self._reintroduce is None else self._reintroduce()

    def _receive(self, _: object, message: Any, buffers: list[Any]) -> None:
        with use_locale(self._language):
            self._messages.receive(message, buffers)

    def _handle_msg(self, msg: dict[str, Any]) -> None:
        """Take what a page sets, such as a slider under jslink; what is refused is sent back."""
        data = msg["content"]["data"]
        if data.get("method") != "update":
            super()._handle_msg(msg)
            return
        wanted: dict[str, Any] = data.get("state") or {}

        def go() -> None:
            settings = reduce(lambda made, each: with_named(made, *each), wanted.items(), self.session.settings)
            with self._lock_property(**wanted):  # that page has it already, and may have moved on
                self.session.apply(settings)

        with use_locale(self._language):
            refused = self.session.attempt(go)
        if refused:
            self.session.notify(refused, failed=True)
            self.send_state(wanted.keys() & set(self.keys))

    def speak(self, tag: str) -> None:
        """Show the page in another language: its script, its lesson and its introduction are sent anew.

        Args:
            tag: of the language, such as ``zh-Hans``; the one that is spoken already changes nothing.
        """
        if tag == self._language:
            return
        self._language = tag
        with use_locale(tag):
            before, carrier = self._carrier, _taken_script()
            with self.hold_sync():
                self._carrier, self._lesson = carrier, self._opened_lesson()
                self._introduction = self.introduction()
                self._facts = {**self._facts, "script": carrier.key, "language": tag, "chosen": True}
            if before is not None:
                before.let_go()

    def _opened_lesson(self) -> dict[str, Any]:
        lesson = self._lesson_given
        return {} if lesson is None else {"name": short_name(lesson), "bundle": lesson_bundle(lesson)}

    def send_numbers(self, page: str = "", k: int = 0) -> None:
        """Send settings and numbers together, also to the ``page`` that asked, with its id ``k``."""
        shown = self._shown(page, k)
        with self.hold_sync():
            for name, value in shown.items():
                self.set_trait(name, value)
            for name in ON_PAGE:
                if getattr(self, name) != value_of(self.session.settings, self.session.result, name):
                    self._should_send_property(name, None)  # unless the page has just set it

    def _shown(self, page: str, k: int) -> dict[str, dict[str, Any]]:
        self._step += 1
        state = self.session.settings.to_dict()
        sources = {name: state.pop(name) for name in SOURCES}
        sent = numbers(self.session.result) | {"page": page, "k": k, "step": self._step}
        return {"_sources": sources, "_state": state, "_numbers": sent}

    def answer(self, page: str, k: int, settings: Settings) -> None:
        """Apply the settings that a page asked for, and send it the numbers even if nothing has changed.

        Args:
            page: the id of the page that asked.
            k: the page's own number of its request, sent back with the numbers.
            settings: what the page wants; the session may refuse it and raise.
        """
        before, self._asker = self._step, (page, k)
        try:
            self.session.apply(settings)
        finally:
            self._asker = ("", 0)
        if self._step == before:  # nothing has changed
            self.send_numbers(page, k)

    def _on_settings(self, _: dict[str, Any]) -> None:
        asker, self._asker = self._asker, ("", 0)  # what somebody who watches sets next is no answer to a page
        self.send_numbers(*asker)
        with use_locale(self._language):
            self._messages.follow(self.session.settings.tab)
        with self._lock_property(**self.get_state(ON_PAGE)):  # sent with the numbers
            self.follow_session()

    def _on_notice(self, _: dict[str, Any]) -> None:
        sentence, failed = self.session.notice
        self._notice = (sentence, failed)
        self.send({"type": "notice", "sentence": sentence, "failed": failed})

    def close(self) -> None:
        if hasattr(self, "_messages"):  # ipywidgets closes on deletion, also what was never built
            self.session.unobserve_all()
            self._messages.close()
            self.layout.close()
            if self._carrier is not None and self.comm is not None:  # else it was let go of
                self._carrier.let_go()
        super().close()


def _in_marimo() -> bool:
    """Return whether marimo runs, whose visitors share one process, each with widgets of their own."""
    marimo = sys.modules.get("marimo")
    return marimo is not None and bool(marimo.running_in_notebook())


def _taken_script() -> Script:
    from convviz.app.script_carrier_widget import Script

    return Script.taken(shared=not _in_marimo())
