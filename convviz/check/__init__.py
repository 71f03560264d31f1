"""Your own implementation of a convolution's backward pass, checked by something that says what is wrong with it."""

from convviz.check.api import check, grade, report
from convviz.check.report import CaseResult, CheckFailed, Report
from convviz.check.tasks import TASKS

__all__ = ["TASKS", "CaseResult", "CheckFailed", "Report", "check", "grade", "report"]
