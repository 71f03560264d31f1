"""The checker against students' code that was not made from its own: every mistake by its name, and nothing else.

The numbers alone are diagnosed, since how a function is called is tested elsewhere; whole passes are reported on.
"""

import functools
import itertools

import pytest
import torch

from convviz.cases.battery import battery, make_case
from convviz.cases.tasks import TASKS, truth
from convviz.check import report
from convviz.check.call_outcome import same
from convviz.check.diagnose.by_catalogue import diagnose, resolved
from convviz.check.diagnosis import Seen
from convviz.check.one_thread import one_thread
from convviz.mistakes.catalogue import catalogue, compute
from tests.check import students
from tests.check.student_code_styles import sampled
from tests.check.students import IDS, in_backward, mistaken, part_of
from tests.geometries import random_specs


@pytest.fixture(autouse=True, scope="module")
def with_one_thread():
    with one_thread():
        yield


@functools.cache
def tried(task, seed):
    return [(case, truth(TASKS[task], case)[TASKS[task].results[0]]) for case in battery("all", seed)]


def computed(fn, task, case):
    spec = case.spec
    padding = tuple(before for before, _ in spec.padding)
    geometry = (spec.stride, padding, spec.dilation, spec.groups, spec.padding_mode)
    given = {
        "conv2d_input": (spec.input_shape, case.weight, case.grad_output, *geometry),
        "conv2d_weight": (case.input, spec.weight_shape, case.grad_output, *geometry),
        "conv2d_bias": (case.grad_output,),
    }
    try:
        return torch.as_tensor(fn(*given[task]))
    except Exception:  # a mistake may well throw something, and the student gets it
        return None


def named(fn, task, seed=0):
    seen = [Seen(case, computed(fn, task, case), right) for case, right in tried(task, seed)]
    assert not all(one.is_right for one in seen), "the mistake does not show"
    return [diagnosis.id for diagnosis in diagnose(TASKS[task].results[0], seen)]


@pytest.mark.parametrize("id", IDS)
def test_every_mistake_is_named_alone_in_each_way_of_making_it(id):
    # Alone: no other mistake is said to fit as well, so that each pair of them is told apart.
    for number, fn in enumerate(mistaken(id)):
        assert named(fn, part_of(id)) == [id], f"{part_of(id)}, way {number}"


def test_mistakes_in_a_whole_backward_pass_are_all_named():
    parts = [[id for id in IDS if id[0] == letter] for letter in "IWB"]
    for at in range(max(map(len, parts))):
        ids = [part[at % len(part)] for part in parts]
        found = report(in_backward({part_of(id): mistaken(id)[0] for id in ids}), "conv2d_backward")
        named = [diagnosis.id for diagnosis in found.diagnoses]
        # What throws in one gradient takes the numbers of the others with it.
        assert sorted(named) == sorted(ids) or (
            set(named) < set(ids) and any(case.kind == "raised" for case in found.cases)
        ), ids


def test_of_two_mistakes_in_one_gradient_both_are_named_or_at_least_one():
    pairs = sampled(students.pairs_in_one(), 10)  # benchmarks/diagnosis_accuracy.py has them all
    found = {(one, other): {one, other} & set(named(fn, task)[:2]) for one, other, task, fn in pairs}
    assert all(found.values()), [pair for pair, ids in found.items() if not ids]
    both = sum(len(ids) == 2 for ids in found.values())
    assert both >= 0.8 * len(found), [pair for pair, ids in found.items() if len(ids) < 2]


def test_right_ones_are_never_diagnosed():
    for task, fns in students.RIGHT.items():
        for name, fn in sampled(fns.items(), 2 if task == "conv2d_backward" else 6):  # that is made of the others
            found = report(fn, task, seed=len(name), layout="NCHW" if task == "conv2d_bias" else None)
            assert (found.passed, found.diagnoses) == (True, ()), f"{task}, {name}: {found.text()}"


def test_numbers_off_by_rounding_in_float32_are_right():
    def in_float32(*given):
        return students.RIGHT["conv2d_input"]["rotate"](
            *(each.float() if isinstance(each, torch.Tensor) else each for each in given)
        )

    assert report(in_float32, "conv2d_input").passed


def test_another_seed_names_the_same():
    for id in sampled(IDS, 12):
        assert named(mistaken(id)[0], part_of(id), seed=3) == [id], id


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
    wide = [spec.replace(dilation=1, groups=1, padding_mode="zeros", padding=2, batch=3) for spec in even[:100]]
    few = [*even[:150], *wide, *(spec.replace(stride=max(spec.stride)) for spec in wide)]
    few = [make_case(str(spec), spec, number) for number, spec in enumerate(few)]
    tried = battery("all", 0)
    missing = []
    rare = ("padding_mode", "groups", "dilation")
    lists = [(), rare[:1], rare[:2], (rare[0], rare[2]), rare, (*rare, "padding"), (*rare, "stride")]
    for fewer in ((), ("pairs",)):
        for without in ((*some, *fewer) for some in lists):
            fits = lambda case, without=without: all(lacks[name](case.spec) for name in without)  # noqa: E731
            own, wide = [case for case in tried if fits(case)], [case for case in few if fits(case)]
            for mistake in filter(lambda each: each.is_of("signs"), catalogue().values()):
                for of, way in itertools.product(mistake.of, mistake.ways):
                    if not _shows(of, way, own) and _shows(of, way, wide):
                        missing.append((mistake.id, of, dict(way), without))
    assert missing == []


@functools.cache
def _differs(of, way, case, made):
    found = compute(of, dict(way), case)
    return found is None or not same(found, compute(of, {}, case))


def _shows(of, way, cases):
    return any(
        (made := resolved(of, way, case)) != resolved(of, {}, case) and _differs(of, tuple(way.items()), case, made)
        for case in cases
    )
