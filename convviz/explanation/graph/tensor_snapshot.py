"""A tensor as it was when the graph was read: a copy that nothing later can change."""

from dataclasses import dataclass

import torch

from convviz.ops.devices_and_dtypes import has_float64

KEEP = 65_536  # elements: above this only the extremes and the mean are kept, or 500 nodes would fill the memory


@dataclass(frozen=True, eq=False)  # tensors have no one answer to ==
class Snapshot:
    """A tensor's numbers, or what can be said of them."""

    shape: tuple[int, ...]
    dtype: str  # such as "float32"
    tensor: torch.Tensor | None  # detached, on the cpu; None if larger than KEEP or without numbers
    minimum: float | None  # None, as mean and maximum, of no or complex numbers
    mean: float | None
    maximum: float | None

    @property
    def elements(self) -> int:
        return torch.Size(self.shape).numel()


def snapshot(tensor: torch.Tensor) -> Snapshot:
    shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
    tensor = tensor.detach()
    small = torch.Size(shape).numel() <= KEEP
    if tensor.is_meta or (tensor.layout != torch.strided and not small):
        return Snapshot(shape, dtype, None, None, None, None)
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    copy = tensor.to("cpu", copy=True) if small else None
    return Snapshot(shape, dtype, copy, *_summary(tensor))


def _summary(tensor: torch.Tensor) -> tuple[float | None, float | None, float | None]:
    """Return minimum, mean and maximum; bool and integers count as numbers."""
    if tensor.is_complex() or tensor.numel() == 0:
        return None, None, None
    numbers = tensor.double() if tensor.element_size() >= 4 and has_float64(tensor.device) else tensor.float()
    return float(numbers.min()), float(numbers.mean()), float(numbers.max())
