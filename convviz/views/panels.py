"""The picture: three equations (four with a bias), each a row of named panels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from convviz.facts import facts
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.geometry.shown_plane import PANEL_AXES, Plane
from convviz.ops.stages import Stages
from convviz.settings.tensor_display_names import panel_name, shown_letter, shown_name
from convviz.views.cell_kinds import Roles, roles

say = sentences("picture")

# Why a panel is not there; any other goes with the bias.
MISSING = {
    "grad_padded_input": "the padding mode is zeros; change that first",
    "target": "the loss is given none; choose a loss that takes one, such as half_squared_error",
}
# Of each picture the rows, from top to bottom: panels by name, and signs. What goes "with" a stage needs it.
EQUATIONS: dict[str, list[dict[str, Any]]] = facts("picture")["equations"]


@dataclass(frozen=True)
class Panel:
    """One heatmap: a plane of a named tensor."""

    name: str  # the name of the stage
    called: str  # on the page; a transposed convolution has its own words
    tensor: torch.Tensor  # [A, B, H, W], the planes that can be shown
    at: tuple[int, int]  # the shown plane's indices of the leading axes
    roles: Roles
    shape: tuple[int, ...]  # the shape of the whole tensor

    @property
    def values(self) -> torch.Tensor:
        """``[H, W]``."""
        return self.tensor[self.at]

    @property
    def label(self) -> str:
        """The plane's name in Python, with an index where there is something to choose."""
        single = self.tensor.shape[:2].numel() == 1
        return self.called if single else f"{self.called}[{self.at[0]}, {self.at[1]}]"


@dataclass(frozen=True)
class Sign:
    """What stands between two panels: an operation, and what to say about it."""

    symbol: str
    note: str = ""


@dataclass(frozen=True)
class Equation:
    """One row of the picture."""

    name: str
    title: str
    items: tuple[Panel | Sign, ...]  # panels and signs, in reading order
    view: str = ""  # "both", "stamps" or "window" where the same numbers have two readings, else empty

    @property
    def panels(self) -> tuple[Panel, ...]:
        return tuple(item for item in self.items if isinstance(item, Panel))


def equations(stages: Stages, plane: Plane, input_view: str = "window") -> tuple[Equation, ...]:
    """Lay out what was computed as rows of panels, as ``facts/data/picture.json`` has them."""
    rows = EQUATIONS["transposed" if stages.transposed else "convolution"]
    shown = [row for row in rows if row.get("view", input_view) == input_view and _is_there(stages, row)]
    return tuple(_equation(stages, plane.within(stages.spec), row) for row in shown)


def _equation(stages: Stages, at: Plane, row: Mapping[str, Any]) -> Equation:
    there = [item for item in row["items"] if _is_there(stages, item)]
    items = tuple(_panel(stages, at, item) if isinstance(item, str) else _sign(stages, item) for item in there)
    return Equation(row["name"], say(row["title"]), items, row.get("view", ""))


def _is_there(stages: Stages, item: str | Mapping[str, Any]) -> bool:
    """Return whether there is a panel, or what a sign or row goes with; one plane is no sum."""
    if isinstance(item, str):
        return getattr(stages, item) is not None
    spec = stages.spec
    summed = {"n": spec.batch, "o": spec.out_channels // spec.groups, "c": spec.in_channels // spec.groups}
    if "without" in item and _is_there(stages, item["without"]):
        return False
    return _is_there(stages, item.get("with", "output")) and summed.get(item.get("over", ""), 2) > 1


def _sign(stages: Stages, sign: Mapping[str, Any]) -> Sign:
    axis = shown_letter(sign.get("over", ""), stages.transposed)
    notes = [say(sign["note"], axis=axis)] if "note" in sign else []
    if (id := f"{sign.get('by_loss')}.{stages.loss_kind}") in facts("words/picture"):
        notes.append(say(id, count=stages.spec.batch))
    for word, field in sign.get("steps", {}).items():  # to the weight, the steps change places
        down, across = getattr(stages.spec, field)
        if (down, across) != (1, 1):
            notes.append(say(f"sign.{word}", step=down if down == across else f"{down} × {across}"))
    return Sign(sign["symbol"], comma([note for note in notes if note]))


def panel(stages: Stages, plane: Plane, name: str) -> Panel:
    names = {shown_name(each, stages.transposed): each for each in (*PANEL_AXES, "bias", "grad_bias")}
    if name not in names:
        raise ValueError(f"a panel is one of {', '.join(names)}: got {name!r}")
    if getattr(stages, names[name]) is None:
        why = MISSING.get(name, "there is no bias; change that first")
        raise ValueError(f"{name} does not exist here, because {why}")
    return _panel(stages, plane.within(stages.spec), names[name])


def _panel(stages: Stages, plane: Plane, name: str) -> Panel:
    tensor: torch.Tensor = getattr(stages, name)
    shape, at = tuple(tensor.shape), (0, 0)
    if tensor.dim() == 1:
        tensor = tensor.reshape(1, 1, 1, -1)  # a bias, [1, 1, 1, C_out]
    else:
        of_input = stages.transposed and name == "target"  # a target has the axes of what it is held against
        at = plane.of("input" if of_input else name, shape)
    height, width = tensor.shape[-2:]
    return Panel(
        name,
        panel_name(name, stages.spec, stages.transposed),
        tensor,
        at,
        roles(stages.spec, name, (height, width)),
        shape,
    )
