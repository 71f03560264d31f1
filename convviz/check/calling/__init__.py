"""Calling a student's function: what its arguments mean, in which order its axes are, and whatever it does to us.

Read in this order: ``student_function.py`` (what the checker uses), ``binding.py`` (names of arguments),
``call_plan.py`` (what a call is given), ``find_plan.py``, ``askable.py`` (geometries), ``excuses.py``, ``call_case.py``
(one case), ``one_run.py``, ``forward_backward.py`` and ``by_autograd.py`` (one call), ``case_runner.py`` and
``convviz/sandbox`` (the process that it is asked in).
"""

from convviz.check.calling.open_student import open_student
from convviz.check.calling.student_function import Student

__all__ = ["Student", "open_student"]
