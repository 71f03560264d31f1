"""What the app knows: the settings, the numbers that follow from them, and the way back. No widgets."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

import traitlets

from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.ops.device import is_out_of_memory
from convviz.ops.stages import Stages
from convviz.settings import change
from convviz.settings.compute import compute
from convviz.settings.link import briefly, from_link
from convviz.settings.names import shown_name
from convviz.settings.state import Settings
from convviz.views.panels import equations

FACTS = facts("settings")
HISTORY: int = FACTS["limits"]["history"]["steps"]  # that undo remembers
SAME_MOVE: int = FACTS["limits"]["history"]["same_move_seconds"]  # within which moves of one slider count as one
# What undo leaves alone, because it changes no number.
VIEW: list[str] = FACTS["view"]

say = sentences("app")
OUT_OF_MEMORY = say("memory")

log = logging.getLogger(__name__)


class Model(traitlets.HasTraits):
    """The state of one app.

    Attributes:
        settings: everything that was set; replaced whole, never changed in place.
        result: the numbers that follow.
        selected: ``{"panel", "row", "column"}`` of the selected cell, or None.
        notice: one sentence about the last action, or empty.
        failed: whether that sentence reports that nothing was changed.
        can_undo: whether there is a step to go back to.
        can_redo: whether there is a step to go forward to.
    """

    settings = traitlets.Instance(Settings)
    result = traitlets.Instance(Stages)
    selected = traitlets.Dict(allow_none=True, default_value=None)
    notice = traitlets.Unicode()
    failed = traitlets.Bool(False)
    can_undo = traitlets.Bool(False)
    can_redo = traitlets.Bool(False)

    def __init__(self, settings: Settings | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """Start from some settings.

        Args:
            settings: default: a digit, Sobel x, stride 2, padding 1.
            clock: seconds; tells one long move of a slider from two moves.
        """
        first = settings or Settings()
        super().__init__(settings=first, result=compute(first))
        self._initial = first
        self._clock = clock
        self._past: list[Settings] = []
        self._future: list[Settings] = []
        self._last_move: tuple[str, float] = ("", 0.0)

    def apply(self, settings: Settings, notices: list[str] | None = None, move: str = "") -> None:
        """Go to new settings and compute what follows.

        Args:
            settings: where to go.
            notices: sentences about what had to be moved.
            move: name of the slider; its moves in quick succession are one step of undo.
        """
        old = self.settings
        if settings != old:
            result = self.result if _same_numbers(old, settings) else compute(settings)
            before = (self.result, self._past, list(self._future), self._last_move)
            self._remember(old, settings, move)
            try:
                self._set(settings, result)
            except Exception:  # somebody who watches could not follow: all goes back, so that the page stays whole
                old_result, self._past, self._future, self._last_move = before
                self._set(old, old_result)
                raise
        self.tell(" ".join(notices or []))

    def tell(self, sentence: str, failed: bool = False) -> None:
        """Show a sentence below the controls."""
        with self.hold_trait_notifications():
            self.notice = sentence
            self.failed = failed

    def attempt(self, action: Callable[[], None]) -> None:
        """Run an action of the user; what goes wrong is said in a sentence, and the settings stay."""
        try:
            action()
        except ValueError as error:
            self.tell(str(error), failed=True)
        except Exception as error:  # the app must live on; the log keeps what a developer needs
            log.exception("an action failed")
            self.tell(f"{what_failed('action.failed', error)} {say('action.kept')}", failed=True)

    def undo(self) -> None:
        """Go one step back."""
        self._go(self._past, self._future)

    def redo(self) -> None:
        """Go one step forward again."""
        self._go(self._future, self._past)

    def reset(self) -> None:
        """Go back to the settings that the app started with; undo brings the others back."""
        self.apply(self._initial.replace(theme=self.settings.theme, tab=self.settings.tab))

    def state(self) -> dict[str, Any]:
        """Return the settings as plain data: the dict behind links, exports and undo."""
        return self.settings.to_dict()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to the settings that ``state()`` described.

        Raises:
            ValueError: the state is of a newer version, or is not possible.
        """
        self.apply(Settings.from_dict(state))

    def open_link(self, link: str) -> None:
        """Start from a link: Reset leads back to it, and there is nothing to undo. What it could not say is told."""
        settings, notices = from_link(link)
        self.apply(settings.replace(device=self.settings.device))
        self._initial = self.settings
        self._past, self._future = [], []
        self.can_undo = self.can_redo = False
        self.tell(briefly(notices))

    def act(self, message: Mapping[str, Any]) -> None:
        """Do what a person asked for on the board; ``type`` says what, as ``Board`` lists it.

        Raises:
            ValueError: the message is none of the page's, or what it asks for is not possible.
        """
        kind = asked(message)
        settings = self.settings
        if kind == "select":
            row, column = _index(message, "row"), _index(message, "column")
            if message.get("panel") in change.one_hot_panels(settings):
                self.apply(change.one_hot(settings, row, column))
            self.selected = {"panel": str(message.get("panel")), "row": row, "column": column}
        elif kind == "release":
            self.selected = None  # type: ignore[assignment]  # the trait allows it
        elif kind == "edit":
            place = (str(message.get("panel")), _index(message, "row"), _index(message, "column"))
            self._check_shown(*place)
            grad_output = self.result.input if settings.transposed else self.result.grad_output
            value: Any = message.get("value")
            self.apply(change.edit_cell(settings, *place, value, grad_output))
        elif kind == "plane":
            plane = settings.plane.show(settings.spec, str(message.get("panel")), _indices(message, "at"))
            self.apply(settings.replace(plane=plane))
        elif kind == "axis":
            plane = settings.plane.choose(settings.spec, str(message.get("axis")), _index(message, "index"))
            self.apply(settings.replace(plane=plane))
        elif kind == "view":
            self.apply(settings.replace(input_view=message.get("view")))
        elif kind == "size":
            self.apply(*change.set_size(settings, *_indices(message, "size")))
        elif kind == "restore":
            state: Any = message.get("state")
            self.set_state(state)
        elif kind == "open":
            self.open_link(str(message.get("link", "")))
        elif kind in ("undo", "redo"):
            (self.undo if kind == "undo" else self.redo)()

    def _check_shown(self, name: str, row: int, column: int) -> None:
        """Refuse to write where nobody sees it: the page offers only the cells that it shows."""
        settings = self.settings
        if name not in change.edited(settings.transposed):
            return  # what it follows from is told where it would be edited
        rows = equations(self.result, settings.plane, settings.input_view)
        sizes = {panel.name: panel.values.shape for equation in rows for panel in equation.panels}
        height, width = sizes.get(name, (0, 0))
        if row >= height or column >= width:
            called = shown_name(name, settings.transposed)
            raise ValueError(say("cell.hidden", row=row, column=column, name=called, height=height, width=width))

    def _remember(self, old: Settings, new: Settings, move: str) -> None:
        if _same_numbers(old, new):
            return
        last, when = self._last_move
        now = self._clock()
        self._last_move = (move, now)
        self._future.clear()
        if move and move == last and now - when < SAME_MOVE and self._past:
            return
        self._past = [*self._past, old][-HISTORY:]

    def _go(self, source: list[Settings], target: list[Settings]) -> None:
        """Take the last settings of one list, and put the present ones on the other."""
        if not source:
            return
        there = source[-1].replace(**{name: getattr(self.settings, name) for name in VIEW})
        result = compute(there)  # before the lists change: a failure leaves all as it was
        source.pop()
        target.append(self.settings)
        self._last_move = ("", 0.0)
        self._set(there, result)
        self.tell("")

    def _set(self, settings: Settings, result: Stages) -> None:
        with self.hold_trait_notifications():
            self.settings = settings
            self.result = result
            self.can_undo = bool(self._past)
            self.can_redo = bool(self._future)


def _same_numbers(one: Settings, other: Settings) -> bool:
    """Return whether two settings differ in what is looked at only."""
    return one == other.replace(**{name: getattr(one, name) for name in VIEW})


def what_failed(id: str, error: Exception) -> str:
    """Return a sentence about an error that nobody foresaw.

    Args:
        id: of the sentence, which takes the error's kind and what it says.
        error: lacking memory has a sentence of its own.
    """
    return OUT_OF_MEMORY if is_out_of_memory(error) else say(id, kind=type(error).__name__, why=error)


def asked(message: Any) -> Any:
    """Return what a message asks for, its ``type``.

    Raises:
        ValueError: it is no message of the page's.
    """
    if not isinstance(message, Mapping):
        raise ValueError(say("message", got=f"{message!r:.40}"))
    return message.get("type")


def _index(message: Mapping[Any, Any], key: Any) -> int:
    """Read an index from the page, which may be of another version, or not ours."""
    value = message.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(say("message.index", key=key, got=f"{value!r:.40}"))
    return value


def _indices(message: Mapping[Any, Any], key: str) -> tuple[int, int]:
    """Read two indices, as ``_index`` reads one."""
    value = message.get(key)
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(say("message.indices", key=key, got=f"{value!r:.40}"))
    both = {f"{key}[{place}]": each for place, each in enumerate(value)}
    first, second = (_index(both, name) for name in both)
    return first, second
