"""The lessons whose steps are shown in a tab: what they say of code, mistakes, quantised weights and the race holds."""

import re
from importlib.resources import files

import pytest
import torch
from torch.autograd import Function
from torch.nn.functional import avg_pool2d, conv2d, max_pool2d, pad
from torch.nn.grad import conv2d_input, conv2d_weight

from convviz.cases.battery import Case
from convviz.explanation.check_lesson import after, problems
from convviz.explanation.lesson_schema import PARTS_OF
from convviz.export.page import export_html
from convviz.facts import facts
from convviz.facts.features import ALONE, LARGE
from convviz.facts.words import sentences
from convviz.features.quantised.quantised import quantised
from convviz.lab.table import ARTICLE
from convviz.lessons import lesson, names
from convviz.mistakes.catalogue import catalogue, compute
from convviz.settings.compute import compute as compute_settings
from tests.export.test_export import data_of
from tests.lessons.test_lessons import example, settings_of

RECORDED = facts("features/race/recorded")

TABS = files("convviz").joinpath("features")
CODE = {step["title"].split(".")[1]: step["code"] for step in lesson("function")["steps"] if "code" in step}
NAMES = {
    **{"pad": pad, "conv2d": conv2d, "conv2d_input": conv2d_input, "conv2d_weight": conv2d_weight},
    "Function": Function,
}


def stages_of(name, at, *more):
    settings = settings_of(name, at, *more)[0].replace(dtype="float64")
    return settings, compute_settings(settings, compare=False)


def run(id, given):
    """Return what the lines of a step leave behind."""
    space = {**NAMES, **given}
    exec("\n".join(CODE[id]), space)
    return space


# -- where they look, and what they ask for


def test_a_part_that_is_brought_in_sight_stands_in_its_tab():
    for tab, parts in ((tab, parts) for tab, parts in PARTS_OF.items() if parts):
        source = "".join(path.read_text("utf-8") for path in TABS.joinpath(tab).rglob("*.js"))
        plots = {plot["key"] for plot in RECORDED["plots"]} if tab == "race" else set()
        assert "data-part" in source, tab
        assert [part for part in parts if part not in plots and not re.search(rf"\b{part}\b", source)] == [], tab


def test_a_sentence_names_what_is_to_be_chosen_as_the_tab_does():
    kinds = {"binary": "BinaryConv2d", "shift_q": "Conv2dShift, variant Q"}
    titles = {mistake.id: mistake.title for mistake in catalogue().values()} | kinds
    asked = 0
    for name in names():
        if name == "network":  # whose buttons are an image, a digit, and one that names the cell
            continue
        words = facts(f"words/guided/{name}")
        for task in (task for step in lesson(name)["steps"] for task in step.get("do", []) if "choose" in task):
            for id in {task["words"], f"{task['words']}.touch"} & words.keys():
                assert f"“{titles.get(task['choose'], task['choose'])}”" in words[id], id
                asked += 1
    assert asked > 10
    assert sentences("race")("plot.weights.title") in facts("words/guided/race")["race.rounding.words"]
    assert sentences("features/quantised")("side_by_side") in facts("words/guided/quantised")["quantised.mask.do"]


def test_lines_of_code_fit_the_card():
    assert max(len(line) for lines in CODE.values() for line in lines) <= 30


STEP = ("steps", 0)


@pytest.mark.parametrize(
    ("key", "put", "message"),
    [
        ("tab", "board", "Step 1: tab is one of mistakes, network, pooling, matrix, "),
        ("part", "table", "Step 1: part is one of its tab's, which has none: got 'table'."),
        ("code", "x = 1", "Step 1: code is a list of lines: got 'x = 1'."),
        ("do", [{"words": "a", "then": "b", "choose": "I07"}], "Step 1: choose names what stands in the step's tab"),
    ],
)
def test_what_is_wrong_with_a_step_in_a_tab_is_said(key, put, message):
    found = [wrong for wrong in problems(example(*STEP, key, put=put)) if "no sentence names" not in wrong]
    assert len(found) == 1
    assert message in found[0]


def test_a_page_has_the_tabs_of_its_lesson(tmp_path):
    def page(name):
        text = export_html(None, tmp_path / f"{name}.html", lesson=name).read_text(encoding="utf-8")
        return re.findall(r"(\w+): ?tab_\1", text), data_of(text).get("recorded")

    own = [name for name in ALONE if name not in LARGE]
    assert page("function") == page("quantised") == page("padding") == (own, None), "torch is not in a page"
    assert page("race") == ([*own, "race"], {"race": RECORDED})
    bare = export_html(None, tmp_path / "bare.html", controls=()).read_text(encoding="utf-8")
    assert "tab_mistakes" not in bare, "the board alone is the board alone"


# -- write your own Function


def test_the_code_by_hand_is_right_at_stride_1_alone():
    settings, stages = stages_of("function", 1)
    given = {"g": stages.grad_output, "w": stages.weight, "K": settings.spec.kernel_size[0]}
    assert torch.equal(run("stride", given)["gx"], stages.grad_input)
    _, stages = stages_of("function", 1, "stride=2")
    assert run("stride", given | {"g": stages.grad_output})["gx"].shape[2:] == (5, 5)
    assert stages.grad_input.shape[2:] == (7, 7)


def test_two_sizes_share_one_output_and_the_answer_knows_which_it_was():
    found = {size: stages_of("function", 2, f"size={size}")[1] for size in (5, 6)}
    assert found[5].grad_output.shape == found[6].grad_output.shape
    for stages in found.values():
        given = {"x": stages.input, "w": stages.weight, "g": stages.grad_output, "s": 2, "p": 0}
        assert torch.equal(run("size", given)["gx"], stages.grad_input)
        assert torch.equal(run("weight", given)["gw"], stages.grad_weight)


def wrong(name, at):
    """Return what each mistake that a step has chosen gives there, and what is right."""
    step = lesson(name)["steps"][at]
    settings = after(lesson(name)["base"], step).replace(dtype="float64")
    stages = compute_settings(settings, compare=False)
    (id,) = (task["choose"] for task in step["do"] if task.get("choose") in catalogue())
    mistake, bias = catalogue()[id], torch.ones(settings.spec.out_channels, dtype=torch.float64)
    case = Case("", settings.spec, stages.input, stages.weight, bias, stages.grad_output, bias)
    return compute(mistake.of[0], mistake.ways[0], case), getattr(stages, mistake.of[0])


def test_what_the_mistakes_come_to():
    for at in (1, 2):
        other, right = wrong("function", at)
        assert other.shape != right.shape
    assert [left - right for left, right in zip(right.shape, other.shape, strict=True)] == [0, 0, 1, 1]
    other, right = wrong("function", 3)
    assert other.shape == right.shape
    assert (other != right).sum() > 4, "most of them"
    other, right = wrong("function", 6)
    corners = (..., [0, 0, -1, -1], [0, -1, 0, -1])
    assert right[corners].count_nonzero() == 4
    assert other[corners].count_nonzero() == 1


def layer(backward, forward=None):
    """Return a Function that adds a bias of each channel, with this backward."""
    forward = forward or (lambda ctx, x, b, s: x + b.view(1, -1, 1, 1))
    return type("Layer", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


@pytest.mark.parametrize("channels", [1, 2])
def test_a_squeezed_bias_is_refused_where_it_has_one_channel(channels):
    squeezed = layer(lambda ctx, g: (g, run("bias", {"g": g})["gb"], None))
    x, b = torch.ones(1, channels, 2, 2), torch.zeros(channels, requires_grad=True)
    output = squeezed.apply(x, b, 1).sum()
    if channels == 1:
        with pytest.raises(RuntimeError, match="invalid gradient at index 1"):
            output.backward()
    else:
        output.backward()
        assert b.grad.tolist() == [4, 4]


def test_another_number_of_results_is_refused():
    b = torch.zeros(1, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"incorrect number of gradients \(expected 3, got 2\)"):
        layer(lambda ctx, g: (g, g.sum((0, 2, 3)))).apply(torch.ones(1, 1, 2, 2), b, 1).sum().backward()


def test_without_staticmethod_the_old_way_to_call_it_is_refused():
    class Old(Function):
        def forward(ctx, x):
            return x

    with (
        pytest.warns(DeprecationWarning, match="should not be instantiated"),
        pytest.raises(RuntimeError, match="non-static forward method"),
    ):
        Old()(torch.ones(1))


def test_the_pieces_together_are_a_right_function():
    indented = [f"  {line}" for line in ["@staticmethod", *CODE["halves"], *CODE["count"]]]
    inside = [f"    {line}" for id in ("size", "weight") for line in CODE[id]] + [f"    {CODE['bias'][0]}"]
    at = indented.index("    ...")
    space = dict(NAMES)
    exec("\n".join(["class Conv2d(Function):", *indented[:at], *inside, *indented[at + 1 :]]), space)
    shapes = ((2, 3, 8, 7), (4, 3, 3, 2), (4,))
    given = [torch.rand(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    ours, right = space["Conv2d"].apply(*given, 2, 1), conv2d(*given, 2, 1)
    sent = torch.rand_like(right)
    assert torch.equal(ours, right)
    pairs = zip(torch.autograd.grad(ours, given, sent), torch.autograd.grad(right, given, sent), strict=True)
    assert all(torch.allclose(one, other) for one, other in pairs)


# -- binary and shift weights


def layers_of(at, kind, variant, *more):
    settings, stages = stages_of("quantised", at, *more)
    return quantised(stages, settings.plane, kind, variant)


def test_a_small_step_moves_alpha_and_no_sign():
    before, moved = (layers_of(1, "binary", "clip", *more) for more in ([], ["weight=values:1x1x1x2:0.75,-1.5"]))
    assert before.quantized_weight.tolist() == [[1, -1]]
    assert moved.quantized_weight.tolist() == [[1.125, -1.125]]


def test_the_gradient_of_the_signs_is_handed_on_and_stops_above_1():
    _, stages = stages_of("quantised", 2)
    exact = layers_of(3, "binary", "identity").grad_quantized_weight
    assert torch.equal(exact, stages.grad_weight[0, 0]), "on the board stand the weights that the layer uses"
    by_name = {each.name: each for each in layers_of(3, "binary", "clip").variants}
    assert torch.equal(by_name["identity"].gradient, exact)
    assert by_name["clip"].mask.tolist() == [[1, 0]]


def test_the_gradient_to_the_input_goes_through_the_signs():
    _, signs = stages_of("quantised", 4)
    _, fine = stages_of("quantised", 3)
    assert signs.weight.tolist() == [[[[1, -1]]]] == fine.weight.sign().tolist()
    assert signs.grad_input[0, 0, 0, 1] == -1 != fine.grad_input[0, 0, 0, 1]


def test_a_power_of_two_stays_as_it_is_and_gradcheck_fails_on_purpose():
    assert layers_of(5, "shift_q", "clip").quantized_weight.tolist() == [[0.5, -0.25]]
    found = layers_of(6, "shift_q", "clip")
    assert found.stairs.tolist() == [[0, 0]]
    assert not found.gradcheck_passes
    assert not found.surrogate_complaint


# -- the race


def test_what_is_said_of_the_article_and_of_the_recorded_race():
    (accuracy, seconds, _), (own_accuracy, own_seconds, printed) = ARTICLE
    assert own_seconds / seconds > 2
    assert 0 < accuracy - own_accuracy < 0.2
    ratios = {row[0]: float(row[5].removesuffix("×")) for row in RECORDED["table"]["rows"]}
    assert ratios["article"] > 2 * printed
    (weights,) = (plot["traces"] for plot in RECORDED["plots"] if plot["key"] == "weights")
    curves = [trace["y"] for trace in weights if trace["name"] == "rotate"]
    assert all(curve[0] < 1e-6 and curve[-1] > 1e-2 for curve in curves)


def test_other_starts_and_other_batches_are_other_problems_and_a_mean_goes_the_same_way():
    before, moved = (stages_of("race", 1, *more)[1].loss for more in ([], ["weight=values:1x1x3x3:2,2,3,4,5,6,7,8,9"]))
    assert before != moved
    drawn = [stages_of("race", 2, f"seed={seed}")[1] for seed in (0, 1)]
    assert not torch.equal(drawn[0].grad_weight, drawn[1].grad_weight)
    assert torch.equal(drawn[1].input, stages_of("race", 2, "seed=1")[1].input), "drawn again"
    total, mean = (stages_of("race", 3, f"loss={loss}")[1].grad_weight for loss in ("sum", "mean"))
    assert torch.equal(mean, total / 4)


# -- pooling


def test_an_average_is_a_convolution_with_a_constant_kernel_and_a_maximum_takes_the_largest():
    for at in range(4):
        settings, stages = stages_of("pooling", at)
        x = stages.input.clone().requires_grad_()
        pooled = avg_pool2d(x, 2)
        assert torch.equal(pooled, conv2d(x, stages.weight, stride=2, groups=settings.spec.groups))
        assert torch.equal(torch.autograd.grad(pooled, x, stages.grad_output)[0], stages.grad_input)
    _, stages = stages_of("pooling", 4, "stride=1")
    counted = stages.grad_input[0, 0]
    assert (counted[0, 0], counted[0, 1], counted[1, 1]) == (0.25, 0.5, 1)
    x = torch.tensor([[[[1.0, 3.0], [2.0, 0.0]]]], requires_grad=True)
    assert torch.autograd.grad(max_pool2d(x, 2), x)[0].flatten().tolist() == [0, 1, 0, 0]


def max_pooled(at, *more):
    """Return the input of a step, its grad_output, and what max pooling and a kernel of ones send back."""
    settings, stages = stages_of("max_pooling", at, *more)
    x, spec = stages.input.clone().requires_grad_(), settings.spec
    output = max_pool2d(x, spec.kernel_size, spec.stride)
    return x[0, 0].detach(), torch.autograd.grad(output, x, stages.grad_output)[0][0, 0], stages.grad_input[0, 0]


def with_input(at, row, column, value):
    x, *_ = max_pooled(at)
    x[row, column] = value
    return max_pooled(at, f"input=values:1x1x4x4:{','.join(f'{each:g}' for each in x.flatten())}")


def test_max_pooling_sends_all_to_the_first_of_the_largest():
    x, gradient, _ = max_pooled(0)
    assert (x[:2, :2].max(), gradient[1, 1], gradient[0, 1]) == (x[1, 1], 1, 0)
    raised, gradient, _ = with_input(0, 0, 1, 9)
    assert (raised[:2, :2].max(), gradient[1, 1], gradient[0, 1]) == (raised[0, 1], 0, 1)
    tied, gradient, _ = with_input(1, 0, 0, 7)
    assert (tied[0, 0], gradient[0, 0], gradient[1, 1]) == (tied[1, 1], 1, 0)


@pytest.mark.parametrize(("at", "row", "column"), [(2, 1, 1), (3, 1, 1), (4, 2, 1)])
def test_a_pixel_that_all_its_windows_take_gets_what_a_kernel_of_ones_sends_it(at, row, column):
    x, gradient, by_ones = max_pooled(at, "stride=1")
    assert (x == x[row, column]).sum() == 1
    assert gradient[row, column] == by_ones[row, column]
    assert (gradient != by_ones).any(), "which is not so for every pixel"
    for top, left in ((row - 1, column - 1), (row - 1, column), (row, column - 1), (row, column)):
        assert x[top : top + 2, left : left + 2].max() == x[row, column]


def test_assigning_is_hidden_where_the_stride_is_the_window():
    for stride, same in ((2, True), (1, False)):
        x, right, _ = max_pooled(3, f"stride={stride}")
        wrong = torch.zeros_like(right)
        for top in range(0, 3, stride):
            for left in range(0, 3, stride):
                window = x[top : top + 2, left : left + 2]
                wrong[top : top + 2, left : left + 2] = window == window.max()  # all ones are sent back
        assert torch.equal(wrong, right) == same, stride
    assert (wrong[1, 1], right[1, 1]) == (1, 4)
