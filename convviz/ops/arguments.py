"""What people pass to an operator: checked before any number is computed, in their own words."""

import contextlib
from collections.abc import Sequence
from typing import Any

import torch

from convviz.geometry.spec import ConvSpec
from convviz.geometry.whole_numbers import is_whole, unwrapped
from convviz.ops.to_tensor import why_not_dense


def cast_for_autocast(*tensors: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
    """Return the tensors in autocast's dtype, before a Function: its gradients then come in the caller's dtype."""
    return tuple(_cast(tensor) for tensor in tensors)


def _cast(tensor: torch.Tensor | None) -> torch.Tensor | None:
    if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point() or tensor.dtype == torch.float64:
        return tensor  # autocast itself leaves these alone
    return tensor.to(torch.get_autocast_dtype(tensor.device.type)) if _is_autocast_on(tensor) else tensor


def _is_autocast_on(tensor: torch.Tensor) -> bool:
    kind = tensor.device.type
    return kind != "meta" and torch.is_autocast_enabled(kind)  # meta has none, and torch fails when asked


def in_given_dtype(tensor: torch.Tensor) -> contextlib.AbstractContextManager[Any]:
    """Return a context, for the body of a Function, in which autocast does not narrow what it computes."""
    if not _is_autocast_on(tensor):
        return contextlib.nullcontext()
    context: contextlib.AbstractContextManager[Any] = torch.autocast(tensor.device.type, enabled=False)
    return context


def check_tensors(**tensors: Any) -> None:
    """Check for real numbers, one dtype, one device; only the bias may be None."""
    given = {name: tensor for name, tensor in tensors.items() if tensor is not None or name != "bias"}
    for name, tensor in given.items():
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name} must be a torch.Tensor: got {type(tensor).__name__}; torch.as_tensor makes one")
        if reason := why_not_dense(name, tensor):
            raise TypeError(reason)
        if tensor.is_floating_point() and tensor.element_size() < 2:
            raise TypeError(
                f"{name} must hold numbers of 16 bits or more, because torch adds up no narrower ones: got "
                f"{tensor.dtype}; use {name}.float()"
            )
        if not tensor.is_floating_point():
            remedy = f"{name}.real or {name}.imag" if tensor.is_complex() else f"{name}.float()"
            raise TypeError(
                f"{name} must hold real floating-point numbers, which have gradients: got {tensor.dtype}; use {remedy}"
            )
    first, *others = given
    for other in others:
        if given[other].dtype != given[first].dtype:
            raise TypeError(
                f"{first} and {other} must have one dtype: got {given[first].dtype} and {given[other].dtype}; use "
                f"{other}.to({first}.dtype)"
            )
        if given[other].device != given[first].device:
            raise ValueError(
                f"{first} and {other} must be on one device: got {given[first].device} and {given[other].device}; use "
                f"{other}.to({first}.device)"
            )


def as_batch(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """Return ``[C, H, W]`` as a batch of one, ``[N, C, H, W]`` as it is."""
    if tensor.dim() not in (3, 4):
        raise ValueError(
            f"{name} must be [N, C, H, W], or [C, H, W] for one sample: got the shape {list(tensor.shape)}, "
            f"{tensor.dim()} axes"
        )
    return tensor if tensor.dim() == 4 else tensor.unsqueeze(0)


def check_shape(name: str, tensor: torch.Tensor | None, shape: Sequence[int], rule: str) -> None:
    """Check one tensor's shape; None passes."""
    if tensor is not None and tuple(tensor.shape) != tuple(shape):
        raise ValueError(f"{name} must be {rule}, {list(shape)}: got the shape {list(tensor.shape)}")


def sizes_of(name: str, sizes: Any, forms: str, lengths: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape that was given as numbers."""
    whole = isinstance(sizes, (tuple, list)) and all(is_whole(size, 0) for size in sizes)
    if not whole or len(sizes) not in lengths:
        raise ValueError(
            f"{name} must be a shape of whole numbers, {forms}: got {sizes!r}; for example "
            f"{name.partition('_')[0]}.shape"
        )
    return tuple(map(int, sizes))


def conv_spec(
    input_shape: Sequence[int],
    weight_shape: Sequence[int],
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
    padding_mode: str = "zeros",
) -> ConvSpec:
    """Return conv2d's geometry for ``[N, C_in, H, W]`` and ``[C_out, C_in / groups, kH, kW]``; N may be 0."""
    if len(weight_shape) != 4:
        raise ValueError(f"weight must be [C_out, C_in / groups, kH, kW]: got the shape {list(weight_shape)}")
    if 0 in weight_shape[:2]:
        raise ValueError(
            "weight must have channels, [C_out, C_in / groups, kH, kW] with 1 or more of each: got the shape "
            f"{list(weight_shape)}; torch takes C_in = 0, but its output then has no channels and no bias"
        )
    _, in_channels, *input_size = input_shape
    out_channels, in_per_group, *kernel_size = weight_shape
    steps, borders, gaps = map(unwrapped, (stride, padding, dilation))
    spec = ConvSpec(
        input_size, in_channels, out_channels, kernel_size, steps, borders, gaps, groups, padding_mode=padding_mode
    )
    if in_per_group * groups != in_channels:
        raise ValueError(
            "weight must have C_in / groups input channels: got "
            f"{in_per_group} in the weight {list(weight_shape)} for {in_channels} of the input {list(input_shape)} in "
            f"{groups} group(s), which makes {in_channels // groups}"
        )
    return spec
