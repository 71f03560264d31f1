"""The tab Double backward: a gradient of this setting, differentiated once more."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from convviz.app.to_json import plain
from convviz.app.validate_request import RequestError, brief, one_of, whole_number
from convviz.explanation.border import padded_apart
from convviz.explanation.layer_call import TorchCall
from convviz.facts.words import sentences
from convviz.features.double.double_backward import NUMBERS, OF, DoubleBackward, Slope, double_backward, stage_of
from convviz.geometry.shown_plane import PANEL_AXES
from convviz.ops.stages import Stages
from convviz.settings.compute import check_finite
from convviz.settings.state import Settings
from convviz.settings.tensor_display_names import shown_name

say = sentences("app")

DIGITS = 9  # of a number that the page draws
CHOICES = ("of", "number", "cell")


def data(settings: Settings, stages: Stages, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return a number made of grad_input or grad_weight, and its slopes with the planes behind each."""
    of, number = one_of(choices, "of", OF, OF[0]), one_of(choices, "number", NUMBERS, NUMBERS[0])
    shown = _Shown(settings, stages)
    made = double_backward(stages, of, number, (*shown.leading(of.removeprefix("grad_")), *_cell(choices)))
    check_finite("∂s", torch.cat([torch.tensor([made.s]), *(slope.value.flatten() for slope in made.slopes)]))
    return {
        "of": made.of,
        "number": number,
        "at": list(made.at),
        "s": made.s,
        "gradient": shown.map(made.of, made.gradient, made.absent),
        "slopes": [shown.slope(made, slope) for slope in made.slopes],
        "absent": made.absent,
        "node": made.node,
        "deviation": made.deviation,
        "agrees": made.agrees,
        "several": max(settings.spec.batch, *stages.weight.shape[:2]) > 1,
        "code": _code(settings, made, number),
    }


def _cell(choices: Mapping[str, Any]) -> tuple[int, ...]:
    cell = choices.get("cell", [])
    if not isinstance(cell, (list, tuple)) or len(cell) not in (0, 2):
        raise RequestError(say("message.list", key="cell", form="[row, column]", got=brief(cell)))
    return tuple(whole_number("cell", index) for index in cell)


@dataclass(frozen=True)
class _Shown:
    settings: Settings
    stages: Stages

    def slope(self, made: DoubleBackward, slope: Slope) -> dict[str, Any]:
        result = self.stages
        maps = []
        for name in slope.arguments:
            factor = made.absent if name == "v" else name
            tensor = made.v if name == "v" else getattr(result, stage_of(factor, result.transposed))
            maps.append(self.map(name, tensor, factor))
        value = self.map(f"∂s/∂{slope.to}", slope.value, slope.to)
        return {"to": slope.to, "function": slope.function, "arguments": maps, "value": value}

    def leading(self, factor: str) -> tuple[int, int]:
        name = stage_of(factor, self.stages.transposed)
        return self.settings.plane.of(name, getattr(self.stages, name).shape)

    def map(self, label: str, tensor: torch.Tensor, factor: str) -> dict[str, Any]:
        """Return the shown plane of a tensor shaped like a factor, and the panel that shows the same."""
        at, result = self.leading(factor), self.stages
        panel = {f"grad_{factor}": f"grad_{factor}", factor: factor}.get(label, "")
        names = {shown_name(name, result.transposed): name for name in PANEL_AXES} if result.transposed else {}
        return {
            "label": label,
            "at": list(at),
            "shape": list(tensor.shape),
            "values": plain(tensor[at], DIGITS),
            "panel": names.get(panel, panel),
        }


def _code(settings: Settings, made: DoubleBackward, number: str) -> str:
    """Return the same as PyTorch; nothing where its operator takes no such border."""
    apart = padded_apart(settings.spec)
    if apart and settings.transposed:
        return ""
    call = TorchCall(settings.spec, transposed=settings.transposed)
    grad, factors = made.of, ", ".join(slope.to for slope in made.slopes)
    index = ", ".join(map(str, made.at))
    return "\n".join(
        [
            *([f"padded_input = {call.pad}"] if apart else []),
            f"output = {call.text}",
            f"({grad},) = torch.autograd.grad(output, {made.absent}, grad_output, create_graph=True)",
            f"s = {grad}[{index}]" if number == "one" else f"s = 0.5 * ({grad}**2).sum()",
            f"torch.autograd.grad(s, ({factors}))",
        ]
    )
