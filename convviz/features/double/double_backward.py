"""The backward pass, differentiated once more: a gradient of a gradient is the same three rules again.

All three results of a convolution are one sum of products over the taps, ``T = Σ grad_output · weight · input``, each
with one factor left out. A number ``s = Σ v · gradient`` is that sum with v in the empty place. So its slopes are the
three results again, with v among the factors, and nothing for the factor that is not there.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from convviz.explanation.by_torch import by_torch
from convviz.geometry.spec import ConvSpec
from convviz.ops.autograd_functions import convolve, gradients
from convviz.ops.stages import Stages

OF = ("grad_input", "grad_weight")
NUMBERS = ("one", "squares")
SMALL = 1e-12  # what rounding in float64 may leave of the sum of all products' sizes
METHOD = "rotate"
# What computes the slope to each factor of the sum, from the other two.
CALLS = {
    "grad_output": ("conv2d", ("input", "weight")),
    "input": ("conv2d_input", ("weight", "grad_output")),
    "weight": ("conv2d_weight", ("input", "grad_output")),
}
CALLS_TRANSPOSED = {
    "grad_output": ("conv_transpose2d", ("input", "weight")),
    "input": ("conv2d", ("grad_output", "weight")),
    "weight": ("conv2d_weight", ("grad_output", "input")),
}


@dataclass(frozen=True, eq=False)
class Slope:
    """How fast s moves with one factor of the layer; of the two arguments of the function, in its order, one is v."""

    to: str
    function: str
    arguments: tuple[str, str]
    value: torch.Tensor  # float64, shaped like the factor


@dataclass(frozen=True, eq=False)
class DoubleBackward:
    """A number s made of a gradient, and its slopes to the two factors of that gradient."""

    of: str
    gradient: torch.Tensor  # float64
    v: torch.Tensor  # the slope of s to each number of the gradient, shaped like it
    at: tuple[int, ...]  # the indices of the one number; unused with the squares of all
    s: float
    slopes: tuple[Slope, Slope]
    absent: str  # the factor that the gradient is not made of; its slope is 0
    node: str  # the gradient's own node in torch's graph
    deviation: float  # of the slopes from torch.autograd, run twice
    agrees: bool  # the deviation is rounding


def double_backward(
    stages: Stages, of: str = "grad_input", number: str = "one", at: tuple[int, ...] = ()
) -> DoubleBackward:
    """Differentiate a gradient by the rules, and hold the result against autograd in float64.

    The number is ``"one"`` of the gradient's, the nearest to ``at``, or half the sum of the ``"squares"`` of all.
    """
    given = {name: getattr(stages, stage_of(name, stages.transposed)).detach().cpu().double() for name in CALLS}
    absent = of.removeprefix("grad_")
    rules = _rules(stages.spec, stages.transposed)
    with torch.inference_mode(False), torch.no_grad():
        gradient = rules[absent](given)
        at = _place(gradient.shape, at)
        v = gradient if number == "squares" else _one(gradient.shape, at)
        s = float((v * gradient).sum()) * (0.5 if number == "squares" else 1)
        made = given | {absent: v}
        sizes = {name: tensor.abs() for name, tensor in given.items()}
        sizes[absent] = rules[absent](sizes) if number == "squares" else v
        # Products that cancel leave the rounding of what they were.
        size = max(float(rules[to](sizes).max()) for to in given if to != absent)
        slopes = tuple(_slope(to, absent, rules[to](made), stages.transposed) for to in given if to != absent)
    node, truth = _by_autograd(stages, given, absent, number, v)
    apart = max(float((slope.value - truth[slope.to]).abs().max()) for slope in slopes)
    agrees = apart <= SMALL * size
    return DoubleBackward(of, gradient, v, at, s, (slopes[0], slopes[1]), absent, node, apart, agrees)


def stage_of(factor: str, transposed: bool) -> str:
    return {"grad_output": "input", "input": "grad_output"}.get(factor, factor) if transposed else factor


Rule = Callable[[dict[str, torch.Tensor]], torch.Tensor]


def _rules(spec: ConvSpec, transposed: bool) -> dict[str, Rule]:
    def conv2d(image: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return convolve(image, weight, None, spec, METHOD)

    def to_image(small: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return _present(gradients(small, None, weight, spec, METHOD, (True, False, False))[0])

    def to_weight(small: torch.Tensor, image: torch.Tensor) -> torch.Tensor:
        return _present(gradients(small, image, None, spec, METHOD, (False, True, False))[1])

    image, small = ("grad_output", "input") if transposed else ("input", "grad_output")
    return {
        small: lambda given: conv2d(given[image], given["weight"]),
        image: lambda given: to_image(given[small], given["weight"]),
        "weight": lambda given: to_weight(given[small], given[image]),
    }


def _present(tensor: torch.Tensor | None) -> torch.Tensor:
    assert tensor is not None  # the mask asks for it
    return tensor


def _slope(to: str, absent: str, value: torch.Tensor, transposed: bool) -> Slope:
    function, arguments = (CALLS_TRANSPOSED if transposed else CALLS)[to]
    first, second = ("v" if name == absent else name for name in arguments)
    return Slope(to, function, (first, second), value)


def _one(shape: torch.Size, at: tuple[int, ...]) -> torch.Tensor:
    made = torch.zeros(shape, dtype=torch.float64)
    made[at] = 1
    return made


def _place(shape: torch.Size, at: tuple[int, ...]) -> tuple[int, ...]:
    """Return the nearest place that there is; where nothing is said, the middle."""
    wanted = (*at, *((size - 1) // 2 for size in shape[len(at) :]))
    return tuple(min(max(index, 0), size - 1) for index, size in zip(wanted, shape, strict=True))


def _by_autograd(
    stages: Stages, given: dict[str, torch.Tensor], absent: str, number: str, v: torch.Tensor
) -> tuple[str, dict[str, torch.Tensor]]:
    """Return the name of the gradient's node, and the slopes when torch differentiates twice."""
    with torch.inference_mode(False), torch.enable_grad():
        leaves = {name: tensor.clone().requires_grad_() for name, tensor in given.items()}
        output = by_torch(leaves["input"], leaves["weight"], None, stages.spec, stages.transposed)
        (gradient,) = torch.autograd.grad(output, leaves[absent], leaves["grad_output"], create_graph=True)
        s = 0.5 * (gradient**2).sum() if number == "squares" else (v * gradient).sum()
        found = torch.autograd.grad(s, list(leaves.values()), allow_unused=True, materialize_grads=True)
    assert gradient.grad_fn is not None  # it is made of leaves that require gradients
    return gradient.grad_fn.name(), dict(zip(leaves, found, strict=True))
