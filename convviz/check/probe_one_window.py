"""A single window that reads the whole input: there a result is the weight or the input itself, number for number."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import torch

from convviz.check.battery import Case, make_case
from convviz.check.call_outcome import ratio_of, same
from convviz.check.recipes.grad_weight import weight_in_use
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("check")
AXES = ("C_out", "C_in", "kH", "kW")


def one_window(result: str, wrong: Case, ask: Callable[[Case], torch.Tensor | None]) -> str:
    """Return in a sentence how the weight, or for grad_weight the input, goes in wrongly; empty where it does not.

    ``ask`` gives that result for any case, as ``[N, C, H, W]``.
    """
    kernel, quantised = (1, 1) if wrong.spec.input_size == (1, 1) else (3, 2), wrong.quantised
    spec = ConvSpec(kernel, 2, 5, kernel)
    of_one = {"output": math.prod(spec.input_shape), "grad_input": spec.out_channels}
    ones = torch.eye(of_one.get(result, 1), dtype=torch.float64)
    case = make_case("one window", spec.replace(batch=len(ones)), 79, quantised)
    for name in ("bias", "transposed_bias"):
        case = case.with_tensor(name, torch.zeros_like(case.tensor(name)))
    right = weight_in_use({}, quantised, case.weight) if quantised else case.weight
    if result == "output":
        case = case.with_tensor("input", ones.reshape(case.input.shape))
    elif result == "grad_input":
        case = case.with_tensor("grad_output", ones[:, :, None, None])
    else:
        case = case.with_tensor("grad_output", torch.ones_like(case.grad_output))
        right = case.input.expand(right.shape)
    got = ask(case)
    if got is None or got.numel() != right.numel():
        return ""
    got = (got.flatten(1).T if result == "output" else got).reshape(right.shape).double()
    if same(got, right):
        return ""
    return _numbers(case.weight, got, right) if quantised else _order(result, got, right)


def _order(result: str, got: torch.Tensor, right: torch.Tensor) -> str:
    """Return which order of axes is taken for which, as by a reshape without a transpose."""
    what = "input" if result == "grad_weight" else "weight"
    for order in itertools.permutations(range(4)):
        shuffled = right.permute(order)
        read_back = right.reshape(shuffled.shape).permute([order.index(axis) for axis in range(4)])
        words = {"what": what, "own": comma(AXES), "other": comma([AXES[axis] for axis in order])}
        if same(got, shuffled.reshape(right.shape)):
            return say("window.written", **words)
        if same(got, read_back):
            return say("window.read", **words)
    return ""


def _numbers(weight: torch.Tensor, got: torch.Tensor, right: torch.Tensor) -> str:
    """Return by what the filters are scaled, or as which number one weight goes in."""
    ratios = [ratio_of(*pair) for pair in zip(got, right, strict=True)]
    scales = [
        0.0 if ratio is None else ratio * float(each.abs().max()) for ratio, each in zip(ratios, right, strict=True)
    ]
    if None not in ratios and min(scales) > 0:
        wanted = right.abs().amax((1, 2, 3)).tolist()
        said = (comma([f"{each:.3g}" for each in numbers]) for numbers in (scales, wanted))
        return say("window.scale", got=next(said), right=next(said))
    at = (got - right).abs().argmax()
    kept, received, expected = (f"{float(each.flatten()[at]):.3g}" for each in (weight, got, right))
    return say("window.number", weight=kept, got=received, right=expected)
