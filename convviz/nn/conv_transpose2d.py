"""torch.nn.ConvTranspose2d, computed by ``convviz.conv_transpose2d``."""

import torch

from convviz.nn.conv2d import OfMethod, PaddingMode, PairOrInt
from convviz.ops.arguments import sizes_of
from convviz.ops.conv_transpose2d import conv_transpose2d


class ConvTranspose2d(OfMethod, torch.nn.ConvTranspose2d):
    """``torch.nn.ConvTranspose2d`` with one more keyword, ``method``: which of our ways computes it.

    Parameters, initial values and ``state_dict`` are torch's: weight ``[C_in, C_out / groups, kH, kW]``, whose entry
    ``[c, o, u, v]`` multiplies a cell of input channel c on its way to the output cell that kernel cell (u, v)
    writes in channel o of c's group, and bias ``[C_out]``.
    """

    def __init__(  # noqa: D417 - torch documents the rest
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: PairOrInt,
        stride: PairOrInt = 1,
        padding: PairOrInt = 0,
        output_padding: PairOrInt = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: PairOrInt = 1,
        padding_mode: PaddingMode = "zeros",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        method: str = "rotate",
    ) -> None:
        """Make the layer as torch does; what is not described here is as of ``torch.nn.ConvTranspose2d``.

        Args:
            stride: distance between the places where two neighbouring input cells write; an int or a pair, as below.
            padding: cells cut off each side of the output.
            output_padding: rows and columns added at the end of the output, less than stride or dilation.
            dilation: distance between the places that neighbouring kernel cells write.
            method: ``"taps"``, ``"unfold"``, ``"rotate"`` or ``"aten"``, see ``convviz.conv2d``.

        Raises:
            ValueError: there is no such method, or torch refuses the geometry.
        """
        super().__init__(
            *(in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation),
            *(padding_mode, device, dtype),
            method=method,
        )

    def forward(self, input: torch.Tensor, output_size: list[int] | None = None) -> torch.Tensor:
        """Return the output ``[N, C_out, H_out, W_out]``.

        Args:
            input: ``[N, C_in, H, W]``, or one sample without N.
            output_size: (H_out, W_out), with or without the leading axes, where the stride leaves a choice; the
                output_padding of the constructor then does not count.

        Raises:
            ValueError: no output_padding leads to output_size.
        """
        if output_size is not None:
            forms = "(H_out, W_out), with or without the leading axes"
            output_size = list(sizes_of("output_size", output_size, forms, (2, input.dim())))
        # torch's own helper: which sizes are allowed, and what it says about the others, stay torch's.
        output_padding = self._output_padding(
            input,
            output_size,
            self.stride,  # type: ignore[arg-type]  # tuples; torch's annotation says list for TorchScript's sake
            self.padding,  # type: ignore[arg-type]
            self.kernel_size,  # type: ignore[arg-type]
            2,
            self.dilation,  # type: ignore[arg-type]
        )
        return conv_transpose2d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,  # type: ignore[arg-type]
            output_padding,
            self.groups,
            self.dilation,
            method=self.method,
        )
