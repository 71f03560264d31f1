"""check, grade and report: what they say, in which form, and what they refuse."""

import json
import math
import re
import sys

import pytest
import torch

import convviz
from convviz import CheckFailed, conv2d_weight
from convviz.cases.battery import battery
from convviz.cases.tasks import truth
from convviz.check import TASKS, grade, report
from convviz.check.report import WRONG as WRONG_CELL
from convviz.mistakes.catalogue import catalogue, compute
from convviz.settings.link import from_link
from tests.autograd_truth import truth as by_definition
from tests.check.students import in_backward, mistaken

WRONG = in_backward({"conv2d_input": mistaken("I01")[0]})
RIGHT = in_backward({})


@pytest.fixture(scope="module")
def wrong():
    """The report on what is wrong."""
    return report(WRONG, "conv2d_backward", time_limit=math.inf)


def test_a_right_function_passes_and_nothing_is_returned():
    assert convviz.check(RIGHT, "conv2d_backward", cases="public") is None
    assert grade(RIGHT, "conv2d_backward", points=4) == 4.0


def test_neither_loads_sympy(monkeypatch):
    """As torch does to compare two shapes: half a second and 30 MiB of every check."""
    monkeypatch.setitem(sys.modules, "torch.fx.experimental.symbolic_shapes", None)  # to import it is an error now
    for function, points in ((RIGHT, 4.0), (WRONG, 0.0)):
        assert grade(function, "conv2d_backward", points=4, cases="public") == points


def test_a_wrong_one_is_refused_in_twelve_plain_lines():
    with pytest.raises(CheckFailed) as refused:
        convviz.check(WRONG, "conv2d_backward")
    text = str(refused.value)
    assert isinstance(refused.value, AssertionError)
    assert len(text.splitlines()) <= 12
    assert "\x1b" not in text
    assert "First failing case: stride 1, no padding." in text
    assert re.search(r"Furthest off is grad_input\[\d, \d, \d, \d\]: \S+; it should be \S+\.", text)
    assert "Hint: The kernel is not rotated." in text


def test_without_a_hint_it_does_not_say_what_to_change():
    for hint in (True, False):
        with pytest.raises(CheckFailed) as refused:
            convviz.check(WRONG, "conv2d_backward", hint=hint, cases="public")
        assert ("rotate" in str(refused.value)) is hint


def test_points_are_for_the_part_that_is_right_and_feedback_goes_to_stdout(capfd):
    remainder = in_backward({"conv2d_input": mistaken("I10")[0]})
    found = report(remainder, "conv2d_backward", cases="battery")
    points = grade(remainder, "conv2d_backward", points=3, cases="battery")
    assert type(points) is float
    assert 0 < points < 3
    assert points == round(3 * sum(case.passed for case in found.cases) / len(found.cases), 4)
    said = capfd.readouterr()
    assert said.err == "", "a grader gives nothing for what stands there"
    assert "First failing case" in said.out


def test_a_function_without_a_bias_gives_no_gradient_of_one():
    def dx_and_dkernel(dout, x, w, stride=1, pad=0):
        return RIGHT(dout, x, w, None, (stride, stride), (pad, pad), (1, 1), 1, "zeros")[:2]

    found = report(dx_and_dkernel, "conv2d_backward")
    assert found.passed, found.text()
    assert all(case.shapes.keys() == {"grad_input", "grad_weight"} for case in found.cases)

    def other_order(dout, x, w, stride=1, pad=0):
        return dx_and_dkernel(dout, x, w, stride, pad)[::-1]

    assert report(other_order, "conv2d_backward").diagnoses[0].id == "G03"


def test_cases_after_a_timeout_earn_nothing():
    called = []

    def ends_late(*given):
        called.append(given)
        if given[3] is not None and given[1].shape[2:] == (10, 8):  # the first case of the battery
            while True:
                pass
        return RIGHT(*given)

    found = report(ends_late, "conv2d_backward", time_limit=1)
    kinds = [case.kind for case in found.cases]
    assert kinds == ["ok"] * 3 + ["timeout"] * (len(kinds) - 3)
    assert found.score == 3 / len(kinds) < 0.5


def test_what_is_not_defined_yet_is_said():
    assert grade(None, "conv2d") == 0.0
    with pytest.raises(CheckFailed, match="not defined yet"):
        convviz.check(None, "conv2d")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"task": "conv4d"}, r"task is one of conv2d, .*: got 'conv4d'"),
        ({"cases": "some"}, "cases is 'public', 'battery' or 'all': got 'some'"),
        ({"seed": -1}, "seed is a whole number of 0 or more: got -1"),
        ({"seed": 0.5}, "seed is a whole number of 0 or more: got 0.5"),
        ({"rtol": -1.0}, "rtol is a number of 0 or more: got -1.0"),
        ({"atol": float("nan")}, "atol is a number of 0 or more: got nan"),
    ],
)
def test_impossible_wishes_are_refused_in_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        report(RIGHT, **({"task": "conv2d_backward"} | options))


@pytest.mark.parametrize("points", [0, -1, float("inf"), "4", True])
def test_points_are_a_number_above_zero(points):
    with pytest.raises(ValueError, match="points is a number above 0"):
        grade(RIGHT, "conv2d_backward", points=points)


def test_a_report_is_plain_data_html_and_gradescopes_file(wrong):
    found = wrong
    data = json.loads(json.dumps(found.to_dict()))
    assert (data["passed"], data["task"], data["diagnoses"][0]["id"]) == (False, "conv2d_backward", "I01")
    page = found._repr_html_()
    assert "The kernel is not rotated." in page
    assert "yours" in page
    assert "wrong cells are marked" in page
    assert WRONG_CELL in page
    tests = found.to_gradescope(points=10)["tests"]
    assert sum(test["max_score"] for test in tests) == pytest.approx(10)
    assert sum(test["score"] for test in tests) == pytest.approx(10 * found.score)
    assert all(test["output"] for test in tests)


def test_a_result_of_another_shape_has_no_cells_that_are_wrong_by_themselves():
    def too_short(input_size, weight, grad_output, stride=1, padding=0):
        return torch.nn.functional.conv_transpose2d(grad_output, weight, None, stride, padding)

    def a_channel_too_many(input, weight, grad_output, **geometry):
        right = conv2d_weight(input, weight.shape, grad_output, **geometry)
        return torch.cat([right, right[:1]])

    for fn, task in ((too_short, "conv2d_input"), (a_channel_too_many, "conv2d_weight")):
        page = report(fn, task)._repr_html_()
        assert "the shapes differ" in page, task
        assert "marked" not in page, task
        assert WRONG_CELL not in page, task


def turned_round(pair):
    return tuple(pair)[::-1] if isinstance(pair, (tuple, list)) else pair


def test_what_the_argument_list_leaves_out_hides_no_mistake():
    """Each of them passed: the case that would have shown it asked for an argument that the function does not have."""

    def exchanged(grad_output, input, weight, stride=1, padding=0):
        return convviz.conv2d_weight(input, weight.shape, grad_output, turned_round(stride), turned_round(padding))

    def unstrided(input, weight, bias=None, stride=1, padding=0):
        return torch.nn.functional.conv_transpose2d(input, weight, bias, 1, padding)

    def remainder_of_the_first_group(grad_output, input, weight, stride=1, groups=1):
        full = torch.nn.grad.conv2d_input(input.shape, weight, grad_output, stride, groups=groups)
        left = (input.shape[-1] - weight.shape[-1]) % (stride if isinstance(stride, int) else stride[1])
        if groups > 1 and left:
            full[:, input.shape[1] // groups :, :, :1] = 0
        return full

    def other_axes(grad_output):
        return grad_output.sum((0, 1))

    def halved(grad_output, input, weight):
        sent, read = grad_output.half().float(), input.half().float()
        return torch.nn.grad.conv2d_weight(read, weight.shape, sent).half()

    for fn, task in (
        (exchanged, "conv2d_weight"),
        (unstrided, "conv_transpose2d"),
        (remainder_of_the_first_group, "conv2d_input"),
        (other_axes, "conv2d_bias"),
        (halved, "conv2d_weight"),
    ):
        assert not report(fn, task).passed, fn.__name__


def test_float32_inside_is_right_and_less_is_not():
    def by(rounded):
        return lambda grad_output, input, weight: torch.nn.grad.conv2d_weight(
            rounded(input), weight.shape, rounded(grad_output)
        ).double()

    assert report(by(torch.Tensor.float), "conv2d_weight").passed
    assert not report(by(lambda each: each.bfloat16().float()), "conv2d_weight").passed


def test_what_was_assumed_is_said_also_of_what_passes():
    text = report(lambda grad_output: grad_output.sum((0, 2, 3)), "conv2d_bias").text()
    assert text.splitlines()[0].endswith("are right.")
    assert "grad_output is [N, C, H, W]" in text


def test_the_link_of_a_report_opens_a_state_in_which_the_mistake_shows(wrong):
    assert from_link(wrong.link())[1] == [], "no notice: everything in it is understood"


def test_what_is_right_equals_autograd_through_the_definition():
    for case in battery("all", 0):
        given = {
            "input": case.input,
            "weight": case.weight,
            "bias": case.bias,
            "target": None,
            "grad": case.grad_output,
        }
        wanted = by_definition(case.spec, "weighted_sum", given)
        found = truth(TASKS["conv2d_module"], case)
        for name, value in found.items():
            assert value.allclose(wanted[name]), f"{case.name}: {name}"


def test_the_right_recipes_are_right():
    for case in battery("all", 0):
        for name, value in truth(TASKS["conv2d_module"], case).items():
            found = compute(name, {}, case)
            assert found is not None, f"{case.name}: {name}"
            assert found.allclose(value), f"{case.name}: {name}"


def test_each_mistake_has_all_that_a_reader_needs():
    for id, mistake in catalogue().items():
        assert re.fullmatch(r"[A-Z]\d\d", id)
        assert mistake.title.endswith("."), id
        assert "because" in mistake.fix or id.startswith("G"), f"{id}: {mistake.fix}"
