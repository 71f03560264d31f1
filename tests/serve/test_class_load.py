"""The load run in small: what it would not let pass, and three students at a server of their own."""

import struct
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks import class_load
from benchmarks.simulated_student import Move, moves, wrong
from convviz.app import step_numbers as wire
from convviz.settings.compute import compute
from convviz.settings.state import Settings


def answer_to(move: Move):
    """Return the JSON and the buffers with which a server answers that computes rightly."""
    numbers = wire.numbers(compute(Settings.from_dict(move.settings)))
    tensors = numbers.pop("tensors")
    return {**numbers, "tensors": list(tensors)}, list(tensors.values())


def test_numbers_that_are_not_autograds_are_reported():
    for move in moves(3, 12):
        message, buffers = answer_to(move)
        assert wrong(move, message, buffers) == "", move.settings
        assert wrong(move, {**message, "loss": message["loss"] + 100}, buffers).startswith("loss is off by 1.0e+02")
        assert wrong(move, {**message, "dtype": "bfloat16"}, buffers) == f"bfloat16 in place of {move.dtype}"
        place = message["tensors"].index("grad_weight")
        kind = "<d" if move.dtype == "float64" else "<f"
        for number in (1e6, float("nan")):
            other = bytearray(buffers[place])
            struct.pack_into(kind, other, 0, number)
            reported = wrong(move, message, [*buffers[:place], bytes(other), *buffers[place + 1 :]])
            assert reported.startswith("grad_weight is off by"), move.settings
        named = [name.replace("grad_weight", "other") for name in message["tensors"]]
        assert wrong(move, {**message, "tensors": named}, buffers) == "no grad_weight"


def test_three_students_get_right_numbers_and_leave_nothing_behind(capsys, monkeypatch):
    monkeypatch.setattr(class_load, "ALONE_MOVES", 20)  # a hundred are for a median to go by
    options = class_load.read(["--students", "3", "--minutes", "0.02", "--every", "0.3"])
    with ThreadPoolExecutor(1) as own:  # this thread may have a loop of a browser's
        figures = own.submit(class_load.run, options).result()
    assert [(figure.name, figure.value) for figure in figures if figure.target == 0 and figure.missed] == []
    assert "more than at rest" in figures[-1].name
    (answers,) = [figure for figure in figures if figure.name == "slider → answer, half"]
    assert int(answers.detail.split()[0]) >= 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--students", "2001"], "--students must be more than 0 and at most 2000, and 2001 is not"),
        (["--minutes", "31"], "--minutes must be more than 0 and at most 30, and 31 is not"),
        (["--", "--host", "0.0.0.0"], "--host must stay as it is: this load is for the machine's own loopback alone"),
    ],
)
def test_a_load_beyond_its_bounds_is_refused(arguments, said, capsys):
    with pytest.raises(SystemExit):
        class_load.read(arguments)
    assert said in capsys.readouterr().err
