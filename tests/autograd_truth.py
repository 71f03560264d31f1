"""What autograd says of a convolution and of a transposed one: every tensor that has a panel, by the stages' names."""

import random

import torch
import torch.nn.functional as F

from convviz.facts.loss_inputs import GIVEN, kinds_taken
from convviz.geometry.spec import ConvSpec
from tests.geometries import conv2d_by_definition, reals, source_plane


def loss_of(kind, output, given):
    return {
        "sum": lambda: output.sum(),
        "mean": lambda: output.mean(),
        "half_squared_error": lambda: 0.5 * ((output - given["target"]) ** 2).sum(),
        "weighted_sum": lambda: (given["grad"] * output).sum(),
        "cross_entropy": lambda: F.cross_entropy(output.flatten(1), given["target"].flatten(1).argmax(1)),
    }[kind]()


def given_to(kind, shape, seed, make=reals):
    """Return what a loss is given, by the names of the settings: numbers, or a one-hot where it takes no other kind."""
    taken = {name: kinds_taken(kind, name) for name in GIVEN}
    made = {name: make(shape, seed) if "values" in kinds else one_hot(shape, seed) for name, kinds in taken.items()}
    return {name: made[name] if kinds else None for name, kinds in taken.items()}


def one_hot(shape, seed):
    """Return a float64 tensor with a 1 in every sample, at the same cell of each."""
    made = torch.zeros(shape, dtype=torch.float64)
    made.flatten(1)[:, random.Random(seed).randrange(made[0].numel())] = 1
    return made


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
