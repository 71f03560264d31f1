"""The picture: three equations (four with a bias), each a row of named panels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from convviz.ops.stages import Stages
from convviz.plane import PANEL_AXES, Plane
from convviz.settings.names import shown_letter, shown_name
from convviz.views.cells import Roles, roles
from convviz.views.say import joined, say


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


def equations(stages: Stages, plane: Plane, input_view: str = "window") -> tuple[Equation, ...]:
    """Lay out everything that was computed as rows of panels.

    Args:
        stages: the numbers.
        plane: which sample and channels to show.
        input_view: the equation to the input as a sliding ``"window"`` or as ``"stamps"`` that add up.
    """
    spec = stages.spec
    to_input = _as_stamps if input_view == "stamps" else _to_input
    at = plane.within(spec)
    make = _panel_maker(stages, at)
    choices = {"n": spec.batch, "o": spec.out_channels, "c": spec.in_channels}

    def several(names: str) -> tuple[tuple[str, int], ...]:
        return tuple((name, choices[name]) for name in names if choices[name] > 1)

    if stages.transposed:
        return _transposed_rows(stages, make, several, to_input(stages, make), input_view)
    rows = [
        Equation("forward", say("title.forward"), _forward(stages, make), several("noc")),
        Equation("input", say("title.input"), to_input(stages, make), several("noc"), input_view),
        Equation("weight", say("title.weight"), _to_weight(stages, make), several("noc")),
    ]
    if stages.bias is not None:
        rows.append(Equation("bias", say("title.bias"), _to_bias(make, "grad_output"), several("no")))
    return tuple(rows)


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
    return _panel_maker(stages, plane.within(stages.spec))(names[name])


def _panel_maker(stages: Stages, plane: Plane) -> Callable[[str], Panel]:
    spec = stages.spec
    in_per_group, out_per_group = spec.in_channels // spec.groups, spec.out_channels // spec.groups

    def make(name: str) -> Panel:
        tensor: torch.Tensor = getattr(stages, name)
        called, shape = shown_name(name, stages.transposed), tuple(tensor.shape)
        if name in ("bias", "grad_bias"):
            row = tensor.reshape(1, 1, 1, -1)  # [1, 1, 1, C_out]
            return Panel(name, called, row, ("n", "o"), (0, 0), roles(spec, name, (1, tensor.numel())), shape)
        axes = PANEL_AXES[name]
        first, second = plane.index(axes[0]), plane.index(axes[1])
        if axes == ("o", "c"):  # the second axis of a weight counts within the group
            second %= in_per_group
        elif axes == ("c", "o"):
            second %= out_per_group
        height, width = tensor.shape[-2:]
        return Panel(name, called, tensor, axes, (first, second), roles(spec, name, (height, width)), shape)

    return make


def _sum(axis: str, count: int, transposed: bool = False) -> Sign:
    return Sign("Σ", say("sign.over", axis=shown_letter(axis, transposed))) if count > 1 else Sign("")


def _notes(stride: tuple[int, int] = (1, 1), dilation: tuple[int, int] = (1, 1), stamps: bool = False) -> str:
    """Say what there is to know about an operation; a step of 1 is left out."""
    parts = [say("sign.stamps")] if stamps else []
    if stride != (1, 1):
        parts.append(say("sign.stride", step=_step(stride)))
    if dilation != (1, 1):
        parts.append(say("sign.dilation", step=_step(dilation)))
    return joined("list.comma", parts)


def _step(pair: tuple[int, int]) -> str:
    return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]} × {pair[1]}"


def _to_bias(make: Callable[[str], Panel], gradient: str) -> tuple[Panel | Sign, ...]:
    return (Sign("Σ", say("sign.over_all")), make(gradient), Sign("="), make("grad_bias"))


def _forward(stages: Stages, make: Callable[[str], Panel]) -> tuple[Panel | Sign, ...]:
    spec = stages.spec
    items: list[Panel | Sign] = [
        _sum("c", spec.in_channels // spec.groups),
        make("padded_input"),
        Sign("⊛", _notes(spec.stride, spec.dilation)),
        make("weight"),
    ]
    if stages.bias is not None:
        items += [Sign("+"), make("bias")]
    items += [Sign("="), make("output"), Sign("→", say("sign.loss")), make("grad_output")]
    return _without_empty(items)


def _to_input(stages: Stages, make: Callable[[str], Panel]) -> tuple[Panel | Sign, ...]:
    spec = stages.spec
    items: list[Panel | Sign] = [
        _sum("o", spec.out_channels // spec.groups, stages.transposed),
        make("padded_grad_output"),
        Sign("⊛", _notes(dilation=spec.dilation)),
        make("rotated_weight"),
        Sign("="),
    ]
    return _without_empty(items + _gradient(stages, make))


def _as_stamps(stages: Stages, make: Callable[[str], Panel]) -> tuple[Panel | Sign, ...]:
    spec = stages.spec
    items: list[Panel | Sign] = [
        _sum("o", spec.out_channels // spec.groups, stages.transposed),
        make("grad_output"),
        Sign("⊞", _notes(spec.stride, spec.dilation, stamps=True)),
        make("weight"),
        Sign("="),
    ]
    return _without_empty(items + _gradient(stages, make))


def _gradient(stages: Stages, make: Callable[[str], Panel]) -> list[Panel | Sign]:
    """The result of the equation to the input: a border of copies has a gradient, which is folded back."""
    if stages.grad_padded_input is None:
        return [make("grad_input")]
    return [make("grad_padded_input"), Sign("→", say("sign.fold")), make("grad_input")]


def _to_weight(stages: Stages, make: Callable[[str], Panel]) -> tuple[Panel | Sign, ...]:
    spec = stages.spec
    return _without_empty(
        [
            _sum("n", spec.batch, stages.transposed),
            make("padded_input"),
            Sign("⊛", _notes(stride=spec.dilation)),
            make("dilated_grad_output"),
            Sign("="),
            make("grad_weight"),
        ]
    )


def _transposed_rows(
    stages: Stages,
    make: Callable[[str], Panel],
    several: Callable[[str], tuple[tuple[str, int], ...]],
    to_input: tuple[Panel | Sign, ...],
    input_view: str,
) -> tuple[Equation, ...]:
    """The rows of a transposed convolution: what leads a convolution back to its input comes first and makes output."""
    spec = stages.spec
    plus_bias = () if stages.bias is None else (Sign("+"), make("bias"))
    forward = (*to_input[:-2], *plus_bias, *to_input[-2:], Sign("→", say("sign.loss")), make("input"))
    to_layers_input = [
        _sum("c", spec.in_channels // spec.groups, True),
        make("padded_input"),
        Sign("⊛", _notes(spec.stride, spec.dilation)),
        make("weight"),
        Sign("="),
        make("output"),
    ]
    rows = [
        ("input", say("title.forward"), forward, "noc", input_view),
        ("forward", say("title.input"), to_layers_input, "noc", ""),
        ("weight", say("title.weight"), _to_weight(stages, make), "noc", ""),
    ]
    if stages.bias is not None:
        rows.append(("bias", say("title.bias"), _to_bias(make, "input"), "nc", ""))
    return tuple(
        Equation(name, title, _without_empty(list(items)), several(axes), view)
        for name, title, items, axes, view in rows
    )


def _without_empty(items: list[Panel | Sign]) -> tuple[Panel | Sign, ...]:
    return tuple(item for item in items if isinstance(item, Panel) or item.symbol)
