"""The numbers that the forward pass made: found where somebody kept them, or computed once more."""

import torch

from convviz.explanation.graph.recompute_forward import replay
from convviz.explanation.graph.saved_tensors import Kept
from convviz.explanation.graph.walk import Function, leaf_of, name_of
from convviz.facts.words import sentences

Place = tuple[Function, int]  # a function and the number of its output
Kind = tuple[tuple[int, ...], str]  # shape and dtype
Values = dict[Place, tuple[torch.Tensor, str]]  # with where each comes from

say = sentences("graph")


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
    """Return a function's result where a rule tells it and it fits the gradient."""
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
