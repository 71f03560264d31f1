"""A gradient of a gradient, by the rules: against autograd through the definition, differentiated twice."""

import pytest
import torch
import torch.nn.functional as F

import convviz
from convviz.app.page_requests import computed
from convviz.features.double import double_backward as module
from convviz.features.double.data import data
from convviz.features.double.double_backward import NUMBERS, OF, double_backward
from convviz.geometry.shown_plane import Plane
from convviz.geometry.spec import ConvSpec
from convviz.ops.stages import stages
from convviz.settings.state import Settings
from tests.geometries import EDGE_CASES, conv2d_by_definition, integers, random_specs, reals

SPECS = [*EDGE_CASES.values(), *random_specs(seed=8, count=40)]
SHAPES = ((1, 1, 5, 5), (1, 1, 3, 3), (1, 1, 3, 3))
BOTH = ConvSpec((5, 6), 4, 6, 3, 2, 1, groups=2, batch=2)


def pass_of(spec, transposed):
    """Return stages of whole numbers, whose sums are not rounded."""
    image, weight, small = (
        integers(shape, seed) for seed, shape in enumerate((spec.input_shape, spec.weight_shape, spec.output_shape))
    )
    given = (small, weight, None, image) if transposed else (image, weight, None, small)
    return stages(spec, *given, dtype="float64", transposed=transposed)


def given_of(result):
    """Return what a layer is given, by its own names."""
    image, small = (result.grad_output, result.input) if result.transposed else (result.input, result.grad_output)
    return {"grad_output": small, "weight": result.weight, "input": image}


def by_definition(result, of, number, at):
    """Return s and its slopes by the layer's own names, all by autograd through the definition."""
    spec = result.spec
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in given_of(result).items()}
    if result.transposed:  # the output is what the convolution gives back to its input
        image = torch.zeros(spec.input_shape, dtype=torch.float64, requires_grad=True)
        small = conv2d_by_definition(image, leaves["weight"], None, spec)
        (output,) = torch.autograd.grad(small, image, leaves["input"], create_graph=True)
    else:
        output = conv2d_by_definition(leaves["input"], leaves["weight"], None, spec)
    leaf = leaves[of.removeprefix("grad_")]
    (gradient,) = torch.autograd.grad(output, leaf, leaves["grad_output"], create_graph=True)
    s = gradient[at] if number == "one" else (gradient**2).sum() / 2
    found = torch.autograd.grad(s, list(leaves.values()), allow_unused=True, materialize_grads=True)
    return gradient, s.item(), dict(zip(leaves, found, strict=True))


@pytest.mark.parametrize("transposed", [False, True])
def test_the_slopes_are_those_of_the_definition(transposed):
    tried = 0
    for spec in SPECS:
        if transposed and spec.padding_mode != "zeros":
            continue
        result = pass_of(spec, transposed)
        for of in OF:
            for number in NUMBERS:
                shape = result.weight.shape if of == "grad_weight" else result.input.shape
                shape = result.grad_output.shape if transposed and of == "grad_input" else shape
                at = tuple(size // 2 for size in shape)
                made = double_backward(result, of, number, at)
                gradient, s, slopes = by_definition(result, of, number, at)
                assert torch.equal(made.gradient, gradient), (spec, of)
                assert made.s == s, (spec, of, number)
                for slope in made.slopes:
                    assert torch.equal(slope.value, slopes[slope.to]), (spec, of, number, slope.to)
                assert torch.count_nonzero(slopes[made.absent]) == 0, "what the gradient is not made of"
                assert {made.absent, *(slope.to for slope in made.slopes)} == {"grad_output", "weight", "input"}
                assert made.agrees
                assert made.deviation == 0
                assert "Backward" in made.node
                tried += 1
    assert tried >= 100


@pytest.mark.parametrize("transposed", [False, True])
def test_the_named_functions_are_torchs_and_give_the_slopes(transposed):
    result, geometry = pass_of(BOTH, transposed), {"stride": 2, "padding": 1, "groups": 2}
    given = given_of(result)
    functions = {
        "conv2d": lambda one, other: F.conv2d(one, other, **geometry),
        "conv_transpose2d": lambda one, other: F.conv_transpose2d(
            one, other, output_padding=BOTH.remainder, **geometry
        ),
        "conv2d_input": lambda one, other: torch.nn.grad.conv2d_input(BOTH.input_shape, one, other, **geometry),
        "conv2d_weight": lambda one, other: torch.nn.grad.conv2d_weight(one, BOTH.weight_shape, other, **geometry),
    }
    named = set()
    for of in OF:
        made = double_backward(result, of, "squares")
        for slope in made.slopes:
            arguments = (made.v if name == "v" else given[name] for name in slope.arguments)
            assert torch.equal(functions[slope.function](*arguments), slope.value), (of, slope.to)
            named.add(slope.function)
    forward = {"conv_transpose2d", "conv2d"} if transposed else {"conv2d", "conv2d_input"}
    assert named == {*forward, "conv2d_weight"}


def test_a_wrong_rule_is_reported(monkeypatch):
    right = module.gradients

    def doubled(*given):
        return [None if each is None else 2 * each for each in right(*given)]

    monkeypatch.setattr(module, "gradients", doubled)
    assert not double_backward(pass_of(BOTH, False), "grad_weight").agrees


def test_what_cancels_is_no_wrong_rule():
    image, weight, small = (
        1e9 * reals(shape, seed) for seed, shape in enumerate((BOTH.input_shape, BOTH.weight_shape, BOTH.output_shape))
    )
    result = stages(BOTH, image, weight, grad_output=small, dtype="float64")
    for of in OF:
        made = double_backward(result, of, "squares")
        assert made.agrees
        assert made.deviation > 1, "of numbers near 1e27 the last digits differ"


@pytest.mark.parametrize(("transposed", "mode"), [(False, "zeros"), (False, "reflect"), (True, "zeros")])
def test_the_tabs_code_runs_and_finds_what_it_shows(transposed, mode):
    spec = BOTH.replace(padding_mode=mode)
    settings = Settings(spec=spec, dtype="float64", transposed=transposed, plane=Plane(1, 4, 3))
    result = computed(settings)
    for of in OF:
        for number in NUMBERS:
            shown = data(settings, result, {"of": of, "number": number})
            names = {"torch": torch, "F": F} | {
                name: each.clone().requires_grad_() for name, each in given_of(result).items()
            }
            *lines, last = shown["code"].splitlines()
            exec("\n".join(lines), names)
            found = eval(last, names)
            assert names["s"].item() == pytest.approx(shown["s"])
            small, image = ([1, 3], [1, 4]) if transposed else ([1, 4], [1, 3])  # the planes that the board shows
            planes = {"grad_output": small, "weight": [4, 1], "input": image}
            assert shown["gradient"]["at"] == planes[of.removeprefix("grad_")]
            for slope in shown["slopes"]:
                assert slope["value"]["at"] == planes[slope["to"]]
            for slope, tensor in zip(shown["slopes"], found, strict=True):
                plane = tensor[tuple(slope["value"]["at"])]
                assert torch.allclose(torch.tensor(slope["value"]["values"], dtype=torch.float64), plane, rtol=1e-8)
                assert slope["value"]["shape"] == list(tensor.shape)


def test_a_cell_beyond_the_plane_is_the_nearest_and_none_is_the_middle():
    settings = Settings(spec=ConvSpec(5))
    result = computed(settings)
    for choices, at in (
        ({}, [0, 0, 2, 2]),
        ({"cell": [0, 4]}, [0, 0, 0, 4]),
        ({"cell": [99, -3]}, [0, 0, 4, 0]),
        ({"of": "grad_weight", "cell": []}, [0, 0, 1, 1]),
    ):
        assert data(settings, result, choices)["at"] == at, choices
    for choices in ({"of": "grad_bias"}, {"number": "two"}, {"cell": ["first", 0]}, {"cell": [1]}):
        with pytest.raises(ValueError, match="got"):
            data(settings, result, choices)


def test_the_graph_of_it_is_drawn_with_the_values_that_arrive():
    x, w, g = (integers(shape, seed).requires_grad_() for seed, shape in enumerate(SHAPES))
    (gradient,) = torch.autograd.grad(F.conv2d(x, w), x, g, create_graph=True)
    s = (gradient**2).sum() / 2
    graph = convviz.graph(s, params={"input": x, "weight": w, "grad_output": g})
    assert "ConvolutionBackwardBackward0" in [node.label for node in graph.nodes]
    s.backward()
    arrived = {node.label: node.slots[0].gradient for node in graph.nodes if node.kind == "leaf"}
    assert torch.equal(arrived["weight"].tensor, w.grad)
    assert torch.equal(arrived["grad_output"].tensor, g.grad)
    assert arrived["input"] is None
