"""Straight-through estimators: a gradient for quantisers, whose own derivative is zero almost everywhere.

One keeps the quantiser's value and borrows the slope of a smooth function, its surrogate. FACTORS holds the slopes,
which backward multiplies by; SURROGATES the functions, which only ``surrogate_check`` calls.
"""

import math
from collections.abc import Callable
from typing import Any

import torch

from convviz.ops.autograd_functions import run

FACTORS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "identity": torch.ones_like,
    # 1 at |w| = 1 itself, as BinaryNet has it; F.hardtanh has 0 there.
    "clip": lambda latent: (latent.abs() <= 1).to(latent.dtype),
    "tanh": lambda latent: 1 - latent.tanh().square(),
}
SURROGATES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "identity": lambda latent: latent,
    "clip": lambda latent: latent.clamp(-1, 1),
    "tanh": torch.tanh,
}
STES = tuple(FACTORS)


def check_ste(argument: str, ste: str, allowed: tuple[str, ...], why: str = "") -> None:
    """Check the name of a straight-through variant."""
    if ste not in allowed:
        raise ValueError(f"{argument} is one of {', '.join(allowed)}: got {ste!r}{why and '; ' + why}")


def binarize(value: torch.Tensor) -> torch.Tensor:
    """Return the sign of every cell with two values only: +1 for 0 and -0 as well. nan stays nan."""
    signs = torch.where(value >= 0, 1.0, -1.0).to(value.dtype)
    return torch.where(value.isnan(), value, signs)


def power_of_two(value: torch.Tensor, exponent_range: tuple[int, int]) -> torch.Tensor:
    """Return ``sign(w) * 2^clamp(round(log2|w|), lowest, highest)`` of every cell; 0 stays 0, nan stays nan.

    Rounding happens between the exponents: 1.41 goes to 1, 1.42 to 2, because the border is the square root of 2.
    """
    # log2(0) is -inf, which the clamp catches; the sign 0 then makes the value 0. Nobody differentiates this.
    exponent = value.abs().log2().round().clamp(*exponent_range)
    return value.sign() * exponent.exp2()


def straight_through(latent: torch.Tensor, quantized: torch.Tensor, ste: str) -> torch.Tensor:
    """Return quantized, whose gradient to latent is its own times 1, ``1[|latent| <= 1]`` or ``1 - tanh(latent)^2``."""
    result: torch.Tensor = run(StraightThrough, latent, quantized.detach(), ste)
    return result


def shift_and_sign(shift: torch.Tensor, sign: torch.Tensor, exponent_range: tuple[int, int]) -> torch.Tensor:
    """Return ``v = 2^clamp(round(shift), lowest, highest) * sign(round(sign))``, with DeepShift-PS's gradients.

    The gradient of shift is that of v times ``v * ln 2``: the true derivative of 2^shift, straight through rounding and
    clamp. The gradient of sign is that of v, unchanged: DeepShift drops the factor 2^shift on purpose, so that the sign
    of a weight that is nearly 0 can still move.
    """
    v: torch.Tensor = run(ShiftAndSign, shift, sign, exponent_range)
    return v


class StraightThrough(torch.autograd.Function):
    """(latent, quantized, ste) to quantized; backward multiplies by the STE's factor."""

    generate_vmap_rule = True

    @staticmethod
    def forward(latent: torch.Tensor, quantized: torch.Tensor, ste: str) -> torch.Tensor:
        """Return a copy: a Function that returns its own input would return a view of it."""
        return quantized.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[torch.Tensor, torch.Tensor, str], output: torch.Tensor) -> None:
        """Keep the latent values, not the factor: saved as a constant, it would lose tanh's second derivative."""
        latent, _, ctx.ste = inputs
        ctx.save_for_backward(latent)

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        """Return the gradient of latent."""
        (latent,) = ctx.saved_tensors
        return grad_output * FACTORS[ctx.ste](latent), None, None


class ShiftAndSign(torch.autograd.Function):
    """(shift, sign, exponent_range) to v, see ``shift_and_sign``."""

    generate_vmap_rule = True

    @staticmethod
    def forward(shift: torch.Tensor, sign: torch.Tensor, exponent_range: tuple[int, int]) -> torch.Tensor:
        """Return v; the parameters are read, never clamped or rounded in place."""
        return shift.round().clamp(*exponent_range).exp2() * sign.round().sign()

    @staticmethod
    def setup_context(
        ctx: Any, inputs: tuple[torch.Tensor, torch.Tensor, tuple[int, int]], output: torch.Tensor
    ) -> None:
        """Keep v."""
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        """Return the gradients of shift and sign."""
        (v,) = ctx.saved_tensors
        return grad_output * v * math.log(2), grad_output, None
