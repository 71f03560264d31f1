"""Asks students' code in this process, as the checker does beside a GPU, and torch once for what is right of the same
numbers: the reports are the same, in half of the time.

What is about the process of their own has it, and so have students who remember from one report to the next.
"""

import importlib

import pytest

from convviz.cases import further_questions
from convviz.check.calling import find_plan
from convviz.sandbox.child_process import bounds_of
from tests.known_truth import remembered

IN_THEIR_OWN = {
    *("test_smallest_failing_geometry", "test_what_cannot_be_called"),
    # Of test_calling.
    *("TestFailures", "TestWhatIsLeftBehind", "TestTheSecondCall", "TestInAProcessOfItsOwn"),
}
OPENS = importlib.import_module("convviz.check.calling.open_student")  # the package has a function of that name


@pytest.fixture(autouse=True)
def in_this_process(request, monkeypatch):
    """Take away the process where no limit is stated; a test that states one has it."""
    names = {request.module.__name__.rpartition(".")[2], getattr(request.cls, "__name__", "")}
    if not names & IN_THEIR_OWN:
        monkeypatch.setattr(OPENS, "bounds_of", lambda limit: None if limit is None else bounds_of(limit))


@pytest.fixture(autouse=True, scope="module")
def once():
    """Ask once what is right: each report of a module asks for the same battery, and for the same random cases."""
    with pytest.MonkeyPatch.context() as patch:
        remembered(patch, further_questions, find_plan)
        yield
