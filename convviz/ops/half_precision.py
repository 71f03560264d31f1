"""Formats of 16 bits: sums are kept in float32 and rounded once at the end, as torch's own kernels do."""

from typing import Any

import torch
import torch.nn.functional as F


def is_narrow(tensor: torch.Tensor) -> bool:
    """Return whether torch adds the format up in float32: bfloat16 and float16."""
    return tensor.element_size() < 4


def wide_dtype(tensor: torch.Tensor) -> torch.dtype:
    """Return the format of sums: float32 for a narrow one, else its own."""
    return torch.float32 if is_narrow(tensor) else tensor.dtype


def widened(tensor: torch.Tensor) -> torch.Tensor:
    """Return the numbers in the format of their sums; whoever adds them up rounds."""
    return tensor.to(wide_dtype(tensor))


def widened_on_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor for torch's own convolutions: on a CPU no kernel of theirs for narrow numbers can be relied on.

    With AMX (Intel's processors from 2023 on) those of torch 2.13 are wrong for some small grouped geometries, or end
    the process; without oneDNN the gradient of the weight is rounded once a sample.
    """
    return widened(tensor) if tensor.device.type == "cpu" else tensor


def correlate(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, *geometry: Any, **options: Any
) -> torch.Tensor:
    """Return what ``F.conv2d`` returns; on a CPU narrow numbers are widened first."""
    x, w, b = widened_on_cpu(input), widened_on_cpu(weight), None if bias is None else widened_on_cpu(bias)
    return F.conv2d(x, w, b, *geometry, **options).to(input.dtype)
