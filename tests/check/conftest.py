"""Asks students' code in this process, as the checker does beside a GPU, and torch once for what is right of the same
numbers: the reports are the same, in half of the time.

What is about the process of their own has it, and so have students who remember from one report to the next.
"""

import importlib

import pytest

from convviz.cases import further_questions
from convviz.check.calling import find_plan
from convviz.check.diagnose import by_catalogue
from convviz.check.run import smallest_failing_geometry
from convviz.sandbox.child_process import bounds_of
from tests.known_truth import remembered, remembered_mistakes

IN_THEIR_OWN = {
    *("test_smallest_failing_geometry", "test_what_cannot_be_called"),
    # Of test_calling.
    *("TestFailures", "TestWhatIsLeftBehind", "TestTheSecondCall", "TestInAProcessOfItsOwn"),
}
WITH_ALL_GEOMETRIES = {
    *("test_smallest_failing_geometry", "test_what_cannot_be_called", "test_true_reasons", "test_large_cases"),
    *("test_mistake_diagnosis", "test_pooling", "test_further_questions"),
}
OPENS = importlib.import_module("convviz.check.calling.open_student")  # the package has a function of that name


@pytest.fixture(autouse=True)
def in_this_process(request, monkeypatch):
    """Take away the process where no limit is stated; a test that states one has it."""
    names = {request.module.__name__.rpartition(".")[2], getattr(request.cls, "__name__", "")}
    if not names & IN_THEIR_OWN:
        monkeypatch.setattr(OPENS, "bounds_of", lambda limit: None if limit is None else bounds_of(limit))


@pytest.fixture(autouse=True)
def fewer(request, monkeypatch):
    """Draw the first 40 of a function's 160 random geometries, but where what these show is tested, or that none shows
    anything of code that is right in another way."""
    if request.module.__name__.rpartition(".")[2] not in WITH_ALL_GEOMETRIES:
        monkeypatch.setattr(smallest_failing_geometry, "MAX_GEOMETRIES", 40)


@pytest.fixture(autouse=True, scope="module")
def once():
    """Ask once what is right: each report of a module asks for the same battery, and for the same random cases."""
    with pytest.MonkeyPatch.context() as patch:
        remembered(patch, further_questions, find_plan)
        remembered_mistakes(patch, by_catalogue)
        yield
