"""The lessons: each file says only what the player can play, and what its sentences come to is what autograd says."""

import itertools
import json
import re
from importlib.resources import files
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch.autograd.gradcheck import GradcheckError
from torch.nn.functional import conv2d

import convviz
from convviz.cli import main
from convviz.explanation.check_lesson import after, joined, number_at, problems, said
from convviz.explanation.lesson_schema import EXAMPLES, KINDS_OF_TASK
from convviz.export.page import export_html
from convviz.facts import facts
from convviz.lessons import lesson, lesson_bundle, names
from convviz.settings.link import from_link
from convviz.settings.tensors import bias_tensor, grad_tensor, input_tensor, weight_tensor
from tests.export.test_export import data_of
from tests.operator_cases import torch_conv2d

JS = files("convviz.web").joinpath("lesson")
QUESTIONS = [(name, at) for name in names() for at, step in enumerate(lesson(name)["steps"]) if "question" in step]


def settings_of(name, at, *more):
    """Return the state of a step, and what could not be read of its link."""
    found = lesson(name)
    return from_link(joined(found["base"], found["steps"][at]["state"], *more))


# -- what a file may say


@pytest.mark.parametrize("name", names())
def test_a_lesson_holds_what_it_says(name):
    found = lesson_bundle(name)
    assert lesson_bundle(str(files("convviz.lessons").joinpath(f"{name}.json"))) == found, "by its file as well"
    assert problems(found["lesson"], found["words"]) == []
    assert 4 <= len(found["lesson"]["steps"]) <= 9


def test_the_player_has_the_same_words_for_them():
    for file, kinds in (("step_tasks.js", KINDS_OF_TASK), ("step_sentence_values.js", EXAMPLES)):
        source = JS.joinpath(file).read_text(encoding="utf-8")
        assert [kind for kind in kinds if not re.search(rf"^  {kind}: [{{(]", source, re.MULTILINE)] == [], file


def test_every_file_stands_in_the_path_and_nothing_else():
    of_files = {path.name for path in files("convviz.lessons").iterdir()} - {"__init__.py", "__pycache__"}
    assert of_files == {f"{name}.json" for name in names()}


@pytest.mark.parametrize("name", names())
def test_every_sentence_is_said(name):
    found = lesson_bundle(name)["lesson"]
    used = {found["title"], *found["end"]["words"], *(each["words"] for each in found["end"]["next"])}
    used |= {id for step in found["steps"] for id, _ in said(step)}
    assert used - {f"{name}.title"} == {id.removesuffix(".touch") for id in facts(f"words/guided/{name}")}


@pytest.mark.parametrize("name", names())
def test_no_sentence_states_a_number_that_could_be_counted(name):
    """By its name it is true of the state that is there; the turn and the single 1 alone do not change."""
    for id, text in facts(f"words/guided/{name}").items():
        plain = re.sub(r"\{\w+\}|float32|float64|im2col|col2im|\w*[Cc]onv2d\w*|\b(?:conv|relu|fc)\d\b", "", text)
        assert set(re.findall(r"\d+", plain)) <= {"1", "180"}, id


# -- what the answers are, by autograd through torch's own layers


def by_autograd(settings):
    """Return what torch's own layer and autograd give, by the names of the panels."""
    spec = settings.spec
    x, w = (read(settings).double().requires_grad_() for read in (input_tensor, weight_tensor))
    b = bias_tensor(settings)
    b = b if b is None else b.double().requires_grad_()
    geometry = {"stride": spec.stride, "dilation": spec.dilation, "groups": spec.groups}
    if settings.transposed:
        padding = [side[0] for side in spec.padding]
        plain = F.conv_transpose2d(x, w, b, padding=padding, **geometry)
        more = [size - there for size, there in zip(spec.input_size, plain.shape[2:], strict=True)]
        return {"grad_input": F.conv_transpose2d(x, w, b, padding=padding, output_padding=more, **geometry)}
    output = torch_conv2d(x, w, b, spec)
    losses = {"sum": output.sum, "mean": output.mean, "half_squared_error": lambda: output.square().sum() / 2}
    loss = losses[settings.loss]() if settings.loss in losses else (output * grad_tensor(settings).double()).sum()
    wanted = [tensor for tensor in (x, w, b) if tensor is not None]
    return dict(zip(("grad_input", "grad_weight", "grad_bias"), torch.autograd.grad(loss, wanted), strict=False))


@pytest.mark.parametrize(("name", "at"), QUESTIONS)
def test_an_answer_is_what_autograd_says(name, at):
    step = lesson(name)["steps"][at]
    settings = after(lesson(name)["base"], step)
    cell, plane = step["question"]["cell"], settings.plane.within(settings.spec)
    right = by_autograd(settings)[cell["panel"]].detach()
    first = plane.out_channel if cell["panel"] in ("grad_weight", "grad_bias") else plane.sample
    right = right[first] if right.dim() == 1 else right[first, plane.in_channel][cell["row"], cell["column"]]
    assert step["question"]["answer"] == pytest.approx(right.item(), abs=1e-9)


# -- what the sentences claim, tried against torch


def gradients(name, at, *more):
    return by_autograd(settings_of(name, at, *more)[0])


def test_a_linear_layer_is_a_convolution_whose_kernel_covers_its_input():
    settings, _ = settings_of("linear", 0)
    x, w = (read(settings).double().flatten().requires_grad_() for read in (input_tensor, weight_tensor))
    output = F.linear(x, w[None])
    assert output.item() == number_at(settings, {"panel": "output", "row": 0, "column": 0})
    assert torch.equal(torch.autograd.grad(output, x)[0], w)
    assert torch.equal(gradients("linear", 0)["grad_weight"].flatten(), x)


def test_a_table_sorted_by_the_pixel_does_not_know_the_pixel():
    before, moved = gradients("table", 3), gradients("table", 3, "input=values:1x1x1x5:2,1,4,0,2")
    assert torch.equal(before["grad_input"], moved["grad_input"])
    assert not torch.equal(before["grad_weight"], moved["grad_weight"])


@pytest.mark.parametrize("link", ["stride=1", "stride=2", "size=7&dilation=2", "size=7&stride=2&dilation=2"])
def test_to_the_weight_stride_and_dilation_change_places(link):
    settings, _ = from_link(f"v=2&grad=ones&{link}")
    x, grad = input_tensor(settings).double(), grad_tensor(settings).double()
    turned = conv2d(x, grad, stride=settings.spec.dilation, dilation=settings.spec.stride)[..., :3, :3]
    assert torch.equal(turned, by_autograd(settings)["grad_weight"])


@pytest.mark.parametrize("padding", [0, 1, 2])
def test_forward_and_backward_padding_add_up_to_the_kernel_less_one(padding):
    settings, _ = settings_of("padding", 3, f"padding={padding}")
    grad, w = grad_tensor(settings).double(), weight_tensor(settings).double()
    back = conv2d(F.pad(grad, [2 - padding] * 4), w.flip(2, 3))
    assert torch.equal(back, by_autograd(settings)["grad_input"])
    spread, _ = settings_of("padding", 3, f"size=7&dilation=2&padding={padding}")
    back = conv2d(F.pad(grad_tensor(spread).double(), [4 - padding] * 4), w.flip(2, 3), dilation=2)
    assert torch.equal(back, by_autograd(spread)["grad_input"]), "with dilation it is more than the kernel less one"


def test_a_stride_has_kinds_of_pixels():
    counted = gradients("stride", 0, "stride=2")["grad_input"][0, 0]
    assert (counted[2, 2], counted[3, 3]) == (4, 1)
    assert gradients("stride", 0, "stride=3&size=9")["grad_input"].unique().tolist() == [1], "some strides are even"


def test_a_weight_moves_each_output_by_the_pixel_that_it_meets():
    settings, _ = settings_of("weight", 0)
    x, w = input_tensor(settings).double(), weight_tensor(settings).double()
    raised = w.clone()
    raised[0, 0, 0, 0] += 1
    met = conv2d(x, raised) - conv2d(x, w)
    assert torch.equal(met, x[..., :3, :3])
    assert met[0, 0, 0, 0] == 0, "so not every output rises"
    step = lesson("weight")["steps"][0]
    values, marks = step["values"], step["do"][0]["mark"]
    for cell, change in (("right", "first"), ("below", "second")):
        panel, row, column = values[cell]["name"]
        assert values[change] == {"cell": [panel, row, column], "when": "change"}, "the cell that is named rose"
        assert met[0, 0, row, column] > 0, "it rose"
        framed = [{"panel": name, "row": row, "column": column} for name in (panel, "padded_input")]
        assert all(each in marks for each in framed), "it is framed, with the pixel in its window's upper left"


def test_what_is_said_after_a_walk_is_true_wherever_the_1_ends():
    steps = [(name, at, step) for name in names() for at, step in enumerate(lesson(name)["steps"])]
    for name, at, step in steps:
        if not any("walk" in task for task in step.get("do", [])):
            continue
        height, width = settings_of(name, at)[0].spec.output_size
        for id, value in step.get("values", {}).items():
            if "cell" not in value:
                continue
            panel, row, column = value["cell"]
            places = [f"grad=one_hot:0,0,{r},{c}" for r in range(height) for c in range(width)]
            cell = {"panel": panel, "row": row, "column": column}
            found = {number_at(settings_of(name, at, place)[0], cell) for place in places}
            assert len(found) == 1, (name, at, id)


def test_a_mean_shrinks_every_gradient_alike():
    of_sum, of_mean = gradients("bias", 2), gradients("bias", 2, "loss=mean")
    for name, gradient in of_sum.items():
        assert torch.allclose(gradient / 5, of_mean[name]), name


def test_what_is_left_over_is_lost_without_padding_alone():
    assert settings_of("remainder", 0)[0].spec.output_size == settings_of("remainder", 0, "size=6")[0].spec.output_size
    assert not gradients("remainder", 1)["grad_input"][0, 0, -1].any()
    assert gradients("remainder", 2, "padding=1")["grad_input"][0, 0, -1].any()
    large, small = (gradients("remainder", 3, size)["grad_input"] for size in ("size=6", "size=5"))
    assert torch.equal(large[..., :5, :5], small)
    assert large[0, 0, 5].any(), "output_padding keeps what is computed"
    x, w = torch.ones(1, 1, 3, 3), torch.ones(1, 1, 3, 3)
    for padding, extra in itertools.product(range(3), range(4)):
        rows = F.conv_transpose2d(x, w, stride=4, padding=padding, output_padding=extra)[0, 0].any(1)
        empty = max(0, extra - padding)
        reached = len(rows) - empty
        assert rows[:reached][-1], (padding, extra)
        assert not rows[reached:].any(), (padding, extra)


def test_a_group_cuts_off_what_the_others_gave():
    whole, cut = gradients("channels", 4)["grad_input"], gradients("channels", 4, "groups=2")["grad_input"]
    assert whole[0, 0, 0, 0] != cut[0, 0, 0, 0]


def test_a_mean_divides_and_a_sum_grows_with_the_batch():
    one, two = (gradients("bias", 1, f"batch={batch}")["grad_bias"].item() for batch in (1, 2))
    assert (one, two) == (5, 10)
    means = [gradients("bias", 3, f"batch={batch}")["grad_bias"].item() for batch in (1, 2)]
    assert means == [1, 1]


def test_a_ring_has_no_edge():
    counted = gradients("borders", 3, "mode=circular")["grad_input"]
    assert counted.unique().tolist() == [9]
    assert gradients("borders", 2, "mode=replicate", "grad=ones")["grad_input"].sum() == 45 * 16


def test_a_transposed_convolution_is_the_way_back_and_its_stamps_overlap():
    assert torch.equal(
        gradients("transposed", 0)["grad_input"], gradients("transposed", 0, "transposed=1")["grad_input"]
    )
    for kernel, stride in itertools.product(range(1, 6), range(1, 5)):
        ones = torch.ones(1, 1, 12, 12)
        counted = F.conv_transpose2d(ones, torch.ones(1, 1, kernel, kernel), stride=stride)[
            0, 0, kernel:-kernel, kernel:-kernel
        ]
        assert (len(counted.unique()) == 1) == (kernel % stride == 0), (kernel, stride)
    x = torch.rand(1, 1, 5, 5, dtype=torch.float64, requires_grad=True)
    w, grad = torch.rand(1, 1, 3, 3, dtype=torch.float64), torch.rand(1, 1, 3, 3, dtype=torch.float64)
    (back,) = torch.autograd.grad(conv2d(x, w), x, grad)
    assert torch.allclose(back, F.conv_transpose2d(grad, w))
    uneven, even = (gradients("transposed", at)["grad_input"][0, 0] for at in (2, 3))
    assert (uneven[2, 2], uneven[3, 3]) == (4, 1)
    assert even[2:-2, 2:-2].unique().tolist() == [4]


def test_a_convolution_is_weights_times_columns_and_col2im_adds_up():
    settings, _ = settings_of("columns", 4)
    x, w, grad = (read(settings).double() for read in (input_tensor, weight_tensor, grad_tensor))
    columns = F.unfold(x, 3)
    assert columns.shape == (1, 9, 4)
    assert torch.equal((w.flatten(1) @ columns).reshape(1, 1, 2, 2), conv2d(x, w))
    back = by_autograd(settings)
    assert torch.equal(columns[0] @ grad.flatten(), back["grad_weight"].flatten())
    assert torch.equal(F.fold(w.flatten(1).T @ grad.flatten(2), (4, 4), 3), back["grad_input"])


def test_a_step_to_each_side_is_right_in_doubles_and_not_in_floats():
    settings, _ = settings_of("gradcheck", 0)
    x, w = input_tensor(settings).double(), weight_tensor(settings).double()

    def loss(rise):
        moved = w.clone()
        moved[0, 0, 0, 0] += rise
        return (conv2d(x, moved).square().sum() / 2).item()

    assert loss(1) - loss(0) == 10
    assert [(loss(h) - loss(0)) / h for h in (0.01, -0.01)] == pytest.approx([9.01, 8.99])
    assert by_autograd(settings)["grad_weight"][0, 0, 0, 0] == 9
    w.requires_grad_()
    assert torch.autograd.gradcheck(lambda weight: conv2d(x, weight).square().sum() / 2, w)
    single = w.detach().float().requires_grad_()
    with pytest.warns(UserWarning, match="double precision"), pytest.raises(GradcheckError):
        torch.autograd.gradcheck(lambda weight: conv2d(x.float(), weight).square().sum() / 2, single)


# -- why the kernel is rotated, step by step


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


def test_the_second_step_prints_the_kernel_and_the_patch():
    settings, _ = settings_of("why_rotated", 1)
    for row in range(3):
        for column in range(3):
            back, _ = gradient(settings, single(settings, row, column))
            kernel = weight_tensor(settings).double()[0, 0]
            assert torch.equal(back[row : row + 3, column : column + 3], kernel)
            assert back.sum() == kernel.sum()


def test_the_tray_holds_the_kernel_backwards():
    settings, _ = settings_of("why_rotated", 3)
    assert received(settings, 2, 2) == [[9, 8, 7], [6, 5, 4], [3, 2, 1]]
    assert [sum(map(bool, row)) for row in received(settings, 0, 0)] == [1, 0, 0], "one window reads the corner"


def test_at_stride_2_the_tray_has_gaps():
    settings, _ = settings_of("why_rotated", 6)
    assert received(settings, 2, 2) == [[9, 7], [3, 1]]


@pytest.mark.parametrize("size", ["size=6", "size=7"])
def test_the_answer_of_the_last_step_is_10(size):
    settings, _ = settings_of("why_rotated", 7, size)
    back, _ = gradient(settings, torch.ones(settings.spec.output_shape, dtype=torch.float64))
    assert back[2, 3] == 10
    read = back.bool()
    assert bool(read[-1].any()) == bool(read[:, -1].any()) == (size == "size=7"), "what nobody reads"


# -- started from outside


def test_a_lesson_that_there_is_not_gets_an_error(tmp_path, capsys):
    with pytest.raises(ValueError, match=r"no lesson “other”\. The lessons are: linear, table, why_rotated"):
        lesson("other")
    assert main(["export", "--lesson", "other", "-o", str(tmp_path / "x.html")]) == 1
    assert "no lesson “other”" in capsys.readouterr().err
    assert not (tmp_path / "x.html").exists()


def test_a_page_carries_the_lesson_that_it_starts(tmp_path):
    started = data_of(export_html(None, tmp_path / "one.html", lesson="padding").read_text(encoding="utf-8"))
    plain = export_html(None, tmp_path / "two.html").read_text(encoding="utf-8")
    assert (started["lesson"], started["lessons"]) == ("padding", {"padding": lesson_bundle("padding")})
    assert (data_of(plain)["lesson"], data_of(plain)["lessons"]) == (None, {})
    assert json.dumps(lesson("why_rotated"), ensure_ascii=False, separators=(",", ":")) in plain, "why? leads there"
    assert lesson("padding")["steps"][0]["title"] not in plain


def test_a_page_has_the_controls_that_its_lesson_moves_unless_others_were_chosen(tmp_path):
    own = data_of(export_html(None, tmp_path / "one.html", lesson="channels").read_text(encoding="utf-8"))
    assert own["controls"] == ["kernel", "geometry", "input", "loss", "channels"]
    page = export_html(None, tmp_path / "two.html", lesson="channels", controls=("stride",))
    assert data_of(page.read_text(encoding="utf-8"))["controls"] == ["stride"]


def test_a_picture_starts_no_lesson(tmp_path, capsys):
    assert main(["export", "--svg", "--lesson", "why_rotated", "-o", str(tmp_path / "x.svg")]) == 1
    assert "--lesson" in capsys.readouterr().err


def test_a_notebook_opens_the_app_at_a_lesson():
    app = convviz.lesson("remainder")
    assert app._lesson == {"name": "remainder", "bundle": lesson_bundle("remainder")}
    app.close()
    with pytest.raises(ValueError, match=r"no lesson “other”"):
        convviz.lesson("other")


def test_the_kernel_sends_a_lesson_that_is_started():
    app, sent = convviz.App(), []
    app.send = lambda content, buffers=None: sent.append(content)
    app._messages.receive({"type": "lesson", "lesson": "padding"}, [])
    assert sent == [{"type": "lesson", "lesson": "padding", "bundle": lesson_bundle("padding")}]
    app.close()


# -- a lesson of one's own


EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "edge.json"


def example(*path, put=None):
    """Return the example of the docs; put, if given, stands at a path in it, and None takes away what is there."""
    made = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    if path:
        *way, last = path
        there = made
        for key in way:
            there = there[key]
        if put is None:
            del there[last]
        else:
            there[last] = put
    return made


def test_the_example_of_the_docs_is_a_lesson_and_can_be_played(tmp_path, capsys):
    assert main(["lesson", "check", str(EXAMPLE)]) == 0
    assert "2 steps, and every answer is what torch computes" in capsys.readouterr().out
    page = export_html(None, tmp_path / "page.html", lesson=str(EXAMPLE)).read_text(encoding="utf-8")
    assert data_of(page)["lesson"] == "edge"
    assert data_of(page)["lessons"]["edge"]["lesson"] == example()


STEP = ("steps", 0)
TASK = (*STEP, "do", 0)
CORNER = (*STEP, "values", "corner")
QUESTION = ("steps", 1, "question")
CELL = (*QUESTION, "cell")


@pytest.mark.parametrize(
    ("path", "put", "message"),
    [
        (("author",), "me", "The lesson has an unknown key 'author': known are base, controls, end, steps, title."),
        (("end",), None, "The lesson lacks end."),
        (("steps",), [], "steps is a list of JSON objects, one a step: got []."),
        ((*STEP, "colour"), "red", "Step 1: it has an unknown key 'colour'"),
        ((*STEP, "state"), "stride=0", "Step 1: its state cannot be: stride"),
        ((*STEP, "focus"), "top", "Step 1: focus is one of forward, input, weight, bias: got 'top'."),
        ((*STEP, "pin"), {"panel": "output"}, "Step 1: pin lacks column, row."),
        ((*QUESTION, "answer"), 3, "Step 2: the answer 3 does not hold: torch computes 4 there"),
        (QUESTION, None, "The last step asks for no number: a lesson ends with a question"),
        ((*CELL, "row"), 9, "Step 2: row 9, column 0 is not in grad_input, which has 4 × 4 cells, counted from 0."),
        ((*CELL, "panel"), "gradient", "Step 2: there is no panel 'gradient' in this picture."),
        (CORNER, None, "names {corner}, which is not in values: add how it is found."),
        ((*STEP, "values", "more"), {"windows": [0, 0]}, "no sentence names the value more: leave it out"),
        (CORNER, {"guess": 1}, "Step 1: the value corner is found by one of cell, name, one, windows"),
        (CORNER, {"windows": 3}, "windows is a list such as [0, 0]: got 3."),
        ((*TASK, "pin"), None, "Step 1: a task in do has one of edit, walk, set, pin, choose: got none."),
        (("steps", 1, "do", 0, "set"), "padding=-1", "Step 2: its state cannot be: padding"),
        (("end", "exercise"), "conv9d", "end: exercise is one of the tasks of convviz.check, conv2d, "),
    ],
)
def test_what_is_wrong_with_a_lesson_is_said(path, put, message, tmp_path, capsys):
    file = tmp_path / "own.json"
    file.write_text(json.dumps(example(*path, put=put)), encoding="utf-8")
    assert main(["lesson", "check", str(file)]) == 1
    assert message in capsys.readouterr().out
    with pytest.raises(ValueError, match="is no lesson yet: "):
        export_html(None, tmp_path / "page.html", lesson=str(file))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("own.json", "{", "own.json is not JSON: "),
        ("own.txt", "{}", "a lesson is a file whose name ends with .json, or a name of `convviz lesson list`: got "),
        ("gone.json", None, "gone.json cannot be read: No such file or directory"),
    ],
)
def test_a_file_that_is_no_lesson_gets_an_error(name, text, message, tmp_path, capsys):
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["lesson", "check", str(tmp_path / name)]) == 1
    assert message in capsys.readouterr().err


def test_the_lessons_are_listed_in_their_order(capsys):
    assert main(["lesson", "list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == names()
