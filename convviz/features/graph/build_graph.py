"""From what was read of torch's graph to boxes and arrows that know nothing of torch's engine."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from convviz.facts.words import sentences
from convviz.features.graph.forward_values import Place, Values
from convviz.features.graph.nodes_and_edges import Edge, Node, Saved, Slot, Snapshot, snapshot
from convviz.features.graph.saved_tensors import Kept
from convviz.features.graph.trace_backward import Pass
from convviz.features.graph.walk import Function, forward_class, is_convolution, leaf_of, name_of, opens_into
from convviz.geometry.spec import ConvSpec
from convviz.ops.autograd_functions import Convolution

OUTPUT = "n0"
say = sentences("features/graph")


@dataclass(frozen=True, eq=False)
class Names:
    """What the caller calls leaves, by their id, and results, by function and number of its output."""

    leaves: dict[int, str] = field(default_factory=dict)
    results: dict[Place, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Reading:
    """All that was read of one graph, still in torch's terms."""

    output: torch.Tensor
    start: torch.Tensor
    functions: list[Function]
    left_out: int
    names: Names
    kept: dict[Function, tuple[Kept, ...]]
    record: Pass
    values: Values

    @cached_property
    def ids(self) -> dict[Function, str]:
        """Function → id of its box."""
        return {function: f"n{number}" for number, function in enumerate(self.functions, start=1)}

    @property
    def rest(self) -> str:
        """Id of the box that stands for the nodes that are left out."""
        return f"n{len(self.functions) + 1}"

    @cached_property
    def slots(self) -> dict[Function, list[int]]:
        """Function → the outputs that the graph uses, by number."""
        used = defaultdict(set)
        used[self.output.grad_fn].add(self.output.output_nr)
        for function in self.functions:
            for source, slot in function.next_functions:
                used[source].add(slot)
        return {function: sorted(used[function]) for function in self.functions}


def nodes_of(reading: Reading) -> tuple[Node, ...]:
    """Return the box of the output, those of functions and leaves, and one for what is left out."""
    value, gradient = snapshot(reading.output), snapshot(reading.start)
    slots = (Slot(0, value, say("value.output"), gradient, ""),)
    label = _name(reading.output.grad_fn, reading.output.output_nr, reading) or "output"
    nodes = [Node(OUTPUT, "output", label, "", slots), *(_node(function, reading) for function in reading.functions)]
    if reading.left_out:
        label = say("rest", number=f"{reading.left_out:,}")
        nodes.append(Node(reading.rest, "rest", label, say("rest.note"), ()))
    return tuple(nodes)


def edges_of(reading: Reading) -> tuple[Edge, ...]:
    return tuple(_edges(reading))


def _edges(reading: Reading) -> Iterator[Edge]:
    ids, root = reading.ids, reading.output.grad_fn
    if root is not None:
        yield Edge(ids[root], OUTPUT, reading.output.output_nr, 0, snapshot(reading.start))
    for function in reading.functions:
        passed_on = reading.record.out_of.get(function)
        derivatives = reading.record.derivatives.get(function, ())
        for place, (source, slot) in enumerate(function.next_functions):
            gradient = passed_on[place] if passed_on else None
            if source in ids:
                local = derivatives[place] if place < len(derivatives) else None
                yield Edge(ids[source], ids[function], slot, place, gradient, local)
            elif source is not None:
                yield Edge(reading.rest, ids[function], 0, place, gradient)


def _node(function: Function, reading: Reading) -> Node:
    slots = tuple(_slot(function, number, reading) for number in reading.slots[function])
    leaf = leaf_of(function)
    if leaf is not None:
        label = reading.names.leaves.get(id(leaf), str(list(leaf.shape)) if leaf.dim() else say("scalar"))
        return Node(reading.ids[function], "leaf", label, "", slots)
    kept = reading.kept[function]
    return Node(
        id=reading.ids[function],
        kind="function",
        label=_label(function, reading),
        note=" ".join(_notes(function, kept, reading.record)),
        slots=slots,
        saved=tuple(_saved(thing) for thing in kept),
        opens_into=opens_into(function),
        spec=_geometry(function, reading),
        transposed=_is_transposed(function),
    )


def _label(function: Function, reading: Reading) -> str:
    """Return torch's name, behind the caller's for the results; the output's is in its own box."""
    output = reading.output.grad_fn, reading.output.output_nr
    names = [_name(function, slot, reading) for slot in reading.slots[function] if (function, slot) != output]
    known = ", ".join(filter(None, names))
    return f"{known} ({name_of(function)})" if known else name_of(function)


def _name(function: Function | None, slot: int, reading: Reading) -> str:
    return "" if function is None else reading.names.results.get((function, slot), "")


def _geometry(function: Function, reading: Reading) -> ConvSpec | None:
    """Return the geometry of a 2-D convolution, or of the one that a transposed one reads; None where it is unknown."""
    if forward_class(function) is Convolution:
        own: Any = function
        return own.spec if isinstance(getattr(own, "spec", None), ConvSpec) else None
    gradient, *_ = reading.record.into.get(function) or (None,)
    if not (is_convolution(function) or _is_transposed(function)) or gradient is None:
        return None
    saved = {thing.name: thing.content for thing in reading.kept[function]}
    passed_on = dict(enumerate(reading.record.out_of.get(function, ())))
    # What was not saved, because no gradient needs it, has the shape of the gradient that was made for it.
    tensors = [
        saved[name] if isinstance(saved.get(name), torch.Tensor) else passed_on.get(place)
        for place, name in enumerate(("input", "weight"))
    ]
    if tensors[0] is None or tensors[1] is None or 0 in tensors[0].shape:
        return None
    batch, in_channels, *size = gradient.shape if saved["transposed"] else tensors[0].shape
    out_channels, _, *kernel_size = tensors[1].shape
    others = {name: saved[name] for name in ("stride", "padding", "dilation", "groups")}
    return ConvSpec(size, in_channels, out_channels, kernel_size, batch=batch, **others)


def _is_transposed(function: Function) -> bool:
    return len(getattr(function, "_saved_stride", ())) == 2 and bool(getattr(function, "_saved_transposed", False))


def _notes(function: Function, kept: tuple[Kept, ...], record: Pass) -> list[str]:
    notes = [thing.note for thing in kept if thing.note and thing.needed]
    if function is record.stopped_at:
        notes.append(record.failure)
    if is_convolution(function) and function.next_functions[0][0] is None:
        notes.append(say("only_grad_weight"))
    return list(dict.fromkeys(notes))  # two tensors that were freed are one thing to say


def _slot(function: Function, number: int, reading: Reading) -> Slot:
    known, origin = reading.values.get((function, number), (None, say("value.unknown")))
    value = None if known is None else snapshot(known)
    gradient, why_not = _gradient(function, number, reading.record)
    return Slot(number, value, origin, gradient, why_not)


def _gradient(function: Function, number: int, record: Pass) -> tuple[Snapshot | None, str]:
    found = record.leaves.get(function)
    if number < len(record.into.get(function, ())):
        found = record.into[function][number]
    if found is not None:
        return found, ""
    if function in record.into or function in record.leaves:
        return None, say("gradient.none_back")
    if record.stopped_at is not None:
        return None, say("gradient.stopped", function=name_of(record.stopped_at))
    return None, record.failure or say("gradient.no_leaf")


def _saved(thing: Kept) -> Saved:
    if isinstance(thing.content, torch.Tensor):
        return Saved(thing.name, snapshot(thing.content), None, thing.note)
    return Saved(thing.name, None, thing.content, thing.note)
