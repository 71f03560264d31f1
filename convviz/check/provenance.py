"""Which products make up each cell of a student's result, found out from outside; no catalogue is asked.

The backward pass is linear in grad_output, and in the weight or the input. So a single 1 sent back, with a different
number in every cell of the kernel (of the input, for grad_weight), shows in the result which cell went where: each
number names the cell that it came from. For an output the single 1 stands in the input.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from convviz.check.battery import Case
from convviz.facts.words import sentences
from convviz.geometry.spec import ConvSpec

say = sentences("check")

# A product: cell of the 1, cell it was multiplied with, cell of the result; each (row, column).
Cell = tuple[int, int]
Product = tuple[Cell, Cell, Cell]
Ask = Callable[[Case], torch.Tensor | None]


@dataclass(frozen=True)
class Provenance:
    """The products of one channel plane, beside the right ones.

    Attributes:
        of: ``"grad_input"``, whose products are (o, k, i), ``"grad_weight"``, whose are (o, i, k), or ``"output"``,
            whose are (i, k, o); ``"grad_bias"`` has o alone.
        spec: the geometry, one channel, one sample.
        found: product → how often it counts: 1 in a right gradient.
        right: the products of the taps.
        unknown: cells of the result whose number is no product, nor two of them.
        shape: of the student's plane.
    """

    of: str
    spec: ConvSpec
    found: Mapping[Product, float]
    right: frozenset[Product]
    unknown: frozenset[Cell]
    shape: Cell

    @property
    def missing(self) -> list[Product]:
        """Products that belong there and are not there."""
        return sorted(self.right - self.found.keys())

    @property
    def extra(self) -> list[Product]:
        """Products that are there and do not belong there."""
        return sorted(self.found.keys() - self.right)

    @property
    def factors(self) -> list[float]:
        """How often the products count that are right ones, without repetition."""
        counts = (value for product, value in self.found.items() if product in self.right)
        return sorted({round(value, 6) for value in counts})


def provenance(of: str, spec: ConvSpec, case: Case, ask: Ask) -> Provenance | None:
    """Ask for what a single 1 in each cell of grad_output or input gives; None where the student gives no plane.

    Args:
        of: ``"output"``, ``"grad_input"`` or ``"grad_weight"``.
        spec: the geometry; one channel and one sample.
        case: numbers of that geometry, which serve as the labels.
        ask: calls the student for a case, and returns the gradient ``[1, 1, H, W]``.
    """
    labels = (case.input if of == "grad_weight" else case.weight)[0, 0]
    sent = "input" if of == "output" else "grad_output"
    case = dataclasses.replace(case, bias=torch.zeros_like(case.bias))
    found: dict[Product, float] = {}
    unknown: set[Cell] = set()
    shape: Cell = (0, 0)
    height, width = spec.input_size if of == "output" else spec.output_size
    for o in itertools.product(range(height), range(width)):
        one = torch.zeros_like(case.tensor(sent))
        one[0, 0, o[0], o[1]] = 1
        got = ask(case.with_tensor(sent, one))
        if got is None or got.dim() != 4 or got.shape[:2] != (1, 1):
            return None
        plane = got[0, 0].double()
        shape = (plane.shape[0], plane.shape[1])
        for row, column in plane.nonzero().tolist():
            cell = (row, column)
            read = _read(float(plane[cell]), labels)
            unknown |= {cell} if not read else set()
            found |= {(o, label, cell): factor for label, factor in read.items()}
    return Provenance(of, spec, found, _right(of, spec), frozenset(unknown), shape)


def bias_provenance(spec: ConvSpec, case: Case, ask: Ask) -> Provenance | None:
    """Ask for what a single 1 in each cell of grad_output gives in grad_bias; None where that is not one number."""
    found: dict[Product, float] = {}
    height, width = spec.output_size
    cells = list(itertools.product(range(height), range(width)))
    for o in cells:
        one = torch.zeros_like(case.grad_output)
        one[0, 0, o[0], o[1]] = 1
        got = ask(case.with_tensor("grad_output", one))
        if got is None or got.numel() != 1:
            return None
        if float(got):
            found[o, (0, 0), (0, 0)] = float(got)
    return Provenance("grad_bias", spec, found, frozenset((o, (0, 0), (0, 0)) for o in cells), frozenset(), (1, 1))


def setting_in_words(spec: ConvSpec) -> str:
    """Return kernel, stride and padding of a geometry, and dilation and border where they are not the plain ones."""
    height, width = spec.kernel_size
    padding = (spec.padding[0][0], spec.padding[1][0])
    said = [say("setting", height=height, width=width, stride=_written(spec.stride), padding=_written(padding))]
    if spec.dilation != (1, 1):
        said.append(say("setting.dilation", dilation=_written(spec.dilation)))
    if spec.padding_mode != "zeros":
        said.append(say("setting.border", mode=spec.padding_mode))
    return ", ".join(said)


def _written(pair: Cell) -> str:
    return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]}×{pair[1]}"


def _read(value: float, labels: torch.Tensor) -> dict[Cell, float]:
    """Return which labels a number is made of: one of them, one times a simple factor, or two."""
    flat = labels.flatten().tolist()
    cell = [(index // labels.shape[1], index % labels.shape[1]) for index in range(len(flat))]
    for factor in (1.0, -1.0, 2.0, 0.5, 3.0, 1 / 3):
        for index, label in enumerate(flat):
            if abs(value - factor * label) < 1e-6:
                return {cell[index]: factor}
    for (i, a), (j, b) in itertools.combinations(enumerate(flat), 2):
        if abs(value - a - b) < 1e-6:
            return {cell[i]: 1.0, cell[j]: 1.0}
    return {}


def _right(of: str, spec: ConvSpec) -> frozenset[Product]:
    pairs = itertools.product(spec.axis_taps(0), spec.axis_taps(1))
    products = (((o, p), (k, m), (i, j)) for (o, k, i), (p, m, j) in pairs)
    orders = {"grad_input": (0, 1, 2), "grad_weight": (0, 2, 1), "output": (2, 1, 0)}
    return frozenset((each[a], each[b], each[c]) for each in products for a, b, c in (orders[of],))
