"""The tab Linear: the three rules without windows, and the way from there to conv2d."""

from collections.abc import Mapping
from typing import Any

import torch

from convviz.app.validate_request import RequestError, brief, one_of, whole, whole_number
from convviz.facts.words import sentences
from convviz.features.linear.linear_layer import GRADIENTS, LESSON_LOSSES, SIZES, LessonSettings, linear_lesson
from convviz.ops.stages import Stages
from convviz.settings.compute import check_finite
from convviz.settings.state import Settings
from convviz.settings.validate_state import number

say = sentences("app")
MAX_TYPED_CELLS = 100  # more than there are cells
CELL = "[tensor, row, column, value]"
TENSORS = ("input", "weight", "output", *GRADIENTS)

CHOICES = (*SIZES, "seed", "loss", "typed")


def data(settings: Settings, stages: Stages, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return every tensor of the lesson, and what can be set: the fields of ``LessonSettings``."""
    chosen = _chosen(choices)
    for name, *_, value in chosen.typed:
        check_finite(name, torch.tensor(value, dtype=torch.float64).float())
    lesson = linear_lesson(chosen)
    tensors = {name: getattr(lesson, name) for name in (*TENSORS, "bias")}
    for name, tensor in (*tensors.items(), ("loss", lesson.loss)):
        check_finite(name, tensor)
    return {
        "tensors": {name: tensor.tolist() for name, tensor in tensors.items()},
        "loss": float(lesson.loss),
        "deviation": lesson.deviation,
        "settings": {name: getattr(chosen, name) for name in (*SIZES, "seed", "loss")},
        "sizes": {name: list(ends) for name, ends in SIZES.items()},
        "losses": list(LESSON_LOSSES),
    }


def _chosen(choices: Mapping[str, Any]) -> LessonSettings:
    typed = choices.get("typed", ())
    if not isinstance(typed, (list, tuple)) or len(typed) > MAX_TYPED_CELLS or not all(map(_is_cell, typed)):
        raise RequestError(say("message.list", key="typed", form=CELL, got=brief(typed)))
    cells = tuple(
        (name, whole_number("row", row), whole_number("column", column), number("a cell", value))
        for name, row, column, value in typed
    )
    seed = whole(choices, "seed", LessonSettings.seed)
    if not 0 <= seed < 2**31:
        raise RequestError(say("message.index", key="seed", got=brief(seed)))
    sizes = {name: whole(choices, name, getattr(LessonSettings, name)) for name in SIZES}
    loss = one_of(choices, "loss", LESSON_LOSSES, LessonSettings.loss)
    try:
        return LessonSettings(**sizes, seed=seed, loss=loss, typed=cells)
    except ValueError as error:
        raise RequestError(str(error)) from error


def _is_cell(typed: Any) -> bool:
    return isinstance(typed, (list, tuple)) and len(typed) == 4 and isinstance(typed[0], str)
