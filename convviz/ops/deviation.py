"""How far the pictures' own arithmetic is from autograd, and how far rounding alone could bring it."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch

from convviz.ops.to_tensor import cell_at


@dataclass(frozen=True)
class Deviation:
    """How far one gradient is from autograd's, and how far rounding could bring it."""

    value: float  # the largest |difference|; nan where one side alone has a nan, inf when the shapes differ
    tensor: str
    index: tuple[int, ...]  # of the difference; empty when the shapes differ
    tolerance: float

    @property
    def within_rounding(self) -> bool:
        """True when the difference is no more than rounding."""
        return self.value <= self.tolerance

    @property
    def severity(self) -> float:
        """The difference in units of its tolerance; nan is the worst, inf."""
        if self.value != self.value:
            return float("inf")
        return self.value / self.tolerance if self.tolerance else self.value and float("inf")


def tolerance(reference: torch.Tensor, magnitude: torch.Tensor, terms: int, *, folded: bool = False) -> float:
    """Return the largest difference that rounding can explain between two ways to add the same numbers.

    Two sums of the same n terms in another order differ by at most ``n * eps * sum(|terms|)``, the magnitude: by the
    size of the terms, not of the result, which may be zero. A quarter of it is allowed; the worst that was met, in a
    bias gradient of 36,864 equal terms, is a twenty-fourth. Formats shorter than float32 are added up in float32 and
    rounded once, so there the result counts as well. Folded sums, a border's, were rounded before they were added up.
    """
    eps = torch.finfo(reference.dtype).eps
    eps_of_sums = min(eps, torch.finfo(torch.float32).eps)
    return eps_of_sums * (4 + terms / 4) * _largest(magnitude) + eps * (
        4 * _largest(reference) + (2 * _largest(magnitude) if folded else 0.0)
    )


def compare(
    name: str,
    ours: torch.Tensor,
    reference: torch.Tensor,
    magnitude: torch.Tensor,
    terms: int,
    *,
    folded: bool = False,
) -> Deviation:
    """Return how far one gradient is from autograd's."""
    if ours.shape != reference.shape:
        return Deviation(float("inf"), name, (), 0.0)
    same = (ours == reference) | (ours.isnan() & reference.isnan())  # equal infinities differ by nan
    difference = (ours - reference).abs().masked_fill(same, 0).flatten()
    place = int(difference.nan_to_num(nan=float("inf")).argmax())
    allowed = tolerance(reference, magnitude, terms, folded=folded)
    return Deviation(float(difference[place]), name, cell_at(place, ours.shape), allowed)


def worst(found: Iterable[Deviation]) -> Deviation:
    """Return the deviation to tell of: the largest, or the least explicable."""
    all_of_them = list(found)
    most = max(all_of_them, key=lambda deviation: (deviation.severity, deviation.value))
    return max(all_of_them, key=lambda deviation: deviation.value) if most.within_rounding else most


def _largest(tensor: torch.Tensor) -> float:
    return float(tensor.nan_to_num(nan=0, posinf=0, neginf=0).abs().max())
