"""A network as the JSON that its picture draws, reduced to what is drawn, and the answers to what a page asks."""

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from convviz.facts.words import sentences
from convviz.features.network.backs import send_from_cell, send_from_output
from convviz.features.network.finding import Said, titled
from convviz.features.network.network import Network
from convviz.features.network.notes import notes, reduced
from convviz.features.network.operations import Back, Operation

say = sentences("features/network")

MAX_CHANNELS = 16  # of a tensor, sent at first
MAX_SIDE = 32  # cells of a drawn plane
MAX_FEATURES = 1024  # of a vector
MAX_ASKED = 64  # channels at a time
MAX_BACKS = 32  # kept for questions about their numbers
MAX_WEIGHTS = 65_536  # of a linear layer
NOT_FINITE = -128  # the byte that stands for nan and inf
LENS = 5  # cells of the lens along an axis
Json = dict[str, Any]


class NetworkPage:
    """What a page shows of a network: the data at first, and answers while Python is there."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.backs = {0: network.backs[0]}
        self._sent = 0
        self.channels = [_drawn_channels(network, each) for each in network.operations]

    def data(self) -> Json:
        """Return all that is drawn at first."""
        network = self.network
        found = network.found
        return {
            "model": network.model,
            "batch": network.batch,
            "sample": network.sample,
            "operations": [_operation(each) for each in network.operations],
            "planes": [self._pack(each, each.output, self.channels[each.index]) for each in network.operations],
            "backs": [self._back(network.backs[0])],
            "weights": _weights(network.operations),
            "finding": None if found is None else _said(titled(found, network.operations)),
            "said": [_said(each) for each in [*reduced(network, MAX_CHANNELS, MAX_SIDE), *notes(network)]],
            "live": network.live,
        }

    def reply(self, ask: Mapping[str, Any]) -> Json:
        """Answer a question of a page; what cannot be answered is ``refused`` in a sentence."""
        answers = {"back": self._reply_back, "window": self._reply_window, "channels": self._reply_channels}
        asked = ask.get("ask")
        try:
            if asked not in answers:
                raise ValueError(say("refuse.ask", got=repr(asked)))
            return answers[asked](ask)
        except (ValueError, TypeError, KeyError, IndexError) as error:
            return {"refused": str(error) if isinstance(error, ValueError) else say("refuse.ask", got=repr(dict(ask)))}

    def _reply_back(self, ask: Mapping[str, Any]) -> Json:
        start, network = ask["from"], self.network
        if start["kind"] == "cell":
            operation = self._operation(start["operation"])
            back = send_from_cell(network._way, network.operations, operation, start["cell"], network.sample)
        else:
            back = send_from_output(network._way, network.operations, start["kind"], network.backs[0])
        self._sent += 1
        self.backs[self._sent] = back
        self.backs.pop(self._sent - MAX_BACKS, None)
        return {"back": self._back(back), "index": self._sent}

    def _reply_window(self, ask: Mapping[str, Any]) -> Json:
        """Return the numbers around a cell, as they are."""
        operation, cell = self._operation(ask["operation"]), [int(at) for at in ask["cell"]]
        back = self.backs.get(int(ask.get("back", 0)))
        if back is None:
            raise ValueError(say("refuse.forgotten"))
        gradient = back.gradients[operation.index]
        plane, origin = self._around(operation, operation.output, cell)
        gradients = None if gradient is None else self._around(operation, gradient, cell)[0]
        return {"window": {"origin": origin, "values": plane, "gradients": gradients}}

    def _around(self, operation: Operation, tensor: torch.Tensor, cell: list[int]) -> tuple[list[Any], list[int]]:
        values = as_planes(operation.of_sample(tensor, self.network.sample))
        channel, row, column = [*cell, 0, 0][:3] if len(operation.shape) > 1 else (0, 0, *cell, 0)[:3]
        if not (0 <= channel < values.shape[0] and 0 <= row < values.shape[1] and 0 <= column < values.shape[2]):
            raise ValueError(
                say("refuse.cell", name=operation.label, shape=list(operation.shape), got=[channel, row, column])
            )
        top, left = (
            max(0, min(at - LENS // 2, size - LENS)) for at, size in zip((row, column), values.shape[1:], strict=True)
        )
        part = values[channel, top : top + LENS, left : left + LENS].double().tolist()
        return [[_json(number) for number in line] for line in part], [top, left]

    def _reply_channels(self, ask: Mapping[str, Any]) -> Json:
        operation = self._operation(ask["operation"])
        channels = [int(each) for each in ask["channels"]][:MAX_ASKED]
        planes = self._pack(operation, operation.output, channels)
        found = {k: back.gradients[operation.index] for k, back in self.backs.items()}
        backs = {str(k): None if each is None else self._pack(operation, each, channels) for k, each in found.items()}
        return {"channels": {"planes": planes, "backs": backs}}

    def _operation(self, index: Any) -> Operation:
        operations = self.network.operations
        if not isinstance(index, int) or not 0 <= index < len(operations):
            raise ValueError(say("refuse.operation", got=repr(index), last=len(operations) - 1))
        return operations[index]

    def _back(self, back: Back) -> Json:
        planes = [
            None if each is None else self._pack(operation, each, self.channels[operation.index])
            for operation, each in zip(self.network.operations, back.gradients, strict=True)
        ]
        weights: Json = {
            str(each.index): {"ratio": None, "norm": None}
            for each in self.network.operations
            if each.weight is not None
        }
        weights |= {
            str(index): {"ratio": _json(each.ratio), "norm": _json(each.norm)} for index, each in back.weights.items()
        }
        return {
            "from": back.start,
            "planes": planes,
            "rms": [None if each is None else _json(each.rms) for each in back.stats],
            "zeros": [None if each is None else round(each.zeros, 6) for each in back.stats],
            "weights": weights,
        }

    def _pack(self, operation: Operation, tensor: torch.Tensor, channels: list[int]) -> Json:
        return pack(operation.of_sample(tensor, self.network.sample), channels)


def _weights(operations: Sequence[Operation]) -> Json:
    """Return the weights of linear layers, as planes of ``[out, in]``, if they are not too many."""
    weights = {each.index: each.weight.tensor for each in operations if each.kind == "linear" and each.weight}
    few = {index: each for index, each in weights.items() if each.dim() == 2 and each.numel() <= MAX_WEIGHTS}
    return {str(index): pack(each, [0], None) for index, each in few.items()}


def pack(values: torch.Tensor, channels: list[int], side: int | None = MAX_SIDE) -> Json:
    """Return channels of one sample as bytes, each plane averaged to what is drawn, a ``side`` at most."""
    made: Json = {}
    if values.dim() <= 1:
        values = values.reshape(-1)[channels].float()
    else:
        values = as_planes(values)[channels].float()
        size = values.shape[1:]
        if side is not None and max(size) > side:
            made["cells"] = list(size)
            height, width = (min(each, side) for each in size)
            values = torch.nn.functional.adaptive_avg_pool2d(values[None], (height, width))[0]
    finite = values.isfinite()
    values = values.nan_to_num(0.0, 0.0, 0.0)
    scale = float(values.abs().max()) if values.numel() else 0.0
    if "cells" not in made:
        made["zeros"] = "exact"  # 0 is written for 0 alone
    if scale:
        small = values.sign() if "zeros" in made else torch.zeros_like(values)
        rounded = (values / scale * 127).round()
        values = torch.where(rounded == 0, small, rounded)
    values = torch.where(finite, values, NOT_FINITE)
    data = base64.b64encode(values.to("cpu", torch.int8).contiguous().numpy().tobytes()).decode()
    return {"shape": list(values.shape), "channels": channels, **made, "scale": scale, "data": data}


def as_planes(values: torch.Tensor) -> torch.Tensor:
    """Return one sample as ``[C, H, W]``: a sequence is one plane, and of a volume the planes lie below each other."""
    values = values.detach()
    if values.is_complex():
        values = values.abs()
    if values.dim() <= 1:
        return values.reshape(1, 1, -1)
    if values.dim() == 2:
        return values[None]
    return values.reshape(values.shape[0], -1, values.shape[-1])


def _drawn_channels(network: Network, operation: Operation) -> list[int]:
    """Return the channels that are drawn at first: those with the largest gradient, or all, in their order."""
    values = network.gradients[operation.index]
    values = operation.of_sample(operation.output if values is None else values, network.sample).detach()
    vector = values.dim() <= 1
    sizes = values.reshape(-1) if vector else as_planes(values)
    most = MAX_FEATURES if vector else MAX_CHANNELS
    if sizes.shape[0] <= most:
        return list(range(sizes.shape[0]))
    amount = sizes.abs().nan_to_num(0.0) if vector else sizes.abs().nan_to_num(0.0).amax((1, 2))
    largest = amount.argsort(descending=True, stable=True)[:most].tolist()
    return sorted(largest) if vector else largest


def _operation(operation: Operation) -> Json:
    weight = operation.weight
    return {
        "index": operation.index,
        "kind": operation.kind,
        "name": operation.name,
        "module": operation.module,
        "label": operation.label,
        "sources": list(operation.sources),
        "shape": list(operation.shape),
        "reads": operation.reads,
        "weight": None
        if weight is None
        else {"shape": list(weight.shape), "norm": _json(weight.norm), "trained": weight.trained},
        "opens": operation.opens,
        "rms": _json(operation.rms),
        "zeros": round(operation.zeros, 6),
        "rule": _rounded(operation.rule),
    }


def _rounded(rule: Json) -> Json:
    """Return a rule's numbers with six digits: JSON writes all that a double has."""
    return {name: [_json(each) for each in value] if isinstance(value, list) else value for name, value in rule.items()}


def _json(number: float | None) -> float | str | None:
    """Return a number as JSON has it: it has no nan and no inf."""
    if number is None:
        return None
    if not math.isfinite(number):
        return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
    return float(f"{number:.7g}")


def _said(said: Said) -> Json:
    return {"id": said.id, "args": said.args}
