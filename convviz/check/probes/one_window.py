"""A single window that reads the whole input: there a result is the weight or the input itself, number for number."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import torch

from convviz.cases.battery import Case, make_case
from convviz.check.call_outcome import ratio_of, same
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec
from convviz.mistakes.grad_weight import weight_in_use

say = sentences("check")
AXES = ("C_out", "C_in", "kH", "kW")


def one_window(result: str, wrong: Case, ask: Callable[[Case], torch.Tensor | None]) -> str:
    """Return in a sentence how the weight, or for grad_weight the input, goes in wrongly; empty where it does not.

    ``ask`` gives that result for any case, as ``[N, C, H, W]``.
    """
    spec, quantised = window_spec(wrong.spec), wrong.quantised
    of_one = {"output": math.prod(spec.input_shape), "grad_input": spec.out_channels}
    ones = torch.eye(of_one.get(result, 1), dtype=torch.float64)
    case = make_case("one window", spec.replace(batch=len(ones)), 79, quantised)
    case = case.without_bias()
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


def window_spec(wrong: ConvSpec) -> ConvSpec:
    """Return the geometry of one window over the whole input, of one row or cell where a wrong one has no more."""
    rows, columns = wrong.input_size
    kernel = (1, 1) if rows == columns == 1 else (1, 3) if rows == 1 else (3, 2)
    return ConvSpec(kernel, 4, 5, kernel)


def _order(result: str, got: torch.Tensor, right: torch.Tensor) -> str:
    """Return which order of axes is taken for which, as by a reshape without a transpose."""
    what = "input" if result == "grad_weight" else "weight"
    orders = list(itertools.permutations(range(4)))

    def moved(pair: Sequence[tuple[int, ...]]) -> tuple[int, int]:
        return sum(order != orders[0] for order in pair), sum(at != axis for one in pair for at, axis in enumerate(one))

    pairs = sorted(itertools.product(orders, orders), key=moved)  # the plainest of those that come to the same
    for written, read in pairs:
        flat = right.permute(written).reshape([right.shape[axis] for axis in read])
        if same(got, flat.permute([read.index(axis) for axis in range(4)])):
            names = (", ".join(AXES[axis] for axis in order) for order in (written, read))
            return say("window.order", what=what, written=next(names), read=next(names))
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
    kept, received, expected = (f"{round(float(each.flatten()[at]), 9) + 0.0:.3g}" for each in (weight, got, right))
    scaled = bool((right.abs() != 1).any())
    return say("window.number.scaled" if scaled else "window.number", weight=kept, got=received, right=expected)
