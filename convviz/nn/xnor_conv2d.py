"""XNORConv2d: weights and activations of two values, so that a product is an XNOR of two bits."""

import math
from collections.abc import Mapping

import torch

from convviz.nn.binary_conv2d import BinaryConv2d, scaled_signs
from convviz.nn.conv2d import PaddingMode, PairOrInt
from convviz.nn.straight_through import STES, SURROGATES, binarize, check_ste, straight_through
from convviz.ops.arguments import as_batch, check_tensors, conv_spec
from convviz.ops.conv2d import conv2d


class XNORConv2d(BinaryConv2d):
    """A convolution of the input's signs with the weight's signs (XNOR-Net, Rastegari et al. 2016).

    ``scaled=True``: ``output = (sign(X) conv (alpha * sign(w))) * K + bias``. K ``[N, groups, H_out, W_out]`` is the
    mean of |X| over the cells that the window reads: over the channels of the group, then over the window (a box
    filter with the layer's stride and dilation). Each group has a K of its own, because its filters read no other
    channel; with one group K is the paper's.
    ``scaled=False``: signs alone, ``output = sign(X) conv sign(w) + bias`` (BNN: BinaryNet, Courbariaux et al. 2016).

    X is the input *with* its border: it is padded first and binarised then. sign(0) = +1, so the border's zeros become
    +1 like every zero; left at 0 they would be a third value. Their gradient is dropped, as in every zero padding; a
    border of copies gives it back to the cells that it copies.

    Gradient of the weight: as in ``BinaryConv2d``, by ``ste``; ``"scaled_sign"`` needs ``scaled=True`` and is its
    default, ``"clip"`` is that of BNN. Gradient of the input: through the signs by ``input_ste``, times 1, times
    ``1[|X| <= 1]`` (``"clip"``, the default) or times ``1 - tanh(X)^2``, and in addition the exact one through K,
    where |X| has slope 0 at 0.
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
        scaled: bool = True,
        ste: str | None = None,
        input_ste: str = "clip",
        method: str = "rotate",
    ) -> None:
        """Make the layer; what is not described here is as of ``Conv2d``, and the bias is not quantised.

        Args:
            scaled: True for XNOR-Net with alpha and K, False for BNN.
            ste: ``"scaled_sign"``, ``"identity"``, ``"clip"`` or ``"tanh"``; None for the default.
            input_ste: ``"identity"``, ``"clip"`` or ``"tanh"``.

        Raises:
            ValueError: there is no such ste, input_ste or method.
        """
        if ste is None:
            ste = "scaled_sign" if scaled else "clip"
        elif not scaled:
            check_ste("ste", ste, STES, "scaled=False leaves no scale for 'scaled_sign'")
        check_ste("input_ste", input_ste, STES)
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
            dtype, ste=ste, method=method,
        )  # fmt: skip
        self.scaled = scaled
        self.input_ste = input_ste

    @property
    def quantized_weight(self) -> torch.Tensor:
        """What forward convolves with, ``alpha * sign(w)``, or ``sign(w)`` when not scaled."""
        if self.scaled:
            return scaled_signs(self.weight, self.ste)  # not super()'s: torch.compile does not see a property there
        return straight_through(self.weight, binarize(self.weight.detach()), self.ste)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return the output ``[N, C_out, H_out, W_out]`` for the input ``[N, C_in, H, W]`` or one sample of it."""
        self._check(input)
        padded_input = self._pad(input)
        signs = straight_through(padded_input, binarize(padded_input.detach()), self.input_ste)
        output = self._conv2d(signs, self.quantized_weight)
        if self.scaled:
            output = output * self._to_filters(self._conv2d(self._group_means(padded_input), self._box(padded_input)))
        # Under autocast the output is shorter than the bias, and adding must not lengthen it.
        return output if self.bias is None else output + self.bias[:, None, None].to(output.dtype)

    def surrogate(
        self, input: torch.Tensor, moved_input: torch.Tensor, parameters: Mapping[str, torch.Tensor]
    ) -> torch.Tensor:
        """Return the output with both quantisers replaced, see ``QuantizedConv2d.surrogate``."""
        here, moved, s = self._pad(input), self._pad(moved_input), SURROGATES[self.input_ste]
        signs = binarize(here) + s(moved) - s(here)
        output = self._plain_conv2d(signs, self.surrogate_weight(parameters), None)
        if self.scaled:
            output = output * self._to_filters(self._plain_conv2d(self._group_means(moved), self._box(moved), None))
        return output if self.bias is None else output + parameters["bias"][:, None, None]

    def extra_repr(self) -> str:
        """Say what BinaryConv2d says, and what is special here."""
        return super().extra_repr() + f", scaled={self.scaled}, input_ste={self.input_ste!r}"

    def _check(self, input: torch.Tensor) -> None:
        """Refuse what conv2d would: here padding and signs come before it."""
        check_tensors(input=input)
        shape = as_batch("input", input).shape
        conv_spec(shape, self.weight.shape, self.stride, self.padding, self.dilation, self.groups, self.padding_mode)

    def _conv2d(self, padded_input: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return conv2d(padded_input, weight, None, self.stride, 0, self.dilation, self.groups, method=self.method)

    def _group_means(self, padded_input: torch.Tensor) -> torch.Tensor:
        """Return ``[N, groups, H, W]``, the mean of |X| over the channels of each group."""
        means: torch.Tensor = padded_input.abs().unflatten(-3, (self.groups, -1)).mean(-3)
        return means

    def _box(self, like: torch.Tensor) -> torch.Tensor:
        """Return the box filter ``[groups, 1, kH, kW]``, which takes the mean over a window."""
        return like.new_full((self.groups, 1, *self.kernel_size), 1 / math.prod(self.kernel_size))

    def _to_filters(self, group_scale: torch.Tensor) -> torch.Tensor:
        """Return ``[N, C_out, H_out, W_out]``: each filter gets the scale of its group."""
        return group_scale.repeat_interleave(self.out_channels // self.groups, dim=-3)
