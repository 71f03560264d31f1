"""What came of one case of a check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class CaseResult:
    """One case of a check.

    Attributes:
        name: of the case, such as ``"stride 2, padding 1"``.
        passed: whether all results are right.
        kind: ``"ok"``, ``"wrong_shape"``, ``"wrong_dtype"``, ``"wrong_value"``, or one of ``answer.KINDS``.
        message: what is wrong, in a sentence; empty if nothing is.
        shapes: result → (expected shape, received shape); the latter None where nothing came.
        worst_result: the result that is furthest off; empty if none is.
        worst_index: the cell of it that is furthest off, in torch's order; None if shapes differ.
        expected, received: the two numbers there.
        max_abs_err: how far that one is off; None where nothing could be compared.
        seconds: that the student's own code took.
    """

    name: str
    passed: bool
    kind: str
    message: str = ""
    shapes: Mapping[str, tuple[tuple[int, ...], tuple[int, ...] | None]] = field(default_factory=dict)
    worst_result: str = ""
    worst_index: tuple[int, ...] | None = None
    expected: float | None = None
    received: float | None = None
    max_abs_err: float | None = None
    seconds: float = 0.0
