"""The tab Linear: the three rules without windows, and the way from there to conv2d."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convviz.app.session import Session, whole
from convviz.app.tabs.base import Send, Tab
from convviz.explanation.linear_lesson import GRADIENTS, LESSON_LOSSES, SIZES, LessonSettings, linear_lesson
from convviz.facts.words import sentences
from convviz.settings.parse import number
from convviz.settings.source import Source

say = sentences("app")
TENSORS = ("input", "weight", "output", *GRADIENTS)


class LinearTab(Tab):
    """A lesson of its own: its settings live here and leave the board alone, until a button asks for it."""

    def __init__(self, session: Session, send: Send) -> None:
        """Start with the lesson's own numbers."""
        self.settings = LessonSettings()
        super().__init__(session, send)

    def data(self) -> dict[str, Any]:
        """Return every tensor of the lesson as nested lists, and what can be set."""
        lesson = linear_lesson(self.settings)
        return {
            "tensors": {name: getattr(lesson, name).tolist() for name in (*TENSORS, "bias")},
            "loss": float(lesson.loss),
            "deviation": lesson.deviation,
            "settings": {name: getattr(self.settings, name) for name in (*SIZES, "seed", "loss")},
            "sizes": {name: list(ends) for name, ends in SIZES.items()},
            "losses": list(LESSON_LOSSES),
        }

    def act(self, message: Mapping[str, Any]) -> None:
        """Set a size or the loss, draw new numbers, take a typed one, or show it all on the board."""
        kind = message.get("type")
        settings = self.settings
        if kind == "set" and message.get("name") in (*SIZES, "loss"):
            self.settings = settings.replace(**{str(message["name"]): message.get("value")})
        elif kind == "draw":
            self.settings = settings.replace(seed=settings.seed + 1, typed=())
        elif kind == "edit":
            place = (str(message.get("tensor")), whole(message, "row"), whole(message, "column"))
            others = tuple(typed for typed in settings.typed if typed[:3] != place)
            self.settings = settings.replace(typed=(*others, (*place, number("a cell", message.get("value")))))
        elif kind == "show":
            return self._show_on_board()  # this tab follows the model as every other
        self.refresh()

    def _show_on_board(self) -> None:
        """Give the board a 1 x 1 kernel: this weight, applied to the channels of every cell of the input."""
        lesson = linear_lesson(self.settings)
        weight, bias = lesson.weight[:, :, None, None], lesson.bias
        settings = self.session.settings
        spec = settings.spec.replace(
            in_channels=weight.shape[1],
            out_channels=weight.shape[0],
            groups=1,
            kernel_size=1,
            stride=1,
            padding=0,
            dilation=1,
        )
        sources = {"weight": Source.of(weight), "bias": Source.of(bias)}
        settings = settings.replace(spec=spec, transposed=False, **sources)
        self.session.apply(settings, [say("linear.shown")])
