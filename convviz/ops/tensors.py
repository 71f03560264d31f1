"""From what people pass to a tensor of real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def real_tensor(name: str, value: Any) -> torch.Tensor:
    """Return the value as a tensor, detached.

    Args:
        name: of the argument, for the message.
        value: a tensor, an array or nested lists of numbers.

    Raises:
        ValueError: it is none of these, or its numbers are not real.
    """
    try:
        # A copy by numpy first: torch takes neither arrays that run backwards nor, without a warning, read-only ones.
        tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(np.array(value))
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{name} must be a tensor, an array or nested lists of numbers: got {value!r:.80}") from error
    if tensor.is_complex():
        raise ValueError(f"{name} must hold real numbers: got dtype {tensor.dtype}")
    return tensor.detach()
