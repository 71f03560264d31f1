"""What goes wrong in a race: one sentence that names layer and step, and what was measured before stays."""

import errno
import math
import os

import pytest
import torch

from convviz import file_io, lab
from convviz.cli import main
from convviz.lab.checkpoint import checkpoint_path
from convviz.lab.entrant_training import Lane
from tests.lab.narrow_network import narrow_network
from tests.lab.write_idx import write_folder

SMALL = {"verify": False, "batch_size": 8, "epochs": 2}


@pytest.fixture
def options(tmp_path):
    with narrow_network():
        yield {**SMALL, "data": write_folder(tmp_path / "digits"), "out": tmp_path / "race.json"}


def failed(race):
    """Run a race that fails; return what it says, one sentence, after seeing that its result says the same."""
    with pytest.raises(lab.RaceError) as error:
        race.run()
    said = str(error.value)
    assert "\n" not in said
    assert race.result["state"] == said
    if race.out is not None:
        assert lab.read(race.out)["state"] == said
    return said


def failing(fail):
    """Return a layer that behaves until its 4th call, one a step, then hands its output to `fail`."""

    class Failing(torch.nn.Conv2d):
        calls = 0

        def forward(self, input):
            self.calls += 1
            output = super().forward(input)
            return fail(output) if self.calls >= 4 else output

    return Failing


def function(backward):
    """Return a Function that is right forward, with this backward(ctx, grad_output)."""

    def forward(ctx, input, weight, bias):
        ctx.save_for_backward(input, weight)
        return torch.nn.functional.conv2d(input, weight, bias)

    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Own", (torch.autograd.Function,), methods)


def raises(error):
    def fail(*given):
        raise error

    return fail


@pytest.mark.parametrize(
    ("fail", "message"),
    [
        (raises(ZeroDivisionError("my mistake\nin two lines")), ["conv1 raised ZeroDivisionError: my mistake"]),
        (
            lambda output: output[..., 1:],
            ["conv1 must return the shape [8, 3, 26, 26] for the input", "got [8, 3, 26, 25]"],
        ),
        (lambda output: None, ["got NoneType"]),
        (lambda output: output * math.nan, ["the loss is nan", "a smaller lr than 0.02"]),
    ],
    ids=["raises", "another shape", "no tensor", "nan"],
)
def test_a_layer_that_fails_is_named_with_its_step_and_the_rule(options, fail, message):
    race = lab.Race({"mine": failing(fail)}, **options)
    said = failed(race)
    assert said.startswith("mine, step 4 (epoch 1, seed 0): ")
    assert [words for words in message if words not in said] == [], said
    run = lab.read(race.out)["runs"][0]["entrants"]
    assert [len(run[name]["loss"]) for name in ("torch", "mine")] == [3, 3], "what was measured before is kept"


def test_a_learning_rate_that_is_too_large_ends_with_finite_numbers_only(options):
    race = lab.Race("torch", **options, lr=1e30)
    assert "torch, step" in failed(race)
    assert all(math.isfinite(loss) for loss in lab.read(race.out)["runs"][0]["entrants"]["torch"]["loss"])


def without_bias(ctx, grad_output):
    input, weight = ctx.saved_tensors
    to_input = torch.nn.grad.conv2d_input(input.shape, weight, grad_output)
    return to_input, torch.nn.grad.conv2d_weight(input, weight.shape, grad_output), None


@pytest.mark.parametrize(
    ("backward", "message"),
    [
        (raises(NotImplementedError("to do")), "NotImplementedError: to do"),
        (raises(SystemExit), "SystemExit: (without a word)"),
        (without_bias, "conv1.bias got no gradient; backward must return"),
    ],
)
def test_a_backward_that_fails_is_reported(options, backward, message):
    assert failed(lab.Race([function(backward)], **options)).startswith(f"Own, step 1 (epoch 1, seed 0): {message}")


def test_a_layer_that_ends_the_program_elsewhere_is_reported(options, monkeypatch):
    ends = raises(SystemExit)
    assert "a layer could not be made, SystemExit" in failed(lab.Race({"mine": ends}, **options))
    monkeypatch.setattr(Lane, "predict", ends)
    assert "torch, the test after step 5 (epoch 1, seed 0): SystemExit" in failed(lab.Race("torch", **options))


@pytest.mark.parametrize(
    "error",
    [torch.OutOfMemoryError("CUDA out of memory. Tried to allocate\nmuch"), MemoryError()],
)
def test_a_device_without_memory_is_reported_with_the_remedy(options, monkeypatch, error):
    step = Lane.step

    def without_memory(self, *arguments):
        if self.name == "rotate" and race.done == 6:
            raise error
        return step(self, *arguments)

    monkeypatch.setattr(Lane, "step", without_memory)
    race = lab.Race("rotate", **options)
    said = failed(race)
    assert said.startswith("rotate, step 7 (epoch 2, seed 0): the device has no memory left; take a smaller batch_size")
    assert checkpoint_path(race.out).exists(), "the same command goes on from epoch 1"


def test_a_layer_with_other_parameters_cannot_start_from_the_same_numbers(options):
    def without_bias(*sizes):
        return torch.nn.Conv2d(*sizes, bias=False)

    with pytest.raises(ValueError, match=r"conv1.bias must be of the shape \[3\], and there is none"):
        next(lab.Race({"mine": without_bias}, **options))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"layers": "torch,rotat"}, "a layer is one of torch, taps, .*: got 'rotat'"),
        ({"layers": "rotate,rotate"}, "got 'rotate' twice"),
        ({"layers": "no_such_module:Layer"}, "No module named 'no_such_module'"),
        ({"layers": "ends_at_once:Layer"}, "SystemExit: 4; it looks in the current folder"),
        ({"layers": [torch.nn.Conv2d(1, 1, 1)]}, "got Conv2d; pass what makes it"),
        ({"batch_size": 41}, "batch_size is at most the number of images to learn from, 40: got 41"),
        ({"seeds": 0}, "seeds is a whole number"),
        ({"lr": math.nan}, "lr is a number above 0: got nan"),
        ({"momentum": 1}, "momentum is a number from 0 to below 1"),
        ({"replaced": "second"}, "replaced is one of all, first: got 'second'"),
    ],
)
def test_what_cannot_be_raced_is_refused_at_once(options, given, message, tmp_path, monkeypatch):
    (tmp_path / "ends_at_once.py").write_text("raise SystemExit(4)")
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ValueError, TypeError), match=message):
        lab.Race(**{**options, **given})


def test_taps_is_given_few_images_only(options, tmp_path):
    folder = write_folder(tmp_path / "many", train=300)
    with pytest.raises(ValueError, match="at most 256 images to learn from: got 300"):
        lab.Race("taps", **{**options, "data": folder})


class FullDisk:
    """A disk that takes so many bytes of a file, and no more."""

    def __init__(self, monkeypatch, room):
        self.room = room
        monkeypatch.setattr(file_io.os, "fsync", self.fsync)

    def fsync(self, handle):
        if os.fstat(handle).st_size > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_on_a_full_disk_the_last_good_checkpoint_stays(options, monkeypatch):
    race = lab.Race("rotate", **options, seeds=2)
    path = checkpoint_path(race.out)
    for step in race:
        if step.step == 5:
            break
    checkpoint, result = path.read_bytes(), race.out.read_bytes()
    FullDisk(monkeypatch, room=20_000)
    with pytest.raises(OSError, match=r"the checkpoint cannot be written to .*: No space left on device; choose"):
        race.run()
    assert path.read_bytes() == checkpoint
    assert len(race.out.read_bytes()) > len(result), "there was room for the result"
    assert sorted(os.listdir(path.parent)) == ["digits", path.name[: -len(".checkpoint")], path.name]
    monkeypatch.undo()


def test_without_room_for_the_result_either_both_are_reported_and_stay(options, monkeypatch):
    race = lab.Race("rotate", **options)
    for step in race:
        if step.step == 5:
            break
    before = race.out.read_bytes()
    FullDisk(monkeypatch, room=0)
    with pytest.raises(OSError, match="the result cannot be written") as error:
        race.run()
    assert race.out.read_bytes() == before
    assert "the result cannot be written" in error.value.__notes__[0]


def test_the_command_says_of_a_full_disk_once(options, monkeypatch, capsys):
    FullDisk(monkeypatch, room=0)
    given = ["--layers", "rotate", "--data", str(options["data"]), "--no-verify", "--batch-size", "8", "--epochs", "1"]
    assert main(["lab", *given, "--out", str(options["out"])]) == 1
    assert capsys.readouterr().err.count("No space left on device") == 1


def test_a_checkpoint_that_is_none_is_refused(options):
    checkpoint_path(options["out"]).write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="is no checkpoint of a race; remove it"):
        lab.Race("torch", **options)
