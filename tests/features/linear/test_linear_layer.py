"""The lesson on a linear layer, against torch's own and by hand."""

import dataclasses
import itertools

import pytest
import torch

from convviz.features.linear.linear_layer import LESSON_LOSSES, LessonSettings, linear_lesson


@pytest.mark.parametrize("loss", LESSON_LOSSES)
@pytest.mark.parametrize(("into", "out", "batch"), list(itertools.product((1, 6), (1, 3), (1, 4))))
def test_gradients_are_autograds(loss, into, out, batch):
    lesson = linear_lesson(LessonSettings(into, out, batch, seed=into + out, loss=loss))
    layer = torch.nn.Linear(into, out, dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(lesson.weight)
        layer.bias.copy_(lesson.bias)
    x = lesson.input.double().requires_grad_()
    assert x.shape == (batch, into)
    output = layer(x)
    output.retain_grad()
    value = {"sum": output.sum, "mean": output.mean, "half_squared_error": lambda: output.square().sum() / 2}[loss]()
    value.backward()
    truth = {
        "output": output.detach(),
        "loss": value.detach(),
        "grad_output": output.grad,
        "grad_input": x.grad,
        "grad_weight": layer.weight.grad,
        "grad_bias": layer.bias.grad,
    }
    for name, expected in truth.items():
        torch.testing.assert_close(getattr(lesson, name).double(), expected, rtol=1e-6, atol=1e-6, msg=name)
    assert lesson.deviation <= 1e-6


def test_by_hand():
    typed = [
        ("input", 0, 0, 2.0),
        ("input", 0, 1, -1.0),
        ("weight", 0, 0, 3.0),
        ("weight", 0, 1, 0.5),
        ("bias", 0, 0, 1.0),
    ]
    lesson = linear_lesson(LessonSettings(2, 1, 1, typed=tuple(typed)))
    assert lesson.output.tolist() == [[2 * 3 - 1 * 0.5 + 1]]
    assert lesson.loss == 6.5**2 / 2
    assert lesson.grad_input.tolist() == [[6.5 * 3, 6.5 * 0.5]]
    assert lesson.grad_weight.tolist() == [[6.5 * 2, -6.5]]
    assert lesson.grad_bias.tolist() == [6.5]


def test_numbers_stay_where_they_are_when_a_size_changes():
    settings = LessonSettings(typed=(("input", 1, 2, 9.0), ("weight", 5, 5, 8.0)))
    sizes = ({"in_features": n, "out_features": n, "batch": min(n, 4)} for n in (2, 6))
    small, large = (linear_lesson(dataclasses.replace(settings, **each)) for each in sizes)
    assert torch.equal(large.input[:2, :2], small.input)
    assert torch.equal(large.weight[:2, :2], small.weight)
    assert (large.input[1, 2], large.weight[5, 5]) == (9, 8)


def test_the_random_state_stays():
    state = torch.get_rng_state()
    linear_lesson(LessonSettings(seed=9))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"in_features": 7}, "in_features is a whole number from 1 to 6 in this lesson: got 7"),
        ({"batch": 0}, "batch is a whole number from 1 to 4 in this lesson: got 0"),
        ({"out_features": True}, "out_features is a whole number from 1 to 6 in this lesson: got True"),
        ({"loss": "cross_entropy"}, "loss is one of half_squared_error, sum, mean in this lesson: got 'cross_entropy'"),
        ({"typed": (("output", 0, 0, 1.0),)}, "only input, weight, bias can be typed into: got 'output'"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        LessonSettings(**changes)
