"""Your own implementation of a convolution's backward pass, checked by something that says what is wrong with it."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from convviz.check.api import check, grade, report
from convviz.check.backend import BackendReport, backend
from convviz.check.case_result import CaseResult
from convviz.check.report import CheckFailed, Report
from convviz.check.tasks import TASKS

__all__ = ["TASKS", "BackendReport", "CaseResult", "CheckFailed", "Report", "backend", "check", "grade", "report"]


class _Callable(ModuleType):
    """This package is also its own main function: ``convviz.check(fn, task)`` beside ``convviz.check.grade``."""

    def __call__(self, *given: Any, **named: Any) -> None:
        check(*given, **named)


sys.modules[__name__].__class__ = _Callable
