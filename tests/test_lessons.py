"""The lessons: each file says only what the player can play, and what its sentences come to is what autograd says."""

import json
import re
from importlib.resources import files

import pytest
import torch
from torch.nn.functional import conv2d

from convviz.cli import main
from convviz.export.page import export_html
from convviz.facts import facts
from convviz.lessons import lesson, names
from convviz.settings.compute import compute
from convviz.settings.link import from_link
from convviz.settings.tensors import input_tensor, weight_tensor
from tests.test_export import data_of

JS = files("convviz.board").joinpath("js", "lesson")
STEPS = [(name, at) for name in names() for at in range(len(lesson(name)["steps"]))]
NEEDED, MAY = (
    {"title", "words", "state", "values"},
    {"focus", "band", "pin", "highlight", "do", "question", "why", "tray", "quiet"},
)
TASKS = {"edit": {"panel", "row", "column", "by"}, "walk": {"places"}, "set": None, "pin": {"panel", "row", "column"}}
VALUES = ("cell", "one", "windows", "outside", "kernel", "setting", "remainder", "sum")
OF_A_TASK, OF_A_CELL = {"row", "column", "value"}, {"row", "column"}  # arguments that the player adds
TOPICS = {id.removeprefix("why.") for id in facts("words/because") if id.startswith("why.")}


def joined(*links):
    """Return the link with the keys of all; a later one wins."""
    return "&".join({pair.split("=")[0]: pair for link in links for pair in link.split("&") if pair}.values())


def settings_of(name, at, *more):
    """Return the state of a step, and what could not be read of its link."""
    told = lesson(name)
    return from_link(joined(told["base"], told["steps"][at]["state"], *more))


def placed(name, at):
    """Yield every cell that a step names, as (panel, row, column)."""
    step = lesson(name)["steps"][at]
    tasks = step.get("do", [])
    cells = [step.get("pin"), *step.get("highlight", []), step.get("question", {}).get("cell")]
    cells += [task.get("edit") or task.get("pin") for task in tasks]
    cells += [cell for task in tasks for cell in task.get("mark", [])]
    yield from ((cell["panel"], cell["row"], cell["column"]) for cell in cells if cell)
    for value in step["values"].values():
        yield from (tuple(value[kind]) for kind in ("cell", "sum") if kind in value)
        yield from (("grad_input", *value[kind]) for kind in ("windows", "outside") if kind in value)


def arguments(id):
    return set(re.findall(r"\{(\w+)\}", facts("words/guided")[id]))


def said(step):
    """Yield (id, the arguments that it may name) for each sentence of a step."""
    values = set(step["values"])
    pinned = OF_A_CELL if "pin" in step else set()
    yield from ((step[part], values | pinned) for part in ("title", "words"))
    for task in step.get("do", []):
        yield from ((task[part], values | OF_A_TASK) for part in ("words", "then"))
    question = step.get("question", {})
    yield from ((question[part], values | OF_A_CELL) for part in ("words", "hint", "because") if question)


# -- what a file may say


@pytest.mark.parametrize(("name", "at"), STEPS)
def test_a_step_has_what_the_player_can_play(name, at):
    step = lesson(name)["steps"][at]
    assert NEEDED <= set(step) <= NEEDED | MAY
    for task in step.get("do", []):
        (kind,) = set(task) - {"words", "then", "mark"}
        assert kind in TASKS
        assert TASKS[kind] is None or set(task[kind]) == TASKS[kind]
    for value in step["values"].values():
        (kind,) = [kind for kind in VALUES if kind in value]
        assert set(value) <= {kind, "when", "plus"}
    assert set(step.get("question", {})) <= {"cell", "words", "hint", "because"}
    assert set(step.get("why", [])) <= TOPICS
    assert step.get("tray", "full") == "full"
    assert step.get("quiet", "until done") in {"until done", "throughout"}
    assert {step.get("focus", "input"), step.get("band", "input")} <= {"forward", "input", "weight", "bias"}


def test_the_player_has_the_same_words_for_them():
    assert set(lesson(names()[0])) == {"title", "base", "steps", "end"}
    for file, kinds in (("tasks.js", TASKS), ("values.js", VALUES)):
        source = JS.joinpath(file).read_text(encoding="utf-8")
        assert [kind for kind in kinds if not re.search(rf"^  {kind}: [{{(]", source, re.MULTILINE)] == [], file


def test_every_file_is_offered_and_nothing_else():
    source = JS.joinpath("lessons.js").read_text(encoding="utf-8")
    assert re.findall(r"/lessons/(\w+)\.json", source) == names()
    assert set(re.search(r"\(\{ (.*) \}\);$", source)[1].replace(":", "").split()[::2]) == set(names())


@pytest.mark.parametrize(("name", "at"), STEPS)
def test_every_state_is_possible_and_so_is_what_is_to_be_set(name, at):
    step = lesson(name)["steps"][at]
    _, notices = settings_of(name, at)
    assert notices == []
    for task in step.get("do", []):
        _, notices = settings_of(name, at, task.get("set", ""))
        assert notices == []


@pytest.mark.parametrize(("name", "at"), STEPS)
def test_every_cell_that_a_step_names_is_there(name, at):
    settings, _ = settings_of(name, at)
    stages = compute(settings, compare=False)
    for panel, row, column in placed(name, at):
        height, width = getattr(stages, panel).shape[-2:]
        assert row < height, (panel, row)
        assert column < width, (panel, column)


@pytest.mark.parametrize("name", names())
def test_what_is_offered_after_a_lesson_is_possible(name):
    end = lesson(name)["end"]
    assert end["words"]
    assert [from_link(each["link"])[1] for each in end["next"]] == [[]] * len(end["next"])


def test_every_sentence_is_said_with_arguments_that_it_has():
    used, named = set(), set()
    for name in names():
        told = lesson(name)
        used |= {told["title"], *told["end"]["words"], *(each["words"] for each in told["end"]["next"])}
        for step in told["steps"]:
            of_step = set()
            for id, given in said(step):
                used.add(id)
                of_step |= arguments(id)
                assert arguments(id) <= given, id
            assert set(step["values"]) <= of_step, f"{step['title']}: a value that no sentence names"
            named |= of_step
    assert used == {id.removesuffix(".touch") for id in facts("words/guided")}


def test_no_sentence_states_a_number_that_could_be_counted():
    """By its name it is true of the state that is there; the turn and the single 1 alone do not change."""
    for id, text in facts("words/guided").items():
        plain = re.sub(r"\{\w+\}", "", text)
        assert set(re.findall(r"\d+", plain)) <= {"1", "180"}, id


# -- what the numbers come to, by autograd through the definition


def gradient(settings, grad_output):
    """Return what comes back to the input, and the output."""
    x = input_tensor(settings).double().requires_grad_()
    output = conv2d(x, weight_tensor(settings).double(), stride=settings.spec.stride)
    (back,) = torch.autograd.grad(output, x, grad_output)
    return back[0, 0], output[0, 0].detach()


def single(settings, row, column):
    one = torch.zeros(settings.spec.output_shape, dtype=torch.float64)
    one[0, 0, row, column] = 1
    return one


def received(settings, row, column):
    """Return what a pixel gets from a single 1 at each place of grad_output."""
    height, width = settings.spec.output_size
    return [
        [gradient(settings, single(settings, r, c))[0][row, column].item() for c in range(width)] for r in range(height)
    ]


def test_the_first_step_raises_59_to_62_because_the_gradient_is_3():
    settings, _ = settings_of("why_rotated", 0)
    back, output = gradient(settings, single(settings, 1, 1))
    assert output[1, 1] == 59
    x = input_tensor(settings).double()
    x[0, 0, 1, 3] += 1
    assert conv2d(x, weight_tensor(settings).double())[0, 0, 1, 1] == 62
    assert back[1, 3] == 3
    assert settings.grad.values == (0, 0, 1, 1)


def test_the_second_step_prints_the_kernel_and_the_patch():
    settings, _ = settings_of("why_rotated", 1)
    for row in range(3):
        for column in range(3):
            back, _ = gradient(settings, single(settings, row, column))
            kernel = weight_tensor(settings).double()[0, 0]
            assert torch.equal(back[row : row + 3, column : column + 3], kernel)
            assert back.sum() == kernel.sum()


def test_two_stamps_add_up_to_9():
    settings, _ = settings_of("why_rotated", 2)
    both = single(settings, 1, 1) + single(settings, 1, 2)
    assert gradient(settings, both)[0][2, 2] == 9


def test_the_tray_holds_the_kernel_backwards():
    settings, _ = settings_of("why_rotated", 3)
    assert received(settings, 2, 2) == [[9, 8, 7], [6, 5, 4], [3, 2, 1]]
    assert [sum(map(bool, row)) for row in received(settings, 0, 0)] == [1, 0, 0], "one window reads the corner"


def test_at_stride_2_the_tray_has_gaps():
    settings, _ = settings_of("why_rotated", 5)
    assert received(settings, 2, 2) == [[9, 7], [3, 1]]


@pytest.mark.parametrize("size", ["size=6", "size=7"])
def test_the_answer_of_the_last_step_is_10(size):
    settings, _ = settings_of("why_rotated", 6, size)
    back, _ = gradient(settings, torch.ones(settings.spec.output_shape, dtype=torch.float64))
    assert back[2, 3] == 10
    read = back.bool()
    assert bool(read[-1].any()) == bool(read[:, -1].any()) == (size == "size=7"), "what nobody reads"


# -- started from outside


def test_a_lesson_that_there_is_not_is_told(tmp_path, capsys):
    with pytest.raises(ValueError, match=r"no lesson “other”\. The lessons are: why_rotated"):
        lesson("other")
    assert main(["export", "--lesson", "other", "-o", str(tmp_path / "x.html")]) == 1
    assert "no lesson “other”" in capsys.readouterr().err
    assert not (tmp_path / "x.html").exists()


def test_a_page_carries_the_lesson_that_it_starts(tmp_path):
    started = export_html(None, tmp_path / "one.html", lesson="why_rotated").read_text(encoding="utf-8")
    plain = export_html(None, tmp_path / "two.html").read_text(encoding="utf-8")
    assert data_of(started)["lesson"] == "why_rotated"
    assert data_of(plain)["lesson"] is None
    assert json.dumps(lesson("why_rotated"), ensure_ascii=False, separators=(",", ":")) in plain


def test_a_picture_starts_no_lesson(tmp_path, capsys):
    assert main(["export", "--svg", "--lesson", "why_rotated", "-o", str(tmp_path / "x.svg")]) == 1
    assert "--lesson" in capsys.readouterr().err
