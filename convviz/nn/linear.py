"""torch.nn.Linear, computed by ``convviz.linear``."""

import torch

from convviz.nn.conv2d import OfMethod
from convviz.ops.linear import linear


class Linear(OfMethod, torch.nn.Linear):
    """``torch.nn.Linear`` with one more keyword, ``method``: which of our ways computes it and its gradients.

    Parameters, initial values and ``state_dict`` are torch's: weight ``[C_out, C_in]``, whose entry ``[o, c]``
    multiplies feature c of the input on its way to feature o of the output, and bias ``[C_out]``.
    """

    def __init__(  # noqa: D417 - torch documents the rest
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        method: str = "rotate",
    ) -> None:
        """Make the layer as torch does; what is not described here is as of ``torch.nn.Linear``.

        Args:
            method: ``"taps"``, ``"unfold"``, ``"rotate"`` or ``"aten"``, see ``convviz.conv2d``.

        Raises:
            ValueError: there is no such method.
        """
        super().__init__(in_features, out_features, bias, device, dtype, method=method)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return the output ``[..., C_out]`` for the input ``[..., C_in]``."""
        return linear(input, self.weight, self.bias, method=self.method)
