"""What an autograd graph consists of, as plain data: boxes, copies of tensors in them, and the ways between them."""

from dataclasses import dataclass
from typing import Any

import torch

from convviz.geometry.spec import ConvSpec
from convviz.ops.devices_and_dtypes import has_float64

KEEP = 65_536  # elements: above this only the extremes and the mean are kept, or 500 nodes would fill the memory


@dataclass(frozen=True, eq=False)  # tensors have no one answer to ==
class Snapshot:
    """A tensor's numbers, or what can be said of them."""

    shape: tuple[int, ...]
    dtype: str  # such as "float32"
    tensor: torch.Tensor | None  # detached, on the cpu; None if larger than KEEP or without numbers
    minimum: float | None  # None, as mean and maximum, of no or complex numbers
    mean: float | None
    maximum: float | None

    @property
    def elements(self) -> int:
        return torch.Size(self.shape).numel()


def snapshot(tensor: torch.Tensor) -> Snapshot:
    shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
    tensor = tensor.detach()
    small = torch.Size(shape).numel() <= KEEP
    if tensor.is_meta or (tensor.layout != torch.strided and not small):
        return Snapshot(shape, dtype, None, None, None, None)
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    copy = tensor.to("cpu", copy=True) if small else None
    return Snapshot(shape, dtype, copy, *_summary(tensor))


def _summary(tensor: torch.Tensor) -> tuple[float | None, float | None, float | None]:
    """Return minimum, mean and maximum; bool and integers count as numbers."""
    if tensor.is_complex() or tensor.numel() == 0:
        return None, None, None
    numbers = tensor.double() if tensor.element_size() >= 4 and has_float64(tensor.device) else tensor.float()
    return float(numbers.min()), float(numbers.mean()), float(numbers.max())


@dataclass(frozen=True, eq=False)
class Slot:
    """One output of a function in the forward pass, and the gradient that comes back for it."""

    number: int  # which output it is; a function has a slot for each output that the graph uses
    value: Snapshot | None  # None where it is unknown
    value_note: str  # where the value comes from, or why it is unknown
    gradient: Snapshot | None  # by this value: the sum over all edges that leave here
    gradient_note: str  # why there is no gradient; empty when there is one


@dataclass(frozen=True, eq=False)
class Saved:
    """One thing that a function keeps for its backward pass."""

    name: str  # as torch has it, without ``_saved_``; ``saved_tensors[0]`` or ``ctx.k`` for a custom Function
    tensor: Snapshot | None  # if it is a tensor that can be read
    setting: Any  # numbers, texts and tuples of them, if it is none
    note: str  # why it cannot be read, or what is wrong with it; empty as a rule


@dataclass(frozen=True, eq=False)
class Node:
    """A box of the graph.

    Attributes:
        id: unique in its graph.
        kind: ``"output"``, ``"function"``, ``"leaf"``, or ``"rest"`` for all nodes that are left out.
        label: the output's name in params, or ``"output"``; a function's name as torch has it, behind the name of its
            result in params where it has one; a leaf's name in params, or its shape; how many nodes are left out.
        note: sentences that one should read, such as torch's message about a changed tensor; empty as a rule.
        slots: value and gradient of each output; one, but for functions such as split; none for the rest.
        saved: what the function keeps, tensors and settings.
        opens_into: names of the stages inside, for a 2-D convolution that makes grad_input; else empty.
        spec: the geometry of a 2-D convolution; None for anything else.
        transposed: whether it is a transposed convolution; spec is then that of the convolution read the other way.
    """

    id: str
    kind: str
    label: str
    note: str
    slots: tuple[Slot, ...]
    saved: tuple[Saved, ...] = ()
    opens_into: tuple[str, ...] = ()
    spec: ConvSpec | None = None
    transposed: bool = False

    @property
    def value(self) -> Snapshot | None:
        """The only output's value; None where it is unknown or several: see ``slots``."""
        return self.slots[0].value if len(self.slots) == 1 else None

    @property
    def gradient(self) -> Snapshot | None:
        """The only output's gradient; None where there is none or several: see ``slots``."""
        return self.slots[0].gradient if len(self.slots) == 1 else None


@dataclass(frozen=True, eq=False)
class Edge:
    """A value on its way from one function to the next, and a gradient on its way back.

    Attributes:
        source: id of the node that made the value in the forward pass.
        target: id of the node that used it.
        output_slot: which output of the source it is.
        input_slot: which of the target's inputs it is, counted among those that torch looks at for gradients.
        gradient: what the target's backward passes on to the source; None where it passes nothing.
        derivative: the derivative of the target's value by the source's, where both are one real number; else None.
    """

    source: str
    target: str
    output_slot: int
    input_slot: int
    gradient: Snapshot | None
    derivative: float | None = None


@dataclass(frozen=True, eq=False)
class Parts:
    """What ``Graph`` holds, and all that is said of it is made of."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    steps: tuple[str, ...]
    grad_output: Snapshot
    note: str
