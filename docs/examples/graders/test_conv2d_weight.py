"""Plain pytest: one test for all or nothing, one for each case. ``solution`` is the module that is handed in."""

import pytest
from solution import conv2d_weight

import convviz

REPORT = convviz.report(conv2d_weight, "conv2d_weight", seed=20261, time_limit=10)


def test_the_gradient_of_the_kernel():
    convviz.check(conv2d_weight, "conv2d_weight")


@pytest.mark.parametrize("case", REPORT.cases, ids=lambda case: case.name)
def test_each_case(case):
    assert case.passed, case.message
