"""What the quantised convolutions have in common: a latent weight, and a surrogate that says what its gradient is."""

from collections.abc import Mapping

import torch
import torch.nn.functional as F

from convviz.nn.conv2d import Conv2d, PaddingMode, PairOrInt
from convviz.nn.straight_through import STES, check_ste


class QuantizedConv2d(Conv2d):
    """A convolution whose forward uses ``quantized_weight``, a function of the latent parameters.

    A layer of your own overrides quantized_weight, ste_mask and surrogate_weight; ``surrogate_check`` then knows it.
    """

    allowed_stes: tuple[str, ...] = STES
    default_ste = "identity"

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
        ste: str | None = None,
        method: str = "rotate",
    ) -> None:
        """Make the layer; what is not described here is as of ``Conv2d``, and the bias is not quantised.

        Args:
            ste: one of ``allowed_stes``; None for ``default_ste``.

        Raises:
            ValueError: there is no such ste or method, or torch refuses the geometry.
        """
        ste = self.default_ste if ste is None else ste
        check_ste("ste", ste, self.allowed_stes)
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
            dtype, method=method,
        )  # fmt: skip
        self.ste = ste

    @property
    def quantized_weight(self) -> torch.Tensor:
        """What forward convolves with, ``[C_out, C_in / groups, kH, kW]``.

        Differentiable: its gradient reaches the latent parameters by the layer's straight-through estimator.
        """
        raise NotImplementedError

    @property
    def ste_mask(self) -> torch.Tensor:
        """Factor from the gradient of quantized_weight to that of the latent weight, entry by entry, of its shape."""
        raise NotImplementedError

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return the output ``[N, C_out, H_out, W_out]`` of the convolution with quantized_weight."""
        return self._conv_forward(input, self.quantized_weight, self.bias)

    def surrogate_weight(self, parameters: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return the smooth function whose derivative the gradient of quantized_weight is said to be.

        Args:
            parameters: values near the layer's own, by name. At the layer's own the result is quantized_weight.
        """
        raise NotImplementedError

    def surrogate(
        self, input: torch.Tensor, moved_input: torch.Tensor, parameters: Mapping[str, torch.Tensor]
    ) -> torch.Tensor:
        """Return the output with each quantiser q(w) replaced by ``q(w0) + s(w) - s(w0)``, s its surrogate.

        Written with torch's own convolution, so that ``surrogate_check`` judges ours as well.

        Args:
            input: w0 of the input, where the layer binarises it.
            moved_input: values near input.
            parameters: values near the layer's own, which are w0.
        """
        weight = self.surrogate_weight(parameters)
        return self._plain_conv2d(self._pad(moved_input), weight, parameters.get("bias"))

    def extra_repr(self) -> str:
        """Say what Conv2d says, and the straight-through variant."""
        return super().extra_repr() + f", ste={self.ste!r}"

    def _pad(self, input: torch.Tensor) -> torch.Tensor:
        mode = "constant" if self.padding_mode == "zeros" else self.padding_mode
        return F.pad(input, self._reversed_padding_repeated_twice, mode=mode)

    def _plain_conv2d(
        self, padded_input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
    ) -> torch.Tensor:
        return F.conv2d(padded_input, weight, bias, self.stride, 0, self.dilation, self.groups)
