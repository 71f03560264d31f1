"""Looks for the scope that a function would fit where it fits nothing: a fixed kernel, a fixed geometry, depthwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from convviz.cases.further_questions import FLOAT32, NO_BIAS, TWICE
from convviz.cases.settings_in_scope import Scope, read_scope
from convviz.check.calling.student_function import Student
from convviz.check.report import Report

# What people write code for that is meant for one thing, the likeliest first. A stride or a padding that it gets and
# is not right for, it is wrong about; it may read a kernel's size off the kernel.
KERNELS: tuple[Mapping[str, Any], ...] = ({"kernel_size": 3}, {"kernel_size": 2}, {"kernel_size": 5})
EQUAL: Mapping[str, Any] = {"in_channels": 3, "out_channels": 3}  # who is wrong for these is not meant for one of each
# What suits most mistakes as well, as many a wrong sum has one term there: only if its own code refuses all else.
OTHERS: tuple[Mapping[str, Any], ...] = (
    {"kernel_size": 1},
    {"groups": 3, "in_channels": 3, "out_channels": 3},
    EQUAL,
    {"in_channels": 1},
    {"in_channels": 1, "out_channels": 1},
)
FURTHER = (NO_BIAS, TWICE, FLOAT32)
STUCK = ("raised", "wrong_shape")  # numbers that are wrong everywhere are so in every scope


def fitting(student: Student, found: Report) -> Iterator[tuple[Mapping[str, Any], Scope]]:
    """Yield the scopes in which a function answers rightly that fits nothing, as they are stated and as they are read.

    ``found`` is what came of it everywhere.
    """
    cases = [case for case in found.cases if case.name not in FURTHER]  # whose one setting may be right by chance
    scopes = KERNELS if not any(case.passed for case in cases) and _may_be_fixed(student, found) else ()
    if not cases and found.not_asked:
        # A pooling of one cell is its input, and one has no more of its channels than another.
        scopes = KERNELS if student.task.pooling else (*KERNELS, *OTHERS)
    for stated in scopes:
        fits = student.fits(scope := read_scope(stated, student.task.is_row))
        if fits:
            yield stated, scope
        if stated is EQUAL and fits is False:
            return


def _may_be_fixed(student: Student, found: Report) -> bool:
    """Return whether it fails for what its cases are, and gets no size of a kernel that it would have to heed."""
    return not student.receives_sizes and all(case.kind in STUCK for case in found.cases[:3])
