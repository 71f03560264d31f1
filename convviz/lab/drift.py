"""How far an entrant is from torch after the same steps."""

from typing import Any

import torch

from convviz.lab.network import Network


@torch.no_grad()
def drift(own: Network, torchs: Network) -> dict[str, Any]:
    """Return max|w − w of torch| over all ``weights`` that torch has, too, and that of each gradient."""
    reference = dict(torchs.named_parameters())
    pairs = [(name, parameter, reference[name]) for name, parameter in own.named_parameters() if name in reference]
    weights = [(mine - other).abs().max() for _, mine, other in pairs]
    gradients = [(_gradient(mine) - _gradient(other)).abs().max() for _, mine, other in pairs]
    numbers = torch.stack([*weights, *gradients]).tolist()  # one wait for the device, not one a parameter
    return {
        "weights": max(numbers[: len(pairs)]),
        "gradients": {name: number for (name, *_), number in zip(pairs, numbers[len(pairs) :], strict=True)},
    }


def _gradient(parameter: torch.Tensor) -> torch.Tensor:
    assert parameter.grad is not None  # a step sees to it
    return parameter.grad
