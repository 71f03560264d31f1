"""How well the checker tells what is wrong, and how long it takes beyond the student's own code.

The mistakes are students' code, written from descriptions (`tests/mistaken_input.py`, `tests/mistaken_weight.py`), not
the checker's own. Seconds are those of the process, less those in which the student's functions ran.
"""

import itertools
import statistics
import time

import torch

from benchmarks.report import Figure, main
from convviz.check import report
from convviz.check.battery import make_case
from convviz.check.calling.student import open_student
from convviz.check.examine import examine
from convviz.check.tasks import TASKS
from tests import check_students as students
from tests.geometries import random_specs

PART = "the checker (mistakes by code that is not its own)"
RIGHT = 500  # right implementations, each at cases of its own
LAYOUT = {"conv2d_bias": "NCHW"}  # else a sum over all but the last axis is right for channels-last


def checked(fn, task):
    """Return (ids of the diagnoses, seconds beyond the function's own)."""
    own = 0.0

    def timed(*given):
        nonlocal own
        start = time.process_time()
        try:
            return fn(*given)
        finally:
            own += time.process_time() - start

    start = time.process_time()
    found = report(timed, task, layout=LAYOUT.get(task))
    return [diagnosis.id for diagnosis in found.diagnoses], time.process_time() - start - own


def measure(say):
    torch.set_num_threads(1)
    seconds = []
    say("single mistakes")
    wrong, alone, ways = 0, 0, 0
    for id in students.IDS:
        for fn in students.mistaken(id):
            ids, taken = checked(fn, students.part_of(id))
            seconds.append(taken)
            ways, wrong, alone = ways + 1, wrong + (ids[:1] != [id]), alone + (ids == [id])
    detail = f"{ways} ways of {len(students.IDS)} mistakes; {alone} named alone"
    yield Figure(PART, "not named first, of all ways", wrong, "", 0, detail)
    say("two at once")
    both = one = pairs = 0
    for first, second, task, fn in students.pairs_in_one():
        ids, taken = checked(fn, task)
        seconds.append(taken)
        named = {first, second} & set(ids)
        pairs, both, one = pairs + 1, both + (len(named) == 2), one + (len(named) == 1)
    yield Figure(
        PART, "two at once, not both named", 100 * (1 - both / pairs), "%", 20, f"{both} of {pairs}, one of {one}"
    )
    yield Figure(PART, "two at once, neither named", pairs - both - one, "", 0)
    say("right implementations")
    alarms = sum(not passed for passed in itertools.islice(_right(), RIGHT))
    yield Figure(PART, f"false alarms, of {RIGHT} right implementations", alarms, "", 0)
    detail = f"median {statistics.median(seconds):.2f} s, of {len(seconds)} reports on wrong code"
    yield Figure(PART, "longest report beyond the student's code", max(seconds), "s", 1, detail)


def _right():
    """Yield whether right implementations pass without a diagnosis, in rounds of other geometries and numbers."""
    specs = [spec for spec in random_specs(11, 2000) if all(before == after for before, after in spec.padding)]
    for turn in itertools.count():
        few = specs[4 * turn % len(specs) :][:4]
        cases = [make_case(str(spec), spec, 100 * turn + number) for number, spec in enumerate(few)]
        for task, fns in students.RIGHT.items():
            for fn in fns.values():
                student = open_student(fn, TASKS[task], cases, layout=LAYOUT.get(task))
                found = examine(TASKS[task], student, cases)
                yield found.passed and not found.diagnoses


if __name__ == "__main__":
    main(measure)
