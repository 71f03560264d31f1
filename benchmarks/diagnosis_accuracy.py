"""How well the checker tells what is wrong, and how long it takes beyond the student's own code.

The mistakes are students' code (`tests/check/mistaken_input.py` and `mistaken_weight.py`), not the checker's
own. Seconds are those of the process, less those in which the student's functions ran.
"""

import itertools
import statistics
import time

import torch

from benchmarks.figures_and_targets import Figure, main
from convviz.cases.battery import make_case
from convviz.cases.tasks import TASKS
from convviz.check import report
from convviz.check.calling.open_student import open_student
from convviz.check.run.examine import examine
from tests.check import students
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
    say("single mistakes, then two at once")
    single = [(id, *checked(fn, students.part_of(id))) for id in students.IDS for fn in students.mistaken(id)]
    wrong = sum(ids[:1] != [id] for id, ids, _ in single)
    detail = f"{len(single)} ways of {len(students.IDS)} mistakes"
    yield Figure("not named first, of all ways", wrong, "", 0, detail)
    pairs = [({first, second}, *checked(fn, task)) for first, second, task, fn in students.pairs_in_one()]
    named = [len(both & set(ids)) for both, ids, _ in pairs]
    share = 100 * (1 - named.count(2) / len(named))
    yield Figure("two at once, not both named", share, "%", 20, f"{len(named)} pairs")
    yield Figure("two at once, neither named", named.count(0), "", 0)
    seconds = [taken for *_, taken in single + pairs]
    say("right implementations")
    alarms = sum(not passed for passed in itertools.islice(_right(), RIGHT))
    yield Figure(f"false alarms, of {RIGHT} right implementations", alarms, "", 0)
    detail = f"median {statistics.median(seconds):.2f} s, of {len(seconds)} reports on wrong code"
    yield Figure("longest report beyond the student's code", max(seconds), "s", 1, detail)


def _right():
    """Yield whether right implementations pass without a diagnosis, in rounds of other geometries and numbers."""
    specs = [spec for spec in random_specs(11, 2000) if all(before == after for before, after in spec.padding)]
    for turn in itertools.count():
        few = specs[4 * turn % len(specs) :][:4]
        cases = [make_case(str(spec), spec, 100 * turn + number) for number, spec in enumerate(few)]
        for task, fns in students.RIGHT.items():
            for fn in fns.values():
                student = open_student(fn, TASKS[task], cases, layout=LAYOUT.get(task))
                found = examine(student, cases)
                yield found.passed and not found.diagnoses


if __name__ == "__main__":
    main(measure)
