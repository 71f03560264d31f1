"""The page's own arithmetic: its taps are Python's; every cell of every stage is autograd's through the definition."""

import random

import pytest
import torch

from convviz.ops.losses import LOSSES
from tests.browser.scripts import expose
from tests.geometries import EDGE_CASES, random_specs, reals
from tests.truth import given_to, truth, truth_transposed

RUN = """(cases) => cases.map(([spec, loss, given, transposed]) => {
  const tensors = Object.fromEntries(Object.entries(given).map(
    ([name, it]) => [name, it && { shape: it.shape, data: Float64Array.from(it.data) }]));
  const stages = computeStages(spec, loss, tensors, transposed);
  return Object.fromEntries(Object.entries(stages).map(([name, it]) =>
    [name, it && it.data ? { shape: it.shape, data: [...it.data] } : it]));
})"""
TAPS = """(specs) => specs.map((spec) => [0, 1].map((axis) => axisTaps(spec, axis)))"""
TENSORS = (
    "input",
    "padded_input",
    "weight",
    "rotated_weight",
    "output",
    "grad_output",
    "dilated_grad_output",
    "padded_grad_output",
    "grad_input",
    "grad_weight",
)


@pytest.fixture
def run(page):
    """Return a function: cases as [spec, loss, tensors, transposed] → the stages that the page computes."""
    page.goto("about:blank")
    expose(page, "numbers/compute.js")
    return lambda cases: page.evaluate(RUN, cases)


def plain(tensor):
    return None if tensor is None else {"shape": list(tensor.shape), "data": tensor.flatten().tolist()}


def back(data):
    return torch.tensor(data["data"], dtype=torch.float64).reshape(data["shape"])


def settings(spec, seed, transposed=False):
    """Return a loss and tensors for it: all losses and both answers to bias come up."""
    draw = random.Random(seed)
    loss = draw.choice(list(LOSSES))
    into, out = (spec.output_shape, spec.input_shape) if transposed else (spec.input_shape, spec.output_shape)
    return loss, {
        "input": reals(into, seed),
        "weight": reals(spec.weight_shape, seed + 1),
        "bias": reals((out[1],), seed + 2) if draw.random() < 0.5 else None,
        **given_to(loss, out, seed + 3),
    }


def assert_equal(found, expected, about):
    """Every stage is there, of the same shape, and every cell within 1e-12 of the largest."""
    for name, tensor in expected.items():
        if name == "loss":
            assert found["loss"] == pytest.approx(float(tensor.detach()), rel=1e-9, abs=1e-9), (name, about)
            continue
        ours = back(found[name])
        assert ours.shape == tensor.shape, (name, about)
        scale = max(float(tensor.detach().abs().max()), 1)
        assert float((ours - tensor.detach()).abs().max()) <= 1e-12 * scale, (name, about)
    nothing = {name for name in found if name not in expected and name not in ("bias", "target")}
    assert all(found[name] is None for name in nothing), about


@pytest.mark.parametrize("seed", range(4))
def test_every_cell_is_what_autograd_says(run, seed):
    specs = [*random_specs(seed=5000 + seed, count=90), *(EDGE_CASES.values() if seed == 0 else ())]
    drawn = [(spec, *settings(spec, 100 * seed + number)) for number, spec in enumerate(specs)]
    cases = [[s.to_dict(), loss, {k: plain(v) for k, v in given.items()}, False] for s, loss, given in drawn]
    for (spec, loss, given), found in zip(drawn, run(cases), strict=True):
        assert_equal(found, truth(spec, loss, given), (spec.to_dict(), loss))
        assert set(TENSORS) <= found.keys()


@pytest.mark.parametrize("seed", range(2))
def test_every_cell_of_a_transposed_convolution_is_what_torch_says(run, seed):
    specs = random_specs(seed=6000 + seed, count=90, modes=("zeros",))
    drawn = [(spec, *settings(spec, 100 * seed + number, True)) for number, spec in enumerate(specs)]
    cases = [[s.to_dict(), loss, {k: plain(v) for k, v in given.items()}, True] for s, loss, given in drawn]
    for (spec, loss, given), found in zip(drawn, run(cases), strict=True):
        assert_equal(found, truth_transposed(spec, loss, given), (spec.to_dict(), loss))


def test_the_taps_are_pythons(page):
    specs = [*random_specs(seed=7000, count=600), *EDGE_CASES.values()]
    page.goto("about:blank")
    expose(page, "rules/taps.js")
    asked = [spec.to_dict() | {"output_size": list(spec.output_size)} for spec in specs]
    for spec, found in zip(specs, page.evaluate(TAPS, asked), strict=True):
        for axis, taps in enumerate(found):
            real = [(tap["o"], tap["k"], tap["i"]) for tap in taps if tap["i"] is not None]
            assert real == spec.axis_taps(axis), spec
            # On a padding zero as well the tap stands at its place in the padded input.
            assert len(taps) == spec.output_size[axis] * spec.kernel_size[axis]
            step, spread = spec.stride[axis], spec.dilation[axis]
            assert all(tap["at"] == tap["o"] * step + tap["k"] * spread for tap in taps), spec
