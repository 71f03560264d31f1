"""The quantised layers and their variants, each with one sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from convviz.nn import BinaryConv2d, Conv2dShift, XNORConv2d


@dataclass(frozen=True)
class VariantOf:
    """One column of the tab: a straight-through variant, or one of several parameters.

    Attributes:
        sentence: what it does.
        keywords: the layer's, that choose it.
        parameter: whose gradient it is.
    """

    sentence: str
    keywords: dict[str, Any] = field(default_factory=dict)
    parameter: str = "weight"


@dataclass(frozen=True)
class Kind:
    """One quantised layer.

    Attributes:
        title: its name.
        sentence: how it quantises.
        layer: its class.
        variants: by name; ``plain`` hands the gradient of the quantised weight on unchanged.
        keywords: of the class.
        latents: the parameters that are learned in the weight's place.
        binarises_input: whether forward uses the signs of the input.
        scales_input: whether it gives the sizes of the input back as a factor.
        plain: see variants.
    """

    title: str
    sentence: str
    layer: type[Conv2dShift] | type[BinaryConv2d] | type[XNORConv2d]
    variants: dict[str, VariantOf]
    keywords: dict[str, Any] = field(default_factory=dict)
    latents: tuple[str, ...] = ("weight",)
    binarises_input: bool = False
    scales_input: bool = False
    plain: str = "identity"


_STES = {
    "identity": VariantOf("Hands the gradient on as it is.", {"ste": "identity"}),
    "clip": VariantOf("Hands it on where |w| ≤ 1, and stops it elsewhere.", {"ste": "clip"}),
    "tanh": VariantOf("Weakens it as w leaves 0: times 1 − tanh(w)².", {"ste": "tanh"}),
}
_SCALED = {
    "scaled_sign": VariantOf(
        "Exact through alpha, clipped through the sign: the mask, and a share of the whole filter's gradient besides.",
        {"ste": "scaled_sign"},
    ),
    **_STES,
}

KINDS = {
    "shift_q": Kind(
        "Conv2dShift, variant Q",
        "Every weight becomes the nearest power of two (between the exponents), so that a product is a shift of bits.",
        Conv2dShift,
        _STES,
    ),
    "shift_ps": Kind(
        "Conv2dShift, variant PS",
        "Not the weight is learned but its exponent, shift, and its sign: quantised weight = 2^round(shift) · sign.",
        Conv2dShift,
        {
            "shift": VariantOf("The slope of 2^shift, straight through the rounding: times v · ln 2.", {}, "shift"),
            "sign": VariantOf("Hands the gradient on as it is: a weight near 0 can still change its sign.", {}, "sign"),
        },
        {"variant": "PS"},
        latents=("shift", "sign"),
        plain="sign",
    ),
    "binary": Kind(
        "BinaryConv2d",
        "Every weight becomes ±alpha, where alpha is the mean of |w| over the filter; sign(0) is +1.",
        BinaryConv2d,
        _SCALED,
    ),
    "xnor": Kind(
        "XNORConv2d",
        "Weight and input become signs; alpha and K, the mean of |input| in each window, give the sizes back.",
        XNORConv2d,
        _SCALED,
        binarises_input=True,
        scales_input=True,
    ),
    "bnn": Kind(
        "XNORConv2d, scaled=False",
        "Weight and input become signs, and nothing gives their sizes back: a product is an XNOR of two bits.",
        XNORConv2d,
        _STES,
        {"scaled": False},
        binarises_input=True,
    ),
}
