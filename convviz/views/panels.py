"""The picture: three equations (four with a bias), each a row of named panels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch

from convviz.facts.lists import comma
from convviz.facts.words import sentences
from convviz.ops.stages import Stages
from convviz.plane import PANEL_AXES, Plane
from convviz.settings.names import shown_letter, shown_name
from convviz.spec import ConvSpec
from convviz.views.cells import Roles, roles

say = sentences("picture")

TITLES = ("forward", "input", "weight", "bias")  # of the rows, from top to bottom


@dataclass(frozen=True)
class Panel:
    """One heatmap: a plane of a named tensor.

    Attributes:
        name: the stage's name.
        called: what the page calls it; a transposed convolution has its own words.
        tensor: ``[A, B, H, W]``, the planes that can be shown.
        axes: what the two leading axes count: n sample, o output channel, c input channel.
        at: the plane that is shown, as indices of the leading axes.
        roles: what its rows and columns are.
        shape: the tensor's own shape.
    """

    name: str
    called: str
    tensor: torch.Tensor
    axes: tuple[str, str]
    at: tuple[int, int]
    roles: Roles
    shape: tuple[int, ...]

    @property
    def values(self) -> torch.Tensor:
        """The plane that is shown, ``[H, W]``."""
        return self.tensor[self.at]

    @property
    def label(self) -> str:
        """The plane's name as one would write it in Python."""
        return self.called if len(self.shape) == 1 else f"{self.called}[{self.at[0]}, {self.at[1]}]"


@dataclass(frozen=True)
class Sign:
    """What stands between two panels.

    Attributes:
        symbol: the operation.
        note: what has to be said about it here, such as the stride.
    """

    symbol: str
    note: str = ""


@dataclass(frozen=True)
class Equation:
    """One row of the picture.

    Attributes:
        name: ``"forward"``, ``"input"``, ``"weight"`` or ``"bias"``.
        title: its heading.
        items: panels and signs, in reading order.
        choices: the axes that can be chosen, with how many planes there are: n, o, c.
        view: ``"window"`` or ``"stamps"`` where the same numbers can be shown both ways, else empty.
    """

    name: str
    title: str
    items: tuple[Panel | Sign, ...]
    choices: tuple[tuple[str, int], ...]
    view: str = ""

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The panels alone."""
        return tuple(item for item in self.items if isinstance(item, Panel))


Items = list[str | Sign]  # of a row: its panels by name


def equations(stages: Stages, plane: Plane, input_view: str = "window") -> tuple[Equation, ...]:
    """Lay out everything that was computed as rows of panels.

    Args:
        stages: the numbers.
        plane: which sample and channels to show.
        input_view: the equation to the input as a sliding ``"window"`` or as ``"stamps"`` that add up.
    """
    spec, at = stages.spec, plane.within(stages.spec)
    counts = {"n": spec.batch, "o": spec.out_channels, "c": spec.in_channels}

    def row(title: str, name: str, items: Items) -> Equation:
        axes = ("nc" if stages.transposed else "no") if name == "bias" else "noc"
        choices = tuple((axis, counts[axis]) for axis in axes if counts[axis] > 1)
        shown = tuple(_panel(stages, at, item) if isinstance(item, str) else item for item in items)
        return Equation(name, say(f"title.{title}"), shown, choices, input_view if name == "input" else "")

    rows = _items(stages, input_view)
    return tuple(row(title, *each) for title, each in zip(TITLES, rows.items(), strict=False))


def _items(stages: Stages, input_view: str) -> dict[str, Items]:
    """Return the panels, by name, and the signs of each row, from top to bottom."""
    spec, equals, transposed = stages.spec, Sign("="), stages.transposed
    loss = Sign("→", say("sign.loss"))
    bias: Items = [] if stages.bias is None else [Sign("+"), "bias"]

    def over(axis: str, count: int) -> Items:
        return [Sign("Σ", say("sign.over", axis=shown_letter(axis, transposed)))] if count > 1 else []

    forward: Items = [*over("c", spec.in_channels // spec.groups), "padded_input", Sign("⊛", _notes(spec)), "weight"]
    window: Items = ["padded_grad_output", Sign("⊛", _notes(spec, ("dilation",))), "rotated_weight"]
    stamps: Items = ["grad_output", Sign("⊞", _notes(spec, first=[say("sign.stamps")])), "weight"]
    backward: Items = [*over("o", spec.out_channels // spec.groups), *(stamps if input_view == "stamps" else window)]
    operation = Sign("⊛", _step_note("stride", spec.dilation))  # the steps change places
    to_weight: Items = ["padded_input", operation, "dilated_grad_output", equals, "grad_weight"]
    # A border of copies has a gradient, which is folded back.
    border: Items = [] if stages.grad_padded_input is None else ["grad_padded_input", Sign("→", say("sign.fold"))]
    rows: dict[str, Items] = {
        "forward": [*forward, *bias, equals, "output", loss, "grad_output"],
        "input": [*backward, equals, *border, "grad_input"],
    }
    if transposed:  # what leads a convolution back to its input comes first and makes output
        rows = {
            "input": [*backward, *bias, equals, "grad_input", loss, "input"],
            "forward": [*forward, equals, "output"],
        }
    summed: Items = [Sign("Σ", say("sign.over_all")), "input" if transposed else "grad_output", equals, "grad_bias"]
    return rows | {"weight": [*over("n", spec.batch), *to_weight]} | ({"bias": summed} if bias else {})


def panel(stages: Stages, plane: Plane, name: str) -> Panel:
    """Return one panel by the name that it has on the page.

    Raises:
        ValueError: no stage of that name can be shown, or it does not exist for this geometry.
    """
    names = {shown_name(each, stages.transposed): each for each in (*PANEL_AXES, "bias", "grad_bias")}
    if name not in names:
        raise ValueError(say("panel.unknown", names=", ".join(names), value=repr(name)))
    if getattr(stages, names[name]) is None:
        raise ValueError(say("panel.no_border" if name == "grad_padded_input" else "panel.no_bias", name=name))
    return _panel(stages, plane.within(stages.spec), names[name])


def _panel(stages: Stages, plane: Plane, name: str) -> Panel:
    tensor: torch.Tensor = getattr(stages, name)
    called, shape, axes, at = shown_name(name, stages.transposed), tuple(tensor.shape), ("n", "o"), (0, 0)
    if tensor.dim() == 1:
        tensor = tensor.reshape(1, 1, 1, -1)  # a bias, [1, 1, 1, C_out]
    else:
        axes = PANEL_AXES[name]
        # The second axis of a weight counts within the group.
        at = (plane.index(axes[0]), plane.index(axes[1]) % tensor.shape[1])
    height, width = tensor.shape[-2:]
    return Panel(name, called, tensor, axes, at, roles(stages.spec, name, (height, width)), shape)


def _notes(spec: ConvSpec, steps: Iterable[str] = ("stride", "dilation"), first: Iterable[str] = ()) -> str:
    """Say what there is to know about an operation."""
    return comma([*first, *filter(None, (_step_note(name, getattr(spec, name)) for name in steps))])


def _step_note(name: str, pair: tuple[int, int]) -> str:
    """Say the stride or the dilation; a step of 1 is left out."""
    step = str(pair[0]) if pair[0] == pair[1] else f"{pair[0]} × {pair[1]}"
    return "" if pair == (1, 1) else say(f"sign.{name}", step=step)
