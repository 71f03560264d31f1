"""The checker against students' code that was not made from its own: every mistake by its name, and nothing else."""

import functools
import itertools

import pytest
import torch

from convviz.check import report
from convviz.check.battery import battery, make_case
from convviz.check.calling.student import open_student
from convviz.check.compare import same
from convviz.check.examine import examine
from convviz.check.mistakes import catalogue, compute
from convviz.check.tasks import TASKS
from tests import check_students as students
from tests.check_students import IDS, in_backward, mistaken, part_of
from tests.geometries import random_specs
from tests.students_frame import sampled


def named(fn, task):
    # A sum over all but the last axis is right for channels-last, so the bias alone has to say which layout it means.
    found = report(fn, task, layout="NCHW" if task == "conv2d_bias" else None)
    assert not found.passed, "the mistake does not show"
    return [diagnosis.id for diagnosis in found.diagnoses]


@pytest.mark.parametrize("id", IDS)
def test_every_mistake_is_named_alone_in_each_way_of_making_it(id):
    # Alone: no other mistake is said to fit as well, so that each pair of them is told apart.
    for number, fn in enumerate(mistaken(id)):
        assert named(fn, part_of(id)) == [id], f"{part_of(id)}, way {number}"


@pytest.mark.parametrize("id", IDS)
def test_every_mistake_is_named_in_the_whole_backward_pass(id):
    for number, fn in enumerate(mistaken(id)[:3]):
        assert named(in_backward({part_of(id): fn}), "conv2d_backward") == [id], f"way {number}"


def test_mistakes_in_two_gradients_are_both_named():
    pairs = [(one, other) for one in IDS for other in IDS if one[0] < other[0]]
    for one, other in sampled(pairs, 15):
        fn = in_backward({part_of(id): mistaken(id)[0] for id in (one, other)})
        assert sorted(named(fn, "conv2d_backward")) == sorted((one, other)), f"{one} and {other}"


def test_of_two_mistakes_in_one_gradient_both_are_named_or_at_least_one():
    pairs = sampled(students.pairs_in_one(), 15)  # benchmarks/check.py has them all
    found = {(one, other): {one, other} & set(named(fn, task)[:2]) for one, other, task, fn in pairs}
    assert all(found.values()), [pair for pair, ids in found.items() if not ids]
    both = sum(len(ids) == 2 for ids in found.values())
    assert both >= 0.8 * len(found), [pair for pair, ids in found.items() if len(ids) < 2]


def test_right_ones_are_never_diagnosed():
    for task, fns in students.RIGHT.items():
        for name, fn in fns.items():
            found = report(fn, task, seed=len(name))
            assert (found.passed, found.diagnoses) == (True, ()), f"{task}, {name}: {found.text()}"


def test_right_ones_are_right_at_geometries_that_are_not_in_the_battery():
    specs = [spec for spec in random_specs(5, 60) if all(before == after for before, after in spec.padding)]
    cases = [make_case(str(spec), spec, number) for number, spec in enumerate(specs)]
    for task in ("conv2d_input", "conv2d_weight", "conv2d_bias"):
        for name, fn in students.RIGHT[task].items():
            found = examine(TASKS[task], open_student(fn, TASKS[task], cases), cases)
            assert (found.passed, found.diagnoses) == (True, ()), f"{task}, {name}: {found.text()}"


def test_numbers_off_by_rounding_in_float32_are_right():
    def in_float32(*given):
        return students.RIGHT["conv2d_input"]["rotate"](
            *(each.float() if isinstance(each, torch.Tensor) else each for each in given)
        )

    assert report(in_float32, "conv2d_input").passed


def test_another_seed_names_the_same():
    for id in sampled(IDS, 12):
        found = report(mistaken(id)[0], part_of(id), seed=3)
        assert [diagnosis.id for diagnosis in found.diagnoses] == [id], id


def test_what_can_show_under_a_signature_shows_in_its_cases():
    """For every argument list and every way of a mistake: where some geometry shows it, so does a case."""
    lacks = {
        "dilation": lambda spec: spec.dilation == (1, 1),
        "groups": lambda spec: spec.groups == 1,
        "padding_mode": lambda spec: spec.padding_mode == "zeros",
        "padding": lambda spec: spec.padding == ((0, 0), (0, 0)),
        "stride": lambda spec: spec.stride == (1, 1),
        "pairs": lambda spec: all(
            pair[0] == pair[1] for pair in (spec.stride, spec.dilation, [ends[0] for ends in spec.padding])
        ),
    }
    even = [spec for spec in random_specs(31, 2500) if all(before == after for before, after in spec.padding)]
    # What an argument list without some can ask for is rare among them: each is also taken without these.
    wide = [spec.replace(dilation=1, groups=1, padding_mode="zeros", padding=2, batch=3) for spec in even[:150]]
    few = [*even[:250], *wide, *(spec.replace(stride=max(spec.stride)) for spec in wide)]
    few = [make_case(str(spec), spec, number) for number, spec in enumerate(few)]
    tried = battery("all", 0)
    missing = []
    rare = ("padding_mode", "groups", "dilation")
    lists = [(), rare[:1], rare[:2], (rare[0], rare[2]), rare, (*rare, "padding"), (*rare, "stride")]
    for fewer in ((), ("pairs",)):
        for without in ((*some, *fewer) for some in lists):
            fits = lambda case, without=without: all(lacks[name](case.spec) for name in without)  # noqa: E731
            own, wide = [case for case in tried if fits(case)], [case for case in few if fits(case)]
            for mistake in catalogue().values():
                for of, way in itertools.product(mistake.of, mistake.ways):
                    if not _shows(of, way, own) and _shows(of, way, wide):
                        missing.append((mistake.id, of, dict(way), without))
    assert missing == []


@functools.cache
def _changed(of, way, case):
    found = compute(of, dict(way), case)
    return found is None or not same(found, compute(of, {}, case))


def _shows(of, way, cases):
    return any(_changed(of, tuple(way.items()), case) for case in cases)
