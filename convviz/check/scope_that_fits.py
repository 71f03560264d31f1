"""Looks for the scope that a function would fit where it fits nothing: a fixed kernel, a fixed geometry, depthwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from convviz.check.calling.student_function import Student
from convviz.check.further_questions import FLOAT32, NO_BIAS, TWICE
from convviz.check.report import Report
from convviz.check.settings_in_scope import Scope, read_scope

# What people write code for that is meant for one thing, the likeliest first.
SCOPES: tuple[Mapping[str, Any], ...] = (
    {"kernel_size": 3},
    {"kernel_size": 1},
    {"kernel_size": 2},
    {"kernel_size": 5},
    {"groups": 3, "in_channels": 3, "out_channels": 3},
    {"in_channels": 1},
    {"in_channels": 1, "out_channels": 1},
    {"stride": 1},
    {"padding": 0},
    {"stride": 1, "padding": 0},
    {"kernel_size": 3, "padding": 1},
    {"kernel_size": 3, "stride": 1, "padding": 1},
    {"square": True},
    {"remainder": False},
)
FURTHER = (NO_BIAS, TWICE, FLOAT32)
STUCK = ("raised", "refused", "wrong_shape", "wrong_type")  # numbers that are wrong everywhere are so in every scope


def may_fit(found: Report) -> bool:
    """Return whether nothing is right, and not for what its numbers are alone."""
    settings = [case for case in found.cases if case.name not in FURTHER]  # whose one setting may be right by chance
    return not any(case.passed for case in settings) and all(case.kind in STUCK for case in settings[:3])


def fitting(student: Student) -> Iterator[tuple[Mapping[str, Any], Scope]]:
    """Yield the scopes in which a function answers rightly, as they are stated and as they are read."""
    for stated in SCOPES:
        if student.fits(scope := read_scope(stated)):
            yield stated, scope
