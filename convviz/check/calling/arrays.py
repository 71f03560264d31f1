"""Numbers as a student's code wants them and gives them: torch's tensors, NumPy's arrays or lists within lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from convviz.facts.words import sentences

say = sentences("calling_student_code")

KINDS = ("torch", "numpy", "lists")
MAX_RESULT_NUMBERS = 1 << 22  # numbers in a result: what has more is no answer to a case of a few hundred


class NotNumbers(TypeError):
    """What came is no array of numbers; its text says what it is."""


def hand_over(tensor: torch.Tensor, kind: str, dtype: torch.dtype, turned: bool = False) -> Any:
    """Return a copy of a tensor as the kind of array asked for; turned: the last axis first in memory."""
    made = tensor.detach().to(dtype, copy=True).contiguous()
    if turned:
        backwards = range(made.dim() - 1, -1, -1)
        made = made.permute(*backwards).contiguous().permute(*backwards)
    return made if kind == "torch" else made.numpy() if kind == "numpy" else made.tolist()


def take_back(value: Any) -> torch.Tensor:
    """Return a copy of what a student's function gave, as a tensor on the CPU in the dtype in which it came.

    Raises:
        NotNumbers: it is no array of real numbers.
    """
    if value is None or isinstance(value, str | bytes | Mapping):
        raise NotNumbers(say("none") if value is None else say("not_numbers", what=type(value).__name__))
    try:
        tensor = _tensor(value)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        if isinstance(value, list | tuple):
            raise NotNumbers(say("ragged", what=type(value).__name__)) from error
        raise NotNumbers(say("not_numbers", what=type(value).__name__)) from error
    if tensor.is_complex():
        raise NotNumbers(say("complex"))
    if tensor.numel() > MAX_RESULT_NUMBERS:
        raise NotNumbers(say("too_many", count=tensor.numel()))
    return tensor


def _tensor(value: Any) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        dense = value.detach()
        dense = dense.to_dense() if dense.layout != torch.strided else dense
        # Whole numbers become float64, as NumPy's below.
        numbers = dense if dense.is_floating_point() or dense.is_complex() else dense.double()
        return numbers.to("cpu", copy=True).contiguous()
    if isinstance(value, list | tuple) and any(isinstance(part, torch.Tensor | list | tuple) for part in value):
        return torch.stack([_tensor(part) for part in value]) if value else torch.zeros(0)
    array = np.asarray(value)
    if array.dtype.kind not in "fc" or (array.dtype.itemsize > 8 and array.dtype.kind == "f"):
        array = array.astype(np.float64)
    return torch.from_numpy(np.array(array, copy=True, order="C"))


def changed(before: Any, after: Any) -> bool:
    """Return whether an array is another one than it was; of the same kind both."""
    if isinstance(before, torch.Tensor):
        return not torch.equal(before, after.detach())
    return not np.array_equal(before, after) if isinstance(before, np.ndarray) else bool(before != after)


def shares_memory(one: Any, other: Any) -> bool:
    """Return whether two results hold numbers in the same place: then the later one overwrote the earlier."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        is_dense = one.layout == other.layout == torch.strided and one.numel() > 0
        return is_dense and one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return bool(np.may_share_memory(one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return any(shares_memory(part, other.get(key)) for key, part in one.items())
    if not isinstance(one, list | tuple) or not isinstance(other, list | tuple):
        return False
    is_array = isinstance(one, list) and one and isinstance(one[0], float | list)
    return bool(is_array and one is other) or any(map(shares_memory, one, other))
