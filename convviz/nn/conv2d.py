"""torch.nn.Conv2d, computed by ``convviz.conv2d``."""

from typing import Any, Literal

import torch

from convviz.ops.conv2d import conv2d
from convviz.ops.methods import check_method

PairOrInt = int | tuple[int, int]
PaddingMode = Literal["zeros", "reflect", "replicate", "circular"]


class OfMethod(torch.nn.Module):
    """A layer with a ``method``, which it shows where it is not the default."""

    def __init__(self, *as_torch: Any, method: str) -> None:
        check_method(method)
        super().__init__(*as_torch)
        self.method = method

    def extra_repr(self) -> str:
        """Say what torch says, and the method where it is not the default."""
        return super().extra_repr() + (f", method={self.method!r}" if self.method != "rotate" else "")


class Conv2d(OfMethod, torch.nn.Conv2d):
    """``torch.nn.Conv2d`` with one more keyword, ``method``: which of our ways computes it and its gradients.

    Parameters, initial values and ``state_dict`` are torch's: weight ``[C_out, C_in / groups, kH, kW]``, whose entry
    ``[o, c, u, v]`` multiplies the input cell that kernel cell (u, v) reads in channel c of o's group, and bias
    ``[C_out]``.
    """

    def __init__(  # noqa: D417 - torch documents the rest
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
        method: str = "rotate",
    ) -> None:
        """Make the layer as torch does; what is not described here is as of ``torch.nn.Conv2d``.

        Args:
            padding: cells added on each side, ``"same"`` or ``"valid"``.
            method: ``"taps"``, ``"unfold"``, ``"rotate"`` or ``"aten"``, see ``convviz.conv2d``.

        Raises:
            ValueError: there is no such method, or torch refuses the geometry.
        """
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
            dtype, method=method,
        )  # fmt: skip

    # torch's forward calls this with its own weight; subclasses call it with another (so do ours that quantise).
    def _conv_forward(self, input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        return conv2d(
            input,
            weight,
            bias,
            self.stride,
            self.padding,
            self.dilation,
            self.groups,
            padding_mode=self.padding_mode,
            method=self.method,
        )
