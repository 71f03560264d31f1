"""Asks students' code in this process, as the checker does beside a GPU: the reports are the same, in two thirds of the
time.

What is about the process of their own has it, and so have students who remember from one report to the next.
"""

import importlib

import pytest

from convviz.sandbox.child_process import bounds_of

IN_THEIR_OWN = {"test_calling", "test_check", "test_smallest_failing_geometry", "test_what_cannot_be_called"}
OPENS = importlib.import_module("convviz.check.calling.open_student")  # the package has a function of that name


@pytest.fixture(autouse=True)
def in_this_process(request, monkeypatch):
    """Take away the process where no limit is stated; a test that states one has it."""
    if request.module.__name__.rpartition(".")[2] not in IN_THEIR_OWN:
        monkeypatch.setattr(OPENS, "bounds_of", lambda limit: None if limit is None else bounds_of(limit))
