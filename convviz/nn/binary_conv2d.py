"""BinaryConv2d: weights of two values per filter, ±alpha."""

from collections.abc import Mapping

import torch

from convviz.nn.quantized_conv2d import QuantizedConv2d
from convviz.nn.straight_through import FACTORS, STES, SURROGATES, binarize, straight_through

FILTER = (1, 2, 3)  # the axes of one filter in [C_out, C_in / groups, kH, kW]


def filter_scale(weight: torch.Tensor) -> torch.Tensor:
    """Return alpha ``[C_out, 1, 1, 1]``: the mean of |weight| over each filter."""
    return weight.abs().mean(FILTER, keepdim=True)


def scaled_signs(weight: torch.Tensor, ste: str) -> torch.Tensor:
    """Return alpha * sign(w), with the gradient that ``BinaryConv2d`` states for ste."""
    signs = binarize(weight.detach())
    if ste == "scaled_sign":
        return filter_scale(weight) * straight_through(weight, signs, "clip")
    return straight_through(weight, filter_scale(weight.detach()) * signs, ste)


class BinaryConv2d(QuantizedConv2d):
    """A convolution with weights alpha * sign(w) (BWN, the Binary-Weight-Network of Rastegari et al. 2016).

    w is the parameter ``weight``; alpha, one number per filter, is the mean of its |w|, which makes alpha * sign(w)
    the nearest to w of all two-valued filters. sign(0) = +1: 0 would be a third value.

    With g the gradient of quantized_weight, that of w is, by ``ste``:

    - ``"scaled_sign"`` (default), the exact gradient through alpha, and the clipped one through the sign B:
      ``sign(w_i) / n * sum_j g_j B_j + alpha * g_i * 1[|w_i| <= 1]`` over the n entries j of the filter; in the first
      term sign(0) = 0, the slope of |w| there;
    - ``"identity"``: ``g_i``, ``"clip"``: ``g_i * 1[|w_i| <= 1]`` (BinaryNet, Courbariaux et al. 2016),
      ``"tanh"``: ``g_i * (1 - tanh(w_i)^2)``: straight through alpha and sign together.

    With ``"clip"`` a w outside [-1, 1] never moves again: clamp the weights to [-1, 1] after each optimizer step. The
    arguments are those of ``Conv2d``.
    """

    allowed_stes = (*STES, "scaled_sign")
    default_ste = "scaled_sign"

    @property
    def quantized_weight(self) -> torch.Tensor:
        """What forward convolves with, ``alpha * sign(w)``, ``[C_out, C_in / groups, kH, kW]``."""
        return scaled_signs(self.weight, self.ste)

    @property
    def ste_mask(self) -> torch.Tensor:
        """Factor from the gradient of quantized_weight to that of weight, entry by entry.

        For ``"scaled_sign"`` it is ``alpha * 1[|w| <= 1]``; what comes through alpha is a sum over the whole filter, no
        factor of one entry, and is added to it.
        """
        weight = self.weight.detach()
        if self.ste == "scaled_sign":
            return filter_scale(weight) * FACTORS["clip"](weight)
        return FACTORS[self.ste](weight)

    def surrogate_weight(self, parameters: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return ``v + s(w) - s(w0)``; for ``"scaled_sign"`` ``alpha(w) * (B + clamp(w) - clamp(w0))``."""
        weight, moved = self.weight.detach(), parameters["weight"]
        if self.ste == "scaled_sign":
            return filter_scale(moved) * (binarize(weight) + moved.clamp(-1, 1) - weight.clamp(-1, 1))
        s = SURROGATES[self.ste]
        return self.quantized_weight.detach() + s(moved) - s(weight)
