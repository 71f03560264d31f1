"""How far the stages of a transposed convolution, a convolution's gradient to the input, are from autograd.

One geometry serves both: that of the convolution whose input is the layer's output. Its remainder is then exactly the
layer's output_padding.
"""

from typing import Any

import torch
import torch.nn.functional as F

from convviz.geometry.spec import ConvSpec
from convviz.ops import by_rotate as rotate
from convviz.ops import half_precision
from convviz.ops.conv2d_bias import conv2d_bias
from convviz.ops.deviation import Deviation, compare, worst
from convviz.ops.losses import gradient_magnitude, loss_value


def deviation_transposed(result: dict[str, Any], other: torch.Tensor | None) -> Deviation:
    """Hold output and gradients against autograd, each from the numbers shown before it."""
    ours = {
        "output": result["grad_input"],
        "grad_output": result["input"],
        "grad_input": result["output"],
        "grad_weight": result["grad_weight"],
        "grad_bias": result["grad_bias"],
    }
    truth = _by_autograd(result, other)
    with torch.no_grad():
        sizes = _magnitudes(result, other)
    terms = _terms(result["spec"])
    return worst(compare(name, ours[name], truth[name], sizes[name], terms[name]) for name in truth)


def _by_autograd(result: dict[str, Any], other: torch.Tensor | None) -> dict[str, torch.Tensor]:
    leaves = {"grad_input": result["grad_output"], "grad_weight": result["weight"], "grad_bias": result["bias"]}
    leaves = {name: leaf.detach().clone().requires_grad_() for name, leaf in leaves.items() if leaf is not None}
    with torch.enable_grad():
        x, w, *b = (half_precision.widened_on_cpu(leaf) for leaf in leaves.values())
        output = conv_transpose2d_by_torch(x, w, b[0] if b else None, result["spec"]).to(result["input"].dtype)
        # The loss is derived where our output is: a rounding of the forward pass is not one of the backward pass.
        shown = result["grad_input"].detach().clone().requires_grad_()
        (grad_output,) = torch.autograd.grad(loss_value(result["loss_kind"], shown, other), shown)
        # The sum weighted by it, not grad_outputs=: to compare two shapes torch would load sympy, half a second.
        gradients = torch.autograd.grad((output * result["input"]).sum(), list(leaves.values()))
    return {"output": output.detach(), "grad_output": grad_output} | dict(zip(leaves, gradients, strict=True))


def conv_transpose2d_by_torch(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, spec: ConvSpec
) -> torch.Tensor:
    """Return ``F.conv_transpose2d`` for this geometry; an uneven padding is cropped afterwards."""
    whole = F.conv_transpose2d(input, weight, bias, spec.stride, 0, spec.remainder, spec.groups, spec.dilation)
    (top, _), (left, _) = spec.padding
    height, width = spec.input_size
    return whole[..., top : top + height, left : left + width]


def _terms(spec: ConvSpec) -> dict[str, int]:
    """Return how many numbers one entry of each tensor adds up, at most."""
    kernel = spec.kernel_size[0] * spec.kernel_size[1]
    return {
        "output": kernel * (spec.out_channels // spec.groups) + 1,
        "grad_output": 1,
        "grad_input": kernel * (spec.in_channels // spec.groups),
        "grad_weight": spec.batch * spec.output_size[0] * spec.output_size[1],
        "grad_bias": spec.batch * spec.input_size[0] * spec.input_size[1],
    }


def _magnitudes(result: dict[str, Any], other: torch.Tensor | None) -> dict[str, torch.Tensor]:
    spec = result["spec"]
    w, g, padded = (result[name].abs() for name in ("weight", "input", "padded_input"))
    output = rotate.correlate(result["padded_grad_output"].abs(), rotate.rotate_weight(w, spec.groups), spec)
    bias = result["bias"]
    return {
        "output": output if bias is None else output + bias.abs()[:, None, None],
        "grad_output": gradient_magnitude(result["loss_kind"], result["grad_input"], other),
        "grad_input": half_precision.correlate(padded, w, None, spec.stride, 0, spec.dilation, spec.groups),
        "grad_weight": rotate.correlate_with_grad_output(padded, result["dilated_grad_output"].abs(), spec),
        "grad_bias": conv2d_bias(g),
    }
