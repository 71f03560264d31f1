"""A class in small: three simulated students, a fault, and what the load run itself would not let pass."""

import functools
import importlib
import os

import numpy as np
import psutil
import pytest

from benchmarks import faults
from benchmarks.student import Student
from benchmarks.student_drags import MOVES, drags, wrong
from benchmarks.student_load import Plan, run_level
from benchmarks.student_machine import alive
from benchmarks.student_scene import suffered
from benchmarks.student_table import percentile, table
from tests.apart import run_apart
from tests.browser.server import voila_server

load = importlib.import_module("benchmarks.class")  # a keyword, to Python
DECK = drags(1)


def own_processes():
    return set(psutil.Process(os.getpid()).children(recursive=True))


@pytest.fixture
def nothing_left():
    """Whatever a run starts has ended when it ends."""
    before = own_processes()
    yield
    assert {process for process in own_processes() - before if alive(process)} == set()


@pytest.mark.usefixtures("nothing_left")
def test_three_students_get_right_numbers_at_every_move_and_their_kernels_end_with_their_tabs():
    plan = Plan(students=3, drags=1, minute=1.0, arrive_s=0.5)
    with voila_server() as server:
        make = functools.partial(Student, server.url, DECK, minute=plan.minute)
        level = run_apart(run_level(plan, server.process.pid, make))
        assert server.kernels() == {}
        assert server.said[1:] == []
    assert (level.errors, level.refused, level.stopped) == ({}, {}, "")
    assert (level.held, len(level.page_s), len(level.kernel_s)) == (3, 3, 3)
    assert len(level.answers) == 3 * MOVES
    assert level.closed_s is not None, "a kernel outlived its tab"
    assert "sessions held at the end" in table({"3": level})


@pytest.mark.usefixtures("nothing_left")
def test_a_student_whose_kernel_is_killed_has_numbers_again_and_the_other_one_feels_nothing():
    found = run_apart(suffered(faults.killed, [], DECK, beside=1))
    assert found.back_s is not None, found.saw
    assert any("lost: ended" in line or "dead" in line for line in found.saw), found.saw
    assert (found.others, found.left) == ([], 0)


def answer_to(move):
    """Return what a kernel that computes rightly sends."""
    kind = np.float64 if move.dtype == "float64" else np.float32
    tensors = {name: each.astype(kind) for name, each in move.truth.items() if name != "loss"}
    return {"loss": float(move.truth["loss"][0])}, tensors


@pytest.mark.parametrize("number", range(4), ids=lambda number: DECK[number][0].dtype)
def test_numbers_that_are_not_autograds_are_told(number):
    move = DECK[number][-1]
    numbers, tensors = answer_to(move)
    assert wrong(move, numbers, tensors) == ""
    assert wrong(move, {"loss": numbers["loss"] + 1}, tensors).startswith("loss is off by 1.0e+00")
    for name, tensor in tensors.items():
        other = tensor.copy()
        other[-1] += 0.001
        assert wrong(move, numbers, tensors | {name: other}).startswith(f"{name} is off by 1.0e-03")
        other[-1] = np.nan
        assert wrong(move, numbers, tensors | {name: other}) == f"{name} is off by nan"
        short = wrong(move, numbers, tensors | {name: tensor[1:]})
        assert short == f"{name}: {len(tensor) - 1} numbers in place of {len(tensor)}"
        assert wrong(move, numbers, {each: tensors[each] for each in tensors if each != name}).startswith("tensors [")


def test_the_share_of_the_values_that_a_percentile_does_not_exceed():
    values = [float(number) for number in range(100, 0, -1)]
    assert [percentile(values, share) for share in (0.5, 0.95, 0.99, 1.0)] == [50, 95, 99, 100]
    assert percentile([], 0.5) is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--students", "501"], "--students must lie between 1 and 500, and 501 does not"),
        (["--minutes", "11"], "--minutes must lie between 1 and 10, and 11 does not"),
        (["--", "--host", "0.0.0.0"], "--host must stay as it is: this load is for the machine's own loopback alone"),
    ],
)
def test_a_load_beyond_its_bounds_is_refused(arguments, said, capsys):
    with pytest.raises(SystemExit):
        load.read(arguments)
    assert said in capsys.readouterr().err
