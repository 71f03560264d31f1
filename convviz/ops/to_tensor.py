"""From what people pass to a tensor of real numbers, and from a place in a flat one to its cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

TensorLike = torch.Tensor | ArrayLike  # what real_tensor takes: tensors, arrays, nested lists of numbers


def why_not_dense(name: str, tensor: torch.Tensor) -> str:
    """Return why a tensor does not hold its numbers cell by cell, or nothing."""
    if torch.compiler.is_compiling():  # inside a backward pass it may not be asked, and there it has been
        return ""
    if tensor.is_nested:
        return f"{name} must be one dense tensor: got a nested one; use torch.nested.to_padded_tensor({name}, 0)"
    if tensor.layout != torch.strided:
        return f"{name} must be a dense tensor: got {tensor.layout}; use {name}.to_dense()"
    return ""


def real_tensor(name: str, value: Any) -> torch.Tensor:
    """Return the value as a tensor, detached."""
    try:
        # A copy by numpy first: torch takes neither arrays that run backwards nor, without a warning, read-only ones.
        tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(np.array(value))
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{name} must be a tensor, an array or nested lists of numbers: got {value!r:.80}") from error
    if reason := why_not_dense(name, tensor):
        raise ValueError(reason)
    if tensor.is_meta or tensor.is_quantized:
        remedy = f"{name}.dequantize()" if tensor.is_quantized else "one on another device"
        raise ValueError(f"{name} must hold plain numbers: got device {tensor.device}, {tensor.dtype}; use {remedy}")
    if tensor.is_complex():
        raise ValueError(f"{name} must hold real numbers: got dtype {tensor.dtype}")
    return tensor.detach()


def cell_at(place: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the indices of a place of the flat tensor; ``torch.unravel_index`` loads sympy: half a second, 30 MiB."""
    index: list[int] = []
    for size in reversed(shape):
        place, at = divmod(place, size)
        index.append(at)
    return tuple(reversed(index))
