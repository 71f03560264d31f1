"""The call that torch's layer makes for one setting, ready to be asked about."""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from convviz.explanation.border import has_border, padded_apart
from convviz.explanation.layer_call import TorchCall
from convviz.facts.words import sentences
from convviz.ops.detect_torch_backend import Backend, select_backend, which_backend
from convviz.ops.devices_and_dtypes import DTYPES

say = sentences("features/pytorch")


@dataclass(frozen=True)
class AskedCall(TorchCall):
    """One call of the operator, on zeros."""

    @property
    def kind(self) -> str:
        return torch.device(self.device).type

    @property
    def border(self) -> str:
        """A sentence on what has to happen outside of the operator, or nothing."""
        spec = self.spec
        if not has_border(spec) or not padded_apart(spec):
            return ""
        if self.transposed:
            return say("border.transposed")
        (top, bottom), (left, right) = spec.padding
        mode = "constant" if spec.padding_mode == "zeros" else spec.padding_mode
        probe = torch.zeros(1, 1, *spec.input_size, requires_grad=True)
        with torch.enable_grad():
            node = F.pad(probe, (left, right, top, bottom), mode=mode).grad_fn
        assert node is not None  # the probe requires a gradient
        return say("border", call=self.pad, node=node.name())

    def ask(self) -> tuple[str, str] | None:
        """Return the backend's names, forward and backward, without running it; None where torch does not say."""
        return select_backend(*self._tensors(), **self._arguments())

    def watch(self) -> Backend:
        return which_backend(*self._tensors(), **self._arguments())

    def _tensors(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        like: Any = {"dtype": DTYPES[self.dtype], "device": self.device}
        bias = torch.zeros(self.shapes["bias"], **like) if self.bias else None
        return torch.zeros(self.input_shape, **like), torch.zeros(self.spec.weight_shape, **like), bias

    def _arguments(self) -> dict[str, Any]:
        spec = self.spec
        given = {"stride": spec.stride, "padding": self.padding, "dilation": spec.dilation, "groups": spec.groups}
        return given | ({"transposed": True, "output_padding": spec.remainder} if self.transposed else {})
