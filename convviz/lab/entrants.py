"""Who races: ways to make the network's layers, by name."""

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from convviz.lab.race_error import FAILURES, first_line
from convviz.lab.textbook_entrant import Article
from convviz.nn.binary_conv2d import BinaryConv2d
from convviz.nn.conv2d import Conv2d
from convviz.nn.linear import Linear
from convviz.nn.power_of_two_conv2d import Conv2dShift
from convviz.nn.xnor_conv2d import XNORConv2d
from convviz.ops.methods import METHODS

REFERENCE = "torch"


@dataclass(frozen=True)
class Entrant:
    """One way to make layers.

    Attributes:
        conv2d: (in_channels, out_channels, kernel_size) to a layer with ``nn.Conv2d``'s weight and bias.
        linear: (in_features, out_features) to a layer with ``nn.Linear``'s.
        exact: whether its numbers are torch's but for rounding; False also where nobody has said so.
    """

    conv2d: Callable[[int, int, int], torch.nn.Module]
    linear: Callable[[int, int], torch.nn.Module] = torch.nn.Linear
    exact: bool = False


class FunctionConv2d(torch.nn.Conv2d):
    """``nn.Conv2d`` computed by somebody's ``autograd.Function`` of (input, weight, bias)."""

    def __init__(
        self, function: type[torch.autograd.Function], in_channels: int, out_channels: int, kernel_size: int
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size)
        self.function = function

    def _conv_forward(self, input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        output: torch.Tensor = self.function.apply(input, weight, bias)
        return output


# A name of ENTRANTS or an address, or what makes a layer.
Layer = str | Entrant | Callable[..., torch.nn.Module] | type[torch.autograd.Function]
Layers = str | Iterable[Layer] | Mapping[str, Layer]

ENTRANTS: dict[str, Entrant] = {
    REFERENCE: Entrant(torch.nn.Conv2d, exact=True),
    **{name: Entrant(partial(Conv2d, method=name), partial(Linear, method=name), exact=True) for name in METHODS},
    "article": Entrant(partial(FunctionConv2d, Article), exact=True),
    "Conv2dShift": Entrant(Conv2dShift),
    "BinaryConv2d": Entrant(BinaryConv2d),
    "XNORConv2d": Entrant(XNORConv2d),
}


def entrants(layers: Layers) -> dict[str, Entrant]:
    """Return the entrants by name, torch first: everything is held against it, so it always races.

    A layer of your own is a Module class or a function (in_channels, out_channels, kernel_size) that makes one, or an
    ``autograd.Function`` of (input, weight, bias), or its address ``"module:Name"``.
    """
    if isinstance(layers, str):
        layers = [name.strip() for name in layers.split(",") if name.strip()]
    if isinstance(layers, Mapping):
        given = list(layers.items())
    else:
        given = [
            (layer if isinstance(layer, str) else getattr(layer, "__name__", repr(layer)), layer) for layer in layers
        ]
    found = {REFERENCE: ENTRANTS[REFERENCE]}
    for name, layer in given:
        if name in found and not (name == REFERENCE and layer == REFERENCE):
            raise ValueError(f"every layer races once, under a name of its own: got {name!r} twice")
        found[name] = _entrant(layer)
    return found


def _entrant(layer: Any) -> Entrant:
    if isinstance(layer, str):
        if layer in ENTRANTS:
            return ENTRANTS[layer]
        if ":" not in layer:
            raise ValueError(
                f"a layer is one of {', '.join(ENTRANTS)}, or module:Name for one of your own: got {layer!r}"
            )
        layer = _imported(layer)
    if isinstance(layer, Entrant):
        return layer
    if isinstance(layer, type) and issubclass(layer, torch.autograd.Function):
        return Entrant(partial(FunctionConv2d, layer))
    if isinstance(layer, torch.nn.Module) or not callable(layer):
        raise TypeError(
            "a layer of your own is a Module class, a function that makes a Module of (in_channels, out_channels, "
            f"kernel_size), or an autograd.Function: got {type(layer).__name__}; pass what makes it, not one of them"
        )
    return Entrant(layer)


def _imported(address: str) -> Any:
    module, _, name = address.partition(":")
    here = os.getcwd()
    sys.path.insert(0, here)  # as python -m does; the command convviz has its own folder there
    try:
        return getattr(importlib.import_module(module), name)
    except FAILURES as error:
        raise ValueError(
            f"{address!r} is the name of a layer in a module that Python finds: {type(error).__name__}: "
            f"{first_line(error)}; it looks in the current folder, and where PYTHONPATH says"
        ) from error
    finally:
        sys.path.remove(here)
