"""Conv2dShift: weights that are powers of two, so that every product is a shift of bits."""

import math
from collections.abc import Mapping

import torch

from convviz.nn.conv2d import PaddingMode, PairOrInt
from convviz.nn.quantized_conv2d import QuantizedConv2d
from convviz.nn.straight_through import (
    FACTORS,
    SURROGATES,
    check_ste,
    power_of_two,
    shift_and_sign,
    straight_through,
)

VARIANTS = ("Q", "PS")
EXPONENTS = (-126, 127)  # of float32's and bfloat16's normal numbers; beyond them 2^e is 0 or inf


class Conv2dShift(QuantizedConv2d):
    """A convolution with weights sign * 2^exponent (DeepShift, Elhoushi et al. 2019).

    ``variant="Q"`` keeps torch's parameter ``weight`` as the latent one, w, and uses
    ``v = sign(w) * 2^clamp(round(log2|w|), lowest, highest)``; w = 0 gives v = 0, and any other |w| at least 2^lowest.
    The gradient of w is that of v times ste_mask: 1 for ``ste="identity"`` (DeepShift's, and the default),
    ``1[|w| <= 1]`` for ``"clip"``, ``1 - tanh(w)^2`` for ``"tanh"``.

    ``variant="PS"`` has the parameters ``shift`` and ``sign``, both of the weight's shape, and no weight
    (``weight`` is None): ``v = 2^clamp(round(shift), lowest, highest) * sign(round(sign))``. Rounding makes sign
    three-valued: within 0.5 of 0 it is 0, and so is v. The gradient of shift is that of v times ``v * ln 2`` (this is
    ste_mask), the gradient of sign is that of v; DeepShift drops the factor 2^shift there on purpose.
    Both start where Q would start: at log2|w| and sign(w) of torch's initial w.

    The gradient of the input comes through v in both. Forward never changes a parameter.
    """

    def __init__(  # noqa: D417 - Conv2d documents the rest
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: PairOrInt,
        stride: PairOrInt = 1,
        padding: PairOrInt | str = 0,
        dilation: PairOrInt = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: PaddingMode = "zeros",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        exponent_range: tuple[int, int] = (-14, 0),
        variant: str = "Q",
        ste: str = "identity",
        method: str = "rotate",
    ) -> None:
        """Make the layer; what is not described here is as of ``Conv2d``, and the bias is not quantised.

        Args:
            exponent_range: lowest and highest exponent; the default is that of 5 bits, -(2^4 - 2) to 0.
            variant: ``"Q"`` or ``"PS"``.
            ste: ``"identity"``, ``"clip"`` or ``"tanh"``; PS has gradients of its own and takes only the first.

        Raises:
            ValueError: a name or the range is none of these.
        """
        lowest, highest = _check_range(exponent_range)
        if variant not in VARIANTS:
            raise ValueError(f"variant is one of {', '.join(VARIANTS)}: got {variant!r}")
        if variant == "PS":
            check_ste("ste", ste, ("identity",), "variant='PS' has gradients of its own: leave ste out")
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
            dtype, ste=ste, method=method,
        )  # fmt: skip
        self.exponent_range = (lowest, highest)
        self.variant = variant
        if variant == "PS":
            self.shift = torch.nn.Parameter(torch.empty_like(self.weight))
            self.sign = torch.nn.Parameter(torch.empty_like(self.weight))
            self._split_weight()

    def reset_parameters(self) -> None:
        """Draw new parameters: torch's initial weight, for PS its exponents and signs."""
        if self.weight is not None:
            super().reset_parameters()
            return
        self.weight = torch.nn.Parameter(torch.empty_like(self.shift))
        super().reset_parameters()
        self._split_weight()

    @property
    def quantized_weight(self) -> torch.Tensor:
        """What forward convolves with, v ``[C_out, C_in / groups, kH, kW]``; an entry is 0 or ± a power of two."""
        if self.variant == "PS":
            return shift_and_sign(self.shift, self.sign, self.exponent_range)
        return straight_through(self.weight, power_of_two(self.weight.detach(), self.exponent_range), self.ste)

    @property
    def ste_mask(self) -> torch.Tensor:
        """Factor from the gradient of v to that of weight (Q) or of shift (PS; for sign it is 1), entry by entry."""
        if self.variant == "PS":
            return self.quantized_weight.detach() * math.log(2)
        return FACTORS[self.ste](self.weight.detach())

    def surrogate_weight(self, parameters: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return Q: ``v + s(w) - s(w0)``; PS: ``v * 2^(shift - shift0) + sign - sign0``."""
        v = self.quantized_weight.detach()
        if self.variant == "PS":
            return v * 2 ** (parameters["shift"] - self.shift.detach()) + parameters["sign"] - self.sign.detach()
        s = SURROGATES[self.ste]
        return v + s(parameters["weight"]) - s(self.weight.detach())

    def extra_repr(self) -> str:
        """Say what Conv2d says, and what is special here."""
        return super().extra_repr() + f", variant={self.variant!r}, exponent_range={self.exponent_range}"

    def _split_weight(self) -> None:
        with torch.no_grad():
            self.shift.copy_(self.weight.abs().log2().clamp(*self.exponent_range))
            self.sign.copy_(self.weight.sign())
        self.register_parameter("weight", None)


def _check_range(exponent_range: tuple[int, int]) -> tuple[int, int]:
    lowest_of_all, highest_of_all = EXPONENTS
    is_pair = isinstance(exponent_range, (tuple, list)) and len(exponent_range) == 2
    if not (
        is_pair
        and all(type(exponent) is int for exponent in exponent_range)
        and lowest_of_all <= exponent_range[0] <= exponent_range[1] <= highest_of_all
    ):
        raise ValueError(
            f"exponent_range is a pair of whole numbers (lowest, highest), lowest <= highest, from {lowest_of_all} to "
            f"{highest_of_all}: got {exponent_range!r}; for example (-14, 0)"
        )
    return exponent_range[0], exponent_range[1]
