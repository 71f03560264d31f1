"""What the pane of a graph shows, as plain data: the drawing at once, the numbers of a box when it is asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from convviz.app.validate_request import check_dict, check_keys, one_of
from convviz.facts import words
from convviz.features.graph.autograd_graph import Graph
from convviz.features.graph.box_text import numbers, shape
from convviz.features.graph.inside_convolution import Inside, Operation, inside
from convviz.features.graph.nodes_and_edges import Saved, Slot, Snapshot
from convviz.features.graph.step_sentences import sentence, sentences
from convviz.features.graph.svg import PALETTES
from convviz.geometry.shown_plane import Plane
from convviz.settings.tensor_display_names import axis_word, shown_name
from convviz.views.cell_kinds import roles

MAX_HEATMAP_SIDE = 64  # rows and columns of a heatmap; of larger planes the first are shown
say = words.sentences("features/graph")

# A tensor → the panel of the board that shows it and the plane there, or None.
FindPanel = Callable[[torch.Tensor, str], tuple[str, tuple[int, ...]] | None]


class Reply:
    """One message to the page: plain data, and the bytes of its heatmaps, which name their place there."""

    def __init__(self, kind: str) -> None:
        self.content: dict[str, Any] = {"type": kind}
        self.buffers: list[bytes] = []

    def plane(self, plane: torch.Tensor) -> dict[str, Any]:
        """Add the numbers of a plane ``[H, W]``; return what the page needs to draw them."""
        part = plane[:MAX_HEATMAP_SIDE, :MAX_HEATMAP_SIDE].detach()
        # Integers and float64 need more digits than float32 has.
        dtype = torch.float32 if part.is_floating_point() and part.element_size() <= 4 else torch.float64
        self.buffers.append(part.to("cpu", dtype).contiguous().numpy().tobytes())
        (rows, columns), (height, width) = part.shape[:2], plane.shape[:2]
        return {
            "buffer": len(self.buffers) - 1,
            "dtype": str(dtype).removeprefix("torch."),
            "size": list(part.shape),
            "part": say("box.part", rows=rows, columns=columns, height=height, width=width)
            if part.shape != plane.shape
            else "",
        }


def page(graph: Graph) -> dict[str, Any]:
    steps = zip(graph.steps, sentences(graph), strict=True)
    return {
        "svg": graph.to_svg(),
        # What each colour of the drawing becomes.
        "dark": {color: PALETTES["dark"][name] for name, color in PALETTES["light"].items()},
        "note": graph.note,
        "paths": graph.paths,
        "steps": [{"id": id, "text": text} for id, text in steps],
    }


def reply_to(ask: Any, graph: Graph, plane: Plane | None = None, find_panel: FindPanel | None = None) -> Reply:
    """Return what is in a box, or its stages: on the board's ``plane``, where there is none on the page's."""
    asked = check_keys("ask", ask, ("type", "id", "planes", "plane"))
    kind = one_of(asked, "type", ("node", "inside"), "")
    id = one_of(asked, "id", [node.id for node in graph.nodes], "")
    if kind == "node":
        return node_reply(graph, id, check_dict("planes", asked.get("planes", {})), find_panel)
    return inside_reply(graph, id, asked.get("plane") if plane is None else plane, find_panel)


def node_reply(graph: Graph, id: str, chosen: Mapping[str, Any], find_panel: FindPanel | None = None) -> Reply:
    """``chosen``: key of a tensor → indices of its leading axes."""
    node, reply = graph.node(id), Reply("node")
    wanted = [each for slot in node.slots for each in _of_slot(slot, len(node.slots) > 1)]
    wanted += [
        _Wanted(f"saved {saved.name}", say("box.saved", name=saved.name), saved.tensor, saved.note, "value")
        for saved in node.saved
        if saved.tensor is not None
    ]
    reply.content |= {
        "id": id,
        "label": node.label,
        "kind": node.kind,
        "note": node.note,
        "text": sentence(graph, id) if id in graph.steps else say("box.not_visited") if node.kind != "rest" else "",
        "tensors": [_tensor(reply, each, chosen.get(each.key), find_panel) for each in wanted],
        "settings": [_setting(saved) for saved in node.saved if saved.tensor is None],
        "opens": node.spec is not None,
    }
    return reply


@dataclass(frozen=True, eq=False)
class _Wanted:
    """A tensor that is to be shown, and what to say of it."""

    key: str
    title: str
    found: Snapshot | None
    note: str
    kind: str


def _tensor(reply: Reply, wanted: _Wanted, chosen: Any, find_panel: FindPanel | None) -> dict[str, Any]:
    found = wanted.found
    shown = {"key": wanted.key, "title": wanted.title, "note": wanted.note} | _numbers(found)
    if found is None or found.tensor is None or found.tensor.is_complex() or not found.elements or not found.shape:
        return shown
    place = find_panel(found.tensor, wanted.kind) if find_panel else None
    at = _indices(chosen, found.shape[:-2], place[1] if place else ())
    plane = found.tensor[at] if len(found.shape) > 1 else found.tensor[None]
    on_board = {"panel": place[0], "same": at == place[1]} if place else {}
    return shown | reply.plane(plane) | {"planes": list(found.shape[:-2]), "at": list(at)} | on_board


def _of_slot(slot: Slot, several: bool) -> list[_Wanted]:
    of = "_of" if several else ""
    value, gradient = (say(f"box.{kind}{of}", number=slot.number) for kind in ("value", "gradient"))
    return [
        _Wanted(f"value {slot.number}", value, slot.value, slot.value_note, "value"),
        _Wanted(f"gradient {slot.number}", gradient, slot.gradient, slot.gradient_note, "gradient"),
    ]


def _numbers(found: Snapshot | None) -> dict[str, Any]:
    """Return shape and numbers in words; a tensor without a shape is its one number."""
    if found is None:
        return {"shape": "", "text": ""}
    too_many = found.tensor is None and found.minimum is not None
    text = numbers(found)
    return {"shape": shape(found), "text": say("box.too_many", numbers=text) if too_many else text}


def _setting(saved: Saved) -> dict[str, str]:
    return {
        "name": saved.name,
        "value": "" if saved.note and saved.setting is None else repr(saved.setting),
        "note": saved.note,
    }


def _indices(wanted: Any, sizes: tuple[int, ...], default: tuple[int, ...]) -> tuple[int, ...]:
    asked = wanted if isinstance(wanted, list) and len(wanted) == len(sizes) else default or (0,) * len(sizes)
    whole = [index if isinstance(index, int) else 0 for index in asked]
    return tuple(min(max(index, 0), size - 1) for index, size in zip(whole, sizes, strict=True))


def inside_reply(graph: Graph, id: str, plane: Any, find_panel: FindPanel | None = None) -> Reply:
    """Return the stages inside a convolution's box, on the page's plane, or the board's where it shows them."""
    reply = Reply("inside")
    reply.content["id"] = id
    try:
        found = inside(graph, id)
    except ValueError as error:
        reply.content["error"] = str(error)
        return reply
    at = (plane if isinstance(plane, Plane) else _plane(plane)).within(found.spec)

    def item(part: str | Operation) -> dict[str, Any]:
        if isinstance(part, Operation):
            return {"words": part.words, "note": part.note}
        return _stage(reply, found, part, at, find_panel)

    branches = [
        {"title": branch.title, "rows": [[item(part) for part in row] for row in branch.rows], "truth": branch.truth}
        for branch in found.branches
    ]
    reply.content |= {"branches": branches, "choices": _choices(found, at), "fixed": find_panel is not None}
    return reply


def _choices(found: Inside, plane: Plane) -> list[dict[str, Any]]:
    counts = {"n": found.spec.batch, "o": found.spec.out_channels, "c": found.spec.in_channels}
    return [
        {"axis": axis, "word": axis_word(axis, found.transposed), "count": count, "value": plane.index(axis)}
        for axis, count in counts.items()
        if count > 1
    ]


def _plane(wanted: Any) -> Plane:
    asked = wanted if isinstance(wanted, Mapping) else {}
    n, o, c = (asked.get(axis) if isinstance(asked.get(axis), int) else 0 for axis in ("n", "o", "c"))
    return Plane(n or 0, o or 0, c or 0)


def _stage(reply: Reply, found: Inside, name: str, plane: Plane, find_panel: FindPanel | None) -> dict[str, Any]:
    spec, tensor = found.spec, found.tensors[name]
    place = find_panel(tensor, name) if find_panel else None
    # Where the border is padded by a function of its own, the convolution's input is what the board calls padded.
    called = shown_name(place[0] if place else name, found.transposed)
    if tensor.dim() == 1:
        at: tuple[int, ...] = ()
        values, label = tensor[None], called
    else:
        at = plane.of(name, tensor.shape)
        values, label = tensor[at], f"{called}[{at[0]}, {at[1]}]"
    letters = roles(spec, name, (values.shape[0], values.shape[1]))
    return reply.plane(values) | {
        "name": name,
        "label": label,
        "shape": str(list(tensor.shape)),
        "rows": letters.rows[:MAX_HEATMAP_SIDE],
        "columns": letters.columns[:MAX_HEATMAP_SIDE],
        "panel": place[0] if place else "",
        "same": place is not None and at == place[1],
    }
