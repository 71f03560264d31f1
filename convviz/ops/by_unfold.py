"""A convolution and its gradients as matrix products: im2col and col2im.

im2col (``F.unfold``) writes every window of the input as one column, so that the convolution becomes one product:
``output = W @ columns``. A product is easy to differentiate:

* to the weight: ``grad_weight = G @ columns.T``;
* to the input: ``grad_columns = W.T @ G``, and every entry of grad_columns goes back to the input cell it was copied
  from. That is col2im (``F.fold``): windows overlap, so it adds. No rotation, no inserted zeros, no remainder.

The columns are kh * kw times as large as the input. So only as many images at a time as fit into a small buffer
are unfolded, and the backward pass unfolds again instead of keeping the columns.
"""

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F

from convviz.geometry.spec import ConvSpec
from convviz.ops.half_precision import wide_dtype, widened

# What one chunk may take: on a CPU about a cache, elsewhere enough to keep the device busy.
CPU_BYTES = 3 * 2**19
DEVICE_BYTES = 256 * 2**20


def conv2d(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, spec: ConvSpec) -> torch.Tensor:
    """Return the output ``[N, C_out, H_out, W_out]``: the kernels as rows times the windows as columns."""
    rows = _rows(weight, spec)  # [groups, C_out / groups, K]

    def output_of(images: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = (rows @ _columns(images, spec)).reshape(-1, *spec.output_shape[1:])
        output = output if bias is None else output + bias[:, None, None]
        return output.to(input.dtype)

    return _concatenated(output_of, input, spec)


def grad_input(grad_output: torch.Tensor, weight: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Return grad_input ``[N, C_in, H, W]``: every entry of ``W.T @ G`` added to the cell it was copied from."""
    rows = _rows(weight, spec).transpose(-2, -1)  # [groups, K, C_out / groups]

    def gradient_of(gradients: torch.Tensor) -> torch.Tensor:
        grad_columns = (rows @ _by_group(gradients, spec)).flatten(1, 2)  # [n, groups * K, L]
        gradient: torch.Tensor = F.fold(grad_columns, spec.input_size, **_window(spec))
        return gradient.to(weight.dtype)

    return _concatenated(gradient_of, grad_output, spec)


def grad_weight(input: torch.Tensor, grad_output: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Return grad_weight ``[C_out, C_in / groups, kH, kW]``: ``G @ columns.T``, summed over the samples."""
    total = None
    for chunk in _chunks(input, spec):
        gradients = _by_group(grad_output[chunk], spec)  # [n, groups, C_out / groups, L]
        part = (gradients @ _columns(input[chunk], spec).transpose(-2, -1)).sum(0)  # [groups, C_out / groups, K]
        total = part if total is None else total + part
    assert total is not None  # an empty batch never comes here
    return total.to(input.dtype).reshape(spec.weight_shape)


def _columns(images: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Write every window as a column: ``[n, groups, K, L]``, K = C_in / groups * kH * kW, L = H_out * W_out."""
    columns: torch.Tensor = F.unfold(widened(images), **_window(spec)).unflatten(1, (spec.groups, -1))
    return columns


def _rows(weight: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Write every kernel as a row: ``[groups, C_out / groups, K]``."""
    return widened(weight).reshape(spec.groups, spec.out_channels // spec.groups, -1)


def _by_group(grad_output: torch.Tensor, spec: ConvSpec) -> torch.Tensor:
    """Lay the cells in a row and sort the channels into groups: ``[N, groups, C_out / groups, L]``."""
    cells: torch.Tensor = widened(grad_output).flatten(2).unflatten(1, (spec.groups, -1))
    return cells


def _window(spec: ConvSpec) -> dict[str, tuple[int, int]]:
    padding = (spec.padding[0][0], spec.padding[1][0])
    return {"kernel_size": spec.kernel_size, "dilation": spec.dilation, "padding": padding, "stride": spec.stride}


def _chunks(tensor: torch.Tensor, spec: ConvSpec) -> Iterator[slice]:
    """Yield slices of the batch that fit into the buffer, at least one image each."""
    if torch.compiler.is_compiling():  # plans its own memory; a loop would be compiled anew for each size of batch
        yield slice(0, tensor.shape[0])
        return
    cells_of_column = spec.in_channels * spec.kernel_size[0] * spec.kernel_size[1]
    windows = spec.output_size[0] * spec.output_size[1]
    per_image = (cells_of_column + spec.out_channels) * windows * wide_dtype(tensor).itemsize
    step = max(1, (CPU_BYTES if tensor.device.type == "cpu" else DEVICE_BYTES) // per_image)
    for start in range(0, tensor.shape[0], step):
        yield slice(start, start + step)


def _concatenated(
    function: Callable[[torch.Tensor], torch.Tensor], tensor: torch.Tensor, spec: ConvSpec
) -> torch.Tensor:
    """Apply the function chunk by chunk; nothing but one chunk is ever there twice."""
    batch = tensor.shape[0]
    first, *others = _chunks(tensor, spec)
    part = function(tensor[first])
    if not others:
        return part
    # Made from a part, not from the argument: under vmap it has the mapped axis of every tensor in it.
    result = part.new_empty(batch, *part.shape[1:])
    result[first] = part
    for chunk in others:
        result[chunk] = function(tensor[chunk])
    return result
