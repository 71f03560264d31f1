"""How far the pictures' own arithmetic is from autograd, and how far rounding alone could bring it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from convviz.geometry.spec import ConvSpec
from convviz.ops import by_rotate as rotate
from convviz.ops import half_precision
from convviz.ops.conv2d_bias import conv2d_bias
from convviz.ops.losses import gradient_magnitude, loss_value
from convviz.ops.padding import fold_padding, pad_input
from convviz.ops.to_tensor import cell_at

# What a transposed layer calls a tensor → its name in the convolution that is read the other way.
OF_TRANSPOSED = {"input": "grad_output", "output": "grad_input", "grad_output": "input", "grad_input": "output"}


@dataclass(frozen=True)
class Deviation:
    """How far one gradient is from autograd's, and how far rounding could bring it."""

    value: float  # the largest |difference|; nan where one side alone has a nan, inf when the shapes differ
    tensor: str
    index: tuple[int, ...]  # of the difference; empty when the shapes differ
    tolerance: float

    @property
    def within_rounding(self) -> bool:
        """True when the difference is no more than rounding."""
        return self.value <= self.tolerance

    @property
    def severity(self) -> float:
        """The difference in units of its tolerance; nan is the worst, inf."""
        if self.value != self.value:
            return float("inf")
        return self.value / self.tolerance if self.tolerance else self.value and float("inf")


def tolerance(reference: torch.Tensor, magnitude: torch.Tensor, terms: int, *, folded: bool = False) -> float:
    """Return the largest difference that rounding can explain between two ways to add the same numbers.

    Two sums of the same n terms in another order differ by at most ``n * eps * sum(|terms|)``, the magnitude: by the
    size of the terms, not of the result, which may be zero. A quarter of it is allowed; the worst that was met, in a
    bias gradient of 36,864 equal terms, is a twenty-fourth. Formats shorter than float32 are added up in float32 and
    rounded once, so there the result counts as well. Folded sums, a border's, were rounded before they were added up.
    """
    eps = torch.finfo(reference.dtype).eps
    eps_of_sums = min(eps, torch.finfo(torch.float32).eps)
    return eps_of_sums * (4 + terms / 4) * _largest(magnitude) + eps * (
        4 * _largest(reference) + (2 * _largest(magnitude) if folded else 0.0)
    )


def compare(
    name: str,
    ours: torch.Tensor,
    reference: torch.Tensor,
    magnitude: torch.Tensor,
    terms: int,
    *,
    folded: bool = False,
) -> Deviation:
    """Return how far one gradient is from autograd's."""
    if ours.shape != reference.shape:
        return Deviation(float("inf"), name, (), 0.0)
    same = (ours == reference) | (ours.isnan() & reference.isnan())  # equal infinities differ by nan
    difference = (ours - reference).abs().masked_fill(same, 0).flatten()
    place = int(difference.nan_to_num(nan=float("inf")).argmax())
    allowed = tolerance(reference, magnitude, terms, folded=folded)
    return Deviation(float(difference[place]), name, cell_at(place, ours.shape), allowed)


def worst(found: Iterable[Deviation]) -> Deviation:
    """Return the deviation to report: the largest, or the least explicable."""
    all_of_them = list(found)
    most = max(all_of_them, key=lambda deviation: (deviation.severity, deviation.value))
    return max(all_of_them, key=lambda deviation: deviation.value) if most.within_rounding else most


def from_autograd(result: dict[str, Any], other: torch.Tensor | None) -> Deviation:
    """Hold the fields of ``Stages``, under the layer's names, against autograd: each from the numbers before it.

    ``other`` is the loss's target or weights. torch makes the output of a convolution, and that of a transposed one is
    held as well.
    """
    spec, transposed = result["spec"], result["transposed"]
    layer = result | ({name: result[stage] for name, stage in OF_TRANSPOSED.items()} if transposed else {})
    truth = _by_autograd(layer, other)
    with torch.no_grad():
        sizes = _magnitudes(layer, result, other)
    terms, folds = _terms(layer), spec.padding_mode != "zeros"
    return worst(
        compare(name, layer[name], truth[name], sizes[name], terms[name], folded=folds and name == "grad_input")
        for name in truth
    )


def _by_autograd(layer: dict[str, Any], other: torch.Tensor | None) -> dict[str, torch.Tensor]:
    spec, transposed = layer["spec"], layer["transposed"]
    leaves = {"grad_input": layer["input"], "grad_weight": layer["weight"], "grad_bias": layer["bias"]}
    leaves = {name: leaf.detach().clone().requires_grad_() for name, leaf in leaves.items() if leaf is not None}
    with torch.enable_grad():
        if transposed:
            x, w, *b = (half_precision.widened_on_cpu(leaf) for leaf in leaves.values())
            output = conv_transpose2d_by_torch(x, w, b[0] if b else None, spec).to(layer["input"].dtype)
        else:
            x, w, *b = leaves.values()
            padded, bias = pad_input(x, spec), b[0] if b else None
            output = half_precision.correlate(padded, w, bias, spec.stride, 0, spec.dilation, spec.groups)
        # The loss is derived where our output is: a rounding of the forward pass is not one of the backward pass.
        shown = layer["output"].detach().clone().requires_grad_()
        (grad_output,) = torch.autograd.grad(loss_value(layer["loss_kind"], shown, other), shown)
        # The sum weighted by it, not grad_outputs=: to compare two shapes torch would load sympy, half a second.
        gradients = torch.autograd.grad((output * layer["grad_output"]).sum(), list(leaves.values()))
    made = {"output": output.detach()} if transposed else {}
    return made | {"grad_output": grad_output} | dict(zip(leaves, gradients, strict=True))


def conv_transpose2d_by_torch(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, spec: ConvSpec
) -> torch.Tensor:
    """Return ``F.conv_transpose2d`` for this geometry; an uneven padding is cropped afterwards.

    The spec is that of the convolution whose input is the layer's output: its remainder is the output_padding.
    """
    whole = F.conv_transpose2d(input, weight, bias, spec.stride, 0, spec.remainder, spec.groups, spec.dilation)
    (top, _), (left, _) = spec.padding
    height, width = spec.input_size
    return whole[..., top : top + height, left : left + width]


def _terms(layer: dict[str, Any]) -> dict[str, int]:
    """Return how many numbers one entry of each tensor adds up, at most."""
    spec, channels = layer["spec"], (layer["spec"].in_channels, layer["spec"].out_channels)
    into, out = channels[::-1] if layer["transposed"] else channels
    kernel = math.prod(spec.kernel_size)
    around = [padded - own + 1 for padded, own in zip(spec.padded_size, spec.input_size, strict=True)]
    copies = math.prod(around) if spec.padding_mode != "zeros" else 1  # of one cell, in the border
    return {
        "output": kernel * (into // spec.groups) + 1,
        "grad_output": 1,
        "grad_input": kernel * (out // spec.groups) * copies,
        "grad_weight": spec.batch * math.prod(spec.output_size),
        "grad_bias": layer["output"][:, 0].numel(),
    }


def _magnitudes(layer: dict[str, Any], result: dict[str, Any], other: torch.Tensor | None) -> dict[str, torch.Tensor]:
    """Return the sums with every term made positive: their rounding's scale."""
    spec, bias = layer["spec"], layer["bias"]
    w, image, dilated, padded = (
        result[name].abs() for name in ("weight", "padded_input", "dilated_grad_output", "padded_grad_output")
    )
    back = rotate.correlate(padded, rotate.rotate_weight(w, spec.groups), spec)
    sizes = {
        "grad_output": gradient_magnitude(layer["loss_kind"], layer["output"], other),
        "grad_weight": rotate.correlate_with_grad_output(image, dilated, spec),
        "grad_bias": conv2d_bias(layer["grad_output"].abs()),
    }
    if not layer["transposed"]:
        return sizes | {"grad_input": back if spec.padding_mode == "zeros" else fold_padding(back, spec)}
    forth = half_precision.correlate(image, w, None, spec.stride, 0, spec.dilation, spec.groups)
    return sizes | {"grad_input": forth, "output": back if bias is None else back + bias.abs()[:, None, None]}


def _largest(tensor: torch.Tensor) -> float:
    return float(tensor.nan_to_num(nan=0, posinf=0, neginf=0).abs().max())
