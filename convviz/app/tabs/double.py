"""The tab Double backward: a gradient of this setting, differentiated once more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from convviz.app.session import Session, whole
from convviz.app.tabs.base import Send, Tab
from convviz.explanation.backend.torch_call import TorchCall
from convviz.explanation.code.border import padded_apart
from convviz.explanation.double_backward import NUMBERS, OF, DoubleBackward, double_backward, stage_of
from convviz.plane import PANEL_AXES
from convviz.settings.names import shown_name

DIGITS = 9  # of a number that the page draws


class DoubleTab(Tab):
    """A number made of grad_input or grad_weight, and its slopes to what that gradient is made of."""

    slow = True

    def __init__(self, session: Session, send: Send) -> None:
        """Start with one number of grad_input, the one in the middle."""
        self.of, self.number = OF[0], NUMBERS[0]
        self.cell: tuple[int, ...] = ()  # of the shown plane; at first the middle
        super().__init__(session, send)

    def data(self) -> dict[str, Any]:
        """Return the gradient, v, and each slope with the planes that it is computed from."""
        result = self.session.result
        at = (*self._leading(self.of.removeprefix("grad_")), *self.cell)
        made = double_backward(result, self.of, self.number, at)
        several = max(self.session.settings.spec.batch, *result.weight.shape[:2]) > 1
        return {
            "of": made.of,
            "number": self.number,
            "at": list(made.at),
            "s": made.s,
            "gradient": self._map(made.of, made.gradient, made.absent),
            "slopes": [self._slope(made, place) for place in range(len(made.slopes))],
            "absent": made.absent,
            "node": made.node,
            "deviation": made.deviation,
            "agrees": made.agrees,
            "several": several,
            "code": self._code(made),
        }

    def act(self, message: Mapping[str, Any]) -> None:
        """Take another gradient, another number made of it, or another cell."""
        if message.get("type") == "set" and message.get("of") in OF and message.get("number") in NUMBERS:
            self.cell = self.cell if message["of"] == self.of else ()
            self.of, self.number = str(message["of"]), str(message["number"])
        elif message.get("type") == "cell":
            self.cell = (whole(message, "row"), whole(message, "column"))
        self.refresh()

    def _slope(self, made: DoubleBackward, place: int) -> dict[str, Any]:
        slope, result = made.slopes[place], self.session.result
        maps = []
        for name in slope.arguments:
            factor = made.absent if name == "v" else name
            tensor = made.v if name == "v" else getattr(result, stage_of(factor, result.transposed))
            maps.append(self._map(name, tensor, factor))
        value = self._map(f"∂s/∂{slope.to}", slope.value, slope.to)
        return {"to": slope.to, "function": slope.function, "arguments": maps, "value": value}

    def _leading(self, factor: str) -> tuple[int, int]:
        """Return the indices of the plane of a factor that the board shows, its sample and channel."""
        result, plane = self.session.result, self.session.settings.plane
        name = stage_of(factor, result.transposed)
        first, second = (plane.index(axis) for axis in PANEL_AXES[name])
        return first, second % int(getattr(result, name).shape[1])  # a weight counts channels within the group

    def _map(self, label: str, tensor: torch.Tensor, factor: str) -> dict[str, Any]:
        """Return the shown plane of a tensor that has the shape of a factor, and the panel that shows the same."""
        at, result = self._leading(factor), self.session.result
        panel = {f"grad_{factor}": f"grad_{factor}", factor: factor}.get(label, "")
        names = {shown_name(name, result.transposed): name for name in PANEL_AXES} if result.transposed else {}
        return {
            "label": label,
            "at": list(at),
            "shape": list(tensor.shape),
            "values": [[float(f"{value:.{DIGITS}g}") for value in row] for row in tensor[at].tolist()],
            "panel": names.get(panel, panel),
        }

    def _code(self, made: DoubleBackward) -> str:
        """Return the same as PyTorch; nothing where its operator takes no such border."""
        settings = self.session.settings
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
                f"s = {grad}[{index}]" if self.number == "one" else f"s = 0.5 * ({grad}**2).sum()",
                f"torch.autograd.grad(s, ({factors}))",
            ]
        )
