"""The four ways to compute a convolution and its gradients, by name."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from convviz.geometry.spec import ConvSpec
from convviz.ops import by_aten, by_rotate, by_taps, by_unfold
from convviz.ops.by_aten import Gradients
from convviz.ops.conv2d_bias import conv2d_bias

Mask = tuple[bool, bool, bool]
Gradient = Callable[[torch.Tensor, torch.Tensor, ConvSpec], torch.Tensor]


@dataclass(frozen=True)
class Method:
    """One way to compute a convolution and its gradients."""

    # (input, weight, bias, spec) to output; (grad_output, input, weight, spec, output_mask) to gradients.
    conv2d: Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None, ConvSpec], torch.Tensor]
    backward: Callable[[torch.Tensor, torch.Tensor | None, torch.Tensor | None, ConvSpec, Mask], Gradients]
    knows_borders: bool = False  # otherwise only zeros, as many on both sides


def one_by_one(grad_input: Gradient, grad_weight: Gradient) -> Callable[..., Gradients]:
    """Return a method's backward, which computes only what is asked for."""

    def backward(
        grad_output: torch.Tensor,
        input: torch.Tensor | None,
        weight: torch.Tensor | None,
        spec: ConvSpec,
        output_mask: Mask,
    ) -> Gradients:
        to_input = grad_input(grad_output, weight, spec) if output_mask[0] and weight is not None else None
        to_weight = grad_weight(input, grad_output, spec) if output_mask[1] and input is not None else None
        return to_input, to_weight, conv2d_bias(grad_output) if output_mask[2] else None

    return backward


METHODS = {
    "taps": Method(by_taps.conv2d, one_by_one(by_taps.grad_input, by_taps.grad_weight), knows_borders=True),
    "unfold": Method(by_unfold.conv2d, one_by_one(by_unfold.grad_input, by_unfold.grad_weight)),
    "rotate": Method(by_rotate.conv2d, one_by_one(by_rotate.grad_input, by_rotate.grad_weight)),
    "aten": Method(by_aten.conv2d, by_aten.backward),
}


def check_method(method: str) -> str:
    """Return the method's name."""
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method is one of {', '.join(METHODS)}: got {method!r}")
    return method
