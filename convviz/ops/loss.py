"""The loss that starts the backward pass, with the grad_output that it sends back."""

from __future__ import annotations

import torch

from convviz.facts import facts

LOSSES = tuple(facts("settings")["choices"]["loss"])


def loss_value(kind: str, output: torch.Tensor, other: torch.Tensor | None) -> torch.Tensor:
    """Return the loss as a 0-d tensor.

    Args:
        kind: ``"sum"``, ``"mean"``, ``"half_squared_error"`` (to a target: ``0.5 * ((output - target) ** 2).sum()``)
            or ``"weighted_sum"`` (``(grad_output * output).sum()``, the loss whose grad_output is what one wishes).
        output: ``[N, C_out, H_out, W_out]``.
        other: the target or the weights, of output's shape; unused by the first two.
    """
    if kind == "mean":
        return output.mean()
    if kind == "half_squared_error" and other is not None:
        return 0.5 * ((output - other) ** 2).sum()
    if kind == "weighted_sum" and other is not None:
        return (other * output).sum()
    return output.sum()


def loss_gradient(kind: str, output: torch.Tensor, other: torch.Tensor | None) -> torch.Tensor:
    """Return grad_output, the derivative of the loss by every cell of output, written out by hand."""
    if kind == "mean":
        return torch.full_like(output, 1 / output.numel())
    if kind == "half_squared_error" and other is not None:
        return output - other
    if kind == "weighted_sum" and other is not None:
        return other.clone()
    return torch.ones_like(output)
