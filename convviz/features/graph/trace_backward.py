"""One backward pass, watched: every gradient that flows, and the order in which the functions run."""

import contextlib
import gc
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from convviz.features.graph.nodes_and_edges import Snapshot, snapshot
from convviz.features.graph.saved_tensors import explain_failure
from convviz.features.graph.walk import Function, forward_class, leaf_of

Gradients = tuple[Snapshot | None, ...]


@dataclass
class Pass:
    """What one backward pass did, as far as it came."""

    into: dict[Function, Gradients] = field(default_factory=dict)  # by each forward output, summed over its uses
    out_of: dict[Function, Gradients] = field(default_factory=dict)  # by each input
    derivatives: dict[Function, tuple[float | None, ...]] = field(default_factory=dict)  # of one number by one number
    order: list[Function] = field(default_factory=list)  # as they ran, a leaf once its gradient is complete
    leaves: dict[Function, Snapshot | None] = field(default_factory=dict)
    stopped_at: Function | None = None
    failure: str = ""


def run_backward(
    output: torch.Tensor,
    grad_output: torch.Tensor,
    functions: list[Function],
    shown: list[Function],
    *,
    private: bool = False,
) -> Pass:
    """Run the backward pass once by autograd's own engine and write down what flows through the shown functions.

    The graph is kept, no .grad changes; hooks on tensors run, and what they do to a gradient is in the numbers. Of a
    private graph nobody else holds a tensor, so no .grad has to be put back.
    """
    record = Pass()
    leaves = [function for function in functions if leaf_of(function) is not None]
    # Leaves by their node: a tensor whose requires_grad was switched off since would be refused.
    wanted = [torch.autograd.graph.GradientEdge(leaf, 0) for leaf in leaves]
    # A loss's own 1 is left to torch: to compare the shape of one that is given it would load sympy, half a second.
    one = output.numel() == 1 and output.is_floating_point() and grad_output.item() == 1
    start = None if one else grad_output
    try:
        kept = contextlib.nullcontext() if private else _retained_gradients_kept(functions)
        with kept, _watched(shown, record):
            found = torch.autograd.grad(output, wanted, start, retain_graph=True, allow_unused=True)
        wanted_here = set(shown)
        record.leaves = {
            leaf: _copy(gradient) for leaf, gradient in zip(leaves, found, strict=True) if leaf in wanted_here
        }
    except Exception as error:  # also out of a custom Function's backward: what is wrong there is worth showing
        record.failure = explain_failure(error)
        record.stopped_at = next((function for function in record.order if function not in record.out_of), None)
    record.order = _with_leaves(record)
    return record


@contextlib.contextmanager
def _watched(functions: list[Function], record: Pass) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for function in functions:
            if leaf_of(function) is None:  # the engine hands out leaves' gradients, it does not run their nodes
                for handle in _watch(function, record):
                    stack.callback(handle.remove)
        yield


def _watch(function: Function, record: Pass) -> list[torch.utils.hooks.RemovableHandle]:
    def before(grad_outputs: tuple[torch.Tensor | None, ...]) -> None:
        record.order.append(function)
        record.into[function] = tuple(_copy(gradient) for gradient in grad_outputs)

    def after(grad_inputs: tuple[torch.Tensor | None, ...], grad_outputs: tuple[torch.Tensor | None, ...]) -> None:
        record.out_of[function] = tuple(_copy(gradient) for gradient in grad_inputs)
        record.derivatives[function] = _derivatives(function, grad_outputs)

    return [function.register_prehook(before), function.register_hook(after)]


def _derivatives(function: Function, grad_outputs: tuple[torch.Tensor | None, ...]) -> tuple[float | None, ...]:
    """Return what a function hands on for a gradient of 1; () where its value is no one real number."""
    given = grad_outputs[0] if len(grad_outputs) == 1 else None
    if given is None or given.numel() != 1 or not given.is_floating_point() or given.is_meta:
        return ()
    node: Any = function  # torch's own are called, those of custom Functions applied; both run no hooks
    backward = node if forward_class(function) is None else node.apply
    try:
        handed = backward(torch.ones_like(given))
    except Exception:  # a stranger's backward that works once only; its gradients are shown all the same
        return ()
    handed = handed if isinstance(handed, tuple) else (handed,)
    return tuple(_one_number(gradient) for gradient in handed)


def _one_number(gradient: torch.Tensor | None) -> float | None:
    if gradient is None or gradient.numel() != 1 or gradient.is_complex():
        return None
    return float(gradient.detach())


def _copy(gradient: torch.Tensor | None) -> Snapshot | None:
    return None if gradient is None else snapshot(gradient)


@contextlib.contextmanager
def _retained_gradients_kept(functions: list[Function]) -> Iterator[None]:
    """Put back the .grad of tensors on which retain_grad() was called: every pass of the engine adds to it.

    The graph does not know its tensors, nor can such a tensor be asked to skip one pass; so they are looked up among
    all objects. That takes 50 ms where there are 280,000, as beside plotly: most of the time of a small graph, but
    less than somebody would lose whose gradients are silently doubled.
    """
    here, kinds = set(functions), _tensor_classes()
    with torch._C.DisableTorchFunctionSubclass():
        things = gc.get_objects()
        tensors = itertools.compress(things, map(kinds.__contains__, map(type, things)))  # no step of it in Python
        before = [(tensor, tensor.grad) for tensor in tensors if tensor.retains_grad and tensor.grad_fn in here]
    try:
        yield
    finally:
        for tensor, gradient in before:
            tensor.grad = gradient


def _tensor_classes() -> set[type]:
    classes = [torch.Tensor]
    for kind in classes:  # grows while it is read
        classes += kind.__subclasses__()
    return set(classes)


def _with_leaves(record: Pass) -> list[Function]:
    """Put each leaf behind the last function that feeds it, where backward() would fill its .grad."""
    fed_by = [source for function in record.order for source, _ in function.next_functions]
    waits = {leaf: fed_by.count(leaf) for leaf in record.leaves}
    order = []
    for function in record.order:
        order.append(function)
        for source, _ in function.next_functions:
            if source in waits:
                waits[source] -= 1
                if waits[source] == 0:
                    order.append(source)
    return order
