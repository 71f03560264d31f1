"""Memory layout: channels_last goes in, channels_last comes out, as with torch's own operators."""

import torch


def in_layout_of(tensor: torch.Tensor, *others: torch.Tensor | None) -> torch.Tensor:
    """Return a fresh tensor, in channels_last where one of the others is, else contiguous."""
    in_channels_last = [is_channels_last(other) for other in others if other is not None]
    if not any(in_channels_last):  # apart: a call in a generator is what torch.compile of torch 2.15 fails at
        return owned(tensor.contiguous())
    if is_channels_last(tensor):
        return tensor
    # Not clone(memory_format=...), which vmap does not know; not a view of a permuted copy, which would have to be made
    # one's own: that invents another first stride for a batch of one.
    _, channels, height, width = tensor.shape
    strides = (channels * height * width, 1, channels * width, channels)
    return tensor.new_empty_strided(tensor.shape, strides).copy_(tensor)


def owned(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor made here as no view: a Function's result may be changed in place."""
    fresh: torch.Tensor = torch.ops.aten._unsafe_view.default(tensor, tensor.shape)
    return fresh


def is_channels_last(tensor: torch.Tensor) -> bool:
    """Return whether torch takes ``[N, C, H, W]`` for channels_last, by its strides, as ``suggest_memory_format``."""
    # Whenever dynamo traces a backward pass, it stops here once and traces anew, with gradients made contiguous: a
    # traceback of torch.compile may name this line, and be about another.
    size, stride = tensor.shape, tensor.stride()
    least = 0
    for axis in (1, 3, 2, 0):
        if size[axis] == 0 or stride[axis] < least or stride[1] == 0 or (axis == 0 and least == stride[1]):
            return False
        least = stride[axis] * max(size[axis], 1)
    return True
