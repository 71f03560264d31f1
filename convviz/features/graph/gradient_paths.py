"""The gradient of a node as the sum over all paths from the output back to it, each the product of its arrows."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from convviz.facts.format_numbers import format_number
from convviz.facts.words import sentences
from convviz.features.graph.box_text import factor, is_rounded, numbers
from convviz.features.graph.nodes_and_edges import Edge, Node, Parts, Snapshot

say = sentences("features/graph")

MAX_PATHS, MAX_FACTORS = 4, 8  # that are written out
CLOSE = {"float16": 1e-2, "bfloat16": 5e-2}  # how exactly a dtype's product is its gradient
CLOSE_ELSE = 1e-3
_Factors = tuple[str, ...]


@dataclass
class _Way:
    """What leads from the output to one node."""

    count: int = 0  # how many paths there are
    written: tuple[_Factors, ...] = ()  # the factors of the first path
    total: float | None = 0.0  # of their products; None where a factor is no number
    size: float = 0.0  # of their absolute values
    rounded: bool = False  # a factor is written with fewer digits than it has


def path_sentences(graph: Parts) -> dict[str, str]:
    """Return id → gradient as the sum over paths, but not behind several outputs or a hook that changed a gradient."""
    by_id = {node.id: node for node in graph.nodes}
    out_of: dict[str, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        if edge.gradient is not None:
            out_of[edge.source].append(edge)
    ways = {graph.nodes[0].id: _start(graph.grad_output)}
    found = {}
    for node in graph.nodes[1:]:
        edges = out_of[node.id]
        if len(node.slots) != 1 or node.gradient is None or any(edge.target not in ways for edge in edges):
            continue
        way = _extended([(edge, ways[edge.target], by_id[edge.target]) for edge in edges], node)
        if edges and _is_gradient(way, edges, node.gradient):
            ways[node.id] = way
            found[node.id] = _sentence(node, way)
    return found


def _start(grad_output: Snapshot) -> _Way:
    if not grad_output.shape and grad_output.mean is not None:
        first = grad_output.mean
        return _Way(1, ((format_number(first),),), first, abs(first), is_rounded(first))
    return _Way(1, (("grad_output",),), None)


def _extended(last: Sequence[tuple[Edge, _Way, Node]], node: Node) -> _Way:
    way = _Way()
    for edge, before, target in last:
        way.count += before.count
        # The arrow into the output changes nothing: it is no factor.
        factors = () if target.kind == "output" else (factor(edge, node, target),)
        way.written += tuple((*path, *factors) for path in before.written[: MAX_PATHS - len(way.written)])
        local = 1.0 if target.kind == "output" else edge.derivative
        if way.total is None or before.total is None or local is None:
            way.total = None
        else:
            way.total += before.total * local
            way.size += before.size * abs(local)
            way.rounded |= before.rounded or is_rounded(local)
    return way


def _is_gradient(way: _Way, edges: Sequence[Edge], gradient: Snapshot) -> bool:
    """Return whether the arrows add up to the gradient, which a hook may have changed."""
    close = CLOSE.get(gradient.dtype, CLOSE_ELSE)
    if way.total is not None and gradient.mean is not None:
        return abs(way.total - gradient.mean) <= close * way.size
    brought = [edge.gradient.tensor for edge in edges if edge.gradient is not None]
    parts = [part for part in brought if part is not None]
    if gradient.tensor is None or len(parts) < len(edges):
        return False
    exact = torch.stack([part.to(torch.complex128) for part in parts])
    off = (exact.sum(0) - gradient.tensor.to(torch.complex128)).abs()
    return bool((off <= close * exact.abs().sum(0)).all())


def _sentence(node: Node, way: _Way) -> str:
    gradient = node.gradient
    products = [" · ".join(_elided(path)) for path in way.written]
    terms = " + ".join([*products, *(["…"] if way.count > len(products) else [])])
    end = "" if gradient is None else numbers(gradient) if not gradient.shape else str(list(gradient.shape))
    mean = None if gradient is None or gradient.shape else gradient.mean
    about = way.rounded or (mean is not None and is_rounded(mean))
    sentence = say("paths", count=way.count, label=node.label, sum=f"{terms} {'≈' if about else '='} {end}")
    return f"{sentence} {say('paths.jacobian')}" if way.total is None else sentence


def _elided(path: _Factors) -> _Factors:
    if len(path) <= MAX_FACTORS:
        return path
    half = MAX_FACTORS // 2
    return (*path[:half], "…", *path[-half:])
