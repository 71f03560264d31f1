"""Which products make up each cell of a student's result, found out from outside; no catalogue is asked.

The backward pass is linear in grad_output, and in the weight or the input. So a single 1 sent back, with a different
number in every cell of the kernel (of the input, for grad_weight), shows in the result which cell went where: each
number names the cell that it came from. For an output the single 1 stands in the input.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

from convviz.cases.battery import Case
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec
from convviz.mistakes.grad_weight import weight_in_use

say = sentences("check")

# A product: cell of the 1, cell it was multiplied with, cell of the result; each (row, column).
Cell = tuple[int, int]
Product = tuple[Cell, Cell, Cell]
T = TypeVar("T")
MAX_SHARED_LABELS = 9  # labels that meet in one cell, of which every choice is tried
Ask = Callable[[Case], torch.Tensor | None]

# What the three cells of a product are cells of.
MEMBERS: Mapping[str, tuple[str, str, str]] = {
    "grad_input": ("grad_output", "weight", "grad_input"),
    "grad_weight": ("grad_output", "input", "grad_weight"),
    "output": ("input", "weight", "output"),
    "grad_bias": ("grad_output", "bias", "grad_bias"),
}


@dataclass(frozen=True)
class Provenance:
    """The products of one channel plane, beside the right ones."""

    # ``"grad_input"``, whose products are (o, k, i), ``"grad_weight"``, whose are (o, i, k), or ``"output"``, whose are
    # (i, k, o); ``"grad_bias"`` has o alone
    of: str
    spec: ConvSpec  # the geometry, one channel, one sample
    found: Mapping[Product, float]  # product → how often it counts: 1 in a right gradient
    right: frozenset[Product]  # the products of the taps
    # cell of the 1, cell of the result whose number is no product, nor two of them, that number, and the right one
    unknown: tuple[tuple[Cell, Cell, float, float], ...]

    @property
    def missing(self) -> list[Product]:
        """Products that belong there and are not there; what stands in a number that cannot be read may be there."""
        unread = {(o, cell) for o, cell, *_ in self.unknown}
        return sorted(each for each in self.right - self.found.keys() if (each[0], each[2]) not in unread)

    @property
    def extra(self) -> list[Product]:
        """Products that are there and do not belong there."""
        return sorted(self.found.keys() - self.right)

    @property
    def factors(self) -> list[float]:
        """How often the products count that are right ones, without repetition."""
        counts = (value for product, value in self.found.items() if product in self.right)
        return sorted({round(value, 6) for value in counts})


def named(of: str, product: tuple[T, T, T]) -> tuple[T, T, T]:
    """Return three that go with a product as (of grad_output or of the output, of the kernel, of the input)."""
    one, middle, last = product
    if of == "output":
        return last, middle, one
    return (one, middle, last) if of == "grad_input" else (one, last, middle)


def provenance(of: str, spec: ConvSpec, case: Case, ask: Ask) -> Provenance | None:
    """Ask for what a single 1 in each cell of grad_output or input gives; None where the student gives no plane.

    The case has one channel and one sample, and its numbers are the labels; ``ask`` returns
    ``[1, 1, H, W]``, or ``[1]`` for ``"grad_bias"``.
    """
    weight = weight_in_use({}, case.quantised, case.weight) if case.quantised else case.weight
    tensor = {"grad_weight": case.input, "grad_bias": torch.ones(1, 1, 1, 1)}.get(of, weight)
    is_alike = bool(case.quantised) and tensor is weight  # signs are no labels: only what belongs there can be read
    labels = {divmod(at, tensor.shape[3]): label for at, label in enumerate(tensor[0, 0].flatten().tolist())}
    right = _right(of, spec)
    own = {(o, cell): label for o, label, cell in right}
    sharing: dict[tuple[Cell, Cell], list[Cell]] = {}  # of a border several labels meet in a cell
    for o, middle, cell in sorted(right):
        sharing.setdefault((o, cell), []).append(middle)
    found: dict[Product, float] = {}
    strange: dict[Product, float] = {}  # with the factor by which the right product is off
    unknown: list[tuple[Cell, Cell, float, float]] = []
    planes = _planes(of, case.without_bias(), ask)
    for o, plane in planes.items():
        for row, column in (plane.abs() > 1e-9).nonzero().tolist():  # an FFT leaves noise
            cell, value = (row, column), float(plane[row, column])
            if not is_alike and (read := _read(value, labels, sharing.get((o, cell), ()))):
                found |= {(o, label, cell): factor for label, factor in read.items()}
            elif label := own.get((o, cell)):
                strange[o, label, cell] = value / labels[label]
            else:
                unknown.append((o, cell, value, 0.0))
    # One factor that comes again and again, or a whole number of products, or one over it, is no chance.
    factors = {round(factor, 6) for factor in strange.values()}
    of_several = len({label for _, label, _ in strange}) > 1  # one label gives one factor, whatever is wrong
    if (of_several and len(strange) > 2 * len(factors) == 2) or all(
        min(abs(f - round(f)) for f in (factor, 1 / factor)) < 1e-6 for factor in strange.values()
    ):
        found |= strange
    else:
        unknown += [(o, cell, factor * labels[label], labels[label]) for (o, label, cell), factor in strange.items()]
    return Provenance(of, spec, found, right, tuple(unknown)) if planes else None


def _planes(of: str, case: Case, ask: Ask) -> dict[Cell, torch.Tensor]:
    """Return the plane that a single 1 in each cell gives; nothing where one of them gives no plane."""
    sent = "input" if of == "output" else "grad_output"
    height, width = case.tensor(sent).shape[2:]
    found: dict[Cell, torch.Tensor] = {}
    for row, column in itertools.product(range(height), range(width)):
        one = torch.zeros_like(case.tensor(sent))
        one[0, 0, row, column] = 1
        got = ask(case.with_tensor(sent, one))
        if got is not None and of == "grad_bias" and got.numel() == 1:
            got = got.reshape(1, 1, 1, 1)
        if got is None or got.dim() != 4 or got.shape[:2] != (1, 1):
            return {}
        found[row, column] = got[0, 0].double()
    return found


def _read(value: float, labels: Mapping[Cell, float], sharing: Sequence[Cell]) -> dict[Cell, float]:
    """Return which labels a number is made of: one times a simple factor, some that belong there, or two."""
    if len(labels) == 1:
        return {cell: value / label for cell, label in labels.items()}
    for factor in (1.0, -1.0, 2.0, 0.5, 3.0, 1 / 3):
        for cell, label in labels.items():
            if abs(value - factor * label) < 1e-6:
                return {cell: factor}
    for count in range(len(sharing), 2, -1) if len(sharing) <= MAX_SHARED_LABELS else ():
        for some in itertools.combinations(sharing, count):
            if abs(value - sum(labels[cell] for cell in some)) < 1e-6:
                return dict.fromkeys(some, 1.0)
    for (cell, label), (other, more) in itertools.combinations(labels.items(), 2):
        if abs(value - label - more) < 1e-6:
            return {cell: 1.0, other: 1.0}
    return {}


def _right(of: str, spec: ConvSpec) -> frozenset[Product]:
    if of == "grad_bias":
        height, width = spec.output_size
        return frozenset((cell, (0, 0), (0, 0)) for cell in itertools.product(range(height), range(width)))
    pairs = itertools.product(spec.axis_taps(0), spec.axis_taps(1))
    products = (((o, p), (k, m), (i, j)) for (o, k, i), (p, m, j) in pairs)
    orders = {"grad_input": (0, 1, 2), "grad_weight": (0, 2, 1), "output": (2, 1, 0)}
    first, second, third = orders[of]
    return frozenset((each[first], each[second], each[third]) for each in products)
