"""A convolution and its gradients by their definition: one table, read three times.

Every row ``(o, k, i)`` of the table says that output cell o receives ``weight[k] * input[i]``. Each of the three
functions below multiplies the two tensors that it is given, row by row, and adds the products up where the third
index points. Nothing is padded, rotated, dilated or folded; padding modes are in the table already.

This is the definition that everything else is held against. It keeps one product per row of the table, output
channel and sample, so it is for small images.
"""

import torch

from convviz.geometry.spec import ConvSpec
from convviz.geometry.taps import taps
from convviz.ops.half_precision import widened

# The letters of einsum: n sample, g group, o and c output and input channel within the group, t row of the table.


def conv2d(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, spec: ConvSpec) -> torch.Tensor:
    """Return the output ``[N, C_out, H_out, W_out]``: the products, added up by o."""
    o, k, i = _table(spec, input)
    products = torch.einsum("ngct,goct->ngot", _image(input, spec)[..., i], _kernel(weight, spec)[..., k])
    output = _sums(products, o, spec.output_size).reshape(-1, *spec.output_shape[1:])
    output = output if bias is None else output + bias[:, None, None]
    return output.to(input.dtype)


def grad_input(grad_output: torch.Tensor, weight: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Return grad_input ``[N, C_in, H, W]``: the products, added up by i."""
    o, k, i = _table(spec, grad_output)
    products = torch.einsum("ngot,goct->ngct", _image(grad_output, spec)[..., o], _kernel(weight, spec)[..., k])
    return _sums(products, i, spec.input_size).reshape(-1, *spec.input_shape[1:]).to(weight.dtype)


def grad_weight(input: torch.Tensor, grad_output: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Return grad_weight ``[C_out, C_in / groups, kH, kW]``: the products, added up by k."""
    o, k, i = _table(spec, input)
    products = torch.einsum("ngot,ngct->goct", _image(grad_output, spec)[..., o], _image(input, spec)[..., i])
    return _sums(products, k, spec.kernel_size).reshape(spec.weight_shape).to(input.dtype)


def _table(spec: ConvSpec, like: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return the columns o, k and i of the table, each ``[T]``."""
    return taps(spec).to(like.device).unbind(1)


def _image(tensor: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Sort the channels into groups and lay the cells in a row: ``[N, groups, C / groups, H * W]``."""
    batch, channels, height, width = tensor.shape
    return widened(tensor).reshape(batch, spec.groups, channels // spec.groups, height * width)


def _kernel(weight: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """The same for the weight: ``[groups, C_out / groups, C_in / groups, kH * kW]``."""
    out_channels, in_per_group, height, width = weight.shape
    return widened(weight).reshape(spec.groups, out_channels // spec.groups, in_per_group, height * width)


def _sums(products: torch.Tensor, cell: torch.Tensor, size: tuple[int, int]) -> torch.Tensor:
    """Add every product of the last axis to the cell that it belongs to: ``[..., T]`` to ``[..., H * W]``."""
    zeros = products.new_zeros(*products.shape[:-1], size[0] * size[1])
    return zeros.index_add(-1, cell, products)
