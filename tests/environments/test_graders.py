"""The examples for graders, by each grader's own rule: nbgrader's, otter's and pytest's code, Gradescope's format.

The graders are imported where they are asked: it takes two seconds, and every worker of the tests imports this file.
"""

import importlib.util
import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "graders"
RIGHT = EXAMPLES.joinpath("solution.py").read_text(encoding="utf-8")
WRONG = RIGHT.replace("row * stride, column * stride", "row, column")  # right for stride 1 only
LOUD = RIGHT.replace(
    "    return", "    import sys, warnings; print('hm', file=sys.stderr); warnings.warn('hm')\n    return"
)
LEAVES = RIGHT.replace("    return grad_weight", "    raise SystemExit(0)")
EMPTY = "conv2d_weight = None"


@pytest.fixture(scope="module")
def kernel():
    """One kernel for all notebooks: the cells that are run anew make all their names anew."""
    manager, client = start_new_kernel(kernel_name="python3")
    client.stop_channels()
    yield manager
    manager.shutdown_kernel(now=True)


def graded(source, kernel):
    """Hand a solution in for the notebook, run it as nbgrader does, and return the points of its cells by their ids."""
    from nbgrader.utils import determine_grade

    notebook = nbformat.read(EXAMPLES / "nbgrader.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.id == "conv2d_weight":
            cell.source = source
    runner = nbclient.NotebookClient(notebook, km=kernel, timeout=120, allow_errors=True)
    runner.execute()
    runner.kc.stop_channels()
    return {
        cell.id: determine_grade(cell, logging.getLogger("graders"))
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }


def test_nbgrader_gives_all_points_to_a_right_solution_though_it_writes_to_stderr(kernel):
    assert graded(LOUD, kernel) == {"all_or_nothing": (2, 2), "partial": (4, 4)}


def test_nbgrader_gives_a_wrong_one_a_part_and_an_empty_one_nothing(kernel):
    grades = graded(WRONG, kernel)
    assert grades["all_or_nothing"] == (0, 2)
    assert 0 < grades["partial"][0] < 4
    assert graded(EMPTY, kernel) == {"all_or_nothing": (0, 2), "partial": (0, 4)}


def test_nbgrader_takes_solution_and_hidden_tests_out_of_what_students_get():
    from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions

    notebook = nbformat.read(EXAMPLES / "nbgrader.ipynb", as_version=4)
    for preprocessor in (ClearSolutions(), ClearHiddenTests()):
        notebook, _ = preprocessor.preprocess(notebook, {})
    text = "\n".join(cell.source for cell in notebook.cells)
    assert "def conv2d_weight(" in text
    assert "einsum" not in text
    assert "20261" not in text
    solution = next(
        cell for cell in nbformat.read(EXAMPLES / "nbgrader.ipynb", as_version=4).cells if "einsum" in cell.source
    )
    assert [line for line in solution.source.splitlines() if "###" not in line] == RIGHT.split("\n\n\n")[1].splitlines()


def asked_by_otter(source):
    from otter.test_files import ExceptionTestFile

    names = {}
    exec(source, names)
    file = ExceptionTestFile.from_file(str(EXAMPLES / "otter_q3.py"))
    file.run(names)
    return file


@pytest.mark.parametrize(
    ("source", "score"), [(LOUD, 4), (WRONG, 0), (LEAVES, 0), ("", 0)], ids=["right", "wrong", "leaves", "missing"],
)  # fmt: skip
def test_otter_gives_the_points_that_are_due(source, score):
    file = asked_by_otter(source)
    assert (file.score, file.possible) == (score, 4)


def test_otter_shows_what_is_wrong_in_the_public_case_and_no_hint_in_the_hidden_one():
    public, hidden = (result.message for result in asked_by_otter(WRONG).test_case_results)
    assert "CheckFailed" in public
    assert "Hint:" in public
    assert "CheckFailed" in hidden
    assert "Hint:" not in hidden
    assert "not defined" in asked_by_otter("").test_case_results[0].message


def module(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.parametrize(
    ("source", "least", "most"),
    [(LOUD, 4, 4), (WRONG, 0.1, 3.9), (LEAVES, 0, 0), ("1 / 0", 0, 0), ("exit()", 0, 0)],
    ids=["right", "wrong", "leaves", "crashes", "exits"],
)  # fmt: skip
def test_gradescope_reads_what_it_is_written(source, least, most, tmp_path):
    # The format of its documentation: gradescope-autograders.readthedocs.io, "Output format".
    (tmp_path / "solution.py").write_text(source, encoding="utf-8")
    module("gradescope_grade").grade(tmp_path, tmp_path / "results.json")
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert results.keys() <= {"score", "execution_time", "output", "visibility", "tests", "extra_data"}
    for test in results["tests"]:
        assert test.keys() <= {"score", "max_score", "status", "name", "number", "output", "tags", "visibility"}
        assert 0 <= test["score"] <= test["max_score"]
        assert test["visibility"] in ("hidden", "after_due_date", "after_published", "visible")
    # Without a score of its own a submission has the sum of its tests'.
    assert least - 1e-9 <= sum(test["score"] for test in results["tests"]) <= most + 1e-9
    assert sum(test["max_score"] for test in results["tests"]) == pytest.approx(4)


def test_gradescopes_example_says_elsewhere_what_it_lacks_and_takes_both_places(tmp_path):
    (tmp_path / "solution.py").write_text(RIGHT, encoding="utf-8")
    command = [sys.executable, EXAMPLES / "gradescope_grade.py"]
    alone = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (alone.returncode, alone.stderr.count("\n")) == (1, 1)
    assert alone.stderr.startswith("There is no folder /autograder/submission, which Gradescope makes")
    there = subprocess.run([*command, ".", "results.json"], capture_output=True, text=True, cwd=tmp_path)
    assert (there.returncode, there.stderr) == (0, "")
    assert json.loads((tmp_path / "results.json").read_text())["tests"]


RUN_EACH = """
import os, sys
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
import pytest, torch, convviz  # loaded once
for folder in sys.argv[1:]:
    if not (child := os.fork()):
        os.chdir(folder)
        sys.stdout = sys.stderr = open("said", "w")
        code = pytest.main(["-q", "-p", "no:cacheprovider"])
        sys.stdout.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_pytest_passes_what_is_right_and_nothing_else(tmp_path):
    codes = {RIGHT: 0, WRONG: 1, EMPTY: 1}
    folders = [tmp_path / str(number) for number in range(len(codes))]
    for folder, source in zip(folders, codes, strict=True):
        folder.mkdir()
        shutil.copy(EXAMPLES / "test_conv2d_weight.py", folder)
        (folder / "solution.py").write_text(source, encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-c", RUN_EACH, *map(str, folders)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    said = [(folder / "said").read_text() for folder in folders]
    assert done.stdout.split() == [str(code) for code in codes.values()], (said, done.stderr)
    assert "CheckFailed" in said[1]
    assert "1 passed" not in said[1].splitlines()[-1].replace("11 passed", "")
