"""Sheets: what they promise is computed anew here, by autograd, and every form of a sheet says the same."""

import functools
import json
import re
import stat
from dataclasses import replace

import nbformat
import pytest
import torch
import torch.nn.functional as F

import convviz
from convviz.cli import main
from convviz.courses import find_exercise
from convviz.courses.find_exercise import exercise
from convviz.courses.sums_by_hand import number_text, reasons, worked
from convviz.facts.words import sentences
from convviz.mistakes.catalogue import catalogue, compute

ON_PAPER = [id for id, mistake in catalogue().items() if mistake.ways and mistake.is_of("")]
TOGETHER = (
    ("I10", "I11"),
    ("I01", "W07", "B06"),
    ("I13", "I20"),
    ("I27",),
    ("F02", "F05"),
    ("W14", "I25"),
    ("G05", "I21"),
)


@functools.cache
def sheet(ids):
    """One sheet of several mistakes, for all tests that look at it: it is searched for."""
    return exercise(list(ids), seed=7)


def right_ones(case):
    """Return output and gradients of a case, asked from torch alone."""
    spec = case.spec
    given = [tensor.clone().requires_grad_() for tensor in (case.input, case.weight, case.bias)]
    (top, bottom), (left, right) = spec.padding
    mode = {"zeros": "constant"}.get(spec.padding_mode, spec.padding_mode)
    padded = F.pad(given[0], (left, right, top, bottom), mode=mode)
    output = F.conv2d(padded, given[1], given[2], spec.stride, 0, spec.dilation, spec.groups)
    sums = torch.autograd.grad(output, given, case.grad_output)
    return dict(zip(("output", "grad_input", "grad_weight", "grad_bias"), (output.detach(), *sums), strict=True))


@pytest.mark.parametrize("ids", TOGETHER, ids=",".join)
def test_a_sheet_shows_each_chosen_mistake_in_every_way_of_making_it(ids):
    made = sheet(ids)
    assert made.in_every_way is ("W14" not in ids), "ways that need four channels are no work for paper"
    right = right_ones(made.case)
    assert [one.mistake.id for one in made.wrong] == [*ids]
    for name in made.asked:
        torch.testing.assert_close(made.right[name], right[name])
    for one in made.wrong:
        for way in one.mistake.ways[: None if made.in_every_way else 1]:
            found = compute(one.result, way, made.case)
            same = found is not None and found.shape == right[one.result].shape
            assert not (same and torch.allclose(found, right[one.result])), f"{one.mistake.id} {way} is not seen"
        assert one.got.shape != right[one.result].shape or not torch.allclose(one.got, right[one.result])
    for name in ("input", "weight", "grad_output"):
        digits = made.case.tensor(name)
        assert set(digits.flatten().tolist()) <= {-3, -2, -1, 1, 2, 3}, "whole numbers, none of which hides its factor"


def test_every_mistake_of_the_catalogue_has_its_sheet():
    for id in ON_PAPER:
        made = exercise([id], seed=1)
        assert made.wrong[0].result in made.asked, id
        products = sum(line.count("·") for name in made.asked for line in worked(name, made.case, made.right[name]))
        assert products <= 64, f"{id}: nobody adds up {products} products by hand"


def value_of(line):
    """Return the value that a worked line states, after adding its products up."""
    _, sums, stated = line.replace("−", "-").split(" = ")
    total = sum(eval(term.replace("·", "*")) for term in sums.split(" + "))
    assert total == float(stated), line
    return total


@pytest.mark.parametrize("ids", TOGETHER, ids=",".join)
def test_the_worked_sums_come_to_what_torch_gives(ids):
    made = sheet(ids)
    right = right_ones(made.case)
    for name in right:
        lines = worked(name, made.case, right[name])
        assert len(lines) == right[name].numel()
        for line, number in zip(lines, right[name].flatten().tolist(), strict=True):
            if "because no window" in line:
                assert number == 0
            else:
                assert value_of(line) == number


def mistaken(case):
    """Return (id, result) → what some mistakes come to, each by autograd with one thing changed."""
    grad = right_ones(case)
    turned = {name: right_ones(replace(case, weight=case.weight.flip(axes))) for name, axes in TURNED.items()}
    first = replace(case, grad_output=case.grad_output * only(case, 0))
    last = replace(case, grad_output=case.grad_output * only(case, -1))
    return {
        **{(name, "grad_input"): one["grad_input"] for name, one in turned.items()},
        ("F01", "output"): turned["I01"]["output"],
        ("F05", "output"): right_ones(replace(case, bias=case.bias * 0))["output"],
        ("W10", "grad_weight"): right_ones(first)["grad_weight"],
        ("W11", "grad_weight"): right_ones(last)["grad_weight"],
        ("B02", "grad_bias"): right_ones(last)["grad_bias"],
        ("I26", "grad_input"): -grad["grad_input"],
        **{("G05", name): 2 * grad[name] for name in ("grad_input", "grad_weight", "grad_bias")},
    }


TURNED = {"I01": (-2, -1), "I03": (-2,), "I04": (-1,)}  # flipped too, or along the one axis that should not stay


def only(case, sample):
    kept = torch.zeros_like(case.grad_output)
    kept[sample] = 1
    return kept


@pytest.mark.parametrize("ids", [TOGETHER[1], TOGETHER[4], ("W10", "W11", "B02")], ids=",".join)
def test_the_table_of_wrong_numbers_has_what_torch_gives_with_one_thing_changed(ids):
    made = sheet(ids)
    say = sentences("wrong_number_reasons")
    found = {name: list(reasons(name, made.case, made.right[name])) for name in made.asked}
    for (id, name), tensor in mistaken(made.case).items():
        clause = say(f"if.{id}")
        for one in found.get(name, []):
            number, right = number_text(float(tensor[one.cell])), number_text(float(made.right[name][one.cell]))
            assert one.number != right, f"{name}{one.cell}: the right number says nothing"
            if number == one.number:
                assert clause in one.clauses, (
                    f"{id} gives {number} in {name}{one.cell}, and only {one.clauses} are named"
                )
        cells = {one.cell for one in found.get(name, []) if clause in one.clauses}
        if name in found and id not in WITH_WAYS:
            assert cells == {tuple(at) for at in (tensor != made.right[name]).nonzero().tolist()}, f"{id} in {name}"
    for name, rows in found.items():
        listed = [(one.cell, one.number) for one in rows]
        assert len(set(listed)) == len(listed), f"{name}: a number stands once for each cell"
        for one in rows:
            for clause in one.clauses:
                assert clause == say("if.sign") or gives(clause, name, made.case, one), f"{name} {one}"


WITH_WAYS = ("B02",)  # which is made in other ways, too


def gives(clause, name, case, one):
    """Return whether some way of the mistake that a clause names gives the number in its cell."""
    say = sentences("wrong_number_reasons")
    for id, mistake in catalogue().items():
        if not mistake.is_of("") or name not in mistake.of or say_if(say, id) != clause:
            continue
        for way in mistake.ways:
            tensor = compute(name, way, case)
            if tensor is None:
                continue
            tensor = tensor.expand(case.bias.shape) if tensor.numel() == 1 and name == "grad_bias" else tensor
            inside = all(at < size for at, size in zip(one.cell, tensor.shape, strict=True))
            if inside and number_text(float(tensor[one.cell])) == one.number:
                return True
    return False


def say_if(say, id):
    try:
        return say(f"if.{id}")
    except KeyError:  # no cell has another number by it
        return ""


def test_one_line_as_it_is_read():
    made = sheet(TOGETHER[0])
    lines = worked("grad_input", made.case, made.right["grad_input"])
    assert re.fullmatch(r"grad_input\[0,0\] = \S+ = \S+", lines[0])
    assert number_text(-0.0) == "0"
    assert number_text(-1.5) == "−1.5"


def test_of_two_settings_the_plainer_one_is_taken():
    assert exercise(["I01"]).case.spec == convviz.ConvSpec(3, kernel_size=2), "nothing but a kernel to rotate"
    spec = exercise(["I11"]).case.spec
    assert (spec.stride, spec.padding, spec.dilation, spec.batch) == ((2, 2), ((1, 1), (1, 1)), (1, 1), 1)
    assert any(spec.remainder)
    assert exercise(["W10"]).case.spec.batch == 2


def test_one_seed_is_one_sheet_and_another_seed_has_other_numbers_at_the_same_setting():
    one, again, other = (exercise(["I10"], seed=seed) for seed in (7, 7, 8))
    for form in ("md", "html", "ipynb"):
        assert one.text(form) == again.text(form)
        assert one.text(form) != other.text(form)
    assert one.case.spec == other.case.spec
    state = torch.get_rng_state()
    exercise(["I10"], seed=9)
    assert torch.equal(state, torch.get_rng_state())


def test_each_form_has_the_tables_the_sums_and_the_mistakes():
    made = sheet(TOGETHER[0])
    lines = worked("grad_input", made.case, made.right["grad_input"])
    notebook = nbformat.reads(made.text("ipynb"), as_version=4)
    nbformat.validate(notebook)
    page = made.text("html")
    texts = {"md": made.text(), "html": page, "ipynb": "\n".join(cell.source for cell in notebook.cells)}
    for form, text in texts.items():
        wanted = "the kernel is not rotated; the kernel is transposed instead of rotated"
        for said in (*lines, "I10", catalogue()["I11"].fix, "Solutions", "Seed 7.", wanted):
            assert said in text, f"{form} lacks {said}"
    assert "<script" not in page
    assert "http" not in page
    assert '<b class="bad">0</b>' in page, "what is filled with zeros is wrong there"
    assert "**0**" in texts["md"]
    (code,) = (cell.source for cell in notebook.cells if cell.cell_type == "code")
    names = {}
    exec(code, names)
    assert torch.equal(names["grad_output"], made.case.grad_output)
    assert made._repr_markdown_() == made.text()


def test_a_sheet_without_solutions_gives_nothing_away():
    made = exercise(["I10"], seed=7)
    for form in ("md", "html", "ipynb"):
        text = made.text(form, solutions=False)
        assert "Solutions" not in text
        assert "wrong number" not in text.lower()
        assert "remainder" not in text
        assert "Compute grad_input" in text


@pytest.mark.parametrize(
    ("expose", "seed", "message"),
    [
        (["I99"], 0, "such as I10: got 'I99'"),
        ("I10", 0, "such as I10: got 'I10'"),
        ([], 0, "at least one"),
        (["Q01"], 0, "Q01 does not affect the numbers of one convolution"),
        (["G03"], 0, "leave it out"),
        (["I10"], -1, "seed is a whole number of 0 or more: got -1"),
        (["I10"], True, "got True"),
    ],
)
def test_what_no_sheet_can_show_is_said_in_one_sentence(expose, seed, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        exercise(expose, seed=seed)


def test_where_no_small_setting_shows_all_of_them_that_is_said(monkeypatch):
    monkeypatch.setattr(find_exercise, "_settings", lambda planes: [convviz.ConvSpec(3, kernel_size=2)])
    with pytest.raises(ValueError, match=r"^none of the 1 settings .*shows I01, I10 together"):
        exercise(["I01", "I10"])


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match="form is one of 'md', 'html', 'ipynb': got 'pdf'"):
        exercise(["I10"]).text("pdf")


def test_the_command_writes_what_the_ending_says(tmp_path, capsys):
    for ending in ("md", "html", "ipynb"):
        path = tmp_path / f"sheet.{ending}"
        assert main(["exercise", "--expose", "I10, I11", "--seed", "7", "-o", str(path)]) == 0
        assert path.read_text(encoding="utf-8") == convviz.exercise(["I10", "I11"], seed=7).text(ending)
    assert main(["exercise", "--expose", "I10", "--no-solutions", "-o", str(tmp_path / "sheet.ipynb")]) == 0
    assert "Solutions" not in json.dumps(json.loads((tmp_path / "sheet.ipynb").read_text()))
    assert stat.S_ISREG((tmp_path / "sheet.md").stat().st_mode)
    capsys.readouterr()
    for arguments, code, message in (
        (["--expose", "I99", "-o", "a.md"], 2, "got 'I99'"),
        (["--expose", " , ", "-o", "a.md"], 2, "at least one"),
        (["--expose", "I10", "-o", "a.pdf"], 2, ".ipynb, .html, .md"),
        (["--expose", "I10", "--seed", "-3", "-o", "a.md"], 2, "seed"),
        (["--expose", "I10", "-o", str(tmp_path / "no" / "a.md")], 1, "the sheet cannot be written"),
    ):
        assert main(["exercise", *arguments]) == code, arguments
        said = capsys.readouterr().err
        assert message in said
        assert said.count("\n") == 1
