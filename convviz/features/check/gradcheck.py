"""A gradient held against finite differences, in float32 beside float64: why gradcheck wants doubles."""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd.gradcheck import GradcheckError

from convviz.explanation.central_differences import Loss, central_differences
from convviz.facts.words import sentences
from convviz.geometry.shown_plane import Plane
from convviz.ops.autograd_functions import convolve, gradients
from convviz.ops.losses import loss_size, loss_value
from convviz.ops.stages import Stages

say = sentences("features/check")

EPS = tuple(10.0**-power for power in range(8, 0, -1))  # the steps to either side that are tried
GRADCHECK: dict[str, Any] = {"eps": 1e-6, "atol": 1e-5, "rtol": 1e-3}  # torch.autograd.gradcheck's own defaults
DTYPES = (torch.float32, torch.float64)
MAX_CHECKED_CELLS = 400
MAX_CHECK_PRODUCTS = 4_000_000  # of all cells, each moved once: a tenth of a second a dtype

Index = tuple[torch.Tensor, ...]


@dataclass(frozen=True, eq=False)
class Slopes:
    """The gradient of one tensor in one dtype, found in two ways; the numbers are kept as float64."""

    analytic: torch.Tensor  # [rows, columns], by the layer's own backward pass
    numeric: torch.Tensor  # [len(EPS), rows, columns], by central differences of the loss
    passes: bool  # torch.autograd.gradcheck with its defaults
    warning: str  # what gradcheck says before it begins, or nothing

    @property
    def difference(self) -> torch.Tensor:
        """``[len(EPS), rows, columns]``, analytic - numeric."""
        return self.analytic - self.numeric


@dataclass(frozen=True, eq=False)
class Checked:
    """One gradient, checked in both dtypes."""

    panel: str
    size: tuple[int, int]  # of the whole plane; of a larger one only the first rows and columns are checked
    slopes: dict[str, Slopes]


@dataclass(frozen=True, eq=False)
class Check:
    """Every gradient of one pass, checked.

    A loss is rounded to about ``spacing``, the distance of two neighbouring numbers, and a slope by central differences
    to that divided by 2 eps.
    """

    gradients: tuple[Checked, ...]
    size: float  # of the loss: the sum of its terms, each without its sign
    spacing: dict[str, float]  # by the dtype's name


def check_gradients(stages: Stages, plane: Plane) -> Check:
    """Check the gradients of the shown plane: move each of its cells and run convviz's own layer on the CPU."""
    most = _most_cells(stages)
    found = []
    for panel in gradients_of(stages):
        rows, columns = torch.atleast_2d(getattr(stages, panel)).shape[-2:]
        slopes = {
            str(dtype).removeprefix("torch."): _slopes(*_as_function(stages, plane, panel, dtype, most))
            for dtype in DTYPES
        }
        found.append(Checked(panel, (rows, columns), slopes))
    size = _size_of_loss(stages)
    ends = {str(dtype).removeprefix("torch."): size.to(dtype) for dtype in DTYPES}
    spacing = {name: float(end.nextafter(torch.full_like(end, torch.inf)) - end) for name, end in ends.items()}
    return Check(tuple(found), float(size), spacing)


def gradients_of(stages: Stages) -> dict[str, str]:
    """Return the stages that hold gradients → what they are the gradients of."""
    to_input = {"output": "grad_output"} if stages.transposed else {"grad_input": "input"}
    return to_input | {"grad_weight": "weight"} | ({} if stages.bias is None else {"grad_bias": "bias"})


def _size_of_loss(stages: Stages) -> torch.Tensor:
    """Return the loss with every term made positive: where terms cancel, their rounding does not."""
    names = ("grad_input", "input") if stages.transposed else ("output", "grad_output")
    output, grad_output = (getattr(stages, name) for name in names)
    other = grad_output if stages.target is None else stages.target
    wide = (tensor.detach().to("cpu", torch.float64) for tensor in (output, other))
    return loss_size(stages.loss_kind, *wide)


def _most_cells(stages: Stages) -> int:
    products = stages.spec.products
    if products > MAX_CHECK_PRODUCTS // 4:
        most = MAX_CHECK_PRODUCTS // 4 // 10**6
        raise ValueError(say("refused.products", most=most, millions=f"{products / 10**6:.1f}"))
    return min(MAX_CHECKED_CELLS, MAX_CHECK_PRODUCTS // products)


def _as_function(stages: Stages, plane: Plane, panel: str, dtype: torch.dtype, most: int) -> tuple[Loss, torch.Tensor]:
    """Return the loss as a function of some cells, and their values ``[rows, columns]``."""
    spec, kind = stages.spec, stages.loss_kind
    names = ("input", "grad_output", "weight", "bias", "target")
    stored = {name: getattr(stages, name) for name in names}
    leaves = {name: leaf.detach().to("cpu", dtype) for name, leaf in stored.items() if leaf is not None}
    moved = gradients_of(stages)[panel]
    index = _index(leaves[moved], moved, plane.within(spec), most)
    layer_input, weights = ("grad_output", "input") if stages.transposed else ("input", "grad_output")
    other = leaves.get("target", leaves[weights])

    def loss(cells: torch.Tensor) -> torch.Tensor:
        here = leaves | {moved: leaves[moved].index_put(index, cells)}
        x, w, b = here[layer_input], here["weight"], here.get("bias")
        if not stages.transposed:
            return loss_value(kind, convolve(x, w, b, spec, "rotate"), other)
        output, _, _ = gradients(x, None, w, spec, "rotate", (True, False, False))
        assert output is not None  # it is what was asked for
        return loss_value(kind, output if b is None else output + b[:, None, None], other)

    return loss, leaves[moved][index]


def _index(tensor: torch.Tensor, name: str, plane: Plane, most: int) -> Index:
    """Return the index of the first cells of the shown plane: a square if not all fit."""
    if name == "bias":
        return (torch.arange(tensor.numel())[None],)
    height, width = tensor.shape[-2:]
    rows = min(height, max(math.isqrt(most), most // width))
    columns = min(width, most // rows)
    return (*map(torch.tensor, plane.of(name, tensor.shape)), torch.arange(rows)[:, None], torch.arange(columns)[None])


def _slopes(loss: Loss, cells: torch.Tensor) -> Slopes:
    leaf = cells.clone().requires_grad_()
    with torch.enable_grad():
        (analytic,) = torch.autograd.grad(loss(leaf), leaf)
    with torch.no_grad():
        numeric = torch.stack([central_differences(loss, cells, eps) for eps in EPS])
    passes, warning = _gradcheck(loss, cells)
    return Slopes(analytic.double(), numeric.double(), passes, warning)


def _gradcheck(loss: Loss, cells: torch.Tensor) -> tuple[bool, str]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            passes = torch.autograd.gradcheck(loss, cells.clone().requires_grad_(), **GRADCHECK)
        except GradcheckError:
            passes = False
    return passes, str(said[0].message).strip() if said else ""
