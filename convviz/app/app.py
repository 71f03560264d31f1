"""The app: one widget. The page has its controls, words and steps; this is where torch computes for it."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Mapping
from functools import reduce
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import anywidget
import ipywidgets as widgets
import traitlets

from convviz import __version__, process_limits
from convviz.app.dashboard_controls import linked_widget
from convviz.app.messages import Messages
from convviz.app.permissions import is_served
from convviz.app.session import Session
from convviz.app.start_settings import start_settings
from convviz.app.step_numbers import numbers
from convviz.app.traits import SettingTraits
from convviz.app.traits_and_settings import ON_PAGE, value_of, with_named
from convviz.explanation.load_lesson import readable
from convviz.facts.i18n.choose_language import chosen
from convviz.facts.i18n.current_language import languages, use_locale
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec
from convviz.lessons import short_name, told
from convviz.ops.devices_and_dtypes import available_devices
from convviz.ops.stages import Stages
from convviz.ops.to_tensor import TensorLike
from convviz.settings.link import briefly, from_link, to_link
from convviz.settings.state import Settings
from convviz.views.figures import figure
from convviz.views.panels import panel
from convviz.views.theme import COLORSCALES
from convviz.web.widget_assets import asking_script

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from convviz.app.script_carrier_widget import Script

say = sentences("app")

DEVICE_VARIABLE = "CONVVIZ_DEVICE"
SOURCES = ("input", "target", "grad")


class App(SettingTraits, anywidget.AnyWidget):
    """An interactive picture of a 2-D convolution and its backward pass, as one ipywidget."""

    # Makes the page of a state and an ``intro``. ``convviz/__init__.py`` puts it here: app and export stand side by
    # side and do not know each other. Without it nothing offers to save a page.
    page_maker: ClassVar[Callable[..., bytes] | None] = None
    # Makes the still picture that a saved notebook keeps beside the app; put here as well.
    still_maker: ClassVar[Callable[[Stages, Settings], str] | None] = None

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

    _retell: Callable[[], str] | None = None  # says the introduction in another language

    def __init__(
        self,
        spec: ConvSpec | None = None,
        input: TensorLike | None = None,
        weight: TensorLike | None = None,
        bias: TensorLike | None = None,
        grad_output: TensorLike | None = None,
        loss: str | None = None,
        target: TensorLike | None = None,
        device: str | None = None,
        dtype: str | None = None,
        *,
        state: Mapping[str, Any] | None = None,
        link: str | None = None,
        theme: str = "auto",
        transposed: bool = False,
        lesson: str | None = None,
        lang: str | None = None,
    ) -> None:
        """Open the app.

        Args:
            spec: the geometry; default: the sizes of the tensors with torch's stride 1, padding 0, dilation 1 and
                groups 1. Sizes, numbers and a loss that are not given are those of the first picture.
            input: ``[H, W]``, ``[C_in, H, W]`` or ``[N, C_in, H, W]``, a tensor, an array or nested lists.
            weight: ``[kH, kW]`` or ``[C_out, C_in / groups, kH, kW]``.
            bias: ``[C_out]``.
            grad_output: ``[H_out, W_out]`` or ``[N, C_out, H_out, W_out]``: the loss is then the weighted sum.
            loss: one of facts' choices, such as ``"mean"``; a target belongs to those that take one.
            target: of the half squared error, shaped as grad_output; of the cross-entropy 1 at one cell, else 0.
            device: ``"cpu"`` or the machine's accelerator; default: the variable CONVVIZ_DEVICE, else the cpu.
            dtype: ``"float32"``, ``"float64"`` or ``"bfloat16"``.
            state: what ``state()`` returned; the other arguments are then left out.
            link: what ``link()`` returned, or the address of a page that ends in it; a device may stand beside it.
                What the link cannot have is said on the page, and has its default.
            theme: ``"auto"``, ``"light"`` or ``"dark"``.
            transposed: show ``torch.nn.ConvTranspose2d``: weight is then ``[C_in, C_out / groups, kH, kW]``, and spec
                the geometry of the convolution that is read the other way: its input is the output here.
            lesson: name of a lesson that the page starts, such as ``"why_rotated"``, or the path of a file with one.
            lang: the language of the app, such as ``"zh-Hans"``; in place of one that is not there it speaks English,
                and says so. Default: the browser's. Its menu changes it. Errors that Python raises are English.

        Raises:
            ValueError: the arguments contradict each other or conv2d's rules, or are too large for the board; or there
                is no such lesson.
        """
        self._language, unknown = chosen(lang)
        self._lesson_given = lesson
        if lesson is not None:
            readable(lesson)  # what is wrong with it is said in English, as all errors are
        tensors = {"input": input, "weight": weight, "bias": bias, "grad_output": grad_output, "target": target}
        device = device or os.environ.get(DEVICE_VARIABLE) or None
        settings = start_settings(
            spec, tensors, loss, device, dtype, state=state, link=link, theme=theme, transposed=transposed
        )
        self.session = Session(settings)
        with use_locale(self._language):
            self.session.tell(" ".join(filter(None, [unknown, briefly(from_link(link)[1]) if link else ""])))
            self._begin(lang is not None)
        process_limits.apply()

    def _begin(self, chosen: bool) -> None:
        """Open the app; ``chosen``: its language is not the browser's."""
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
        super().__init__(_facts=facts, _start=start, _notice=notice, _lesson=self._told_lesson(), **shown)
        self._messages = Messages(self)
        self.session.observe(self._on_settings, names="settings")  # the result is there by then
        self.session.observe(self._on_notice, names="notice")
        self.on_msg(self._receive)

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
            self.session.tell(refused, failed=True)
            self.send_state(wanted.keys() & set(self.keys))

    def speak(self, tag: str) -> None:
        if tag == self._language:
            return
        self._language = tag
        with use_locale(tag):
            before, carrier = self._carrier, _taken_script()
            with self.hold_sync():
                self._carrier, self._lesson = carrier, self._told_lesson()
                self._introduction = self.introduction()
                self._facts = {**self._facts, "script": carrier.key, "language": tag, "chosen": True}
            if before is not None:
                before.let_go()

    def _told_lesson(self) -> dict[str, Any]:
        lesson = self._lesson_given
        return {} if lesson is None else {"name": short_name(lesson), "told": told(lesson)}

    def state(self) -> dict[str, Any]:
        """Return the settings as plain data: what ``App(state=...)`` and ``set_state`` take."""
        return self.session.state()

    def link(self) -> str:
        """Return the settings as a short text: what ``App(link=...)`` takes, and a served page after ``?``.

        It leaves the device out, so that it opens on every machine.

        Raises:
            ValueError: the settings hold too many numbers for a link.
        """
        return to_link(self.session.settings)

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to the settings that ``state()`` described.

        Raises:
            ValueError: the state is of a newer version, or is not possible.
        """
        self.session.set_state(state)

    def figure(self, name: str) -> go.Figure:
        """Return one panel as a plotly figure.

        Args:
            name: as on the page, such as ``"grad_weight"``.

        Raises:
            ValueError: there is no such panel now.
        """
        return figure(panel(self.session.result, self.session.settings.plane, name))

    def sliders(self, *names: str) -> tuple[widgets.Widget, ...]:
        """Return ordinary ipywidgets, linked to the app both ways, for a layout of one's own.

        Args:
            names: of traits, such as ``"stride"``; ``"kernel"`` is a grid of sliders.

        Raises:
            ValueError: there is no control for a name.
        """
        return tuple(linked_widget(self, name) for name in names)

    def introduce(self, text: str | Callable[[], str]) -> None:
        """Show these sentences above the app instead of its own.

        Args:
            text: the sentences, or what says them in the language that is spoken: called again in another one.
        """
        self._retell = text if callable(text) else None
        with use_locale(self._language):
            self._introduction = text() if callable(text) else text

    def introduction(self) -> str:
        """Return the sentences that ``introduce`` set, ``explain`` for example; none where the app shows its own.

        In the language that is spoken here: a page in another one says them in its own.
        """
        return self._introduction if self._retell is None else self._retell()

    def __repr__(self) -> str:
        """Return the call that opens the same: a notebook keeps it beside the app."""
        try:
            return f"convviz.App(link={self.link()!r})"
        except ValueError:  # too many numbers for a link
            return "convviz.App(state=...)"

    def _ipython_display_(self) -> None:
        """Show the app, and above it a still picture for those who open or convert the notebook without a kernel.

        The picture is an output of its own: in one with the view, JupyterLab would write "model not found" over it.
        """
        from IPython.display import display

        maker = type(self).still_maker
        # Nobody saves Voilà's page, but every visitor would wait for the picture.
        if maker is not None and not is_served():
            with use_locale(self._language):
                picture = maker(self.session.result, self.session.settings)
            words = f"<p>{escape(self._introduction)}</p>" if self._introduction else ""
            still = f'<div data-convviz-still="{self._facts["id"]}">{words}{picture}</div>'
            display({"text/html": still, "text/plain": repr(self)}, raw=True)
        data, metadata = self._repr_mimebundle_() or ({"text/plain": repr(self)}, {})
        display(data, metadata=metadata, raw=True)

    def close(self) -> None:
        if hasattr(self, "_messages"):  # ipywidgets closes on deletion, also what was never built
            self.session.unobserve_all()
            self._messages.close()
            self.layout.close()
            if self._carrier is not None and self.comm is not None:  # else it was let go of
                self._carrier.let_go()
        super().close()

    # -- between the session and the page --------------------------------------------------------------

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
        self.send({"type": "told", "sentence": sentence, "failed": failed})


def _in_marimo() -> bool:
    """Return whether marimo runs, whose visitors share one process, each with widgets of their own."""
    marimo = sys.modules.get("marimo")
    return marimo is not None and bool(marimo.running_in_notebook())


def _taken_script() -> Script:
    from convviz.app.script_carrier_widget import Script

    return Script.taken(shared=not _in_marimo())
