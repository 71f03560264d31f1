"""The losses that start the backward pass, one entry each: its value, and the grad_output that it sends back.

``facts/data/settings.json`` names them and the second tensor that some take; ``web/numbers/losses.js`` has the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F

from convviz.ops.half_precision import widened

Formula = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Loss:
    """One loss; its functions take the output ``[N, C_out, H_out, W_out]`` and what it is given, of the same shape."""

    value: Formula  # 0-d, written so that autograd can derive it
    gradient: Formula  # grad_output, written out by hand
    bend: Literal["linear", "quadratic", "curved"] = "linear"  # by one cell, for finite differences
    magnitude: Formula | None = None  # grad_output with every term made positive, the scale of its rounding
    size: Formula | None = None  # the same of the loss; default: of a sum weighted by grad_output


def _half_squared_error(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return 0.5 * ((output - target) ** 2).sum()


def _cross_entropy(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the mean over the samples; a sample's classes are all its cells."""
    cells, shares = (widened(tensor).flatten(1) for tensor in (output, target))
    return F.cross_entropy(cells, shares).to(output.dtype)


def _cross_entropy_gradient(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return softmax minus target over the batch; softmax counts as the target adds up."""
    shares = widened(target).flatten(1)
    gradient = _softmax(output) * shares.sum(1, keepdim=True) - shares
    return (gradient / len(output)).reshape(output.shape).to(output.dtype)


def _cross_entropy_magnitude(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return softmax plus target; an exponential is off by its exponent in roundings."""
    softmax, shares = _softmax(output), widened(target).abs().flatten(1)
    positive: torch.Tensor = (softmax + torch.special.entr(softmax)) * shares.sum(1, keepdim=True) + shares
    return (positive / len(output)).reshape(output.shape).to(output.dtype)


def _cross_entropy_size(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    cells, shares = output.flatten(1), target.flatten(1)
    return (cells.logsumexp(1).abs() + (shares * cells).abs().sum(1)).mean()


def _softmax(output: torch.Tensor) -> torch.Tensor:
    """Return the softmax over a sample's cells, ``[N, cells]``, in the format of sums."""
    cells = widened(output).flatten(1)
    raised = (cells - cells.amax(1, keepdim=True)).exp()  # 1 at most: no cell is so large that it overflows
    return raised / raised.sum(1, keepdim=True)


LOSSES: dict[str, Loss] = {
    "half_squared_error": Loss(
        _half_squared_error, lambda output, target: output - target, "quadratic", size=_half_squared_error
    ),
    "cross_entropy": Loss(
        _cross_entropy, _cross_entropy_gradient, "curved", _cross_entropy_magnitude, _cross_entropy_size
    ),
    "sum": Loss(lambda output, _: output.sum(), lambda output, _: torch.ones_like(output)),
    "mean": Loss(lambda output, _: output.mean(), lambda output, _: torch.full_like(output, 1 / output.numel())),
    # The loss whose grad_output is what one wishes.
    "weighted_sum": Loss(lambda output, grad: (grad * output).sum(), lambda _, grad: grad.clone()),
}


def loss_value(kind: str, output: torch.Tensor, other: torch.Tensor | None) -> torch.Tensor:
    """Return the loss, 0-d, of the output and its target or weights."""
    return LOSSES[kind].value(output, _given(output, other))


def loss_gradient(kind: str, output: torch.Tensor, other: torch.Tensor | None) -> torch.Tensor:
    """Return grad_output, the loss's derivative by every cell, written out by hand."""
    return LOSSES[kind].gradient(output, _given(output, other))


def gradient_magnitude(kind: str, output: torch.Tensor, other: torch.Tensor | None) -> torch.Tensor:
    """Return grad_output with every term made positive: where terms cancel, their rounding does not."""
    magnitude = LOSSES[kind].magnitude
    if magnitude is None:
        return loss_gradient(kind, output, other).abs()
    return magnitude(output, _given(output, other))


def loss_size(kind: str, output: torch.Tensor, other: torch.Tensor | None) -> torch.Tensor:
    """Return the loss with every term made positive, as ``gradient_magnitude``."""
    size = LOSSES[kind].size
    if size is None:
        return (output * loss_gradient(kind, output, other)).abs().sum()
    return size(output, _given(output, other))


def _given(output: torch.Tensor, other: torch.Tensor | None) -> torch.Tensor:
    return output if other is None else other
