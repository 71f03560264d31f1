"""What the page gets of a step beside its numbers: what they were held against, as a sentence's id and values."""

import dataclasses
import math

import pytest

from convviz import ConvSpec, stages
from convviz.app import step_numbers as wire
from convviz.facts.words import sentences
from convviz.ops.stages import Deviation
from tests.geometries import integers, reals

PLACE = (0, 0, 0, 0)


def computed(dtype, make=reals, stride=2):
    spec = ConvSpec(8, stride=stride, padding=1)
    return stages(spec, make(spec.input_shape, 1), make(spec.weight_shape, 2), dtype=dtype)


def said(result):
    found = wire.truth(result)
    return sentences("picture")(found["id"], **found["values"]), found["ok"]


@pytest.mark.parametrize(
    ("deviation", "line", "good"),
    [
        (None, "not compared with autograd", True),
        (Deviation(0.0, "grad_input", PLACE, 1e-5), "equals autograd exactly", True),
        (
            Deviation(1.2e-7, "grad_input", PLACE, 1e-5),
            "equals autograd within rounding, largest difference 1.2e−7",
            True,
        ),
        (
            Deviation(0.25, "grad_weight", (1, 0, 2, 1), 1e-5),
            "differs from autograd by 2.5e−1 at grad_weight[1, 0, 2, 1]",
            False,
        ),
        (Deviation(math.nan, "grad_bias", (3,), 1e-5), "differs from autograd by nan at grad_bias[3]", False),
    ],
    ids=["not compared", "exact", "rounding", "wrong", "nan"],
)
def test_the_line_that_always_states_the_truth(deviation, line, good):
    result = dataclasses.replace(computed("float32"), deviation_from_autograd=deviation)
    assert said(result) == (f"torch, cpu, float32: {line}", good)


def test_the_truth_of_a_real_comparison():
    assert said(computed("float64", integers)) == ("torch, cpu, float64: equals autograd exactly", True)
    text, good = said(computed("bfloat16"))
    assert good
    assert text.startswith("torch, cpu, bfloat16: equals autograd")
