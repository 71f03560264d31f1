"""What a race leaves behind: its table, its page, and the command that makes both."""

import base64
import copy
import json
import re
import signal
import statistics
import sys
from html import escape

import pytest
import torch

from convviz import lab, nn
from convviz.cli import main
from convviz.export.race_page import export_race, race_page
from convviz.lab import costs
from convviz.lab.entrant_training import Lane
from convviz.lab.table import ARTICLE, cells, headings, table
from tests.lab.narrow_network import narrow_network
from tests.lab.write_idx import write_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with narrow_network():
        yield write_folder(tmp_path_factory.mktemp("digits"))


@pytest.fixture(scope="module")
def result(folder):
    return lab.race("rotate,BinaryConv2d", data=folder, verify=False, batch_size=8, epochs=2, seeds=3)


@pytest.fixture
def words(folder, tmp_path):
    """The words of a small race on the command line, and its result file."""
    out = tmp_path / "race.json"
    given = ["lab", "--layers", "torch,rotate", "--data", str(folder), "--no-verify", "--batch-size", "8"]
    return [*given, "--epochs", "2", "--out", str(out)], out


def reported(capsys):
    """Return what was said on stderr after the progress bar's lines; no traceback."""
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return [line for line in said.replace("\r", "\n").splitlines() if line.startswith("convviz: ")]


def test_the_table_follows_from_the_file_alone(result, tmp_path):
    path = tmp_path / "race.json"
    path.write_text(json.dumps(result))
    labels = result["data"]["labels"]
    for row in lab.table(lab.read(path)):
        runs = [run["entrants"][row.layer] for run in result["runs"]]
        torchs = [run["entrants"]["torch"] for run in result["runs"]]
        accuracies = [statistics.fmean(a == b for a, b in zip(run["predictions"], labels, strict=True)) for run in runs]
        assert row.accuracy == pytest.approx(statistics.fmean(accuracies))
        assert accuracies == pytest.approx([run["accuracy"][-1] for run in runs])
        assert row.spread == pytest.approx(statistics.stdev(accuracies))
        pairs = [a - b["accuracy"][-1] for a, b in zip(accuracies, torchs, strict=True)]
        assert row.layer == "torch" or row.difference == pytest.approx(statistics.fmean(pairs))
        assert row.layer == "torch" or row.error == pytest.approx(statistics.stdev(pairs) / 3**0.5)
        assert row.seconds == pytest.approx(statistics.fmean(sum(run["seconds"]) for run in runs))
    torch_row = lab.table(result)[0]
    assert (torch_row.layer, torch_row.ratio, torch_row.difference, torch_row.gradient) == ("torch", 1.0, None, None)


def test_a_right_layers_gradients_differ_by_rounding(folder):
    """And a wrong one's do not: test_lab.py."""
    raced = lab.race("aten,rotate", data=folder, verify=False, batch_size=8, epochs=1, dtype="float64")
    _, aten, rotate = lab.table(raced)
    assert aten.gradient == 0 < rotate.gradient < 1e-12
    column = headings().index("max|Δgradient|")
    assert [row[column] for row in cells(raced)] == ["", "0", f"{rotate.gradient:.1e}", "", ""]


def test_the_articles_own_rows_stand_beside(result):
    *_, torchs, own = cells(result)
    assert (torchs[1], torchs[4], own[1], own[4], own[5]) == ("99.2 %", "33.72", "99.1 %", "76.49", "2.27×")
    assert round(ARTICLE[1][1] / ARTICLE[0][1], 2) == 2.27


def test_a_result_describes_itself(result):
    assert {"date", "convviz", "torch", "python", "system", "cores", "threads", "device"} == set(result["made"])
    assert result["made"]["torch"] == torch.__version__
    assert result["settings"]["seeds"] == 3
    assert re.fullmatch("[0-9a-f]{64}", result["data"]["checksum"])
    assert [run["seed"] for run in result["runs"]] == [0, 1, 2]
    assert result["state"] == "finished"


def test_costs_name_time_memory_and_backend_of_each_layer(result):
    for name in result["layers"]:
        cost = result["costs"][name]
        assert [layer["layer"] for layer in cost["layers"]] == ["conv1", "conv2", "linear1", "linear2"]
        assert all(layer["forward"] > 0 and layer["backward"] > 0 for layer in cost["layers"])
        assert all(layer["forward_by"] and layer["backward_by"] for layer in cost["layers"])
        assert cost["memory"] > 8 * 3 * 26 * 26 * 4, "at least the first layer's output is alive at once"
    linear = result["costs"]["torch"]["layers"][-1]
    assert (linear["forward_by"], linear["backward_by"]) == ("matrix product", "matrix product")


def test_the_table_names_every_pass_that_has_a_name(result):
    """taps with one channel multiplies cell by cell; what is neither convolution nor product has no name."""
    for channels, forward in ((1, "element-wise product"), (2, "matrix product")):
        layer = nn.Conv2d(channels, 3, 3, method="taps")
        assert costs._Passes(layer, torch.ones(2, channels, 5, 4), False).backends() == (forward, "matrix product")
    unnamed = copy.deepcopy(result)
    for layer in unnamed["costs"]["rotate"]["layers"]:
        layer["forward_by"], layer["backward_by"] = "", "matrix product"
    assert [row.backend for row in table(unnamed) if row.layer == "rotate"] == ["matrix product"]


def test_mistaken_digits_are_kept_with_their_pixels(result, folder):
    digits = lab.digits(folder, verify=False)
    labels = result["data"]["labels"]
    assert result["digits"], "after so few steps there are mistakes"
    for at, pixels in result["digits"].items():
        assert base64.b64decode(pixels) == digits.test_images[int(at)].numpy().tobytes()
        last = result["runs"][-1]["entrants"].values()
        assert any(entrant["predictions"][int(at)] != labels[int(at)] for entrant in last)


def test_the_page_holds_table_curves_and_digits_and_asks_nobody(result, tmp_path):
    page = export_race(result, tmp_path / "race.html").read_text(encoding="utf-8")
    assert not re.findall(r"""(?:src|href)=(?!["']data:)""", page)
    assert "fetch(" not in page.split('id="convviz-plotly"')[0]
    for row in [headings(), *cells(result)]:
        for cell in row:
            assert f">{escape(cell)}</t" in page
    assert page.count("<img") >= len(result["digits"])
    data = json.loads(re.search(r'id="convviz-data">(.*?)</script>', page, re.DOTALL)[1])
    assert [plot["title"].split(",")[0] for plot in data["plots"]][:3] == [
        "Loss",
        "Accuracy on the test images",
        "Time of a training step",
    ]
    losses = data["plots"][0]["traces"][0]
    assert losses["y"] == pytest.approx(result["runs"][0]["entrants"]["torch"]["loss"], rel=1e-3)


def test_a_layers_name_is_no_markup(folder):
    layers = {"<b>mine</b></script>": torch.nn.Conv2d}
    page = race_page(lab.race(layers, data=folder, verify=False, batch_size=20, epochs=1))
    assert "<b>mine" not in page
    assert page.count("</script>") == 3


def test_the_curves_are_drawn(result, tmp_path, page):
    page.goto(export_race(result, tmp_path / "race.html").as_uri())
    page.wait_for_selector("body[data-drawn]", state="attached")
    assert page.locator("#plots .main-svg").count() >= 5
    assert page.locator("#plots path.js-line").count() >= 3 * 3 * 3


def test_the_command_races_shows_and_writes_a_page(words, tmp_path, capsys):
    given, out = words
    assert main(given) == 0
    said = capsys.readouterr()
    assert "rotate" in said.out
    assert "seed 0, epoch 2: torch" in said.err
    assert lab.read(out)["state"] == "finished"
    assert main(["lab", "--show", str(out)]) == 0
    assert capsys.readouterr().out == lab.text(lab.read(out)) + "\n"
    assert main(["lab", "--show", str(out), "-o", str(tmp_path / "race.html")]) == 0
    assert (tmp_path / "race.html").stat().st_size > 500_000


def test_ctrl_c_leaves_a_valid_result_and_the_same_command_goes_on(words, capsys, monkeypatch):
    given, out = words
    step, calls = Lane.step, []

    def interrupted(self, *arguments):
        calls.append(self.name)
        if len(calls) == 14:  # in the middle of step 7
            signal.raise_signal(signal.SIGINT)
        return step(self, *arguments)

    monkeypatch.setattr(Lane, "step", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background a shell has none
    try:
        assert main(given) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    (said,) = reported(capsys)
    assert said == "convviz: stopped by hand after step 6 of 10"
    stopped = lab.read(out)
    assert stopped["state"] == "stopped by hand"
    assert [len(entrant["loss"]) for entrant in stopped["runs"][0]["entrants"].values()] == [6, 6]
    assert "rotate" in lab.text(stopped)
    assert "The race ended early: stopped by hand" in race_page(stopped)
    assert main(given) == 0
    assert "going on after step 5 of 10" in capsys.readouterr().err
    assert lab.read(out)["state"] == "finished"


@pytest.mark.parametrize(
    ("fails", "why"),
    [("raise LookupError('not yet')", "LookupError: not yet"), ("sys.exit(3)", "SystemExit: 3")],
)
def test_a_layer_of_ones_own_in_the_current_folder(words, fails, why, capsys, tmp_path, monkeypatch):
    given, out = words
    name = f"my_layers_{why[:3]}"
    (tmp_path / f"{name}.py").write_text(
        f"import sys, torch\nclass Mine(torch.nn.Conv2d):\n    def forward(self, input):\n        {fails}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])  # as the command convviz has it
    given[given.index("torch,rotate")] = f"{name}:Mine"
    assert main(given) == 1
    (said,) = reported(capsys)
    assert said == f"convviz: {name}:Mine, step 1 (epoch 1, seed 0): conv1 raised {why}"
    assert lab.read(out)["state"] == said.removeprefix("convviz: ")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--data", "nowhere"], "nowhere has no train-images-idx3-ubyte"),
        (["--show", "nowhere.json"], "No such file"),
        (["-o", "race.html"], "name the result with --show"),
        (["--out", "nowhere/race.json"], "the result cannot be written to nowhere/race.json: No such file"),
        (["--record", "nowhere/race.json"], "the recorded race cannot be written to nowhere/race.json: No such file"),
        (["--layers", "torch.nn:Flatten"], "a layer could not be made"),
    ],
)
def test_a_slip_costs_one_sentence(words, more, sentence, capsys):
    given, out = words
    assert main([*given, *more]) in (1, 2)
    (said,) = reported(capsys)
    assert sentence in said
    assert not out.exists() or lab.read(out)["state"] == said.removeprefix("convviz: ")


def test_a_file_that_is_no_result_is_refused(tmp_path, capsys):
    deep, whole = "[" * 100_000, '{"format": "convviz race, version 1"'
    for content in (
        "{}",
        "[1]",
        "not JSON",
        '{"format": "convviz race, version 2"}',
        deep,
        whole + "}",
        whole + ', "layers": 1}',
    ):
        path = tmp_path / "race.json"
        path.write_text(content)
        assert main(["lab", "--show", str(path)]) == 2
        (said,) = reported(capsys)
        assert "result of a race" in said


def test_no_text_of_a_file_reaches_the_terminal_as_a_command(tmp_path, capsys):
    """Colours, a new title for the window, and the same by C1's single byte; what is text stays as it is."""
    path = tmp_path / "race.json"
    name = "\x1b[31mfür\x1b]0;title\x07\x9b1m"
    kept = {"format": "convviz race, version 1", "layers": ["torch", name], "runs": [], "costs": {}}
    path.write_text(json.dumps(kept | {"data": {"labels": ""}}), encoding="utf-8")
    assert main(["lab", "--show", str(path)]) == 0
    assert r"\x1b[31mfür\x1b]0;title\x07\x9b1m" in capsys.readouterr().out
    assert main(["lesson", "check", f"{tmp_path}/\x1b[31m.json"]) == 1
    assert r"\x1b[31m.json cannot be read" in capsys.readouterr().err
