"""Results of torch as plain data that JSON can hold."""

import math
from typing import Any

import torch


def plain(value: Any, digits: int = 17) -> Any:
    """Return a tensor, or nested rows, as numbers with so many digits; None for what is not finite."""
    if isinstance(value, torch.Tensor):
        value = value.detach().double().cpu().tolist()
    if isinstance(value, (list, tuple)):
        return [plain(each, digits) for each in value]
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
