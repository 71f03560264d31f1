"""Your own implementation of a convolution's backward pass, checked by something that says what is wrong with it.

``api.py`` is what people call. Its rooms import from those after them only: ``run`` (every case, up to a report),
``diagnose`` (what is wrong), ``probes`` (questions whose answers can be read), ``calling`` (one call).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, cast

from convviz.cases.tasks import TASKS
from convviz.check.api import check, grade, report
from convviz.check.backend import BackendReport, backend
from convviz.check.report import CaseResult, CheckFailed, Report

__all__ = ["TASKS", "BackendReport", "CaseResult", "CheckFailed", "Report", "backend", "check", "grade", "report"]


class _Callable(ModuleType):
    """This package is also its own main function: ``convviz.check(fn, task)`` beside ``convviz.check.grade``."""

    __call__ = staticmethod(check)
    if TYPE_CHECKING:  # a checker takes the name for one thing, this: so it has here what else the package has
        TASKS = TASKS
        BackendReport, CaseResult, CheckFailed, Report = BackendReport, CaseResult, CheckFailed, Report
        backend, check = staticmethod(backend), staticmethod(check)
        grade, report = staticmethod(grade), staticmethod(report)


sys.modules[__name__].__class__ = _Callable
package = cast(_Callable, sys.modules[__name__])
