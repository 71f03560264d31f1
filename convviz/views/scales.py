"""How far the colours of a panel reach, and which quantity it is; ``web/picture/colour_scales.js`` says the same."""

import functools
import sys
from collections.abc import Callable

import torch

from convviz.facts import facts
from convviz.ops.stages import Stages
from convviz.views.panels import Equation, Panel

FACTS = facts("picture")
# Of a panel: the tensors that have one scale with it, and the factors of one of its products.
OF: dict[str, list[str]] = FACTS["scales"]["of"]
OF_TRANSPOSED: dict[str, list[str]] = OF | FACTS["scales"]["of_transposed"]  # there another result is the forward one
PRODUCT: dict[str, list[str]] = FACTS["scales"]["product"]
FAR: dict[str, float] = FACTS["scales"]["far"]
QUANTITIES: dict[str, str] = {name: quantity for quantity, names in FACTS["quantities"].items() for name in names}

Ends = Callable[[Equation, Panel], float]


def is_gradient(called: str) -> bool:
    """By what the page calls it."""
    return "grad" in called.split("_")


def is_beyond(value: float, end: float) -> bool:
    return abs(value) > FAR["slack"] * end  # an end has six digits in the page


def ends(stages: Stages, scale: str) -> Ends:
    of = OF_TRANSPOSED if stages.transposed else OF

    @functools.cache
    def named(name: str) -> float:
        found: torch.Tensor | None = getattr(stages, name)
        return 0.0 if found is None else end_of(found)

    def of_quantity(name: str) -> float:
        product = 1.0 if name in PRODUCT else 0.0
        for factor in PRODUCT.get(name, ()):
            product = min(product * named(factor), sys.float_info.max)
        return max(product, *map(named, of[name]))

    def end(equation: Equation, panel: Panel) -> float:
        if scale == "quantity":
            return of_quantity(panel.name) or 1.0
        return limit(equation.panels if scale == "equation" else (panel,))

    return end


def limit(panels: tuple[Panel, ...]) -> float:
    """Return the end of the scale of panels by themselves, with all their planes; 1 for zeros."""
    return max((end_of(panel.tensor) for panel in panels), default=0.0) or 1.0


def end_of(tensor: torch.Tensor) -> float:
    """Return the largest |finite number| that is not far out: a typed 1e9 must not bleach all the others.

    Far out are those behind a gap of many times, as long as they are the fewer ones.
    """
    sizes = tensor.double().nan_to_num(0, 0, 0).abs().flatten().sort().values
    sizes = sizes[sizes > 0]
    end = float(sizes[-1]) if sizes.numel() else 0.0
    half = sizes.numel() // 2
    far = (sizes[1:] >= FAR["least"]) & (sizes[1:] >= FAR["times"] * sizes[:-1])
    gaps = far[half:].nonzero()  # the one before the first of the fewer ones ends the scale
    return float(sizes[half + int(gaps[0])]) if gaps.numel() else end
