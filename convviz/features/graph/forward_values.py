"""The numbers that the forward pass made: found where somebody kept them, or computed once more.

The graph keeps what the gradients need: of x² → ·3 → ·y it has x, 3, y and 3x², but not x². Rules fill such gaps for
the functions of a first lesson and of a convolutional network; everything else stays unknown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from convviz.facts.words import sentences
from convviz.features.graph.saved_tensors import Kept
from convviz.features.graph.walk import Function, forward_class, leaf_of, name_of
from convviz.ops.autograd_functions import Convolution

Place = tuple[Function, int]  # a function and the number of its output
Kind = tuple[tuple[int, ...], str]  # shape and dtype
Values = dict[Place, tuple[torch.Tensor, str]]  # with where each comes from

say = sentences("features/graph")


def forward_values(
    output: torch.Tensor,
    functions: list[Function],
    kept: dict[Function, tuple[Kept, ...]],
    shapes: dict[Place, Kind],
) -> Values:
    """Return function and output → its value and where that comes from; a computed one fits the shape that is known."""
    values: Values = {}
    for function in functions:
        leaf = leaf_of(function)
        if leaf is not None:
            values[function, 0] = (leaf, say("value.leaf"))
        for thing in kept.get(function, ()):
            tensor = thing.content
            # A saved tensor knows which output of which function it is.
            if isinstance(tensor, torch.Tensor) and tensor.grad_fn is not None:
                values.setdefault(
                    (tensor.grad_fn, tensor.output_nr), (tensor, say("value.saved", function=name_of(function)))
                )
    if output.grad_fn is not None:
        values[output.grad_fn, output.output_nr] = (output, say("value.output"))
    for function in reversed(functions):  # forward: the inputs' values first
        if (function, 0) not in values and leaf_of(function) is None:
            value = _computed(function, kept.get(function, ()), values, shapes.get((function, 0)))
            if value is not None:
                values[function, 0] = (value, say("value.computed"))
    return values


def _computed(
    function: Function,
    kept: tuple[Kept, ...],
    values: Values,
    kind: Kind | None,
) -> torch.Tensor | None:
    """Return a function's result where a rule gives it and it fits the gradient."""
    if any(thing.unreadable for thing in kept):
        return None
    inputs = [
        values[source, slot][0] if source is not None and (source, slot) in values else None
        for source, slot in function.next_functions
    ]
    saved = {thing.name: thing.content for thing in kept}
    value = replay(function, inputs, saved, None if kind is None else kind[0])
    return value if value is None or kind is None or kind == kind_of(value) else None


def kind_of(tensor: torch.Tensor) -> Kind:
    return tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")


class _Missing(Exception):
    """An operand that is neither saved nor known."""


@dataclass(frozen=True)
class Operands:
    """What a rule may use."""

    inputs: Sequence[torch.Tensor | None]  # of those that have a gradient; None where unknown
    saved: dict[str, Any]
    shape: tuple[int, ...] | None = None  # the shape of the result

    def tensor(self, place: int, name: str = "") -> torch.Tensor:
        saved = self.saved.get(name)
        found = saved if isinstance(saved, torch.Tensor) else self.inputs[place] if place < len(self.inputs) else None
        if found is None:
            raise _Missing
        return found

    def all(self) -> list[torch.Tensor]:
        return [self.tensor(place) for place in range(len(self.inputs))]

    def result_shape(self) -> tuple[int, ...]:
        if self.shape is None:
            raise _Missing
        return self.shape


def replay(
    function: Function, inputs: Sequence[torch.Tensor | None], saved: dict[str, Any], shape: tuple[int, ...] | None
) -> torch.Tensor | None:
    """Return the function's forward result, None where no rule gives it."""
    try:
        if forward_class(function) is Convolution:
            return _own_convolution(function, Operands(inputs, saved, shape))
        rule = RULES.get(name_of(function))
        return None if rule is None else rule(Operands(inputs, saved, shape))
    except (_Missing, RuntimeError):  # RuntimeError: an operand was changed since, and no longer fits
        return None


def _own_convolution(function: Any, given: Operands) -> torch.Tensor:
    bias = given.tensor(2) if len(given.inputs) > 2 else None  # a bias of None has no place among the inputs
    input, weight = given.tensor(0, "saved_tensors[0]"), given.tensor(1, "saved_tensors[1]")
    return Convolution.forward(input, weight, bias, function.spec, function.method)


def _convolution(given: Operands) -> torch.Tensor:
    names = ("stride", "padding", "dilation", "transposed", "output_padding", "groups")
    # Without a bias its size reads 0. One that needs no gradient has a size but is saved nowhere.
    bias = given.tensor(2) if any(given.saved["bias_sym_sizes_opt"] or ()) else None
    settings = [given.saved[name] for name in names]
    return torch.convolution(given.tensor(0, "input"), given.tensor(1, "weight"), bias, *settings)


def _addmm(given: Operands) -> torch.Tensor:
    factors = given.tensor(1, "mat1"), given.tensor(2, "mat2")
    return torch.addmm(given.tensor(0), *factors, beta=given.saved["beta"], alpha=given.saved["alpha"])


def _max_pool2d(given: Operands) -> torch.Tensor:
    chosen = given.saved["result1"]
    return given.tensor(0, "self").flatten(-2).gather(-1, chosen.flatten(-2)).reshape(chosen.shape)


def _slice(given: Operands) -> torch.Tensor:
    settings = [given.saved[name] for name in ("dim", "start", "end", "step")]
    return torch.ops.aten.slice(given.tensor(0), *settings)  # type: ignore[no-any-return]  # torch.ops is untyped


def _over_axes(function: Callable[..., torch.Tensor]) -> Callable[[Operands], torch.Tensor]:
    return lambda given: function(given.tensor(0), given.saved["dim"], given.saved["keepdim"])


def _of_self(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Operands], torch.Tensor]:
    return lambda given: function(given.tensor(0, "self"))


def _reshape(given: Operands) -> torch.Tensor:
    return given.tensor(0).reshape(given.result_shape())


RULES: dict[str, Callable[[Operands], torch.Tensor]] = {
    "AddBackward0": lambda given: torch.add(given.tensor(0), given.tensor(1), alpha=given.saved["alpha"]),
    "SubBackward0": lambda given: torch.sub(given.tensor(0), given.tensor(1), alpha=given.saved["alpha"]),
    "MulBackward0": lambda given: given.tensor(0, "self") * given.tensor(1, "other"),
    "MulBackward1": lambda given: given.tensor(0) * given.saved["other"],
    "DivBackward0": lambda given: given.tensor(0, "self") / given.tensor(1, "other"),
    "PowBackward0": lambda given: given.tensor(0, "self") ** given.saved["exponent"],
    "NegBackward0": lambda given: -given.tensor(0),
    "SinBackward0": _of_self(torch.sin),
    "CosBackward0": _of_self(torch.cos),
    "LogBackward0": _of_self(torch.log),
    "AbsBackward0": _of_self(torch.abs),
    "SumBackward0": _of_self(torch.sum),
    "MeanBackward0": _of_self(torch.mean),
    "SumBackward1": _over_axes(torch.sum),
    "MeanBackward1": _over_axes(torch.mean),
    "MmBackward0": lambda given: given.tensor(0, "self") @ given.tensor(1, "mat2"),
    "BmmBackward0": lambda given: given.tensor(0, "self") @ given.tensor(1, "mat2"),
    "AddmmBackward0": _addmm,
    "ConvolutionBackward0": _convolution,
    "MaxPool2DWithIndicesBackward0": _max_pool2d,
    "EmbeddingBackward0": lambda given: given.tensor(0)[given.saved["indices"]],
    "CatBackward0": lambda given: torch.cat(given.all(), given.saved["dim"]),
    "StackBackward0": lambda given: torch.stack(given.all(), given.saved["dim"]),
    "TBackward0": lambda given: given.tensor(0).t(),
    "TransposeBackward0": lambda given: given.tensor(0).transpose(given.saved["dim0"], given.saved["dim1"]),
    "PermuteBackward0": lambda given: given.tensor(0).permute(given.saved["dims"]),
    "SelectBackward0": lambda given: given.tensor(0).select(given.saved["dim"], given.saved["index"]),
    "SliceBackward0": _slice,
    "ExpandBackward0": lambda given: given.tensor(0).expand(given.result_shape()),
    "CloneBackward0": lambda given: given.tensor(0),
    "ViewBackward0": _reshape,
    "UnsafeViewBackward0": _reshape,
    "ReshapeAliasBackward0": _reshape,
    "SqueezeBackward0": _reshape,
    "SqueezeBackward1": _reshape,
    "UnsqueezeBackward0": _reshape,
}
