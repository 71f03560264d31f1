"""The layer of a setting, as one would write it in PyTorch."""

import torch
import torch.nn.functional as F

from convviz.geometry.spec import ConvSpec
from convviz.ops.deviation import conv_transpose2d_by_torch
from convviz.ops.padding import pad_input


def by_torch(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, spec: ConvSpec, transposed: bool = False
) -> torch.Tensor:
    """Return the layer's output by torch's own operators, which pad only zeros, and as many before as after."""
    even = all(before == after for before, after in spec.padding)
    padding = (spec.padding[0][0], spec.padding[1][0])
    if transposed and not even:
        return conv_transpose2d_by_torch(input, weight, bias, spec)
    if transposed:
        return F.conv_transpose2d(input, weight, bias, spec.stride, padding, spec.remainder, spec.groups, spec.dilation)
    if spec.padding_mode != "zeros" or not even:
        input, padding = pad_input(input, spec), (0, 0)
    return F.conv2d(input, weight, bias, spec.stride, padding, spec.dilation, spec.groups)
