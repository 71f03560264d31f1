"""What stands inside the box of a convolution: its backward pass, stage by stage, from what the graph has saved."""

from dataclasses import dataclass

import torch

from convviz.facts.format_numbers import format_number
from convviz.facts.join_lists import comma
from convviz.facts.words import sentences
from convviz.features.graph.autograd_graph import Graph
from convviz.features.graph.nodes_and_edges import KEEP, Node, Snapshot
from convviz.geometry.spec import ConvSpec
from convviz.ops import by_rotate as rotate
from convviz.ops import half_precision
from convviz.ops.conv2d_bias import conv2d_bias
from convviz.ops.padding import fold_padding, pad_input
from convviz.settings.tensor_display_names import SHOWN, shown_name

say, say_of_picture = sentences("features/graph"), sentences("picture")

Tensors = dict[str, torch.Tensor]  # by the names that ``convviz.stages`` has for them


@dataclass(frozen=True)
class Operation:
    """What is done between two stages, such as "insert zeros", and what to say of it."""

    words: str
    note: str = ""


Row = tuple[str | Operation, ...]  # names of stages, and the operations between them


@dataclass(frozen=True, eq=False)
class Branch:
    """The way to one of the three gradients."""

    title: str
    rows: tuple[Row, ...]
    truth: str


@dataclass(frozen=True, eq=False)
class Inside:
    """A convolution's backward pass in the stages of the pictures."""

    spec: ConvSpec
    transposed: bool  # if so, names are those of the convolution that it reads the other way
    tensors: Tensors  # by stage, 4-D but for grad_bias
    branches: tuple[Branch, ...]  # those whose gradient the graph wants


def inside(graph: Graph, id: str) -> Inside:
    node = graph.node(id)
    if node.spec is None:
        raise ValueError(say("inside.closed", label=node.label))
    known = _known(node)
    handed = {edge.input_slot: edge.gradient for edge in graph.edges if edge.target == id}
    build = _transposed if node.transposed else _convolution
    with torch.inference_mode(False), torch.no_grad():
        tensors, ways = build(node.spec, known, [slot in handed for slot in range(3)])
        branches = tuple(
            Branch(title, rows, _truth(tensors[end], end, handed[slot], node.transposed))
            for title, rows, end, slot in ways
        )
    return Inside(node.spec, node.transposed, tensors, branches)


def _known(node: Node) -> Tensors:
    saved = {thing.name: thing.tensor for thing in node.saved}
    wanted = {
        "grad_output": node.gradient,
        "input": saved.get("input") or saved.get("saved_tensors[0]"),
        "weight": saved.get("weight") or saved.get("saved_tensors[1]"),
    }
    for name, snapshot in wanted.items():
        if snapshot is not None and snapshot.tensor is None:
            example = "input[:1, :, :32, :32]"
            raise ValueError(
                say("inside.large", most=f"{KEEP:,}", name=name, elements=snapshot.elements, example=example)
            )
    return {name: found.tensor for name, found in wanted.items() if found is not None and found.tensor is not None}


Way = tuple[str, tuple[Row, ...], str, int]  # title, rows, name of the last stage, input of the convolution


def _convolution(spec: ConvSpec, known: Tensors, wants: list[bool]) -> tuple[Tensors, list[Way]]:
    tensors = {"grad_output": known["grad_output"]}
    dilated = tensors["dilated_grad_output"] = rotate.dilate_grad_output(tensors["grad_output"], spec.stride)
    ways: list[Way] = []
    if wants[0] and "weight" in known:
        folds = spec.padding_mode != "zeros"
        last = "grad_padded_input" if folds else "grad_input"
        tensors["padded_grad_output"] = rotate.pad_grad_output(dilated, spec)
        tensors["weight"] = known["weight"]
        tensors["rotated_weight"] = rotate.rotate_weight(known["weight"], spec.groups)
        tensors[last] = rotate.correlate(tensors["padded_grad_output"], tensors["rotated_weight"], spec)
        if folds:
            tensors["grad_input"] = fold_padding(tensors[last], spec)
        rows: list[Row] = [
            ("grad_output", _insert(spec), "dilated_grad_output", _pad(spec), "padded_grad_output"),
            ("weight", Operation(say("operation.rotate"), say("operation.rotate.angle")), "rotated_weight"),
            (_correlate("`padded_grad_output` ⊛ `rotated_weight`", dilation=spec.dilation), last),
        ]
        rows += [(Operation(say("operation.fold"), say("operation.fold.border")), "grad_input")] if folds else []
        ways.append((say("inside.to_input"), tuple(rows), "grad_input", 0))
    if wants[1] and "input" in known:
        tensors["padded_input"] = pad_input(known["input"], spec)
        tensors["grad_weight"] = rotate.correlate_with_grad_output(tensors["padded_input"], dilated, spec)
        correlate = _correlate(say("operation.correlate.with", name="dilated_grad_output"), stride=spec.dilation)
        ways.append((say("inside.to_weight"), (("padded_input", correlate, "grad_weight"),), "grad_weight", 1))
    if wants[2]:
        tensors["grad_bias"] = conv2d_bias(tensors["grad_output"])
        ways.append((say("inside.to_bias"), ((_add_up("grad_output"), "grad_bias"),), "grad_bias", 2))
    return tensors, ways


def _transposed(spec: ConvSpec, known: Tensors, wants: list[bool]) -> tuple[Tensors, list[Way]]:
    """Return a transposed convolution's stages: it hands an ordinary convolution to its input."""
    padded = pad_input(known["grad_output"], spec)
    tensors = {"input": known["grad_output"], "padded_input": padded}
    ways: list[Way] = []
    pad = Operation(say("operation.pad"), _sides(spec.padding))
    if wants[0] and "weight" in known:
        weight = tensors["weight"] = known["weight"]
        tensors["output"] = half_precision.correlate(padded, weight, None, spec.stride, 0, spec.dilation, spec.groups)
        unrotated = say("operation.correlate.unrotated", image="padded_grad_output", kernel="weight")
        correlate = _correlate(unrotated, stride=spec.stride, dilation=spec.dilation)
        images: tuple[Row, ...] = (("input", pad, "padded_input"), ("weight", correlate, "output"))
        ways.append((say("inside.to_input"), images, "output", 0))
    if wants[1] and "input" in known:
        tensors["grad_output"] = known["input"]
        dilated = tensors["dilated_grad_output"] = rotate.dilate_grad_output(known["input"], spec.stride)
        tensors["grad_weight"] = rotate.correlate_with_grad_output(padded, dilated, spec)
        correlate = _correlate("`padded_grad_output` ⊛ `dilated_input`", stride=spec.dilation)
        rows: tuple[Row, ...] = (("grad_output", _insert(spec), "dilated_grad_output", correlate, "grad_weight"),)
        ways.append((say("inside.to_weight"), rows, "grad_weight", 1))
    if wants[2]:
        tensors["grad_bias"] = conv2d_bias(known["grad_output"])
        ways.append((say("inside.to_bias"), ((_add_up(SHOWN["input"]), "grad_bias"),), "grad_bias", 2))
    return tensors, ways


def _truth(found: torch.Tensor, name: str, truth: Snapshot | None, transposed: bool) -> str:
    called = shown_name(name, transposed)
    if truth is None or truth.tensor is None:
        return ""
    off = float((found.double() - truth.tensor.double()).abs().max())
    return say("inside.truth", name=called, difference=format_number(off))


def _insert(spec: ConvSpec) -> Operation:
    none = spec.stride == (1, 1)
    return Operation(say("operation.insert"), say("operation.insert.none") if none else _step("stride", spec.stride))


def _pad(spec: ConvSpec) -> Operation:
    sides = rotate.backward_padding(spec)
    crops = any(cells < 0 for side in sides for cells in side)
    return Operation(say("operation.pad_crop" if crops else "operation.pad"), _sides(sides))


def _add_up(name: str) -> Operation:
    return Operation(say("operation.add_up"), say("operation.add_up.cells", name=name))


def _sides(sides: tuple[tuple[int, int], tuple[int, int]]) -> str:
    top, bottom, left, right = (f"{cells}".replace("-", "−") for side in sides for cells in side)
    if top == bottom == left == right:
        return say("sides.all", side=top)
    if (top, bottom) == (left, right):
        return say("sides.two", before=top, after=bottom)
    return say("sides.four", top=top, bottom=bottom, left=left, right=right)


def _step(word: str, pair: tuple[int, int]) -> str:
    return say_of_picture(f"sign.{word}", step=pair[0] if pair[0] == pair[1] else f"{pair[0]} × {pair[1]}")


def _correlate(what: str, **steps: tuple[int, int]) -> Operation:
    given = [_step(word, pair) for word, pair in steps.items() if pair != (1, 1)]
    return Operation(say("operation.correlate"), comma([what, *given]))
