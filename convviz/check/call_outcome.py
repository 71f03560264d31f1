"""What came of asking a student's function for one case, beside what is right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch

from convviz.cases.battery import Case

FLOAT32 = 1e-5  # of the largest number: bfloat16 and TF32 lose more


def tolerance(dtype: torch.dtype) -> float:
    """Return how far numbers may be apart, as a part of the largest of them: 1e-9 in float64, else 1e-4, as in float32.

    Nobody is given less than float32: what comes back in half of it has lost its digits on the way.
    """
    return 1e-9 if dtype == torch.float64 else 1e-4


def same(got: torch.Tensor, right: torch.Tensor, rtol: float | None = None, atol: float = 0.0) -> bool:
    """Return whether two tensors have one shape and the same numbers, but for rounding in the coarser dtype.

    A report asks this a thousand times, of a few numbers each: what can be said of the two largest numbers is said.
    """
    if got.shape != right.shape:
        return False
    if not got.numel() or (got.dtype == right.dtype and torch.equal(got, right)):
        return True
    off = float(errors(got, right).max())
    if rtol is None:  # the dtypes say between which two bounds it is
        largest, least = _largest(right), tolerance(_dtype_of(got))
        if off <= atol + least * largest:
            return True
        if off > atol + max(least, FLOAT32) * largest:
            return False
    return off <= allowed(got, right, rtol, atol)


def errors(got: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return how far each number is off, in float64; inf where only one of both is a number."""
    one, other = got.double(), right.double()
    apart = (one - other).abs()
    if math.isfinite(float(apart.sum())):  # mostly, and then each number is
        return apart
    return torch.where(one == other, 0.0, apart.nan_to_num(nan=float("inf")))


def allowed(got: torch.Tensor, right: torch.Tensor, rtol: float | None, atol: float) -> float:
    """Return how far a number may be off: ``atol``, plus ``rtol`` of the largest right one."""
    if rtol is None:
        rtol = tolerance(_dtype_of(got))
        if got.dtype == torch.float64 and right.dtype == torch.float64 and torch.equal(got.float().double(), got):
            rtol = FLOAT32  # it was computed in float32, and has no more digits
    return atol + rtol * _largest(right)


def _dtype_of(got: torch.Tensor) -> torch.dtype:
    """Return the dtype whose digits are expected: whole numbers have them all."""
    return got.dtype if got.is_floating_point() else torch.float64


def _largest(right: torch.Tensor) -> float:
    """Return the size of the largest number, which is never 0: rounding is a part of it."""
    largest = float(right.abs().max()) if right.numel() else 0.0
    return max(largest, torch.finfo(torch.float64).tiny)


SEVERAL = 12  # calls in which a count shows: what is drawn keeps no step by chance


def period_of(alike: Sequence[bool]) -> int:
    """Return every how many calls another answer comes, as where calls are counted; 0 where it keeps no such step."""
    steps = range(2, 5) if len(set(alike)) > 1 else ()
    return next((step for step in steps if alike[step:] == alike[:-step]), 0)


def ratio_of(got: torch.Tensor, right: torch.Tensor) -> float | None:
    """Return the one factor by which all numbers differ; None if there is none."""
    if got.shape != right.shape or not right.numel():
        return None
    largest = right.abs().argmax()
    ratio = float(got.flatten()[largest].double() / right.flatten()[largest].double())
    return ratio if same(got, right * ratio) else None


Results = Mapping[str, torch.Tensor]
KINDS = (
    "ok",  # it gave all that the task asks for; whether it is right is not said here
    "not_defined",  # the function is None
    "raised",  # an exception, SystemExit among them
    "refused",  # its own assert or NotImplementedError: it is not made for this case
    "said_once",  # its backward pass is marked once_differentiable, and was differentiated twice
    "timeout",  # it ran longer than it was given
    "crashed",  # its process ended, killed or out of memory
    "wrong_type",  # not numbers, or not as many results as the task has
    "not_finite",  # nan or inf
    "changed_input",  # a tensor that it was given is another one afterwards
    "keeps_state",  # called twice with the same numbers it gives two answers
)


@dataclass(frozen=True, eq=False)
class Answer:
    """One call of a student's function."""

    kind: str  # one of ``KINDS``
    # what it gave, by the names of the task's results, on the CPU, in the dtype in which it came, its axes put into
    # torch's order (``[N, C, H, W]``, ``[C_out, C_in / groups, kH, kW]``, ``[C_out]``) as far as its shape allows; what
    # came beside a failure as well, so that it can be looked at
    results: Results = field(default_factory=dict)
    message: str = ""  # what is wrong, in a sentence that says what to do; empty for ``"ok"``
    error: str = ""  # the type of what it threw, such as ``"TypeError"``; empty if it threw nothing
    seconds: float = 0.0  # that the student's own code took
    remarks: tuple[str, ...] = ()  # ids of what was taken in another form than the task's, such as a bias of more axes
    read: frozenset[str] = frozenset()  # the keys that were read from dicts on the way

    @property
    def failed(self) -> bool:
        """Whether the student's code threw something."""
        return self.kind in ("raised", "refused")

    def has(self, right: Results) -> bool:
        """Return whether all that is right is among its results."""
        return all(name in self.results and same(self.results[name], value) for name, value in right.items())


@dataclass(frozen=True, eq=False)
class Tried:
    """A case, what came of it, and what is right."""

    case: Case
    answer: Answer
    right: Results

    @property
    def fits(self) -> bool:
        """Whether all came and is right, whatever else came of it."""
        return self.answer.has(self.right)

    @property
    def wrong(self) -> list[str]:
        """The names of the results that are wrong, or are not there."""
        return [name for name, value in self.right.items() if not self.answer.has({name: value})]

    @property
    def is_right(self) -> bool:
        """Whether nothing is wrong with the answer."""
        return self.answer.kind == "ok" and self.fits


@dataclass(frozen=True)
class Failure:
    """What a function fails in at random."""

    smallest: Tried  # the smallest failing case that was found
    first: Tried  # the one from which that was found: it has more numbers, from which more can be read
    wrong: tuple[Case, ...]  # all failing cases
    others: tuple[Case, ...]  # those that are right
