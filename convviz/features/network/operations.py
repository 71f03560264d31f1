"""What a recorded run is made of: its operations, and what came back to them."""

from dataclasses import dataclass, field
from typing import Any

import torch

from convviz.features.network.geometry import Reads
from convviz.features.network.measure import Stats


@dataclass(frozen=True, eq=False)
class Weight:
    """The weight that an operation multiplies with."""

    name: str  # the parameter's, such as "layer1.0.conv1.weight"; empty if it is computed
    shape: tuple[int, ...]
    norm: float
    trained: bool  # whether it, or what it is computed from, requires a gradient
    tensor: torch.Tensor = field(repr=False)


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation of a run. Its output is what it was when it was made, also where a later one wrote over it."""

    index: int  # in the order they ran
    kind: str  # torch's name for it: "conv2d", "relu", "add"; "input" for what the model was given
    name: str  # the path of the innermost module that ran; empty for the model itself
    module: str  # the class of a module without parts, whose forward this operation is; else empty
    label: str  # what to call it: no two in a network have the same
    sources: tuple[int, ...]  # the operations whose output it reads
    shape: tuple[int, ...]  # of its output, without the batch
    reads: Reads = field(repr=False)
    output: torch.Tensor = field(repr=False)  # with the batch; one sample of it where all were too many
    stats: Stats = field(repr=False)
    weight: Weight | None = field(repr=False)
    batched: bool = field(repr=False)  # whether the first axis of its output has the samples
    differentiable: bool = field(repr=False)  # whether autograd knew of it
    rule: dict[str, Any] = field(repr=False)
    opens: str = field(repr=False)

    @property
    def title(self) -> str:
        """What a sentence calls it: the label, after its kind where that is a number alone, as in a Sequential."""
        last = self.label.split(" ")[0].rpartition(".")[2]
        return f"{self.kind} {self.label}" if last.isdigit() else self.label

    @property
    def rms(self) -> float:
        return self.stats.rms

    @property
    def zeros(self) -> float:
        return self.stats.zeros

    def of_sample(self, tensor: torch.Tensor, sample: int) -> torch.Tensor:
        """Return what belongs to one sample of a tensor with the shape of the output."""
        if not self.batched:
            return tensor
        return tensor[sample if tensor.shape[0] > 1 else 0]


@dataclass(frozen=True, eq=False)
class WeightBack:
    """The gradient of a weight, by all operations that use it together."""

    norm: float
    ratio: float | None  # its norm divided by that of the weight: the change for a step of 1; None if that is 0
    gradient: torch.Tensor = field(repr=False)


@dataclass(frozen=True, eq=False)
class Back:
    """One backward pass through a network: what came back to each operation, None where nothing did."""

    start: dict[str, Any]  # {"kind": "loss"}, {"kind": "sum"} or {"kind": "cell", "operation": ..., "cell": [...]}
    gradients: tuple[torch.Tensor | None, ...] = field(repr=False)
    stats: tuple[Stats | None, ...] = field(repr=False)
    weights: dict[int, WeightBack] = field(repr=False)  # by the operation that multiplies with it

    @property
    def rms(self) -> tuple[float | None, ...]:
        return tuple(None if each is None else each.rms for each in self.stats)


@dataclass(frozen=True, eq=False)
class Run:
    """All that is known of one run of a model, without a way to go back through it again."""

    model: str  # the name of its class
    batch: int
    sample: int  # which one is drawn, and the one that fields and single cells speak of
    operations: tuple[Operation, ...]
    backs: tuple[Back, ...] = field(repr=False)  # the first is what was asked for when it was recorded
    idle: tuple[str, ...] = field(repr=False)  # modules with weights that did not run
    one_sample: bool = field(repr=False)  # whether of some tensors only the drawn sample is kept
