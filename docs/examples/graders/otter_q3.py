"""otter-grader: ``tests/q3.py``. Arguments are filled with what students called so, None where there is nothing."""

from otter.test_files import test_case

import convviz

OK_FORMAT = False
name = "q3"
points = 4


@test_case(points=1, success_message="The public cases are right.")
def test_public(conv2d_weight):
    convviz.check(conv2d_weight, "conv2d_weight", cases="public")


@test_case(points=3, hidden=True, failure_message="Look at stride and padding once more.")
def test_hidden(conv2d_weight):
    convviz.check(conv2d_weight, "conv2d_weight", seed=20261, hint=False)
