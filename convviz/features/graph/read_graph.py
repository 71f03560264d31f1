"""The autograd graph behind a tensor, with the values and the gradients in its boxes."""

from collections.abc import Mapping
from typing import Any

import torch

from convviz.facts.words import sentences
from convviz.features.graph.autograd_graph import Graph
from convviz.features.graph.build_graph import OUTPUT, Names, Reading, edges_of, nodes_of
from convviz.features.graph.forward_values import Kind, Place, forward_values
from convviz.features.graph.nodes_and_edges import snapshot
from convviz.features.graph.saved_tensors import kept_by
from convviz.features.graph.trace_backward import Pass, run_backward
from convviz.features.graph.walk import LIMIT, Function, leaf_of, name_of, nearest, walk

say = sentences("features/graph")


def graph(
    output: torch.Tensor, params: Mapping[str, torch.Tensor] | None = None, *, grad_output: torch.Tensor | None = None
) -> Graph:
    """Read the graph that autograd recorded for a tensor, and run its backward pass once to see the gradients.

    The graph can be used as before, and no .grad changes. Hooks that you registered on tensors run once more. Of a
    graph with too many nodes for a picture the part around the output is shown; a box says how many are left out.

    Args:
        output: any tensor with a grad_fn, of any shape.
        params: name → tensor, as in ``{"x": x, "y": y}`` or ``dict(model.named_parameters())``: leaves, results on
            the way, the output itself. Leaves that are not in it are called by their shape.
        grad_output: of the output's shape: the gradient to start with; default: ones, so that the gradients are
            those of ``output.sum()``.

    Returns:
        Boxes, arrows and the order of the backward pass, with copies of all numbers.

    Raises:
        TypeError: output, grad_output or one of params is no tensor, or params is no dict.
        ValueError: output has no graph, or grad_output does not have the output's shape.
    """
    return _graph(output, params, grad_output, private=False)


def private_graph(output: torch.Tensor, params: Mapping[str, torch.Tensor]) -> Graph:
    """Read a graph in which nobody can have called retain_grad(); to search for those who did takes most time."""
    return _graph(output, params, None, private=True)


def _graph(output: torch.Tensor, params: Any, grad_output: Any, *, private: bool) -> Graph:
    root = _grad_fn(output)
    names = _names(params)
    start = _start(output, grad_output)
    note = "" if grad_output is not None or output.numel() == 1 else say("ones")
    # Copies made in the caller's inference mode could not be used outside it.
    with torch.inference_mode(False), torch.no_grad():
        return _read(output, start, root, names, note, private)


def _names(params: Any) -> Names:
    """Return the names in a dict of tensors; a tensor that has two gets both."""
    names = Names()
    if params is None:
        return names
    if not isinstance(params, Mapping):
        raise TypeError(
            f'params must be a dict of names and tensors, such as {{"x": x}}: got {type(params).__name__}; for a '
            "model use dict(model.named_parameters(remove_duplicate=False))"
        )
    for name, tensor in params.items():
        if not isinstance(name, str):
            raise TypeError(f"params must have texts as names: got {name!r}; use {str(name)!r}")
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"params[{name!r}] must be a torch.Tensor: got {type(tensor).__name__}; leave it out")
        if tensor.grad_fn is None:
            _add(names.leaves, id(tensor), name)
        else:  # by its place in the graph: two tensors that the same function made as one output are one value
            _add(names.results, (tensor.grad_fn, tensor.output_nr), name)
    return names


def _add(names: dict[Any, str], key: Any, name: str) -> None:
    names[key] = f"{names[key]} = {name}" if key in names else name


def _read(output: torch.Tensor, start: torch.Tensor, root: Function, names: Names, note: str, private: bool) -> Graph:
    everything = walk(root)
    # One node is the output; in a picture that is cut, another stands for the rest.
    functions = everything if len(everything) < LIMIT else nearest(everything, LIMIT - 2)
    kept = {function: kept_by(function) for function in functions if leaf_of(function) is None}
    record = run_backward(output, start, everything, functions, private=private)
    values = forward_values(output, functions, kept, _kinds(record))
    left_out = len(everything) - len(functions)
    reading = Reading(output, start, functions, left_out, names, kept, record, values)
    cut = say("cut", all=f"{len(everything) + 1:,}", shown=f"{len(functions) + 1:,}") if left_out else ""
    return Graph(
        nodes=nodes_of(reading),
        edges=edges_of(reading),
        steps=(OUTPUT, *(reading.ids[function] for function in record.order)),
        grad_output=snapshot(start),
        note=" ".join(filter(None, [cut, note, _stop(record)])),
    )


def _kinds(record: Pass) -> dict[Place, Kind]:
    return {
        (function, slot): (gradient.shape, gradient.dtype)
        for function, gradients in record.into.items()
        for slot, gradient in enumerate(gradients)
        if gradient is not None
    }


def _stop(record: Pass) -> str:
    if not record.failure:
        return ""
    if record.stopped_at is None:
        return say("stopped", failure=record.failure)
    return say("stopped.at", function=name_of(record.stopped_at), failure=record.failure)


def _grad_fn(output: Any) -> Function:
    if not isinstance(output, torch.Tensor):
        raise TypeError(f"output must be a torch.Tensor: got {type(output).__name__}; pass what your function returned")
    if output.grad_fn is not None:
        return output.grad_fn
    if not (output.is_floating_point() or output.is_complex()):
        why = f"dtype {output.dtype}, which has no gradients; pass a floating-point result"
    elif output.requires_grad:
        why = "a leaf, which nothing was computed for; pass the result of a computation with it"
    else:
        why = "a tensor without a grad_fn; set requires_grad=True on an input, and compute outside torch.no_grad()"
    raise ValueError(f"output must come from tensors that require gradients: got {why}")


def _start(output: torch.Tensor, grad_output: Any) -> torch.Tensor:
    if grad_output is None:
        return torch.ones_like(output, memory_format=torch.preserve_format).detach()
    if not isinstance(grad_output, torch.Tensor):
        raise TypeError(
            f"grad_output must be a torch.Tensor: got {type(grad_output).__name__}; torch.as_tensor makes one"
        )
    if grad_output.shape != output.shape:
        raise ValueError(
            f"grad_output must have the output's shape, {list(output.shape)}: got {list(grad_output.shape)}; "
            "torch.ones_like(output) has it"
        )
    return grad_output.detach().to(output)
