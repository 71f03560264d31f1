"""The page's own arithmetic against torch's autograd through the definition, every cell of every stage, in float64."""

import random
from importlib.resources import files

import pytest
import torch
import torch.nn.functional as F

from convviz.board.bundle import bundle
from convviz.ops.loss import LOSSES
from convviz.spec import ConvSpec
from tests.geometries import EDGE_CASES, conv2d_by_definition, random_specs, reals, source_plane

RUN = """(cases) => cases.map(([spec, loss, given, transposed]) => {
  const tensors = Object.fromEntries(Object.entries(given).map(
    ([name, it]) => [name, it && { shape: it.shape, data: Float64Array.from(it.data) }]));
  const stages = computeStages(spec, loss, tensors, transposed);
  return Object.fromEntries(Object.entries(stages).map(([name, it]) =>
    [name, it && it.data ? { shape: it.shape, data: [...it.data] } : it]));
})"""
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
    code = bundle(files("convviz.board").joinpath("js"), "compute.js")
    page.add_script_tag(content=f"{code}\nwindow.computeStages = computeStages;")
    return lambda cases: page.evaluate(RUN, cases)


def plain(tensor):
    return None if tensor is None else {"shape": list(tensor.shape), "data": tensor.flatten().tolist()}


def back(data):
    return torch.tensor(data["data"], dtype=torch.float64).reshape(data["shape"])


def settings(spec, seed, transposed=False):
    """Return a loss and tensors for it: all four losses and both answers to bias come up."""
    draw = random.Random(seed)
    loss = draw.choice(LOSSES)
    into, out = (spec.output_shape, spec.input_shape) if transposed else (spec.input_shape, spec.output_shape)
    return loss, {
        "input": reals(into, seed),
        "weight": reals(spec.weight_shape, seed + 1),
        "bias": reals((out[1],), seed + 2) if draw.random() < 0.5 else None,
        "target": reals(out, seed + 3) if loss == "half_squared_error" else None,
        "grad": reals(out, seed + 4) if loss == "weighted_sum" else None,
    }


def loss_of(kind, output, given):
    return {
        "sum": lambda: output.sum(),
        "mean": lambda: output.mean(),
        "half_squared_error": lambda: 0.5 * ((output - given["target"]) ** 2).sum(),
        "weighted_sum": lambda: (given["grad"] * output).sum(),
    }[kind]()


def pad(x, spec):
    """Build the padded input cell by cell from numpy's padding, so that autograd knows the border's gradient."""
    flat = torch.cat([x.flatten(2), x.new_zeros(*x.shape[:2], 1)], 2)
    return flat[:, :, source_plane(spec)]


def truth(spec, loss, given):
    """Return what autograd through the definition says of a convolution, by the names of the stages."""
    x, w = (given[name].clone().requires_grad_() for name in ("input", "weight"))
    b = None if given["bias"] is None else given["bias"].clone().requires_grad_()
    padded = pad(x, spec)
    bare = ConvSpec(
        spec.padded_size, spec.in_channels, spec.out_channels, spec.kernel_size, spec.stride, 0, spec.dilation,
        spec.groups, batch=spec.batch,
    )  # fmt: skip
    output = conv2d_by_definition(padded, w, b, bare)
    value = loss_of(loss, output, given)
    wanted = {"grad_output": output, "grad_padded_input": padded, "grad_input": x, "grad_weight": w}
    wanted |= {} if b is None else {"grad_bias": b}
    found = dict(zip(wanted, torch.autograd.grad(value, tuple(wanted.values())), strict=True))
    if spec.padding_mode == "zeros":
        del found["grad_padded_input"]
    found |= {"loss": value, "input": x, "padded_input": padded, "weight": w, "output": output}
    return found | spread(spec, found)


def truth_transposed(spec, loss, given):
    """Return what torch says of a transposed convolution; its names are those of the convolution read backwards."""
    x, w = (given[name].clone().requires_grad_() for name in ("input", "weight"))
    b = None if given["bias"] is None else given["bias"].clone().requires_grad_()
    (top, _), (left, _) = spec.padding
    whole = F.conv_transpose2d(x, w, b, spec.stride, 0, spec.remainder, spec.groups, spec.dilation)
    output = whole[..., top : top + spec.input_size[0], left : left + spec.input_size[1]]
    value = loss_of(loss, output, given)
    wanted = {"input": output, "output": x, "grad_weight": w} | ({} if b is None else {"grad_bias": b})
    found = dict(zip(wanted, torch.autograd.grad(value, tuple(wanted.values())), strict=True))
    found |= {
        "loss": value,
        "grad_input": output,
        "grad_output": x,
        "weight": w,
        "padded_input": pad(found["input"], spec),
    }
    return found | spread(spec, found)


def spread(spec, found):
    """Place grad_output's cells one by one, from where each must stand for the rotated kernel to meet it."""
    before, sizes = [], []
    for axis in (0, 1):
        reach = spec.dilation[axis] * (spec.kernel_size[axis] - 1)
        folds = spec.padding_mode != "zeros"
        before.append(reach - (0 if folds else spec.padding[axis][0]))
        sizes.append((spec.padded_size if folds else spec.input_size)[axis] + reach)
    dilated = [(size - 1) * step + 1 for size, step in zip(spec.output_size, spec.stride, strict=True)]
    gradient = found["grad_output"]
    return {
        "dilated_grad_output": placed(gradient, spec.stride, (0, 0), dilated),
        "padded_grad_output": placed(gradient, spec.stride, before, sizes),
        "rotated_weight": rotated(spec, found["weight"]),
    }


def placed(gradient, stride, before, sizes):
    result = gradient.new_zeros(*gradient.shape[:2], *sizes)
    for row in range(gradient.shape[2]):
        for column in range(gradient.shape[3]):
            r, c = before[0] + row * stride[0], before[1] + column * stride[1]
            if 0 <= r < sizes[0] and 0 <= c < sizes[1]:
                result[:, :, r, c] = gradient[:, :, row, column]
    return result


def rotated(spec, weight):
    outs, ins = spec.out_channels // spec.groups, spec.in_channels // spec.groups
    result = weight.new_zeros(spec.in_channels, outs, *spec.kernel_size)
    for o in range(spec.out_channels):
        for c in range(ins):
            result[o // outs * ins + c, o % outs] = weight[o, c].rot90(2)
    return result


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
    nothing = {name for name in found if name not in expected and name != "bias"}
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
