"""Results of torch as plain data that JSON can hold."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import torch


def plain(value: Any, digits: int = 17) -> Any:
    """Return a record, or a part of one, with its numbers to so many digits; None for what is not finite."""
    if isinstance(value, torch.Tensor):
        value = value.detach().double().cpu().tolist()
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {name: plain(each, digits) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each, digits) for each in value]
    if not isinstance(value, float):
        return value
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
