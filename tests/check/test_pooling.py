"""The poolings' tasks: right code passes in every style, and each mistake is named, told apart, and shown by a case."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import convviz
from convviz.cases.battery import battery
from convviz.cases.random_cases import random_cases
from convviz.cases.tasks import TASKS, truth
from convviz.check import report
from convviz.check.call_outcome import same
from convviz.mistakes.catalogue import catalogue, compute
from tests.check import students_pooling as students
from tests.check.students_pooling import LISTED, average, max_forward, wrong_max

POOLED = [name for name in TASKS if "pool" in name]


def ids(found):
    return [each.id for each in found.diagnoses]


def fitted(task):
    def fit(spec):
        try:
            return task.fit(spec)
        except ValueError:
            return None

    return fit


@pytest.mark.parametrize("name", POOLED)
def test_the_right_recipes_are_right_also_at_random(name):
    task = TASKS[name]
    cases = [*battery("all", 0, rule=task.rule), *random_cases(task, 5, 120, fitted(task))]
    assert len(cases) > 100
    for case in cases:
        for of, value in truth(task, case).items():
            found = compute(of, {}, case)
            assert found is not None, (case.name, case.spec)
            assert same(found, value), (case.name, case.spec)


@pytest.mark.parametrize("name", POOLED)
def test_every_mistake_shows_in_a_case_and_no_two_give_the_same(name):
    task = TASKS[name]
    (of,), cases = task.results, battery("all", 0, rule=task.rule)
    rights = [truth(task, case)[of] for case in cases]
    given = {}
    for mistake in catalogue().values():
        if of in mistake.of and mistake.is_of(task.rule):
            every = [[compute(of, way, case) for case in cases] for way in mistake.ways]
            alike = [all(map(_alike, way, rights)) for way in every]
            # An average has no dilation that could be exchanged.
            assert alike.count(True) <= (mistake.id == "P05" and task.rule == "average"), mistake.id
            given[mistake.id] = [way for way, none in zip(every, alike, strict=True) if not none]
    for one, ways in given.items():
        for other, others in given.items():
            for way in ways if one < other else ():
                assert not any(all(map(_alike, way, each)) for each in others), (one, other)
    assert len(given) >= 11


def _alike(one, other):
    return one is other is None or (one is not None and other is not None and same(one, other))


@pytest.mark.parametrize("kind", LISTED)
def test_the_listed_mistakes_are_named(kind):
    found = report(wrong_max(kind), "max_pool2d_backward", cases="battery")
    assert ids(found) == [LISTED[kind]], found.text()


def test_stride_as_large_as_the_window_hides_five_of_the_ten_and_the_audit_says_so():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 3, 6, 6, dtype=torch.float64, generator=generator)
    leaf = x.clone().requires_grad_()
    output = F.max_pool2d(leaf, 2, 2)
    sent = torch.randn(output.shape, dtype=torch.float64, generator=generator)
    (right,) = torch.autograd.grad(output, leaf, sent)

    def course(fn):
        assert np.allclose(fn(sent.numpy(), x.numpy(), 2, 2), right)

    hidden = []
    for kind in LISTED:
        try:
            course(wrong_max(kind))
            hidden.append(kind)
        except AssertionError:
            pass
    assert hidden == ["=", "= whole window", "ties to all", "ties shared", "last of the largest"]
    found = convviz.audit(course, "max_pool2d_backward")
    missed, caught = ({one.id for one in part} for part in (found.missed, found.caught))
    assert {LISTED[kind] for kind in hidden} <= missed
    assert {LISTED[kind] for kind in LISTED if kind not in hidden} <= caught
    assert "window 3 × 3" in found.text()
    assert "kernel" not in found.text()


NAMED = [
    (max_forward(zeros=True), "max_pool2d", "M08"),
    (max_forward(abs_=True), "max_pool2d", "M11"),
    (max_forward(smallest=True), "max_pool2d", "M10"),
    (max_forward(floors=True), "max_pool2d", "P06"),
    (max_forward(keeps=True), "max_pool2d", "P07"),
    (max_forward(dilates=False), "max_pool2d", "M09"),
    (lambda input, kernel_size, stride: F.max_pool2d(input, kernel_size, kernel_size), "max_pool2d", "P03"),
    (lambda input, kernel_size, stride: F.max_pool2d(input, kernel_size, 1), "max_pool2d", "P04"),
    (lambda input, kernel_size, stride: F.max_pool2d(input, kernel_size, pair_turned(stride)), "max_pool2d", "P05"),
    (lambda input, kernel_size, stride, padding: F.max_pool2d(input, kernel_size, stride), "max_pool2d", "P09"),
    (lambda input, kernel_size, stride: F.max_pool2d(input, kernel_size, stride), "avg_pool2d", "A06"),
    (lambda input, kernel_size, stride: F.avg_pool2d(input, kernel_size, stride), "max_pool2d", "M06"),
    (average(False, "1"), "avg_pool2d", "A01"),
    (average(False, "side"), "avg_pool2d", "A02"),
    (average(False, "area"), "avg_pool2d", "A04"),
    (average(False, "other"), "avg_pool2d", "A03"),
    (average(True, "1"), "avg_pool2d_backward", "A01"),
    (average(True, "side"), "avg_pool2d_backward", "A02"),
    (average(True, "other"), "avg_pool2d_backward", "A03"),
    (average(True, adds=False), "avg_pool2d_backward", "P01"),
    (lambda *given, **named: 2 * wrong_max("")(*given, **named), "max_pool2d_backward", "G05"),
    ((students.channels_last_forward, students.channels_last_backward), "max_pool2d_backward", "M01"),
    (students.Overwriting, "max_pool2d", "P01"),
]


def pair_turned(pair):
    return pair[::-1] if isinstance(pair, tuple) else pair


@pytest.mark.parametrize(("fn", "task", "id"), NAMED, ids=[f"{task} {id}" for _, task, id in NAMED])
def test_other_mistakes_are_named(fn, task, id):
    found = report(fn, task, cases="battery")
    assert not found.passed
    assert ids(found) == [id], found.text()


RIGHT = {
    "max_pool2d": [
        max_forward(), F.max_pool2d, convviz.max_pool2d, torch.nn.MaxPool2d, students.cs231n_forward,
        students.channels_last_forward, students.Layer, students.Function, lambda case: convviz.max_pool2d(
            case.input, case.kernel_size, case.stride, case.padding, case.dilation, case.ceil_mode
        ),
    ],
    "max_pool2d_backward": [
        wrong_max(""), (students.cs231n_forward, students.cs231n_backward), students.cs231n_backward,
        students.size_is_stride, students.Layer, students.Function, torch.nn.MaxPool2d,
    ],
    "avg_pool2d": [average(False), convviz.avg_pool2d, torch.nn.AvgPool2d],
    "avg_pool2d_backward": [average(True), torch.nn.AvgPool2d],
}  # fmt: skip


@pytest.mark.parametrize("task", POOLED)
def test_right_code_passes_in_every_style(task):
    for fn in RIGHT[task]:
        found = report(fn, task)
        assert found.passed, f"{fn}: {found.text()}"
        assert len(found.cases) > 1, found.text()
        assert "kernel OIHW" not in " ".join(found.assumed)


def test_what_it_has_no_argument_for_it_is_not_asked_and_is_named():
    found = report(students.cs231n_backward, "max_pool2d_backward", cases="battery")
    assert any("ceil_mode" in each for each in found.left_out)
    asked = {case.name for case in found.cases}
    assert "overlapping windows" in asked
    assert not asked & {"ceil_mode", "stride 2, padding 1", "dilation 2, padding 1"}
    found = report(average(False), "avg_pool2d", cases="battery")
    assert sum(case.name.startswith("count_include_pad=False") for case in found.cases) == 2


def test_geometries_that_the_caller_states_are_asked_and_nothing_else():
    stated = [
        {"input": (2, 3, 9, 8), "kernel_size": 3, "stride": 2, "ceil_mode": True},
        convviz.ConvSpec(8, 2, 2, 2, 2),
    ]
    found = report(max_forward(), "max_pool2d", at=stated)
    assert found.passed, found.text()
    assert [case.name.partition(",")[0] for case in found.cases][1:] == ["input [1"]
    assert "ceil_mode" in found.cases[0].name
    assert report(wrong_max("="), "max_pool2d_backward", at=stated).score == 0.5
    for wrong, said in (
        ({"input": (1, 1, 4, 4)}, "kernel_size"),
        ({"input": (1, 1, 4, 4), "kernel_size": 2, "weight": (1, 1, 2, 2)}, "at has the keys input, kernel_size"),
        (convviz.ConvSpec(8, 2, 3, 2), "as many channels in as out"),
    ):
        with pytest.raises(ValueError, match=said):
            report(max_forward(), "max_pool2d", at=wrong)


@pytest.mark.parametrize("task", ["max_pool2d", "avg_pool2d"])
def test_what_only_hands_its_input_on_is_no_pooling_whatever_its_arguments(task):
    """A window of one cell would be its input: as a scope it is not tried, and torch refused it with a padding."""
    for fn in (lambda input: input, lambda input, size: input, lambda input, kernel_size, stride=None: input):
        found = report(fn, task)
        assert not found.passed
        assert "float32" not in found.text(), "of float64 nothing was asked"
