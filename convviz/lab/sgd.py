"""torch's own stochastic gradient descent, without the class around it, whose first use loads torch's compiler.

That takes seconds and tens of megabytes in each process that races, and nothing here is compiled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.optim.sgd import sgd


class SGD:
    """``torch.optim.SGD`` as far as a race uses it: its numbers, bit for bit, and its form of a state."""

    def __init__(self, parameters: Iterable[torch.nn.Parameter], lr: float, momentum: float) -> None:
        self._parameters = list(parameters)
        self.lr, self._momentum = lr, momentum
        self._moved: list[torch.Tensor | None] = [None] * len(self._parameters)  # the momentum of each

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move each parameter that has a gradient."""
        given = [(at, each, each.grad) for at, each in enumerate(self._parameters) if each.grad is not None]
        moved = [self._moved[at] for at, *_ in given] if self._momentum else []
        sgd(
            [each for _, each, _ in given],
            [grad for *_, grad in given],
            moved,
            weight_decay=0.0,
            momentum=self._momentum,
            lr=self.lr,
            dampening=0.0,
            nesterov=False,
            maximize=False,
        )
        for (at, *_), momentum in zip(given, moved, strict=False):
            self._moved[at] = momentum

    def state_dict(self) -> dict[str, Any]:
        """Return what is kept from step to step."""
        state = {at: {"momentum_buffer": each} for at, each in enumerate(self._moved) if each is not None}
        return {"state": state, "param_groups": [{"lr": self.lr, "params": list(range(len(self._parameters)))}]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take a state, also one of ``torch.optim.SGD``."""
        self.lr = state["param_groups"][0]["lr"]
        for at, parameter in enumerate(self._parameters):
            kept = state["state"].get(at, {}).get("momentum_buffer")
            self._moved[at] = None if kept is None else kept.to(parameter.device, parameter.dtype, copy=True)
